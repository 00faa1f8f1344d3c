/* Files of shots: a line for each, as it is done. A later line of a shot replaces an earlier one. */
#define _XOPEN_SOURCE 700
#include "fit/shots/checkpoint_parts.h"

#include "base/context_internal.h"
#include "base/file_content.h"
#include "base/path.h"
#include "fit/shots/joint_stages.h"
#include "fit/shots/shares.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMAT = 3 };

static void path_of(const db_part_set *set, int part, char path[DB_PART_PATH_SIZE]) {
    snprintf(path, DB_PART_PATH_SIZE, "%s.%d.%d", set->of, set->generation, part);
}

static const char records_of[] = ".records";

static void records_path_of(const db_part_set *set, int part, char path[DB_PART_PATH_SIZE]) {
    snprintf(path, DB_PART_PATH_SIZE, "%s.%d.%d%s", set->of, set->generation, part, records_of);
}

void db_parts_records_path(const db_checkpoint *c, int part, char path[DB_PART_PATH_SIZE]) {
    records_path_of(&c->set[c->sets - 1], part, path);
}

json_t *db_checkpoint_whole_numbers(db_document *d, const int *values, size_t count) {
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++) add(d, array, json_integer(values[i]));
    return array;
}

static json_t *shot_object(db_document *d, const db_shots *all, size_t shot, size_t point) {
    const db_shot_summary *const summary = &all->summary[shot];
    const db_fit_shot_identity *const identity = &summary->identity;
    json_t *const object = json_object();
    set(d, object, "shot", json_integer((json_int_t)shot));
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
        db_checkpoint_whole_numbers(d, all->at_bound + shot * all->parameters, all->parameters));
    set(d, object, "target", number(summary->target));
    if (point && all->state[shot].best.local) /* the tail lies behind */
        set(d, object, "point", numbers(d, all->state[shot].best.local, point));
    return object;
}

void db_parts_close(db_checkpoint *c) {
    if (c->file >= 0) close(c->file);
    c->file = -1;
}

/* Appends a line to this process' part, whole or not at all. */
static db_status append(const db_shots *all, db_context *context, const char *text, size_t size) {
    db_checkpoint *const c = all->checkpoint;
    long long at = c->end;
    int error = 0;
    for (size_t done = 0; done < size && !error;) {
        const ssize_t some = pwrite(c->file, text + done, size - done, at);
        if (some < 0 && errno != EINTR) error = errno;
        if (some == 0) error = ENOSPC;
        if (some > 0) {
            done += (size_t)some;
            at += some;
        }
    }
    if (!error) {
        c->end = at;
        return DB_OK;
    }
    char path[DB_PART_PATH_SIZE];
    path_of(&c->set[c->sets - 1], all->team.rank, path);
    if (ftruncate(c->file, c->end) != 0) error = errno;
    return db_fail(context, DB_ERROR_FILE, "%s: cannot be written: %s", path, strerror(error));
}

