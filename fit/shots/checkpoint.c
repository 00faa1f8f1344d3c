/* State of a refinement in files: everything common to all shots, and names of the files with shots. */
#include "fit/shots/checkpoint.h"

#include "base/atomic_file.h"
#include "base/context_internal.h"
#include "base/file_content.h"
#include "base/path.h"
#include "fit/lists/identity.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Blocks of the file, in this order; then the block of a stage, by its own name. Another number: another format. Files of
 * tests/fuzz/corpus have this number, too, or none of them is read beyond it. */
static const char of_head[] = DB_CHECKPOINT_BEGINS "10", of_configuration[] = "configuration",
                  of_state[] = "state";
static const db_block_head of_no_shot = { .shot = -1 };
enum { BLOCKS = 4, MOST_GENERATIONS = 1 << 30, FORMAT_AT = sizeof DB_CHECKPOINT_BEGINS - 1 };

/* Identity of the refinement of a file, beside its configuration. */
typedef struct head {
    char version[40];
    uint64_t shots, parameters, stages;
    int32_t task, tasks;
} head;

static head head_of(const db_shots *all) {
    const db_fit_shots_options *const options = all->options;
    head h = { .shots = all->count,
               .parameters = all->parameters,
               .stages = all->settings.stage_count };
    snprintf(h.version, sizeof h.version, "%s", db_version());
    if (options->array_tasks > 0) {
        h.task = options->array_task;
        h.tasks = options->array_tasks;
    }
    return h;
}

/* Moves a set of files that were begun together; by their name in the folder of the file. */
static void move_set(db_part_set *set, db_pieces *p) {
    db_part_set own = { .generation = set->generation, .count = set->count, .whole = set->whole };
    snprintf(own.of, sizeof own.of, "%s", db_file_name(set->of));
    db_pieces_move(p, &own, sizeof own);
    if (p->reads) *set = own;
}

static db_status move_sets(db_shots *all, const char *path, db_pieces *p) {
    db_checkpoint *const c = all->checkpoint;
    size_t sets = c->sets;
    db_pieces_move(p, &sets, sizeof sets);
    for (size_t i = 0; i < sets && !p->failed; i++) {
        db_part_set set = { .count = 0 };
        move_set(p->reads ? &set : &c->set[i], p);
        if (!p->reads || p->failed) continue;
        if (!memchr(set.of, 0, sizeof set.of) || !*set.of || strchr(set.of, '/') ||
            set.generation < 1 || set.generation > MOST_GENERATIONS || set.count < 1) {
            p->failed = 1;
            continue;
        }
        DB_TRY(db_parts_add(all, path, &set));
    }
    return DB_OK;
}

/* Moves an entry of the history; without the pointer to its values, which follow. */
static void move_entry(const db_shots *all, db_fit_history *entry, db_pieces *p) {
    db_pieces_move(p, &entry->stage, sizeof entry->stage);
    db_pieces_move(p, &entry->evaluation, sizeof entry->evaluation);
    db_pieces_move(p, &entry->target, sizeof entry->target);
    db_pieces_move(p, &entry->gradient_norm, sizeof entry->gradient_norm);
    db_pieces_move(p, entry->value, all->parameters * sizeof *entry->value);
}

static db_status move_history(db_shots *all, size_t count, db_pieces *p) {
    db_pieces_move(p, &count, sizeof count);
    if (p->reads && count > (p->room - p->count) / sizeof(double)) p->failed = 1;
    if (p->reads && !p->failed) DB_TRY(db_fit_course_reserve(all->context, &all->course, count));
    for (size_t i = 0; i < count && !p->failed; i++) {
        db_fit_history *const entry = p->reads
                                          ? db_fit_course_add(&all->course, &(db_fit_history){ 0 })
                                          : &all->course.history[i];
        move_entry(all, entry, p);
        if (entry->stage < 0 || entry->stage >= (int)all->settings.stage_count) p->failed = 1;
    }
    return DB_OK;
}

/* *stage: 1 + the interrupted stage; 0: none. */
static db_status move_state(db_shots *all, const char *path, double *common, size_t history,
                            int *stage, db_pieces *p) {
    db_pieces_move(p, common, all->parameters * sizeof *common);
    db_pieces_move(p, all->common.at_bound, all->parameters * sizeof *all->common.at_bound);
    db_pieces_move(p, stage, sizeof *stage);
    DB_TRY(move_sets(all, path, p));
    return move_history(all, history, p);
}

