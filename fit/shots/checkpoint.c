#include "fit/shots/checkpoint.h"

#include "core/context_internal.h"
#include "fit/json_document.h"
#include "fit/shots/workers.h"
#include "io/json_memory.h"
#include "io/json_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT = 1 };

static json_t *number_list(const double *values, size_t count) {
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_real(isfinite(values[i]) ? values[i] : 0));
    return array;
}

static const char *parameter_name(const db_shots *all, size_t i, char name[DB_FIT_NAME_SIZE]) {
    return db_fit_quantity_name(&all->settings.panel_groups,
                                db_fit_quantity_of(&all->settings.parameters[i]), name);
}

/* What a file must have in common with the refinement that it is to carry on. */
static json_t *identity(const db_shots *all) {
    json_t *const object = json_object(), *const parameters = json_array(),
                  *const stages = json_array();
    char name[DB_FIT_NAME_SIZE];
    for (size_t i = 0; i < all->parameters; i++)
        json_array_append_new(parameters, json_string(parameter_name(all, i, name)));
    for (size_t s = 0; s < all->settings.stage_count; s++)
        json_array_append_new(stages, json_string(all->settings.stages[s].name));
    json_object_set_new(object, "parameters", parameters);
    json_object_set_new(object, "stages", stages);
    return object;
}

static json_t *shot_object(const db_shots *all, size_t shot, const double *local, size_t count) {
    const db_shot_news *const news = &all->news[shot];
    json_t *const object = json_object();
    json_object_set_new(object, "name",
                        db_document_text(all->source->name(all->source->user, shot)));
    json_object_set_new(object, "used", json_boolean(news->used));
    json_object_set_new(object, "stage", json_integer(news->stage));
    json_object_set_new(object, "reason", db_document_text(news->reason));
    json_object_set_new(object, "orientation", number_list(news->orientation, 9));
    json_object_set_new(object, "values", number_list(db_shots_value(all, shot), all->parameters));
    if (local) json_object_set_new(object, "local", number_list(local, count));
    return object;
}

static db_status write_state(const db_shots *all, int stage, const double *shared,
                             size_t shared_count, const double *local, size_t local_count) {
    const size_t failures = db_json_failures();
    json_t *const root = identity(all), *const shots = json_array();
    json_object_set_new(root, "dualbragg_checkpoint", json_integer(FORMAT));
    json_object_set_new(root, "common", number_list(all->common, all->parameters));
    json_object_set_new(root, "joint_stage", json_integer(stage));
    json_object_set_new(root, "shared", number_list(shared, shared_count));
    for (size_t i = 0; i < all->count; i++)
        json_array_append_new(
            shots, shot_object(all, i, local ? local + i * local_count : NULL, local_count));
    json_object_set_new(root, "shots", shots);
    const db_status status =
        db_json_write(all->context, all->options->checkpoint, root, JSON_COMPACT, failures);
    json_decref(root);
    return status;
}

db_status db_checkpoint_keep(db_shots *all) {
    if (!all->options->checkpoint) return DB_OK;
    const db_status status = all->team.rank == 0 ? write_state(all, -1, NULL, 0, NULL, 0) : DB_OK;
    return db_workers_agree(all, status);
}

db_status db_checkpoint_keep_joint(db_shots *all, int stage, const db_arrow_order *order,
                                   const double *shared) {
    const size_t count = order->local;
    if (!all->options->checkpoint) return DB_OK;
    double *const local = calloc(all->count * count + 1, sizeof *local);
    db_status status = local ? DB_OK : db_fail_memory(all->context, "the checkpoint");
    status = db_workers_agree(all, status);
    for (size_t i = 0; i < all->count && status == DB_OK && local; i++)
        if (all->state[i].best.local)
            memcpy(local + i * count, all->state[i].best.local, count * sizeof *local);
    if (status == DB_OK && count) status = db_workers_share(all, local, count * sizeof *local, 0);
    if (status == DB_OK && all->team.rank == 0)
        status = write_state(all, stage, shared, order->shared, local, count);
    free(local);
    return db_workers_agree(all, status);
}

/* Do names of the file agree with those of the refinement? */
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

