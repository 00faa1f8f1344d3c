/* Joint intensities have the same bits for any number of threads and processes, and after an interruption. */

#include "support/unit_test.h"
#include "fit/damaged_state.h"
#include "fit/made_up_team.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"
#include "fit/stills.h"
#include "fit/linear/linearization.h"
#include "fit/shots/blocks.h"

#include <dualbragg/expert/fit_files.h>

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void threads_do_not_matter(void **state) {
    (void)state;
    db_fit_settings *const s = &stills.settings;
    const int passes = s->joint.passes;
    db_fit_shots_result *r[2];
    s->joint.passes = 3;
    for (int t = 0; t < 2; t++) {
        db_context_set_threads(stills.context, t + 1);
        r[t] = stills_run(FEW_STILLS);
    }
    db_context_set_threads(stills.context, 0);
    s->joint.passes = passes;
    const db_merged *const a = &r[0]->intensities->merged;
    const db_merged *const b = &r[1]->intensities->merged;
    assert_memory_equal(a->multiplicity, b->multiplicity, a->count * sizeof *a->multiplicity);
    for (size_t h = 0; h < a->count; h++) {
        if (!a->multiplicity[h]) continue;
        assert_true(a->intensity[h] == b->intensity[h] && a->sigma[h] == b->sigma[h]);
        assert_true(!(a->half[0][h] < b->half[0][h]) && !(a->half[0][h] > b->half[0][h]));
    }
    for (int t = 0; t < 2; t++) db_fit_shots_result_destroy(&r[t]);
}

enum { TEAM = 3 };
typedef struct team_run {
    size_t shots;
    const char *checkpoint; /* to go on from; NULL: none is kept */
    db_fit_shots_result *result[TEAM];
} team_run;

static void work(void *user, const db_fit_team *team) {
    static const int threads[TEAM] = { 1, 2, 1 };
    team_run *const t = user;
    const db_fit_shot_source source = { .count = t->shots, .load = still_load, .name = still_name };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_context *own;
    options.team = team;
    options.checkpoint = t->checkpoint;
    options.resume = t->checkpoint != NULL;
    if (db_context_create(&own) != DB_OK) return;
    db_context_set_threads(own, threads[team->rank]);
    if (db_fit_run(own, &source, &stills.settings, &options, &t->result[team->rank]) != DB_OK)
        print_message("%s\n", db_context_message(own));
    db_context_destroy(&own);
}

static void same_numbers(const double *a, const double *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_true((isnan(a[i]) && isnan(b[i])) || !(a[i] < b[i] || a[i] > b[i]));
}

/* All that files are made of. */
static void same_intensities(const db_fit_shots_result *a, const db_fit_shots_result *b) {
    const db_joint_intensities *const x = a->intensities;
    const db_joint_intensities *const y = b->intensities;
    const size_t n = x->merged.count, measured = x->observations.first[x->observations.shots];
    assert_int_equal(x->passes, y->passes);
    assert_true(x->wavelength > 0 && !(x->wavelength < y->wavelength));
    assert_memory_equal(x->merged.multiplicity, y->merged.multiplicity,
                        n * sizeof *x->merged.multiplicity);
    same_numbers(x->merged.intensity, y->merged.intensity, n);
    same_numbers(x->merged.sigma, y->merged.sigma, n);
    for (int k = 0; k < 2; k++) {
        same_numbers(x->merged.half[k], y->merged.half[k], n);
        same_numbers(x->merged.half_sigma[k], y->merged.half_sigma[k], n);
    }
    assert_memory_equal(x->observations.first, y->observations.first,
                        (x->observations.shots + 1) * sizeof *x->observations.first);
    assert_memory_equal(x->observations.list, y->observations.list,
                        measured * sizeof *x->observations.list);
    assert_int_equal(a->used, b->used);
    same_numbers(a->chi2_reduced, b->chi2_reduced, 2);
    for (size_t s = 0; s < a->shot_count; s++) {
        const db_fit_result *const shot = &a->shot[s];
        const db_fit_result *const other = &b->shot[s];
        assert_int_equal(shot->used, other->used);
        assert_string_equal(shot->reason, other->reason);
        assert_int_equal(x->indexing.way[s], y->indexing.way[s]);
        same_numbers(shot->experiment.crystal.orientation, other->experiment.crystal.orientation,
                     9);
        same_numbers(&shot->before.chi2_reduced, &other->before.chi2_reduced, 1);
        same_numbers(&shot->after.chi2_reduced, &other->after.chi2_reduced, 1);
        for (size_t i = 0; i < a->estimates.count; i++) {
            const db_fit_estimate *const e = &shot->estimates.list[i];
            same_numbers(&e->value, &other->estimates.list[i].value, 1);
            same_numbers(&e->error, &other->estimates.list[i].error, 1);
        }
    }
}

