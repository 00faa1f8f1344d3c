/* Checkpoints: JSON files that keep the state of a refinement of many shots. */
#include "fit/shots/checkpoint.h"

#include "base/context_internal.h"
#include "fit/report/json_document.h"
#include "fit/shots/identity.h"
#include "fit/shots/workers.h"
#include "base/json_reader.h"
#include "fit/config/quantity.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT = 2 };

size_t db_joint_point_size(const db_arrow_order *order) {
    return order->local + db_arrow_tail_size(order);
}

void db_joint_log_begin(db_joint_log *log, int stage, const db_arrow_order *order) {
    db_joint_log_clear(log);
    log->stage = stage;
    log->shared = order->shared;
    log->sums_size = db_arrow_sums_size(order->shared);
    log->point = db_joint_point_size(order);
}

static int grow(db_joint_log *log) {
    const size_t room = log->room ? 2 * log->room : 16;
    double *const at = realloc(log->at, (room * log->shared + 1) * sizeof *at);
    if (at) log->at = at;
    double *const sums = realloc(log->sums, room * log->sums_size * sizeof *sums);
    if (sums) log->sums = sums;
    int *const lost = realloc(log->lost, room * sizeof *lost);
    if (lost) log->lost = lost;
    if (at && sums && lost) log->room = room;
    return at && sums && lost;
}

db_status db_joint_log_add(db_context *context, db_joint_log *log, const double *at,
                           const double *sums, int lost) {
    if (log->count == log->room && !grow(log))
        return db_fail_memory(context, "what a joint stage has evaluated");
    memcpy(log->at + log->count * log->shared, at, log->shared * sizeof *at);
    memcpy(log->sums + log->count * log->sums_size, sums, log->sums_size * sizeof *sums);
    log->lost[log->count++] = lost;
    return DB_OK;
}

void db_joint_log_clear(db_joint_log *log) {
    free(log->at);
    free(log->sums);
    free(log->lost);
    free(log->points);
    *log = (db_joint_log){ .stage = -1 };
}

static const char *parameter_name(const db_shots *all, size_t i, char name[DB_FIT_NAME_SIZE]) {
    return db_fit_quantity_name(&all->settings.panel_groups,
                                db_fit_quantity_of(&all->settings.parameters[i]), name);
}

static json_t *whole_numbers(db_document *d, const int *values, size_t count) {
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++) add(d, array, json_integer(values[i]));
    return array;
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
}