static db_status read_shot(db_shots *all, const db_json *at, size_t shot,
                           db_checkpoint_joint *joint) {
    db_shot_news *const news = &all->news[shot];
    const char *const name = all->source->name(all->source->user, shot);
    const char *const text = db_json_text(at, "name"), *const reason = db_json_text(at, "reason");
    json_t *const written = db_document_text(name); /* as it is kept */
    if (!written) return db_fail_memory(all->context, at->path);
    const int same = text && strcmp(text, json_string_value(written)) == 0;
    json_decref(written);
    if (!same)
        return db_fail(all->context, DB_ERROR_INPUT,
                       "%s: is of another refinement: shot %zu is %s, here %s", at->path, shot + 1,
                       text ? text : "nameless", name);
    const db_json stage = db_json_member(at, "stage"), values = db_json_member(at, "values"),
                  orientation = db_json_member(at, "orientation");
    if (!json_is_integer(stage.value)) return db_json_fail(&stage, "the number of a stage");
    const json_int_t number = json_integer_value(stage.value);
    if (number < 0 || number > (json_int_t)all->settings.stage_count)
        return db_json_fail(&stage, "the number of a stage");
    news->stage = (int)number;
    DB_TRY(db_json_numbers(&values, db_shots_value(all, shot), all->parameters));
    DB_TRY(db_json_numbers(&orientation, news->orientation, 9));
    news->used = json_is_true(json_object_get(at->value, "used"));
    snprintf(news->reason, sizeof news->reason, "%s", reason ? reason : "");
    if (joint->stage < 0 || joint->local_count == 0) return DB_OK;
    const db_json local = db_json_member(at, "local");
    return db_json_numbers(&local, joint->local + shot * joint->local_count, joint->local_count);
}

static db_status read_joint(db_shots *all, const db_json *root, db_checkpoint_joint *joint) {
    const db_json stage = db_json_member(root, "joint_stage"),
                  shared = db_json_member(root, "shared");
    const json_int_t number = json_integer_value(stage.value);
    if (!json_is_integer(stage.value) || number >= (json_int_t)all->settings.stage_count)
        return db_json_fail(&stage, "the number of a stage, or -1");
    joint->stage = number < 0 ? -1 : (int)number;
    if (number < 0) return DB_OK;
    const db_arrow_order order =
        db_arrow_order_make(&all->settings, &all->settings.stages[number], all->shared);
    joint->local_count = order.local;
    joint->local = calloc(all->count * order.local + 1, sizeof *joint->local);
    if (!joint->local) return db_fail_memory(all->context, "the checkpoint");
    return db_json_numbers(&shared, joint->shared, order.shared);
}

static db_status take(db_shots *all, const db_json *root, db_checkpoint_joint *joint) {
    const db_json shots = db_json_member(root, "shots"), common = db_json_member(root, "common"),
                  format = db_json_member(root, "dualbragg_checkpoint");
    if (!json_is_integer(format.value) || json_integer_value(format.value) != FORMAT)
        return db_json_fail(&format, "1, the format of a checkpoint of this version");
    DB_TRY(check_names(root, "parameters", all->parameters, parameter_name, all));
    DB_TRY(check_names(root, "stages", all->settings.stage_count, stage_name, all));
    if (json_array_size(shots.value) != all->count)
        return db_fail(all->context, DB_ERROR_INPUT,
                       "%s: is of another refinement: it has %zu shots, here are %zu", root->path,
                       json_array_size(shots.value), all->count);
    DB_TRY(db_json_numbers(&common, all->common, all->parameters));
    DB_TRY(read_joint(all, root, joint));
    for (size_t i = 0; i < all->count; i++) {
        const db_json at = db_json_element(&shots, i);
        DB_TRY(read_shot(all, &at, i, joint));
    }
    return DB_OK;
}

db_status db_checkpoint_resume(db_shots *all, int *found, db_checkpoint_joint *joint) {
    const char *const path = all->options->checkpoint;
    *joint = (db_checkpoint_joint){ .stage = -1 };
    *found = 0;
    if (!path || !all->options->resume || access(path, F_OK) != 0) return DB_OK;
    json_t *document = NULL;
    db_json root;
    db_status status = db_json_open(all->context, path, &document, &root);
    if (status == DB_OK) status = take(all, &root, joint);
    if (document) json_decref(document);
    *found = status == DB_OK;
    return status;
}

void db_checkpoint_remove(const db_shots *all) {
    if (all->options->checkpoint && all->team.rank == 0) unlink(all->options->checkpoint);
}