/* Unmerged intensities of the file are on the scale of the merged ones, whether scales are in the models or not. */
static void check_unmerged(const db_fit_shots_result *r) {
    enum { ISYM = 3, I = 5, SIGMA, FLAG = 9, COLUMNS, HEAD = 80 };
    const db_joint_intensities *const a = r->intensities;
    const char *const path = scratch_path("unmerged.mtz");
    double sum = 0, off = 0;
    float row[COLUMNS];
    const db_status status = db_fit_shots_write_unmerged(stills.context, path, r);
    if (status == DB_ERROR_UNSUPPORTED) return; /* without gemmi */
    assert_int_equal(status, DB_OK);
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, HEAD, SEEK_SET), 0);
    for (size_t left = a->observations.first[r->shot_count]; left > 0; left--) {
        if (fread(row, sizeof row, 1, file) != 1) break;
        const int hkl[3] = { (int)row[0], (int)row[1], (int)row[2] };
        uint32_t h = db_asu_number(&a->list, hkl);
        if (h == DB_NO_REFLECTION || row[FLAG] > 0 || row[I] < 20 * row[SIGMA]) continue;
        if ((int)row[ISYM] % 2 == 0) h = a->list.mate[h];
        if (a->merged.multiplicity[h] < 2) continue;
        sum += a->merged.intensity[h];
        off += fabs((double)row[I] - a->merged.intensity[h]);
    }
    fclose(file);
    print_message("unmerged intensities are %.3f of their size off\n", off / sum);
    assert_true(sum > 0 && off < 0.1 * sum);
}

/* Some shots are indexed another way, and one is of the other hand, so that what is found of shots has
 * to come to their processes. */
static void processes_do_not_matter(void **state) {
    (void)state;
    team_run t = { .shots = STILLS };
    size_t known = 0;
    stills_begin_other_indexing();
    stills.turned = 2;
    for (int passes = 0; passes < 4; passes += 3) {
        stills.settings.joint.passes = passes;
        db_context_set_threads(stills.context, 1);
        db_fit_shots_result *alone = stills_run(STILLS);
        db_context_set_threads(stills.context, 0);
        made_up_team_run(TEAM, 1, work, &t, NULL);
        for (int r = 0; r < TEAM; r++) assert_non_null(t.result[r]);
        same_intensities(alone, t.result[0]);
        assert_int_equal(alone->used, STILLS - 1);
        check_unmerged(alone);
        assert_true((alone->intensities->passes == 0) == (passes == 0));
        for (int r = 0; r < TEAM; r++) { /* the models that processes have */
            for (size_t s = 0; s < STILLS; s++) {
                const db_crystal *const crystal = &t.result[r]->shot[s].experiment.crystal;
                if (!(t.result[r]->shot[s].experiment.oversample > 0)) continue;
                known++;
                assert_memory_equal(crystal->orientation,
                                    alone->shot[s].experiment.crystal.orientation,
                                    sizeof crystal->orientation);
            }
            db_fit_shots_result_destroy(&t.result[r]);
        }
        db_fit_shots_result_destroy(&alone);
    }
    assert_int_equal(known, 2 * (STILLS - 1));
    stills_end_other_indexing();
}

/* A run that is cancelled after some joint passes. All threads ask whether it is over. */
typedef struct patience {
    atomic_int passes;
    int most;
} patience;

static void count_pass(void *user, const db_fit_shots_event *event) {
    patience *const p = user;
    p->passes += event->kind == DB_SHOTS_EVALUATED;
}

static int is_over(void *user) {
    const patience *const p = user;
    return p->passes >= p->most;
}

/* The distance is refined for all shots, near a value beside the right one. */
static void share_distance(void) {
    db_fit_parameter *p;
    refine_parameter(&stills.settings, DB_DISTANCE, -1);
    p = &stills.settings.parameters[stills.settings.parameter_count - 1];
    p->prior[0] = 45.02;
    p->prior[1] = 0.005;
    for (size_t s = 0; s + 1 < stills.settings.stage_count; s++)
        db_fit_parameter_set_stage(p, s, 0);
}