db_status db_checkpoint_move_log(db_shots *all, int stage, size_t unknowns, db_search_log *log,
                                 db_pieces *p) {
    const size_t row = db_search_log_width(unknowns) * sizeof *log->row;
    db_pieces_move(p, &log->stage, sizeof log->stage);
    db_pieces_move(p, &log->evaluations, sizeof log->evaluations);
    db_pieces_move(p, &log->started, sizeof log->started);
    db_pieces_move(p, &log->degrees, sizeof log->degrees);
    db_pieces_move(p, &log->unknowns, sizeof log->unknowns);
    db_pieces_move(p, &log->count, sizeof log->count);
    if (p->reads) {
        const int most = 2 * all->settings.stages[stage].max_evaluations;
        p->failed |= log->stage != stage || log->unknowns != unknowns || log->evaluations < 0 ||
                     log->evaluations > most || log->count > (p->room - p->count) / row;
        if (p->failed) return DB_OK;
        DB_TRY(db_search_log_reserve(all->context, log, unknowns, log->count));
    }
    db_pieces_move(p, log->from, unknowns * sizeof *log->from);
    db_pieces_move(p, log->row, log->count * row);
    log->path = all->options->checkpoint;
    return DB_OK;
}

/* Writes the identity of this refinement: two blocks. */
static void compose_identity(const db_shots *all, db_pieces block[2]) {
    head own = head_of(all);
    db_block_begin(&block[0]);
    db_pieces_move(&block[0], &own, sizeof own);
    db_block_end(&block[0], of_head, of_no_shot);
    db_block_begin(&block[1]);
    db_pieces_move(&block[1], all->checkpoint->identity, strlen(all->checkpoint->identity) + 1);
    db_block_end(&block[1], of_configuration, of_no_shot);
}

static db_status compose(db_shots *all, const db_stage_state *state, db_pieces block[BLOCKS]) {
    int stage = state ? state->stage + 1 : 0;
    compose_identity(all, block);
    db_block_begin(&block[2]);
    DB_TRY(move_state(all, NULL, all->common.value, state ? state->history : all->course.count,
                      &stage, &block[2]));
    db_block_end(&block[2], of_state, of_no_shot);
    if (!state) return DB_OK;
    db_block_begin(&block[3]);
    DB_TRY(state->common(state->user, &block[3]));
    db_block_end(&block[3], state->name, of_no_shot);
    return DB_OK;
}

static db_status write_state(db_shots *all, const db_stage_state *state) {
    db_pieces block[BLOCKS] = { { .bytes = NULL } };
    db_file_part part[BLOCKS];
    const size_t blocks = state ? BLOCKS : BLOCKS - 1;
    db_status status = compose(all, state, block);
    for (size_t i = 0; i < blocks; i++) {
        part[i] = (db_file_part){ block[i].bytes, block[i].count };
        if (status == DB_OK && block[i].failed)
            status = db_fail_memory(all->context, "the checkpoint");
    }
    if (status == DB_OK)
        status = db_write_atomically(all->context, all->options->checkpoint, part, blocks);
    for (size_t i = 0; i < BLOCKS; i++) free(block[i].bytes);
    return status;
}

/* Makes the text that identifies this refinement. */
static db_status identify_run(db_shots *all) {
    db_fit_config *const config = malloc(sizeof *config);
    if (!config) return db_fail_memory(all->context, "the configuration of the shots");
    if (all->source->configuration)
        *config = *all->source->configuration;
    else
        db_fit_config_init(config);
    config->settings = all->settings; /* borrows its lists */
    const db_status status = db_identity_text(all->context, config, &all->checkpoint->identity);
    free(config);
    return status;
}

/* Makes the digest of the run in its parts, the same for all tasks of an array. */
static db_status digest_run(db_shots *all) {
    db_pieces both = { .bytes = NULL };
    head own = head_of(all);
    own.task = own.tasks = 0;
    db_pieces_move(&both, &own, sizeof own);
    db_pieces_move(&both, all->checkpoint->identity, strlen(all->checkpoint->identity));
    if (!both.failed) db_md5_base64(both.bytes, both.count, all->checkpoint->run);
    free(both.bytes);
    return db_need_memory(all->context, !both.failed, "what a checkpoint is of");
}

db_status db_checkpoint_create(db_shots *all) {
    if (!all->options->checkpoint) return DB_OK;
    db_checkpoint *const c = all->checkpoint = calloc(1, sizeof *c);
    if (!c) return db_fail_memory(all->context, "the checkpoint");
    c->file = -1;
    DB_TRY(identify_run(all));
    return digest_run(all);
}

void db_checkpoint_destroy(db_shots *all) {
    if (!all->checkpoint) return;
    db_parts_close(all->checkpoint);
    free(all->checkpoint->identity);
    free(all->checkpoint->set);
    free(all->checkpoint->place);
    free(all->checkpoint->state);
    free(all->checkpoint);
    all->checkpoint = NULL;
}