static json_t *shot_object(db_document *d, const db_shots *all, size_t shot, const double *point,
                           size_t size) {
    const db_shot_summary *const summary = &all->summary[shot];
    const db_fit_shot_identity *const identity = &summary->identity;
    json_t *const object = json_object();
    set(d, object, "name", db_document_text(all->source->name(all->source->user, shot)));
    if (*identity->image) {
        json_t *const list = json_array();
        add(d, list, json_string(identity->image));
        add(d, list, json_string(identity->configuration));
        add(d, list, json_string(identity->files));
        set(d, object, "identity", list);
    }
    set(d, object, "used", json_boolean(summary->used));
    set(d, object, "stage", json_integer(summary->stage));
    set(d, object, "opened", json_integer(summary->opened));
    set(d, object, "reason", db_document_text(summary->reason));
    set(d, object, "orientation", numbers(d, summary->orientation, 9));
    set(d, object, "misset", numbers(d, summary->misset, 3));
    set(d, object, "values", numbers(d, db_shots_value(all, shot), all->parameters));
    set(d, object, "at_bound",
        whole_numbers(d, all->at_bound + shot * all->parameters, all->parameters));
    set(d, object, "target", number(summary->target));
    if (point) set(d, object, "point", numbers(d, point, size));
    return object;
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

static json_t *joint_object(db_document *d, const db_joint_log *log) {
    json_t *const object = json_object();
    json_t *const evaluations = json_array();
    set(d, object, "stage", json_integer(log->stage));
    set(d, object, "evaluations", json_integer(log->evaluations));
    set(d, object, "started", json_boolean(log->started));
    set(d, object, "degrees", number(log->degrees));
    set(d, object, "from", numbers(d, log->from, log->shared));
    for (size_t i = 0; i < log->count; i++) {
        json_t *const one = json_object();
        set(d, one, "at", numbers(d, log->at + i * log->shared, log->shared));
        set(d, one, "sums", numbers(d, log->sums + i * log->sums_size, log->sums_size));
        set(d, one, "lost", json_integer(log->lost[i]));
        add(d, evaluations, one);
    }
    set(d, object, "search", evaluations);
    return object;
}

static void compose(db_document *d, const db_shots *all, const db_joint_log *log,
                    const double *points) {
    json_t *const shots = json_array();
    set_identity(d, all);
    set(d, d->root, "common", numbers(d, all->common, all->parameters));
    set(d, d->root, "history", history_array(d, all, log ? log->history : all->course.count));
    if (log) set(d, d->root, "joint", joint_object(d, log));
    for (size_t i = 0; i < all->count; i++)
        add(d, shots,
            shot_object(d, all, i, points ? points + i * log->point : NULL, log ? log->point : 0));
    set(d, d->root, "shots", shots);
}

static db_status write_state(const db_shots *all, const db_joint_log *log, const double *points) {
    const char *const path = all->options->checkpoint;
    db_document d = db_document_begin(&all->settings.panel_groups);
    compose(&d, all, log, points);
    const db_status status = db_json_write(all->context, path, d.incomplete ? NULL : d.root,
                                           JSON_COMPACT | JSON_REAL_PRECISION(17), d.failures);
    json_decref(d.root);
    return status;
}

db_status db_checkpoint_keep(db_shots *all) {
    if (!all->options->checkpoint) return DB_OK;
    const db_status status = all->team.rank == 0 ? write_state(all, NULL, NULL) : DB_OK;
    return db_workers_common_status(all, status);
}

db_status db_checkpoint_keep_joint(db_shots *all, const db_joint_log *log) {
    const size_t size = log->point;
    if (!all->options->checkpoint) return DB_OK;
    double *const points = calloc(all->count * size + 1, sizeof *points);
    db_status status = points ? DB_OK : db_fail_memory(all->context, "the checkpoint");
    status = db_workers_common_status(all, status);
    for (size_t i = 0; i < all->count && status == DB_OK && points; i++)
        if (all->state[i].best.local) /* the tail lies behind */
            memcpy(points + i * size, all->state[i].best.local, size * sizeof *points);
    if (status == DB_OK && size) status = db_workers_gather(all, points, size * sizeof *points, 0);
    if (status == DB_OK && all->team.rank == 0) status = write_state(all, log, points);
    free(points);
    return db_workers_common_status(all, status);
}

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

/* Is a text in the file the same as `own`, once that is written to JSON? */
static db_status compare_texts(const db_json *root, const char *text, const char *own, int *same) {
    json_t *const written = db_document_text(own);
    if (!written) return db_fail_memory(root->context, root->path);
    *same = text && strcmp(text, json_string_value(written)) == 0;
    json_decref(written);
    return DB_OK;
}

static db_status check_identity(const db_shots *all, const db_json *root) {
    const db_json format = db_json_member(root, "dualbragg_checkpoint");
    const char *const version = db_json_text(root, "version");
    const char *const text = db_json_text(root, "configuration");
    char differences[DB_DIFFERENCES_SIZE];
    int same = 0;
    if (!json_is_integer(format.value) || json_integer_value(format.value) != FORMAT)
        return db_json_fail(&format, "2, the format of a checkpoint of this version");
    if (!version || strcmp(version, db_version()) != 0)
        return db_fail(all->context, DB_ERROR_INPUT,
                       "%s: was written by version %.40s of dualbragg, this is %s", root->path,
                       version ? version : "unknown", db_version());
    DB_TRY(compare_texts(root, text, all->identity, &same));
    if (text && !same && db_identity_differences(all->identity, text, differences))
        return db_fail(all->context, DB_ERROR_INPUT, "%s: is of another refinement: %s", root->path,
                       differences);
    DB_TRY(check_names(root, "parameters", all->parameters, parameter_name, all));
    DB_TRY(check_names(root, "stages", all->settings.stage_count, stage_name, all));
    if (same) return DB_OK;
    const db_json configuration = db_json_member(root, "configuration");
    return db_json_fail(&configuration, "the text of this refinement");
}

static db_status whole_number(const db_json *at, const char *key, int least, int most, int *value) {
    const db_json member = db_json_member(at, key);
    const json_int_t number = json_integer_value(member.value);
    char expected[64];
    snprintf(expected, sizeof expected, "a whole number from %d to %d", least, most);
    if (!json_is_integer(member.value) || number < least || number > most)
        return db_json_fail(&member, expected);
    *value = (int)number;
    return DB_OK;
}

static db_status read_identity(const db_json *at, db_fit_shot_identity *identity) {
    const db_json list = db_json_member(at, "identity");
    char *const to[] = { identity->image, identity->configuration, identity->files };
    if (!list.value) return DB_OK;
    for (size_t i = 0; i < 3; i++) {
        const char *const text = json_string_value(json_array_get(list.value, i));
        if (!text || !*text || strlen(text) >= DB_FIT_DIGEST_SIZE)
            return db_json_fail(&list, "three digests");
        snprintf(to[i], DB_FIT_DIGEST_SIZE, "%s", text);
    }
    return DB_OK;
}

static db_status read_shot(db_shots *all, const db_json *at, size_t shot, db_joint_log *log) {
    db_shot_summary *const summary = &all->summary[shot];
    const char *const name = all->source->name(all->source->user, shot);
    const char *const text = db_json_text(at, "name");
    const char *const reason = db_json_text(at, "reason");
    const int stages = (int)all->settings.stage_count;
    int same = 0;
    DB_TRY(compare_texts(at, text, name, &same));
    if (!same)
        return db_fail(all->context, DB_ERROR_INPUT,
                       "%s: is of another refinement: shot %zu is %s, here %s", at->path, shot + 1,
                       text ? text : "nameless", name);
    const db_json values = db_json_member(at, "values"), target = db_json_member(at, "target"),
                  orientation = db_json_member(at, "orientation"),
                  misset = db_json_member(at, "misset"), at_bound = db_json_member(at, "at_bound");
    DB_TRY(whole_number(at, "stage", 0, stages, &summary->stage));
    DB_TRY(whole_number(at, "opened", 0, stages, &summary->opened));
    DB_TRY(db_json_numbers(&values, db_shots_value(all, shot), all->parameters));
    DB_TRY(db_json_numbers(&orientation, summary->orientation, 9));
    DB_TRY(db_json_numbers(&misset, summary->misset, 3));
    DB_TRY(db_json_integers(&at_bound, all->at_bound + shot * all->parameters, all->parameters));
    DB_TRY(db_json_number(&target, &summary->target));
    DB_TRY(read_identity(at, &summary->identity));
    summary->used = json_is_true(json_object_get(at->value, "used"));
    snprintf(summary->reason, sizeof summary->reason, "%s", reason ? reason : "");
    if (log->stage < 0 || log->point == 0) return DB_OK;
    const db_json point = db_json_member(at, "point");
    return db_json_numbers(&point, log->points + shot * log->point, log->point);
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

static db_status read_evaluation(db_shots *all, const db_json *at, db_joint_log *log) {
    double values[DB_FIT_MOST_PARAMETERS];
    double *const sums = malloc(log->sums_size * sizeof *sums);
    const db_json where = db_json_member(at, "at"), list = db_json_member(at, "sums");
    int lost = 0;
    db_status status = sums ? DB_OK : db_fail_memory(all->context, "the checkpoint");
    if (status == DB_OK) status = db_json_numbers(&where, values, log->shared);
    if (status == DB_OK) /* null: infinite */
        status = read_numbers(&list, sums, log->sums_size, INFINITY);
    if (status == DB_OK) status = whole_number(at, "lost", 0, INT_MAX, &lost);
    if (status == DB_OK) status = db_joint_log_add(all->context, log, values, sums, lost);
    free(sums);
    return status;
}

static db_status read_joint(db_shots *all, const db_json *root, db_joint_log *log) {
    const db_json joint = db_json_member(root, "joint");
    int stage = 0;
    if (!joint.value) return DB_OK;
    DB_TRY(whole_number(&joint, "stage", 0, (int)all->settings.stage_count - 1, &stage));
    const db_arrow_order order = db_arrow_order_make(&all->settings, stage, all->shared);
    db_joint_log_begin(log, stage, &order);
    log->points = calloc(all->count * log->point + 1, sizeof *log->points);
    if (!log->points) return db_fail_memory(all->context, "the checkpoint");
    const db_json from = db_json_member(&joint, "from"),
                  degrees = db_json_member(&joint, "degrees"),
                  search = db_json_member(&joint, "search");
    DB_TRY(whole_number(&joint, "evaluations", 0, INT_MAX / 2, &log->evaluations));
    log->started = json_is_true(json_object_get(joint.value, "started"));
    log->history = all->course.count;
    DB_TRY(db_json_number(&degrees, &log->degrees));
    DB_TRY(db_json_numbers(&from, log->from, log->shared));
    if (json_array_size(search.value) == 0) return db_json_fail(&search, "evaluations");
    for (size_t i = 0; i < json_array_size(search.value); i++) {
        const db_json at = db_json_element(&search, i);
        DB_TRY(read_evaluation(all, &at, log));
    }
    return DB_OK;
}

static db_status read_history(db_shots *all, const db_json *root) {
    const db_json history = db_json_member(root, "history");
    const size_t count = json_array_size(history.value), width = all->parameters;
    if (!json_is_array(history.value)) return db_json_fail(&history, "a list");
    DB_TRY(db_fit_course_reserve(all->context, &all->course, count));
    for (size_t i = 0; i < count; i++) {
        db_fit_history *const entry = db_fit_course_add(&all->course);
        const db_json at = db_json_element(&history, i), target = db_json_member(&at, "target"),
                      norm = db_json_member(&at, "gradient_norm"),
                      values = db_json_member(&at, "values");
        DB_TRY(whole_number(&at, "stage", 0, (int)all->settings.stage_count - 1, &entry->stage));
        DB_TRY(whole_number(&at, "evaluation", 0, INT_MAX, &entry->evaluation));
        DB_TRY(db_json_number(&target, &entry->target));
        DB_TRY(db_json_number(&norm, &entry->gradient_norm));
        DB_TRY(read_numbers(&values, entry->value, width, NAN));
    }
    return DB_OK;
}

static db_status read_state(db_shots *all, const db_json *root, db_joint_log *log) {
    const db_json shots = db_json_member(root, "shots"), common = db_json_member(root, "common");
    DB_TRY(check_identity(all, root));
    if (json_array_size(shots.value) != all->count)
        return db_fail(all->context, DB_ERROR_INPUT,
                       "%s: is of another refinement: it has %zu shots, here are %zu", root->path,
                       json_array_size(shots.value), all->count);
    DB_TRY(db_json_numbers(&common, all->common, all->parameters));
    DB_TRY(read_history(all, root));
    DB_TRY(read_joint(all, root, log));
    for (size_t i = 0; i < all->count; i++) {
        const db_json at = db_json_element(&shots, i);
        DB_TRY(read_shot(all, &at, i, log));
    }
    return DB_OK;
}

db_status db_checkpoint_resume(db_shots *all, int *found, db_joint_log *log) {
    const char *const path = all->options->checkpoint;
    *log = (db_joint_log){ .stage = -1 };
    *found = 0;
    if (!path || !all->options->resume || access(path, F_OK) != 0) return DB_OK;
    json_t *document = NULL;
    db_json root;
    db_status status = db_json_open(all->context, path, &document, &root);
    if (status == DB_OK) status = read_state(all, &root, log);
    if (document) json_decref(document);
    *found = status == DB_OK;
    return status;
}
