/* Sums along a fixed tree have the same bits whoever adds, and few vectors travel for them; messages and
 * failures of a team; how shots are handed out. */
#define _POSIX_C_SOURCE 200809L
#include "support/unit_test.h"
#include "fit/made_up_team.h"
#include "base/context_internal.h"
#include "cli/processes.h"
#include "fit/shots/outliers.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/tree_sum.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Numbers whose sum depends on the order of additions. */
static double number(size_t piece, size_t i) {
    const double x = sin(12.9898 * (double)(piece + 1) + 78.233 * (double)(i + 1)) * 43758.5453;
    return ldexp(x - floor(x) - 0.5, (int)((piece * 7 + i) % 40));
}

/* The tree, written down once more: the sum of the pieces of a node. */
static double sum_of(size_t node, int level, size_t pieces, size_t i) {
    if (level == 0) return number(node, i);
    const double left = sum_of(2 * node, level - 1, pieces, i);
    return ((2 * node + 1) << (level - 1)) < pieces
               ? left + sum_of(2 * node + 1, level - 1, pieces, i)
               : left;
}

static double expected(size_t pieces, size_t i) {
    int level = 0;
    while (((size_t)1 << level) < pieces) level++;
    return pieces ? sum_of(0, level, pieces, i) : 0;
}

typedef enum sharing { RUNS, TURNS, SCATTERED, LAST_FIRST, SHARINGS } sharing;
typedef struct question {
    size_t pieces, size;
    int members, threads;
    sharing sharing;
    size_t most_held[MOST_MEMBERS];
} question;

static int owner(const void *user, size_t piece) {
    const question *const q = user;
    const size_t n = (size_t)q->members;
    switch (q->sharing) {
    case RUNS: return (int)(piece * n / q->pieces);
    case TURNS: return (int)(piece % n);
    case LAST_FIRST: return (int)(n - 1 - piece * n / q->pieces);
    default: return (int)((piece * 2654435761u >> 7) % n);
    }
}

static void add_up(void *user, const db_fit_team *team) {
    question *const q = user;
    db_context *context;
    db_tree_sum sum;
    double *const total = malloc((q->size + 1) * sizeof *total);
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_tree_sum_begin(context, q->pieces, q->size, &sum), DB_OK);
    for (int again = 0; again < 2; again++) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(q->threads)
        for (long p = 0; p < (long)q->pieces; p++) {
            /* every other time from the end */
            const size_t piece = again ? q->pieces - 1 - (size_t)p : (size_t)p;
            if (owner(q, piece) != team->rank) continue;
            double *const vector = db_tree_sum_take(&sum);
            for (size_t i = 0; i < q->size; i++) vector[i] += number(piece, i);
            db_tree_sum_put(&sum, piece, vector);
        }
        assert_int_equal(db_tree_sum_total(team, context, &sum, owner, q, total), DB_OK);
        for (size_t i = 0; i < q->size; i++)
            assert_memory_equal(&total[i], &(double){ expected(q->pieces, i) }, sizeof *total);
        assert_int_equal(sum.held, 0);
    }
    q->most_held[team->rank] = sum.most_held;
    db_tree_sum_clear(&sum);
    db_context_destroy(&context);
    free(total);
}

static void the_same_bits_for_any_team(void **state) {
    (void)state;
    static const size_t pieces[] = { 0, 1, 2, 3, 7, 8, 9, 31, 64, 100 };
    for (int members = 1; members <= 7; members++)
        for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++)
            for (int s = 0; s < SHARINGS; s++) {
                question q = { .pieces = pieces[k],
                               .size = k == 1 ? 0 : 5,
                               .members = members,
                               .threads = 1 + (int)k % 2,
                               .sharing = (sharing)s };
                made_up_team_run(members, 0, add_up, &q, NULL);
            }
}

/* A large vector: of runs of pieces each member holds and sends about as many vectors as the tree has
 * levels, not as there are pieces or members. */
static void few_vectors_travel(void **state) {
    (void)state;
    enum { PIECES = 1000, SIZE = 200, MEMBERS = 7, LEVELS = 10 };
    team_traffic traffic[MOST_MEMBERS];
    question q = {
        .pieces = PIECES, .size = SIZE, .members = MEMBERS, .threads = 1, .sharing = RUNS
    };
    made_up_team_run(MEMBERS, 0, add_up, &q, traffic);
    size_t sent = 0;
    for (int r = 0; r < MEMBERS; r++) {
        assert_true(q.most_held[r] <= 2 * LEVELS + 1);
        assert_true(traffic[r].bytes <= 2 * 2 * LEVELS * SIZE * sizeof(double));
        sent += traffic[r].bytes;
    }
    /* twice: a gather of everything would have sent each piece to six others */
    assert_true(sent <= 2 * 2 * LEVELS * MEMBERS * SIZE * sizeof(double));
}