/* The models of a run that was cancelled are those of its last pass: their scales are beside each other as they are in
 * truth. */
static void check_scales(const db_fit_shots_result *r) {
    size_t at = 0, first = 0;
    double off[STILLS];
    while (r->estimates.list[at].parameter != DB_SCALE) at++;
    for (size_t s = 0; s < STILLS; s++)
        off[s] = log(r->shot[s].estimates.list[at].value) - 0.6 * (still_drawn(s, 6) - 0.5);
    for (size_t s = 1; s < STILLS; s++)
        if (r->shot[s].used && !(fabs(off[s] - off[first]) < 0.15))
            fail_msg("shot %zu: its scale is %.2g off", s, off[s] - off[first]);
}

/* After each of the passes; goes on by another number of processes. */
static void interrupt(size_t damages, size_t forged) {
    char path[256];
    db_fit_shots_result *r, *whole;
    stills_begin_other_indexing();
    stills.turned = 2;
    db_structure_factors factors = stills_known_amplitudes(7, 5);
    stills.settings.joint.passes = 3;
    stills.settings.joint.reference = &factors; /* what intensities are held to goes on, too */
    stills.settings.joint.reference_restraint = 1;
    share_distance();
    whole = stills_run(STILLS);
    snprintf(path, sizeof path, "%s", scratch_path("joint.checkpoint"));
    for (int most = 1; most < whole->intensities->passes; most++) {
        const db_fit_shot_source source = { .count = STILLS,
                                            .load = still_load,
                                            .name = still_name };
        db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
        patience p = { 0, most };
        team_run t = { .shots = STILLS, .checkpoint = path };
        options.checkpoint = path;
        options.progress = count_pass;
        options.cancelled = is_over;
        options.user = &p;
        assert_int_equal(db_fit_run(stills.context, &source, &stills.settings, &options, &r),
                         DB_ERROR_CANCELLED);
        assert_int_equal(p.passes, most);
        check_scales(r);
        db_fit_shots_result_destroy(&r);
        if (most == 1)
            go_on_from_damaged_states(stills.context, &source, &stills.settings, &options, damages,
                                      forged);
        made_up_team_run(most % 2 ? TEAM : 1, 1, work, &t, NULL);
        assert_non_null(t.result[0]);
        same_intensities(whole, t.result[0]);
        assert_int_equal(whole->history_count, t.result[0]->history_count);
        assert_true(t.result[0]->shot_evaluations < whole->shot_evaluations);
        for (int k = 0; k < TEAM; k++) db_fit_shots_result_destroy(&t.result[k]);
        (void)db_fit_checkpoint_remove(NULL, path);
    }
    db_fit_shots_result_destroy(&whole);
    stills.settings.joint.reference = NULL;
    stills.settings.joint.reference_restraint = (double)NAN;
    stills.settings.parameter_count--;
    free(factors.amplitude);
    stills_end_other_indexing();
}

/* A file that is kept of a run, whose blocks can be changed. */
typedef struct kept_file {
    char path[300];
    char *bytes;
    size_t size;
} kept_file;

static void read_file(kept_file *f) {
    FILE *const in = fopen(f->path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    f->size = (size_t)ftell(in);
    rewind(in);
    f->bytes = malloc(f->size);
    assert_int_equal(fread(f->bytes, 1, f->size, in), f->size);
    fclose(in);
}

static void write_file(const kept_file *f) {
    FILE *const out = fopen(f->path, "wb");
    assert_int_equal(fwrite(f->bytes, 1, f->size, out), f->size);
    fclose(out);
}

/* The last block of that name. */
static db_pieces last_block(const kept_file *f, const char *name, db_block_head *head) {
    db_pieces found = { .bytes = NULL };
    db_block_head at;
    for (size_t from = 0; from < f->size; from += found.count) {
        assert_true(db_block_head_in(f->bytes + from, f->size - from, &at));
        found = (db_pieces){ f->bytes + from, sizeof at + (size_t)at.bytes, 0, 0, 0 };
        if (strcmp(at.name, name) == 0) *head = at;
    }
    assert_string_equal(at.name, name);
    return found;
}

/* The run goes on from a file whose bytes at a place are others, and whose digest is right: a clear error. */
static void refuse(kept_file *f, const char *block, void *place, const void *to, size_t size) {
    const db_fit_shot_source source = { .count = FEW_STILLS,
                                        .load = still_load,
                                        .name = still_name };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_fit_shots_result *r;
    db_block_head head;
    char kept[64];
    db_pieces whole = last_block(f, block, &head);
    assert_true((char *)place > whole.bytes && (char *)place + size <= whole.bytes + whole.count);
    memcpy(kept, place, size);
    memcpy(place, to, size);
    db_block_end(&whole, block, head);
    write_file(f);
    options.checkpoint = scratch_path("damaged.checkpoint");
    options.resume = 1;
    assert_int_equal(db_fit_run(stills.context, &source, &stills.settings, &options, &r),
                     DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(stills.context), "is damaged"));
    memcpy(place, kept, size);
    db_block_end(&whole, block, head);
    write_file(f);
}