/* When each process has its own parts, rank 0 names all of them in the common file. */
static db_status agree_and_write(db_shots *all, db_status own, const db_stage_state *state) {
    db_status status = db_team_common_status(&all->team, all->context, own);
    if (status == DB_OK && all->team.rank == 0) status = write_state(all, state);
    return db_team_common_status(&all->team, all->context, status);
}

db_status db_checkpoint_begin(db_shots *all) {
    if (!all->checkpoint || all->checkpoint->file >= 0) return DB_OK;
    return agree_and_write(all, db_parts_begin(all, 0, NULL), NULL);
}

/* Removes earlier files when all shots have been written again. */
db_status db_checkpoint_keep(db_shots *all, const db_stage_state *state) {
    db_checkpoint *const c = all->checkpoint;
    if (!c) return DB_OK;
    db_part_set *const old = c->set;
    const size_t sets = c->sets;
    c->set = NULL;
    c->sets = 0;
    const db_status status = agree_and_write(all, db_parts_begin(all, 1, state), state);
    if (status == DB_OK) db_parts_remove(all, old, sets);
    free(old);
    return status;
}

int db_checkpoint_is_in(const db_shots *all, int stage) {
    return all->checkpoint && all->checkpoint->stage == stage + 1;
}

static db_status take_common(db_shots *all, const db_stage_state *state) {
    const char *const path = all->options->checkpoint;
    db_pieces pieces;
    if (!db_block_open(all->checkpoint->state, all->checkpoint->state_size, state->name, &pieces))
        return db_block_is_damaged(all->context, path);
    DB_TRY(state->common(state->user, &pieces));
    return pieces.failed || pieces.count != pieces.room ? db_block_is_damaged(all->context, path)
                                                        : DB_OK;
}

db_status db_checkpoint_take_up(db_shots *all, const db_stage_state *state) {
    db_status status = take_common(all, state);
    for (size_t i = 0; i < all->count && status == DB_OK; i++)
        if (all->summary[i].used && db_shots_own(all, i))
            status = db_parts_take_state(all, i, state);
    all->checkpoint->stage = 0; /* from now on the stage has this state */
    free(all->checkpoint->state);
    all->checkpoint->state = NULL;
    return db_workers_common_status(all, status);
}

/* A file being read block by block. */
typedef struct reading {
    db_shots *all;
    const char *path;
    db_file_content content;
    size_t at;
} reading;

static db_status next_block(reading *r, const char *name, db_pieces *pieces) {
    db_block_head found;
    char *const block = r->content.bytes + r->at;
    if (!db_block_head_in(block, r->content.size - r->at, &found))
        return db_fail(r->all->context, DB_ERROR_INPUT, "%s: ends too early", r->path);
    r->at += sizeof found + (size_t)found.bytes;
    return db_block_open(block, sizeof found + (size_t)found.bytes, name, pieces)
               ? DB_OK
               : db_block_is_damaged(r->all->context, r->path);
}

/* Is it the state of this task of an array, or of a run of all shots (tasks 0)? */
static db_status check_task(const reading *r, const head *found, int task, int tasks) {
    if (found->tasks == tasks && (tasks == 0 || found->task == task)) return DB_OK;
    if (tasks == 0)
        return db_fail(r->all->context, DB_ERROR_INPUT,
                       "%s: belongs to task %d of an array of %d; expected the checkpoint of a run "
                       "of all shots",
                       r->path, found->task, found->tasks);
    return db_fail(r->all->context, DB_ERROR_INPUT,
                   "%s: expected task %d of an array of %d, found task %d of %d", r->path, task,
                   tasks, found->task, found->tasks);
}

static db_status check_configuration(const reading *r, const char *text, size_t size) {
    const db_shots *const all = r->all;
    char differences[DB_DIFFERENCES_SIZE];
    if (size == 0 || text[size - 1]) return db_block_is_damaged(all->context, r->path);
    if (strcmp(text, all->checkpoint->identity) == 0) return DB_OK;
    const int told = db_identity_differences(all->checkpoint->identity, text, differences);
    return db_fail(all->context, DB_ERROR_INPUT, "%s: is of another refinement%s%s", r->path,
                   told ? ": " : "", told ? differences : "");
}