/* Lets go of the document. */
static db_status append_document(const db_shots *all, db_context *context, db_document *d) {
    char *const text =
        d->incomplete ? NULL : json_dumps(d->root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const size_t length = text ? strlen(text) : 0;
    char *const line = text ? realloc(text, length + 2) : NULL;
    db_status status = DB_OK;
    json_decref(d->root);
    if (!line) {
        free(text);
        return db_fail_memory(context, "the checkpoint");
    }
    memcpy(line + length, "\n", 2);
#pragma omp critical(db_checkpoint)
    status = append(all, context, line, length + 1);
    free(line);
    return status;
}

static db_status append_shot(const db_shots *all, db_context *context, size_t shot, size_t point) {
    db_document d = db_document_begin(&all->settings.panel_groups);
    json_decref(d.root);
    d.root = shot_object(&d, all, shot, point);
    return append_document(all, context, &d);
}

static db_status append_head(const db_shots *all) {
    db_document d = db_document_begin(&all->settings.panel_groups);
    set(&d, d.root, "dualbragg_checkpoint_part", json_integer(FORMAT));
    set(&d, d.root, "run", json_string(all->checkpoint->run));
    return append_document(all, all->context, &d);
}

db_status db_checkpoint_note(db_shots *all, db_context *context, size_t shot) {
    return all->checkpoint ? append_shot(all, context, shot, 0) : DB_OK;
}

static db_part_set *add_set(db_checkpoint *c) {
    db_part_set *const grown = realloc(c->set, (c->sets + 1) * sizeof *grown);
    if (!grown) return NULL;
    c->set = grown;
    return &c->set[c->sets++];
}

db_status db_parts_begin(db_shots *all, int whole, size_t point) {
    db_checkpoint *const c = all->checkpoint;
    char path[DB_PART_PATH_SIZE];
    db_part_set *const set = add_set(c);
    if (!set) return db_fail_memory(all->context, "the checkpoint");
    *set = (db_part_set){ .generation = ++c->generation, .count = all->team.size };
    snprintf(set->of, sizeof set->of, "%s", all->options->checkpoint);
    path_of(set, all->team.rank, path);
    db_parts_close(c);
    c->end = 0;
    c->file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (c->file < 0)
        return db_fail(all->context, DB_ERROR_FILE, "%s: cannot be created: %s", path,
                       strerror(errno));
    DB_TRY(append_head(all));
    for (size_t i = 0; i < all->count && whole; i++)
        if (all->state[i].adopted) DB_TRY(append_shot(all, all->context, i, point));
    return DB_OK;
}

void db_parts_remove(const db_shots *all, const db_part_set *set, size_t sets) {
    const int rank = all->team.rank, size = all->team.size;
    char path[DB_PART_PATH_SIZE];
    for (size_t i = 0; i < sets; i++) {
        if (strcmp(set[i].of, all->options->checkpoint) != 0) continue; /* of a task */
        for (int part = rank; part < set[i].count; part += size) {
            path_of(&set[i], part, path);
            unlink(path);
            records_path_of(&set[i], part, path);
            unlink(path);
        }
    }
}

/* Is it NAME.GENERATION.PART, or the file beside it? */
static int is_part(const char *file, const char *name) {
    const size_t length = strlen(name);
    if (strncmp(file, name, length) != 0) return 0;
    const char *at = file + length;
    for (int k = 0; k < 2; k++) {
        if (*at++ != '.' || !isdigit((unsigned char)*at)) return 0;
        while (isdigit((unsigned char)*at)) at++;
    }
    return *at == '\0' || strcmp(at, records_of) == 0;
}

void db_fit_checkpoint_remove(const char *path) {
    char file[DB_PART_PATH_SIZE];
    const int folder = (int)db_folder_length(path);
    snprintf(file, sizeof file, "%.*s", folder, path);
    DIR *const list = opendir(folder ? file : ".");
    unlink(path);
    for (const struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        if (is_part(entry->d_name, path + folder)) {
            snprintf(file, sizeof file, "%.*s%s", folder, path, entry->d_name);
            unlink(file);
        }
    if (list) closedir(list);
}

db_status db_parts_add(db_shots *all, const char *beside, const char *of, int generation,
                       int count) {
    db_checkpoint *const c = all->checkpoint;
    db_part_set *const set = add_set(c);
    if (!set) return db_fail_memory(all->context, "the checkpoint");
    *set = (db_part_set){ .generation = generation, .count = count };
    snprintf(set->of, sizeof set->of, "%.*s%s", (int)db_folder_length(beside), beside, of);
    if (generation > c->generation) c->generation = generation;
    return DB_OK;
}

/* A line of a part: a document, to be given back by json_decref. */
static db_status parse(db_context *context, const char *path, const char *line, size_t size,
                       json_t **document, db_json *root) {
    json_error_t error;
    const size_t failures = db_json_failures();
    *document = db_json_load(line, size, &error);
    if (db_json_failures() != failures) return db_fail_memory(context, path);
    *root = (db_json){ context, path, "", *document };
    if (json_is_object(*document)) return DB_OK;
    if (*document) json_decref(*document);
    *document = NULL;
    return db_fail(context, DB_ERROR_INPUT,
                   "%s: expected a JSON object in each line, found '%.40s'", path, line);
}

static db_status check_head(const db_shots *all, const db_json *root) {
    const db_json format = db_json_member(root, "dualbragg_checkpoint_part");
    const char *const run = db_json_text(root, "run");
    if (!json_is_integer(format.value) || json_integer_value(format.value) != FORMAT)
        return db_json_fail(&format, "3, the format of a part of a checkpoint");
    return run && strcmp(run, all->checkpoint->run) == 0
               ? DB_OK
               : db_fail(root->context, DB_ERROR_INPUT,
                         "%s: is of another refinement than the checkpoint that names it",
                         root->path);
}

/* Notes where a record is. */
static db_status index_record(db_shots *all, const db_json *root, db_record_place place) {
    int shot = 0, stage = 0;
    DB_TRY(db_checkpoint_whole_number(root, "shot", 0, (int)all->count - 1, &shot));
    DB_TRY(db_checkpoint_whole_number(root, "stage", 0, (int)all->settings.stage_count, &stage));
    place.stage = stage;
    place.used = json_is_true(json_object_get(root->value, "used"));
    all->checkpoint->place[shot] = place;
    return DB_OK;
}

/* A last line without an end was being written when the run was cut off. */
static db_status index_lines(db_shots *all, const char *path, const db_file_content *content,
                             db_record_place place) {
    const char *const end = content->bytes + content->size;
    const char *line = content->bytes;
    for (const char *stop; line < end && (stop = memchr(line, '\n', (size_t)(end - line)));
         line = stop + 1) {
        json_t *document;
        db_json root;
        place.at = (long long)(line - content->bytes);
        place.bytes = (size_t)(stop - line);
        DB_TRY(parse(all->context, path, line, place.bytes, &document, &root));
        const db_status status =
            place.at == 0 ? check_head(all, &root) : index_record(all, &root, place);
        json_decref(document);
        DB_TRY(status);
    }
    return DB_OK;
}

db_status db_parts_index(db_shots *all) {
    db_checkpoint *const c = all->checkpoint;
    char path[DB_PART_PATH_SIZE];
    c->place = calloc(all->count + 1, sizeof *c->place);
    if (!c->place) return db_fail_memory(all->context, "the checkpoint");
    for (size_t i = 0; i < all->count; i++) c->place[i].set = -1;
    for (size_t s = 0; s < c->sets; s++)
        for (int part = 0; part < c->set[s].count; part++) {
            db_file_content content;
            path_of(&c->set[s], part, path);
            DB_TRY(db_file_content_read(all->context, path, &content));
            const db_record_place place = { .set = (int)s, .part = part };
            const db_status status = index_lines(all, path, &content, place);
            db_file_content_clear(&content);
            DB_TRY(status);
        }
    return DB_OK;
}

db_status db_parts_check_task(const db_shots *all, const char *path, int task, int tasks) {
    const int stage = db_segment_from(all, 0).to;
    size_t range[2], done = 0;
    db_shares_of_task(all, task, tasks, range);
    for (size_t i = range[0]; i < range[1]; i++) {
        const db_record_place *const at = &all->checkpoint->place[i];
        done += at->set >= 0 && (!at->used || at->stage >= stage);
    }
    return done == range[1] - range[0]
               ? DB_OK
               : db_fail(
                     all->context, DB_ERROR_INPUT,
                     "%s: task %d of %d has not come to its end: %zu of its %zu shots are done; "
                     "expected --array %d/%d --resume first",
                     path, task, tasks, done, range[1] - range[0], task, tasks);
}

int db_checkpoint_parts(const db_shots *all) {
    const db_checkpoint *const c = all->checkpoint;
    return c->sets ? c->set[c->sets - 1].count : 0;
}

int db_checkpoint_part(const db_shots *all, size_t shot) {
    const db_checkpoint *const c = all->checkpoint;
    const db_record_place *const at = c->place ? &c->place[shot] : NULL;
    return at && at->set >= 0 && at->set + 1 == (int)c->sets ? at->part : -1;
}

int db_checkpoint_stage(const db_shots *all, size_t shot, int *used) {
    const db_checkpoint *const c = all->checkpoint;
    const db_record_place *const at = c && c->place ? &c->place[shot] : NULL;
    *used = !at || at->set < 0 || at->used;
    return at && at->set >= 0 ? at->stage : 0;
}

/* Is a text in the file the same as `own`, once that is written to JSON? */
db_status db_checkpoint_same_text(const db_json *root, const char *text, const char *own,
                                  int *same) {
    json_t *const written = db_document_text(own);
    if (!written) return db_fail_memory(root->context, root->path);
    *same = text && strcmp(text, json_string_value(written)) == 0;
    json_decref(written);
    return DB_OK;
}

db_status db_checkpoint_whole_number(const db_json *at, const char *key, int least, int most,
                                     int *value) {
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

static db_status read_shot(db_shots *all, const db_json *at, size_t shot) {
    db_shot_summary *const summary = &all->summary[shot];
    const char *const name = all->source->name(all->source->user, shot);
    const char *const text = db_json_text(at, "name");
    const char *const reason = db_json_text(at, "reason");
    const int stages = (int)all->settings.stage_count;
    int same = 0;
    DB_TRY(db_checkpoint_same_text(at, text, name, &same));
    if (!same)
        return db_fail(at->context, DB_ERROR_INPUT,
                       "%s: is of another refinement: shot %zu is %s, here %s", at->path, shot + 1,
                       text ? text : "nameless", name);
    const db_json values = db_json_member(at, "values"), target = db_json_member(at, "target"),
                  orientation = db_json_member(at, "orientation"),
                  misset = db_json_member(at, "misset"), at_bound = db_json_member(at, "at_bound");
    DB_TRY(db_checkpoint_whole_number(at, "stage", 0, stages, &summary->stage));
    DB_TRY(db_checkpoint_whole_number(at, "opened", 0, stages, &summary->opened));
    DB_TRY(db_json_numbers(&values, db_shots_value(all, shot), all->parameters));
    DB_TRY(db_json_numbers(&orientation, summary->orientation, 9));
    DB_TRY(db_json_numbers(&misset, summary->misset, 3));
    DB_TRY(db_json_integers(&at_bound, all->at_bound + shot * all->parameters, all->parameters));
    DB_TRY(db_json_number(&target, &summary->target));
    DB_TRY(read_identity(at, &summary->identity));
    summary->used = json_is_true(json_object_get(at->value, "used"));
    snprintf(summary->reason, sizeof summary->reason, "%s", reason ? reason : "");
    const size_t size = all->checkpoint->point;
    const db_json point = db_json_member(at, "point");
    if (!size || !summary->used) return DB_OK;
    double *const room = malloc((size + 1) * sizeof *room);
    if (!room) return db_fail_memory(at->context, at->path);
    free(all->state[shot].point);
    all->state[shot].point = room;
    return db_json_numbers(&point, room, size);
}

/* The bytes of a record, to be freed. */
static db_status read_record(const db_shots *all, db_context *context, const char *path,
                             const db_record_place *at, char **line) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t done = 0;
    *line = malloc(at->bytes + 1);
    for (ssize_t some = 1; file >= 0 && *line && done < at->bytes && some > 0;
         done += (size_t)some) {
        some = pread(file, *line + done, at->bytes - done, at->at + (long long)done);
        if (some < 0) some = 0;
    }
    if (file >= 0) close(file);
    if (*line && done == at->bytes) return DB_OK;
    (void)all;
    return *line ? db_fail(context, DB_ERROR_FILE, "%s: is no longer as it was when the run began",
                           path)
                 : db_fail_memory(context, path);
}

db_status db_checkpoint_take(db_shots *all, db_context *context, size_t shot) {
    const db_checkpoint *const c = all->checkpoint;
    const db_record_place *const at = c && c->place ? &c->place[shot] : NULL;
    char path[DB_PART_PATH_SIZE];
    char *line = NULL;
    json_t *document = NULL;
    db_json root;
    if (!at || at->set < 0) return DB_OK;
    path_of(&c->set[at->set], at->part, path);
    db_status status = read_record(all, context, path, at, &line);
    if (status == DB_OK) status = parse(context, path, line, at->bytes, &document, &root);
    if (status == DB_OK) status = read_shot(all, &root, shot);
    if (document) json_decref(document);
    free(line);
    return status;
}
