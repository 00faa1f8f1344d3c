/* The state of a refinement in files: what is common to all shots, and which files have the shots. */
#include "fit/shots/checkpoint.h"

#include "base/context_internal.h"
#include "base/md5.h"
#include "base/path.h"
#include "fit/report/json_document.h"
#include "fit/shots/checkpoint_parts.h"
#include "fit/lists/identity.h"
#include "fit/shots/team.h"
#include "base/json_reader.h"
#include "fit/config/quantity.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT = 3 };

size_t db_joint_point_size(const db_arrow_order *order) {
    return order->local + db_arrow_tail_size(order);
}

static const char *parameter_name(const db_shots *all, size_t i, char name[DB_FIT_NAME_SIZE]) {
    return db_fit_quantity_name(&all->settings.panel_groups,
                                db_fit_quantity_of(&all->settings.parameters[i]), name);
}

/* What identifies the refinement that a file belongs to. */
static void set_identity(db_document *d, const db_shots *all) {
    json_t *const parameters = json_array();
    json_t *const stages = json_array();
    char name[DB_FIT_NAME_SIZE];
    for (size_t i = 0; i < all->parameters; i++)
        add(d, parameters, json_string(parameter_name(all, i, name)));
    for (size_t s = 0; s < all->settings.stage_count; s++)
        add(d, stages, json_string(all->settings.stages[s].name));
    set(d, d->root, "dualbragg_checkpoint", json_integer(FORMAT));
    set(d, d->root, "version", json_string(db_version()));
    set(d, d->root, "configuration", db_document_text(all->identity));
    set(d, d->root, "parameters", parameters);
    set(d, d->root, "stages", stages);
    set(d, d->root, "count", json_integer((json_int_t)all->count));
}

static json_t *history_array(db_document *d, const db_shots *all, size_t count) {
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++) {
        const db_fit_history *const entry = &all->course.history[i];
        json_t *const object = json_object();
        set(d, object, "stage", json_integer(entry->stage));
        set(d, object, "evaluation", json_integer(entry->evaluation));
        set(d, object, "target", number(entry->target));
        set(d, object, "gradient_norm", number(entry->gradient_norm));
        set(d, object, "values", numbers(d, entry->value, all->parameters)); /* local ones: null */
        add(d, array, object);
    }
    return array;
}

static json_t *joint_object(db_document *d, const db_search_log *log) {
    json_t *const object = json_object();
    json_t *const evaluations = json_array();
    set(d, object, "stage", json_integer(log->stage));
    set(d, object, "evaluations", json_integer(log->evaluations));
    set(d, object, "started", json_boolean(log->started));
    set(d, object, "degrees", number(log->degrees));
    set(d, object, "from", numbers(d, log->from, log->unknowns));
    const size_t width = db_search_log_width(log->unknowns);
    for (size_t i = 0; i < log->count; i++)
        add(d, evaluations, numbers(d, log->row + i * width, width));
    set(d, object, "search", evaluations);
    return object;
}

/* The files that have the shots. */
static json_t *parts_array(db_document *d, const db_checkpoint *c) {
    json_t *const array = json_array();
    for (size_t i = 0; i < c->sets; i++) {
        json_t *const object = json_object();
        set(d, object, "of", db_document_text(db_file_name(c->set[i].of)));
        set(d, object, "generation", json_integer(c->set[i].generation));
        set(d, object, "count", json_integer(c->set[i].count));
        add(d, array, object);
    }
    return array;
}

static void compose(db_document *d, const db_shots *all, const db_search_log *log) {
    const db_fit_shots_options *const options = all->options;
    set_identity(d, all);
    if (options->array_tasks > 0)
        set(d, d->root, "task",
            db_checkpoint_whole_numbers(d, (int[]){ options->array_task, options->array_tasks },
                                        2));
    set(d, d->root, "common", numbers(d, all->common, all->parameters));
    set(d, d->root, "at_bound",
        db_checkpoint_whole_numbers(d, all->common_at_bound, all->parameters));
    set(d, d->root, "history", history_array(d, all, log ? log->history : all->course.count));
    if (log) set(d, d->root, "joint", joint_object(d, log));
    if (all->checkpoint->records)
        set(d, d->root, "records", json_integer(all->checkpoint->records - 1));
    set(d, d->root, "parts", parts_array(d, all->checkpoint));
}