static void fail_somewhere(void *user, const db_fit_team *team) {
    const int *const failing = user;
    db_context *context;
    char text[40];
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_team_common_status(team, context, DB_OK), DB_OK);
    snprintf(text, sizeof text, "member %d fails", team->rank);
    db_status status = DB_OK;
    if (team->rank == *failing || team->rank == *failing + 2)
        status = db_fail(context, DB_ERROR_FILE, "%s", text);
    assert_int_equal(db_team_common_status(team, context, status), DB_ERROR_FILE);
    snprintf(text, sizeof text, "member %d fails", *failing);
    assert_string_equal(db_context_message(context), text);
    db_context_destroy(&context);
}

static void all_know_who_failed_first(void **state) {
    (void)state;
    for (int members = 1; members <= 7; members++)
        for (int failing = 0; failing < members; failing++)
            made_up_team_run(members, 0, fail_somewhere, &failing, NULL);
}

static int refuse(void *user, int to, const void *data, size_t bytes) {
    (void)user;
    (void)to;
    (void)data;
    (void)bytes;
    return 1;
}

static void a_broken_team_is_an_error(void **state) {
    (void)state;
    db_context *context;
    const db_fit_team team = { .rank = 1, .size = 2, .send = refuse };
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_team_common_status(&team, context, DB_OK), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "lost touch"));
    db_context_destroy(&context);
}

typedef struct parts {
    char *next;
    size_t bytes;
    int most, count, last; /* last: the one that fails; 0: none */
} parts;

static int count_part(void *user, char *bytes, int count) {
    parts *const p = user;
    assert_ptr_equal(bytes, p->next);
    assert_true(count > 0 && count <= p->most);
    p->next += count;
    p->bytes += (size_t)count;
    return ++p->count != p->last;
}

/* More bytes than an int can count, of which none is touched. */
static void messages_may_be_longer_than_int(void **state) {
    (void)state;
    static char somewhere;
    const size_t size = 5 * (size_t)INT_MAX + 3;
    parts p = { .next = &somewhere, .most = INT_MAX };
    assert_int_equal(db_processes_in_parts(&somewhere, size, p.most, count_part, &p), 1);
    assert_true(p.bytes == size && p.count == 6);
    p = (parts){ .next = &somewhere, .most = 1000, .last = 2 };
    assert_int_equal(db_processes_in_parts(&somewhere, size, p.most, count_part, &p), 0);
    assert_int_equal(p.count, 2);
    assert_int_equal(db_processes_in_parts(&somewhere, 0, p.most, count_part, &p), 1);
}

/* Shots in chunks of one; the first ones take long. */
enum { SHOTS = 200, SLOW = 3 };
typedef struct shop {
    int done[SHOTS];         /* by how many */
    size_t of[MOST_MEMBERS]; /* shots that a member has done */
    int slow[MOST_MEMBERS];  /* and of these, that take long */
} shop;

static void work_in_turns(void *user, const db_fit_team *team) {
    shop *const s = user;
    const db_fit_shots_options options = { .series = 0 };
    db_shots all = { .team = *team, .options = &options, .count = SHOTS, .chunk = 1 };
    assert_int_equal(db_context_create(&all.context), DB_OK);
    assert_int_equal(db_shares_create(&all), DB_OK);
    assert_int_equal(db_shares_begin(&all), DB_OK);
    for (long c = -1; (c = db_shares_next(&all, c)) >= 0;) {
        const int slow = c < SLOW;
        const struct timespec pause = { .tv_nsec = slow ? 100000000 : 1000000 };
        nanosleep(&pause, NULL);
        s->done[c]++;
        s->of[team->rank]++;
        s->slow[team->rank] += slow;
    }
    assert_int_equal(db_shares_agree(&all), DB_OK);
    size_t own = 0;
    for (size_t i = 0; i < SHOTS; i++) {
        own += (size_t)db_shots_own(&all, i);
        assert_in_range(db_shares_owner(&all, i), 0, team->size - 1);
    }
    assert_int_equal(own, s->of[team->rank]);
    /* the next pass has the same shots */
    for (long c = -1; (c = db_shares_next(&all, c)) >= 0;) own--;
    assert_int_equal(own, 0);
    /* one is cancelled: all know */
    if (team->rank == 1) assert_int_equal(db_shares_cancelled(&all, 1), 1);
    assert_int_equal(db_team_common_status(team, all.context, DB_OK), DB_OK);
    assert_int_equal(db_shares_cancelled(&all, 0), 1);
    db_shares_destroy(&all);
    db_context_destroy(&all.context);
}