/* What a file says of places in lists is not believed. */
static void damaged_states_are_refused(void **state) {
    (void)state;
    enum { LOCAL = 5, SHARED = 1 };
    const db_fit_shot_source source = { .count = FEW_STILLS,
                                        .load = still_load,
                                        .name = still_name };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    patience p = { 0, 1 };
    kept_file common, part;
    db_fit_shots_result *r;
    db_block_head head;
    share_distance();
    stills.settings.joint.reindex = 0;
    snprintf(common.path, sizeof common.path, "%s", scratch_path("damaged.checkpoint"));
    snprintf(part.path, sizeof part.path, "%s", scratch_path("damaged.checkpoint.2.0"));
    options.checkpoint = common.path;
    options.progress = count_pass;
    options.cancelled = is_over;
    options.user = &p;
    assert_int_equal(db_fit_run(stills.context, &source, &stills.settings, &options, &r),
                     DB_ERROR_CANCELLED);
    read_file(&common);
    read_file(&part);
    const db_pieces shot = last_block(&part, "shot", &head);
    const size_t boxes = r->shot[head.shot].after.shoeboxes,
                 sizes[2] = { db_linearization_size(boxes, LOCAL, SHARED, LOCAL + SHARED),
                              db_reduced_size(boxes, LOCAL, SHARED, SHARED) };
    char *const at[2] = { shot.bytes + shot.count - sizes[0] - sizes[1],
                          shot.bytes + shot.count - sizes[1] };
    char *const layout[2] = { malloc(sizes[0]), malloc(sizes[1]) };
    const db_linearization linearization =
        db_linearization_in(boxes, LOCAL, SHARED, LOCAL + SHARED, layout[0]);
    const db_reduced_equations record = db_reduced_in(boxes, LOCAL, SHARED, SHARED, layout[1]);
    const uint32_t far = 0x7ffffff0;
    const uint16_t beyond = LOCAL + SHARED;
    const int kinds = 1 << 20, passes = -1000;
    refuse(&part, "shot", at[0] + ((char *)&linearization.reflection[boxes / 2] - layout[0]), &far,
           sizeof far);
    refuse(&part, "shot", at[0] + ((char *)&linearization.place[boxes / 2] - layout[0]), &beyond,
           sizeof beyond);
    refuse(&part, "shot", at[1] + ((char *)&record.reflection[boxes / 2] - layout[1]), &far,
           sizeof far);
    const db_pieces stage = last_block(&common, "stage:intensity", &head);
    refuse(&common, "stage:intensity",
           stage.bytes + stage.count - sizeof(db_reference_agreement) - sizeof(db_crystal_kinds),
           &kinds, sizeof kinds);
    refuse(&common, "stage:intensity", stage.bytes + sizeof head, &passes, sizeof passes);
    for (int k = 0; k < 2; k++) free(layout[k]);
    free(common.bytes);
    free(part.bytes);
    db_fit_shots_result_destroy(&r);
    (void)db_fit_checkpoint_remove(NULL, common.path);
    stills.settings.joint.reindex = 1;
    stills.settings.parameter_count--;
}

static void interrupted_runs_go_on(void **state) {
    (void)state;
    interrupt(6, 1);
}

static void damaged_states_are_told_slow(void **state) {
    (void)state;
    interrupt(20, 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_states_are_refused),   cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(processes_do_not_matter),      cmocka_unit_test(interrupted_runs_go_on),
        cmocka_unit_test(damaged_states_are_told_slow),
    };
    return cmocka_run_group_tests(tests, stills_set_up, stills_tear_down);
}