static db_status write_state(const db_shots *all, const db_search_log *log) {
    const char *const path = all->options->checkpoint;
    db_document d = db_document_begin(&all->settings.panel_groups);
    compose(&d, all, log);
    const db_status status = db_json_write(all->context, path, d.incomplete ? NULL : d.root,
                                           JSON_COMPACT | JSON_REAL_PRECISION(17), d.failures);
    json_decref(d.root);
    return status;
}

/* The digest by which parts know their run. */
static db_status digest(db_shots *all) {
    db_document d = db_document_begin(&all->settings.panel_groups);
    set_identity(&d, all);
    char *const text = d.incomplete ? NULL : json_dumps(d.root, JSON_COMPACT);
    if (text) db_md5_base64(text, strlen(text), all->checkpoint->run);
    free(text);
    json_decref(d.root);
    return text ? DB_OK : db_fail_memory(all->context, "what a checkpoint is of");
}

db_status db_checkpoint_create(db_shots *all) {
    if (!all->options->checkpoint) return DB_OK;
    db_checkpoint *const c = all->checkpoint = calloc(1, sizeof *c);
    if (!c) return db_fail_memory(all->context, "the checkpoint");
    c->file = -1;
    return digest(all);
}

void db_checkpoint_destroy(db_shots *all) {
    if (!all->checkpoint) return;
    db_parts_close(all->checkpoint);
    free(all->checkpoint->set);
    free(all->checkpoint->place);
    free(all->checkpoint);
    all->checkpoint = NULL;
}

/* Rank 0 names the parts in the file of all, once each process has its own. */
static db_status agree_and_write(db_shots *all, db_status own, const db_search_log *log) {
    db_status status = db_team_common_status(&all->team, all->context, own);
    if (status == DB_OK && all->team.rank == 0) status = write_state(all, log);
    return db_team_common_status(&all->team, all->context, status);
}

db_status db_checkpoint_begin(db_shots *all) {
    if (!all->checkpoint || all->checkpoint->file >= 0) return DB_OK;
    return agree_and_write(all, db_parts_begin(all, 0, 0), NULL);
}

/* Numbers of the best points of a joint stage; 0: there are none. */
static size_t point_size(const db_shots *all, const db_search_log *log) {
    if (!log) return 0;
    const db_arrow_order order = db_arrow_order_make(&all->settings, log->stage, all->shared);
    return db_joint_point_size(&order);
}

/* A file of records that each process writes beside its part; write NULL: none. */
typedef struct addition {
    db_checkpoint_writer write;
    void *user;
} addition;

static db_status begin_whole(db_shots *all, size_t point, const addition *more) {
    char path[DB_PART_PATH_SIZE];
    DB_TRY(db_parts_begin(all, 1, point));
    if (!more->write) return DB_OK;
    db_parts_records_path(all->checkpoint, all->team.rank, path);
    return more->write(more->user, path);
}

/* All shots anew; what has been written before is removed when that is done. */
static db_status replace(db_shots *all, size_t point, const db_search_log *log,
                         const addition *more) {
    db_part_set *const old = all->checkpoint->set;
    const size_t sets = all->checkpoint->sets;
    all->checkpoint->set = NULL;
    all->checkpoint->sets = 0;
    const db_status status = agree_and_write(all, begin_whole(all, point, more), log);
    if (status == DB_OK) db_parts_remove(all, old, sets);
    free(old);
    return status;
}

db_status db_checkpoint_commit(db_shots *all, const db_search_log *log) {
    if (!all->checkpoint) return DB_OK;
    all->checkpoint->records = 0;
    return replace(all, point_size(all, log), log, &(addition){ .write = NULL });
}