static db_status check_head(reading *r, head *found) {
    const db_shots *const all = r->all;
    const head own = head_of(all);
    db_block_head first;
    db_pieces pieces;
    if (!db_block_head_in(r->content.bytes, r->content.size, &first))
        snprintf(first.name, sizeof first.name, "%.10s", r->content.bytes);
    if (strcmp(first.name, of_head) != 0)
        return db_fail(all->context, DB_ERROR_INPUT, "%s: expected a %s, found %s", r->path,
                       of_head,
                       *first.name == '{' || strncmp(first.name, of_head, FORMAT_AT) == 0
                           ? "a checkpoint of another version of dualbragg"
                           : "something else");
    DB_TRY(next_block(r, of_head, &pieces));
    db_pieces_move(&pieces, found, sizeof *found);
    if (pieces.failed || !memchr(found->version, 0, sizeof found->version))
        return db_block_is_damaged(all->context, r->path);
    if (strcmp(found->version, own.version) != 0)
        return db_fail(all->context, DB_ERROR_INPUT,
                       "%s: was written by version %s of dualbragg, this is %s", r->path,
                       found->version, own.version);
    DB_TRY(next_block(r, of_configuration, &pieces));
    DB_TRY(check_configuration(r, pieces.bytes + pieces.count, pieces.room - pieces.count));
    if (found->shots != own.shots)
        return db_fail(all->context, DB_ERROR_INPUT,
                       "%s: is of another refinement: it has %llu shots, here are %zu", r->path,
                       (unsigned long long)found->shots, all->count);
    return found->parameters == own.parameters && found->stages == own.stages
               ? DB_OK
               : db_block_is_damaged(all->context, r->path);
}

/* Keeps the state of the interrupted stage until it begins. */
static db_status keep_stage(const reading *r, int stage) {
    db_shots *const all = r->all;
    const char *const block = r->content.bytes + r->at;
    const size_t size = r->content.size - r->at;
    db_block_head found;
    if (stage == 0) return DB_OK;
    if (stage < 0 || stage > (int)all->settings.stage_count)
        return db_block_is_damaged(all->context, r->path);
    if (!db_block_head_in(block, size, &found))
        return db_fail(all->context, DB_ERROR_INPUT, "%s: ends too early", r->path);
    all->checkpoint->stage = stage;
    all->checkpoint->state = malloc(size);
    if (!all->checkpoint->state) return db_fail_memory(all->context, "the checkpoint");
    memcpy(all->checkpoint->state, block, size);
    all->checkpoint->state_size = size;
    return DB_OK;
}

/* Checks that a task of an array began with the common values of all shots. */
static db_status check_common(const reading *r, int task, const double *found) {
    const db_shots *const all = r->all;
    char name[DB_FIT_NAME_SIZE];
    for (size_t i = 0; i < all->parameters; i++)
        if (all->shared[i] && found[i] != all->common.value[i])
            return db_fail(
                all->context, DB_ERROR_INPUT,
                "%s: task %d began with another %s (%.9g, here %.9g): the first shot has changed",
                r->path, task,
                db_fit_quantity_name(&all->settings.panel_groups,
                                     db_fit_quantity_of(&all->settings.parameters[i]), name),
                found[i], all->common.value[i]);
    return DB_OK;
}

/* Reads the state of this run, or of a task of an array. */
static db_status read_state(reading *r, int task) {
    db_shots *const all = r->all;
    const db_fit_shots_options *const o = all->options;
    double of_task[DB_FIT_MOST_PARAMETERS] = { 0 };
    int stage = 0;
    head found;
    db_pieces pieces;
    DB_TRY(check_head(r, &found));
    DB_TRY(check_task(r, &found, task ? task : o->array_task,
                      task ? (int)o->merge_count : o->array_tasks));
    DB_TRY(next_block(r, of_state, &pieces));
    DB_TRY(move_state(all, r->path, task ? of_task : all->common.value, 0, &stage, &pieces));
    if (pieces.failed) return db_block_is_damaged(all->context, r->path);
    return task ? check_common(r, task, of_task) : keep_stage(r, stage);
}

static db_status read_file(db_shots *all, const char *path, int task) {
    reading r = { .all = all, .path = path };
    DB_TRY(db_file_content_read(all->context, path, &r.content));
    const db_status status = read_state(&r, task);
    db_file_content_clear(&r.content);
    return status;
}

static db_status read_tasks(db_shots *all) {
    const db_fit_shots_options *const options = all->options;
    for (size_t t = 0; t < options->merge_count; t++)
        DB_TRY(read_file(all, options->merge[t], (int)t + 1));
    DB_TRY(db_parts_index(all));
    for (size_t t = 0; t < options->merge_count; t++)
        DB_TRY(db_parts_check_task(all, options->merge[t], (int)t + 1, (int)options->merge_count));
    return DB_OK;
}

db_status db_checkpoint_resume(db_shots *all, int *found) {
    const char *const path = all->options->checkpoint;
    db_status status = DB_OK;
    *found = 0;
    if (!all->checkpoint) return DB_OK;
    if (all->options->resume && access(path, F_OK) == 0) {
        status = read_file(all, path, 0);
        if (status == DB_OK) status = db_parts_index(all);
        *found = status == DB_OK;
        return status;
    }
    if (all->team.rank == 0) status = db_fit_checkpoint_remove(all->context, path);
    if (status == DB_OK && all->options->merge_count) {
        status = read_tasks(all);
        *found = status == DB_OK;
    }
    return status;
}