/* Who has those that take long, gets few of the others. */
static void shots_that_take_long_hold_nobody_up(void **state) {
    (void)state;
    enum { MEMBERS = 4 };
    shop s = { .done = { 0 } };
    made_up_team_run(MEMBERS, 1, work_in_turns, &s, NULL);
    for (int i = 0; i < SHOTS; i++) assert_int_equal(s.done[i], 1);
    size_t with_slow = 0;
    for (int r = 0; r < MEMBERS; r++)
        if (s.slow[r] == SLOW) with_slow = s.of[r];
    assert_in_range(with_slow, SLOW, SHOTS / MEMBERS - 10);
}

/* More shots than one message holds. The last one is an outlier. */
enum { STILLS = 600, OUTLIER = STILLS - 1 };

static const char *name_still(void *user, size_t shot) {
    (void)user;
    (void)shot;
    return "a still";
}

static double number_of(size_t shot) { return 1 / (1 + (double)shot); }

static void exclude_outlier(void *user, const db_fit_team *team) {
    const db_fit_shots_options options = { .outlier_sigma = 8 };
    const db_fit_shot_source source = { .name = name_still };
    db_series_crystal crystal = { .count = STILLS };
    db_shots all = { .team = *team,
                     .options = &options,
                     .source = &source,
                     .count = STILLS,
                     .frames = { .crystals = 1, .crystal = &crystal },
                     .chunk = 1,
                     .parameters = 2 };
    (void)user;
    assert_int_equal(db_context_create(&all.context), DB_OK);
    assert_int_equal(db_shares_create(&all), DB_OK);
    assert_int_equal(db_shares_begin(&all), DB_OK);
    all.summary = calloc(STILLS, sizeof *all.summary);
    all.state = calloc(STILLS, sizeof *all.state);
    all.numbers = calloc(STILLS * db_shots_numbers(&all), sizeof *all.numbers);
    assert_true(all.summary && all.state && all.numbers);
    for (size_t i = 0; i < STILLS; i++) {
        if (!db_shots_own(&all, i)) continue;
        all.summary[i].used = 1;
        all.summary[i].target = i == OUTLIER ? 1000 : 1 + 0.01 * (double)(i % 7);
        db_shots_value(&all, i)[1] = number_of(i);
    }
    assert_int_equal(db_records_collect(&all), DB_OK);
    assert_int_equal(all.used, STILLS);
    assert_int_equal(db_shots_exclude_outliers(&all), DB_OK);
    assert_int_equal(all.used, STILLS - 1);
    for (size_t i = 0; i < STILLS; i++) {
        const db_shot_summary *const summary = &all.summary[i];
        if (team->rank > 0 && !db_shots_own(&all, i)) continue;
        assert_int_equal(summary->used, i != OUTLIER);
        assert_int_equal(*summary->reason != '\0', i == OUTLIER);
        assert_true(fabs(db_shots_value(&all, i)[1] - number_of(i)) < 1e-300);
    }
    free(all.numbers);
    free(all.state);
    free(all.summary);
    db_shares_destroy(&all);
    db_context_destroy(&all.context);
}

/* The first process excludes a shot; the process that works on it knows that, and why. */
static void excluded_shots_are_known_to_their_processes(void **state) {
    (void)state;
    enum { MEMBERS = 3 };
    made_up_team_run(MEMBERS, 0, exclude_outlier, NULL, NULL);
}

/* A task of an array has its part of the list, all tasks together have it all. Lattices of an image, be they apart in
 * the list, are of one task. */
static void tasks_share_a_list(void **state) {
    (void)state;
    const db_fit_shots_options options = { .series = 0 };
    for (size_t count = 1; count < 40; count++)
        for (size_t chunk = 1; chunk < 4; chunk++) {
            size_t image[40];
            db_shots all = { .options = &options, .count = count, .chunk = chunk };
            for (int lattices = 0; lattices < 2; lattices++) {
                int last = 1;
                for (size_t i = 0; i < count; i++) image[i] = i % 3 == 2 ? i / 2 : i;
                all.image = lattices ? image : NULL;
                assert_int_equal(db_shares_create(&all), DB_OK);
                for (size_t i = 0; i < count; i++) {
                    int tasks = 0, task = 0;
                    for (int k = 1; k <= 7; k++)
                        if (db_shares_is_of_task(&all, i, k, 7)) task = (tasks++, k);
                    assert_int_equal(tasks, 1);
                    if (!lattices) assert_true(task >= last);
                    if (lattices) assert_true(db_shares_is_of_task(&all, image[i], task, 7));
                    last = task;
                }
                db_shares_destroy(&all);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_for_any_team),
        cmocka_unit_test(few_vectors_travel),
        cmocka_unit_test(all_know_who_failed_first),
        cmocka_unit_test(a_broken_team_is_an_error),
        cmocka_unit_test(messages_may_be_longer_than_int),
        cmocka_unit_test(shots_that_take_long_hold_nobody_up),
        cmocka_unit_test(excluded_shots_are_known_to_their_processes),
        cmocka_unit_test(tasks_share_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