db_status db_checkpoint_commit_records(db_shots *all, int stage, db_checkpoint_writer write,
                                       void *user) {
    if (!all->checkpoint) return DB_OK;
    const db_arrow_order order = db_arrow_order_make(&all->settings, stage, all->shared);
    all->checkpoint->records = stage + 1;
    return replace(all, order.local, NULL, &(addition){ write, user });
}

db_status db_checkpoint_keep(db_shots *all) { return db_checkpoint_commit(all, NULL); }

/* Are the names in the file those of the refinement? */
static db_status check_names(const db_json *root, const char *key, size_t count,
                             const char *(*name)(const db_shots *all, size_t i,
                                                 char memory[DB_FIT_NAME_SIZE]),
                             const db_shots *all) {
    const db_json list = db_json_member(root, key);
    int same = json_array_size(list.value) == count;
    for (size_t i = 0; i < count && same; i++) {
        const char *const text = json_string_value(json_array_get(list.value, i));
        char memory[DB_FIT_NAME_SIZE];
        same = text && strcmp(text, name(all, i, memory)) == 0;
    }
    return same ? DB_OK
                : db_fail(all->context, DB_ERROR_INPUT,
                          "%s: is of another refinement: its %s are not those of this one",
                          root->path, key);
}

static const char *stage_name(const db_shots *all, size_t i, char memory[DB_FIT_NAME_SIZE]) {
    (void)memory;
    return all->settings.stages[i].name;
}

static db_status check_count(const db_shots *all, const db_json *root) {
    const db_json count = db_json_member(root, "count");
    if (json_is_integer(count.value) && json_integer_value(count.value) == (json_int_t)all->count)
        return DB_OK;
    return db_fail(all->context, DB_ERROR_INPUT,
                   "%s: is of another refinement: it has %lld shots, here are %zu", root->path,
                   (long long)json_integer_value(count.value), all->count);
}

static db_status check_identity(const db_shots *all, const db_json *root) {
    const db_json format = db_json_member(root, "dualbragg_checkpoint");
    const char *const version = db_json_text(root, "version");
    const char *const text = db_json_text(root, "configuration");
    char differences[DB_DIFFERENCES_SIZE];
    int same = 0;
    if (!json_is_integer(format.value) || json_integer_value(format.value) != FORMAT)
        return db_json_fail(&format, "3, the format of a checkpoint of this version");
    if (!version || strcmp(version, db_version()) != 0)
        return db_fail(all->context, DB_ERROR_INPUT,
                       "%s: was written by version %.40s of dualbragg, this is %s", root->path,
                       version ? version : "unknown", db_version());
    DB_TRY(db_checkpoint_same_text(root, text, all->identity, &same));
    if (text && !same && db_identity_differences(all->identity, text, differences))
        return db_fail(all->context, DB_ERROR_INPUT, "%s: is of another refinement: %s", root->path,
                       differences);
    DB_TRY(check_names(root, "parameters", all->parameters, parameter_name, all));
    DB_TRY(check_names(root, "stages", all->settings.stage_count, stage_name, all));
    DB_TRY(check_count(all, root));
    if (same) return DB_OK;
    const db_json configuration = db_json_member(root, "configuration");
    return db_json_fail(&configuration, "the text of this refinement");
}

/* Is it the state of this task of an array, or of a run of all shots (tasks 0)? */
static db_status check_task(const db_shots *all, const db_json *root, int task, int tasks) {
    const db_json member = db_json_member(root, "task");
    int found[2] = { 0, 0 };
    if (member.value) DB_TRY(db_json_integers(&member, found, 2));
    if (found[1] == tasks && (tasks == 0 || found[0] == task)) return DB_OK;
    if (tasks == 0)
        return db_fail(all->context, DB_ERROR_INPUT,
                       "%s: is of task %d of an array of %d; expected that of a run of all shots",
                       root->path, found[0], found[1]);
    return db_fail(all->context, DB_ERROR_INPUT,
                   "%s: expected task %d of an array of %d, found task %d of %d", root->path, task,
                   tasks, found[0], found[1]);
}

/* Numbers, of which some may be null: they become `missing`. */
static db_status read_numbers(const db_json *list, double *values, size_t count, double missing) {
    if (json_array_size(list->value) != count) return db_json_numbers(list, values, count);
    for (size_t i = 0; i < count; i++) {
        const db_json one = db_json_element(list, i);
        values[i] = missing;
        if (one.value) DB_TRY(db_json_number(&one, &values[i]));
    }
    return DB_OK;
}

static db_status read_joint(db_shots *all, const db_json *root, db_search_log *log) {
    const db_json joint = db_json_member(root, "joint");
    int stage = 0;
    if (!joint.value) return DB_OK;
    DB_TRY(
        db_checkpoint_whole_number(&joint, "stage", 0, (int)all->settings.stage_count - 1, &stage));
    const db_arrow_order order = db_arrow_order_make(&all->settings, stage, all->shared);
    log->stage = stage;
    log->path = all->options->checkpoint;
    log->count = 0;
    all->checkpoint->point = db_joint_point_size(&order);
    const db_json from = db_json_member(&joint, "from"),
                  degrees = db_json_member(&joint, "degrees"),
                  search = db_json_member(&joint, "search");
    DB_TRY(db_checkpoint_whole_number(&joint, "evaluations", 0, INT_MAX / 2, &log->evaluations));
    log->started = json_is_true(json_object_get(joint.value, "started"));
    log->history = all->course.count;
    DB_TRY(db_json_number(&degrees, &log->degrees));
    DB_TRY(db_json_numbers(&from, log->from, order.shared));
    const size_t rows = json_array_size(search.value), width = db_search_log_width(order.shared);
    if (rows == 0) return db_json_fail(&search, "evaluations");
    DB_TRY(db_search_log_reserve(all->context, log, order.shared, rows));
    for (size_t i = 0; i < rows; i++) {
        const db_json at = db_json_element(&search, i);
        DB_TRY(read_numbers(&at, db_search_log_add(log), width, INFINITY)); /* null: infinite */
    }
    return DB_OK;
}

static db_status read_history(db_shots *all, const db_json *root) {
    const db_json history = db_json_member(root, "history");
    const size_t count = json_array_size(history.value), width = all->parameters;
    if (!json_is_array(history.value)) return db_json_fail(&history, "a list");
    DB_TRY(db_fit_course_reserve(all->context, &all->course, count));
    for (size_t i = 0; i < count; i++) {
        db_fit_history *const entry = db_fit_course_add(&all->course, &(db_fit_history){ 0 });
        const db_json at = db_json_element(&history, i), target = db_json_member(&at, "target"),
                      norm = db_json_member(&at, "gradient_norm"),
                      values = db_json_member(&at, "values");
        DB_TRY(db_checkpoint_whole_number(&at, "stage", 0, (int)all->settings.stage_count - 1,
                                          &entry->stage));
        DB_TRY(db_checkpoint_whole_number(&at, "evaluation", 0, INT_MAX, &entry->evaluation));
        DB_TRY(db_json_number(&target, &entry->target));
        DB_TRY(db_json_number(&norm, &entry->gradient_norm));
        DB_TRY(read_numbers(&values, entry->value, width, NAN));
    }
    return DB_OK;
}

static db_status read_parts(db_shots *all, const db_json *root) {
    const db_json parts = db_json_member(root, "parts");
    if (!json_is_array(parts.value)) return db_json_fail(&parts, "a list");
    for (size_t i = 0; i < json_array_size(parts.value); i++) {
        const db_json at = db_json_element(&parts, i), name = db_json_member(&at, "of");
        const char *const of = db_json_text(&at, "of");
        int generation = 0, count = 0;
        if (!of || !*of || strchr(of, '/')) return db_json_fail(&name, "the name of a file");
        DB_TRY(db_checkpoint_whole_number(&at, "generation", 1, INT_MAX - 1, &generation));
        DB_TRY(db_checkpoint_whole_number(&at, "count", 1, INT_MAX, &count));
        DB_TRY(db_parts_add(all, root->path, of, generation, count));
    }
    return DB_OK;
}

static db_status read_common(db_shots *all, const db_json *root) {
    const db_json common = db_json_member(root, "common"),
                  at_bound = db_json_member(root, "at_bound");
    DB_TRY(db_json_numbers(&common, all->common, all->parameters));
    return db_json_integers(&at_bound, all->common_at_bound, all->parameters);
}

/* Is it the state of a stage of joint intensities? */
static db_status read_stage_of_records(db_shots *all, const db_json *root) {
    const db_json records = db_json_member(root, "records");
    int stage = 0;
    if (!records.value) return DB_OK;
    DB_TRY(
        db_checkpoint_whole_number(root, "records", 0, (int)all->settings.stage_count - 1, &stage));
    const db_arrow_order order = db_arrow_order_make(&all->settings, stage, all->shared);
    all->checkpoint->point = order.local;
    all->checkpoint->records = stage + 1;
    return DB_OK;
}

static db_status read_state(db_shots *all, const db_json *root, db_search_log *log) {
    DB_TRY(check_identity(all, root));
    DB_TRY(check_task(all, root, all->options->array_task, all->options->array_tasks));
    DB_TRY(read_common(all, root));
    DB_TRY(read_history(all, root));
    DB_TRY(read_joint(all, root, log));
    DB_TRY(read_stage_of_records(all, root));
    return read_parts(all, root);
}

/* What a task of an array has left. */
static db_status read_task(db_shots *all, const db_json *root, int task) {
    double common[DB_FIT_MOST_PARAMETERS];
    const db_json values = db_json_member(root, "common");
    char name[DB_FIT_NAME_SIZE];
    DB_TRY(check_identity(all, root));
    DB_TRY(check_task(all, root, task, (int)all->options->merge_count));
    DB_TRY(db_json_numbers(&values, common, all->parameters));
    for (size_t i = 0; i < all->parameters; i++)
        if (all->shared[i] && common[i] != all->common[i])
            return db_fail(all->context, DB_ERROR_INPUT,
                           "%s: task %d began with another %s (%.9g, here %.9g): the first shot is "
                           "not what it was",
                           root->path, task, parameter_name(all, i, name), common[i],
                           all->common[i]);
    return read_parts(all, root);
}

static db_status read_file(db_shots *all, const char *path, int task, db_search_log *log) {
    json_t *document = NULL;
    db_json root;
    DB_TRY(db_json_open(all->context, path, &document, &root));
    const db_status status = task ? read_task(all, &root, task) : read_state(all, &root, log);
    json_decref(document);
    return status;
}

static db_status read_tasks(db_shots *all) {
    const db_fit_shots_options *const options = all->options;
    for (size_t t = 0; t < options->merge_count; t++)
        DB_TRY(read_file(all, options->merge[t], (int)t + 1, NULL));
    DB_TRY(db_parts_index(all));
    for (size_t t = 0; t < options->merge_count; t++)
        DB_TRY(db_parts_check_task(all, options->merge[t], (int)t + 1, (int)options->merge_count));
    return DB_OK;
}

db_status db_checkpoint_resume(db_shots *all, int *found, db_search_log *log) {
    const char *const path = all->options->checkpoint;
    db_status status = DB_OK;
    *log = (db_search_log){ .stage = -1 };
    *found = 0;
    if (!all->checkpoint) return DB_OK;
    if (all->options->resume && access(path, F_OK) == 0) {
        status = read_file(all, path, 0, log);
        if (status == DB_OK) status = db_parts_index(all);
        *found = status == DB_OK;
        return status;
    }
    if (all->team.rank == 0) db_fit_checkpoint_remove(path);
    if (all->options->merge_count) {
        status = read_tasks(all);
        *found = status == DB_OK;
    }
    return status;
}
