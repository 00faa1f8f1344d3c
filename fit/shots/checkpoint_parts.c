/* Files of shots: a block for each finished shot. A later block of a shot replaces an earlier one. */
#define _XOPEN_SOURCE 700
#include "fit/shots/checkpoint_parts.h"

#include "base/context_internal.h"
#include "base/path.h"
#include "fit/shots/joint_stages.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char of_part[] = "part", of_shot[] = "shot";

static void path_of(const db_part_set *set, int part, char path[DB_PART_PATH_SIZE]) {
    snprintf(path, DB_PART_PATH_SIZE, "%s.%d.%d", set->of, set->generation, part);
}

void db_parts_close(db_checkpoint *c) {
    if (c->file >= 0) close(c->file);
    c->file = -1;
}

/* Appends bytes to this process' part, all or none. */
static db_status append(const db_shots *all, db_context *context, char *bytes, size_t size) {
    db_checkpoint *const c = all->checkpoint;
    if (db_transfer_bytes(c->file, bytes, size, c->end, 1)) {
        c->end += (long long)size;
        return DB_OK;
    }
    int error = errno;
    char path[DB_PART_PATH_SIZE];
    path_of(&c->set[c->sets - 1], all->team.rank, path);
    if (ftruncate(c->file, c->end) != 0) error = errno;
    return db_fail(context, DB_ERROR_FILE, "%s: cannot be written: %s", path, strerror(error));
}

/* Appends a block and frees it. */
static db_status append_block(const db_shots *all, db_context *context, db_pieces *block,
                              const char *name, db_block_head of) {
    db_status status = DB_OK;
    db_block_end(block, name, of);
    if (block->failed) status = db_fail_memory(context, "the checkpoint");
#pragma omp critical(db_checkpoint)
    if (status == DB_OK) status = append(all, context, block->bytes, block->count);
    free(block->bytes);
    return status;
}

/* Name and record of a shot. */
static void move_shot(db_shots *all, size_t shot, char name[DB_PART_PATH_SIZE], db_pieces *p) {
    size_t length = strlen(name);
    db_pieces_move(p, &length, sizeof length);
    if (length >= DB_PART_PATH_SIZE) p->failed = 1;
    db_pieces_move(p, name, length);
    name[p->failed ? 0 : length] = '\0';
    db_record_move(all, shot, p);
    db_shown_move(&all->state[shot].shown_before, p);
}

static db_status append_shot(db_shots *all, db_context *context, size_t shot,
                             const db_stage_state *state) {
    const db_shot_summary *const summary = &all->summary[shot];
    const db_block_head head = { .shot = (int64_t)shot,
                                 .stage = summary->stage,
                                 .used = summary->used };
    char name[DB_PART_PATH_SIZE] = "";
    db_pieces block;
    snprintf(name, sizeof name, "%s", all->source->name(all->source->user, shot));
    db_block_begin(&block);
    move_shot(all, shot, name, &block);
    const db_status status =
        state && summary->used ? state->shot(state->user, shot, &block) : DB_OK;
    if (status == DB_OK) return append_block(all, context, &block, of_shot, head);
    free(block.bytes);
    return status;
}

static db_status append_head(const db_shots *all) {
    db_pieces block;
    db_block_begin(&block);
    db_pieces_move(&block, all->checkpoint->run, sizeof all->checkpoint->run);
    return append_block(all, all->context, &block, of_part, (db_block_head){ .shot = -1 });
}

db_status db_checkpoint_note(db_shots *all, db_context *context, size_t shot) {
    return all->checkpoint ? append_shot(all, context, shot, NULL) : DB_OK;
}

static db_part_set *add_set(db_checkpoint *c) {
    db_part_set *const grown = realloc(c->set, (c->sets + 1) * sizeof *grown);
    if (!grown) return NULL;
    c->set = grown;
    return &c->set[c->sets++];
}

db_status db_parts_begin(db_shots *all, int whole, const db_stage_state *state) {
    db_checkpoint *const c = all->checkpoint;
    char path[DB_PART_PATH_SIZE];
    db_part_set *const set = add_set(c);
    if (!set) return db_fail_memory(all->context, "the checkpoint");
    *set = (db_part_set){ .generation = ++c->generation, .count = all->team.size, .whole = whole };
    snprintf(set->of, sizeof set->of, "%s", all->options->checkpoint);
    path_of(set, all->team.rank, path);
    db_parts_close(c);
    c->end = 0;
    if (!db_block_may_replace(path, of_part))
        return db_fail(all->context, DB_ERROR_USAGE,
                       "%s: exists and is no part of the checkpoint %s; choose another name", path,
                       all->options->checkpoint);
    c->file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (c->file < 0)
        return db_fail(all->context, DB_ERROR_FILE, "%s: cannot be created: %s", path,
                       strerror(errno));
    DB_TRY(append_head(all));
    for (size_t i = 0; i < all->count && whole; i++)
        if (all->state[i].begun) DB_TRY(append_shot(all, all->context, i, state));
    return DB_OK;
}

void db_parts_remove(const db_shots *all, const db_part_set *set, size_t sets) {
    char path[DB_PART_PATH_SIZE];
    for (size_t i = 0; i < sets; i++) {
        if (strcmp(set[i].of, all->options->checkpoint) != 0) continue; /* of a task */
        for (int part = all->team.rank; part < set[i].count; part += all->team.size) {
            path_of(&set[i], part, path);
            unlink(path);
        }
    }
}

/* Is the name NAME.GENERATION.PART? */
static int is_part(const char *file, const char *name) {
    const size_t length = strlen(name);
    if (strncmp(file, name, length) != 0) return 0;
    const char *at = file + length;
    for (int k = 0; k < 2; k++) {
        if (*at++ != '.' || !isdigit((unsigned char)*at)) return 0;
        while (isdigit((unsigned char)*at)) at++;
    }
    return *at == '\0';
}

db_status db_fit_checkpoint_remove(db_context *context, const char *path) {
    char file[DB_PART_PATH_SIZE];
    const int folder = (int)db_folder_length(path);
    if (!db_block_may_replace(path, DB_CHECKPOINT_BEGINS))
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: exists and is no checkpoint, or cannot be read; choose another name",
                       path);
    snprintf(file, sizeof file, "%.*s", folder, path);
    if (unlink(path) != 0 && errno != ENOENT)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot be removed: %s", path, strerror(errno));
    DIR *const list = opendir(folder ? file : ".");
    for (const struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        if (is_part(entry->d_name, path + folder)) {
            snprintf(file, sizeof file, "%.*s%s", folder, path, entry->d_name);
            if (db_block_may_replace(file, of_part)) unlink(file);
        }
    if (list) closedir(list);
    return DB_OK;
}

db_status db_parts_add(db_shots *all, const char *beside, const db_part_set *named) {
    db_checkpoint *const c = all->checkpoint;
    db_part_set *const set = add_set(c);
    if (!set) return db_fail_memory(all->context, "the checkpoint");
    *set = *named;
    snprintf(set->of, sizeof set->of, "%.*s%.250s", (int)db_folder_length(beside), beside,
             named->of);
    if (set->generation > c->generation) c->generation = set->generation;
    return DB_OK;
}

/* Loads a block of a part; the caller frees the bytes. */
static db_status load(db_context *context, const char *path, long long at, size_t size,
                      const char *name, db_pieces *pieces) {
    char *bytes;
    const db_status status = db_block_load(context, path, at, size, &bytes);
    if (status == DB_OK && db_block_open(bytes, size, name, pieces)) return DB_OK;
    free(bytes);
    return status == DB_OK ? db_block_is_damaged(context, path) : status;
}

static db_status check_run(const db_shots *all, const char *path, size_t size) {
    char run[DB_MD5_TEXT_SIZE] = "";
    db_pieces pieces;
    DB_TRY(load(all->context, path, 0, size, of_part, &pieces));
    db_pieces_move(&pieces, run, sizeof run);
    free(pieces.bytes);
    return memcmp(run, all->checkpoint->run, sizeof run) == 0
               ? DB_OK
               : db_fail(all->context, DB_ERROR_INPUT,
                         "%s: is of another refinement than the checkpoint that names it", path);
}

/* Notes the place of a shot's block. */
static db_status index_block(const db_shots *all, const char *path, const db_block_head *head,
                             db_record_place place) {
    if (place.at == 0) return check_run(all, path, place.bytes);
    if (strcmp(head->name, of_shot) != 0 || head->shot < 0 || head->shot >= (int64_t)all->count ||
        head->stage < 0 || head->stage > (int)all->settings.stage_count)
        return db_block_is_damaged(all->context, path);
    place.stage = head->stage;
    place.used = head->used != 0;
    all->checkpoint->place[head->shot] = place;
    return DB_OK;
}

/* A last block without its end was being written when the run was interrupted. */
static db_status index_blocks(const db_shots *all, const char *path, int file, int whole,
                              db_record_place place) {
    struct stat about;
    const long long size = fstat(file, &about) == 0 ? (long long)about.st_size : 0;
    for (; place.at < size; place.at += (long long)place.bytes) {
        char bytes[sizeof(db_block_head)];
        db_block_head head;
        const ssize_t got = pread(file, bytes, sizeof bytes, place.at);
        if (got != (ssize_t)sizeof bytes ||
            !db_block_head_in(bytes, (size_t)(size - place.at), &head))
            break;
        place.bytes = sizeof head + (size_t)head.bytes;
        DB_TRY(index_block(all, path, &head, place));
    }
    if (place.at > 0 && (place.at == size || !whole)) return DB_OK;
    return db_fail(all->context, DB_ERROR_INPUT, "%s: ends too early", path);
}

static db_status index_part(const db_shots *all, int set, int part) {
    const db_part_set *const of = &all->checkpoint->set[set];
    const db_record_place place = { .set = set, .part = part };
    char path[DB_PART_PATH_SIZE];
    path_of(of, part, path);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return db_fail(all->context, DB_ERROR_FILE,
                       "%s: cannot be opened: %s; it is a part of the checkpoint %s", path,
                       strerror(errno), all->options->checkpoint);
    const db_status status = index_blocks(all, path, file, of->whole, place);
    close(file);
    return status;
}

db_status db_parts_index(db_shots *all) {
    db_checkpoint *const c = all->checkpoint;
    c->place = calloc(all->count + 1, sizeof *c->place);
    if (!c->place) return db_fail_memory(all->context, "the checkpoint");
    for (size_t i = 0; i < all->count; i++) c->place[i].set = -1;
    int whole = 0;
    for (size_t s = 0; s < c->sets; s++) {
        whole |= c->set[s].whole;
        for (int part = 0; part < c->set[s].count; part++) DB_TRY(index_part(all, (int)s, part));
    }
    for (size_t i = 0; i < all->count && whole; i++)
        if (c->place[i].set < 0)
            return db_fail(all->context, DB_ERROR_INPUT, "%s: has no record of shot %zu, %s",
                           all->options->checkpoint, i + 1,
                           all->source->name(all->source->user, i));
    return DB_OK;
}

db_status db_parts_check_task(const db_shots *all, const char *path, int task, int tasks) {
    const int stage = db_segment_from(all, 0).to;
    size_t own = 0, done = 0;
    for (size_t i = 0; i < all->count; i++) {
        const db_record_place *const at = &all->checkpoint->place[i];
        if (!db_shares_is_of_task(all, i, task, tasks)) continue;
        own++;
        done += at->set >= 0 && (!at->used || at->stage >= stage);
    }
    return done == own
               ? DB_OK
               : db_fail(
                     all->context, DB_ERROR_INPUT,
                     "%s: task %d of %d has not come to its end: %zu of its %zu shots are done; "
                     "expected --array %d/%d --resume first",
                     path, task, tasks, done, own, task, tasks);
}

static const db_record_place *place_of(const db_shots *all, size_t shot) {
    const db_checkpoint *const c = all->checkpoint;
    return c && c->place && c->place[shot].set >= 0 ? &c->place[shot] : NULL;
}

int db_checkpoint_stage(const db_shots *all, size_t shot, int *used) {
    const db_record_place *const at = place_of(all, shot);
    *used = !at || at->used;
    return at ? at->stage : 0;
}

/* Are numbers and texts of a record in range? */
static int is_sound(const db_shots *all, const db_shot_summary *s) {
    const db_fit_shot_identity *const i = &s->identity;
    const int stages = (int)all->settings.stage_count;
    return (s->used == 0 || s->used == 1) && s->stage >= 0 && s->stage <= stages &&
           s->opened >= 0 && s->opened <= stages && memchr(s->reason, 0, sizeof s->reason) &&
           memchr(i->image, 0, sizeof i->image) && memchr(i->files, 0, sizeof i->files) &&
           memchr(i->configuration, 0, sizeof i->configuration);
}

/* Opens the block of a shot, and takes its record. The caller frees the bytes. */
static db_status open_shot(db_shots *all, db_context *context, size_t shot, db_pieces *pieces,
                           char path[DB_PART_PATH_SIZE]) {
    const db_record_place *const at = place_of(all, shot);
    const char *const own = all->source->name(all->source->user, shot);
    char name[DB_PART_PATH_SIZE] = "";
    path_of(&all->checkpoint->set[at->set], at->part, path);
    DB_TRY(load(context, path, at->at, at->bytes, of_shot, pieces));
    move_shot(all, shot, name, pieces);
    db_status status = DB_OK;
    if (pieces->failed || !is_sound(all, &all->summary[shot]))
        status = db_block_is_damaged(context, path);
    else if (strncmp(name, own, sizeof name - 1) != 0)
        status = db_fail(context, DB_ERROR_INPUT,
                         "%s: is of another refinement: shot %zu is %.300s, here %s", path,
                         shot + 1, name, own);
    if (status != DB_OK) free(pieces->bytes);
    return status;
}

db_status db_checkpoint_take(db_shots *all, db_context *context, size_t shot) {
    char path[DB_PART_PATH_SIZE];
    db_pieces pieces;
    if (!place_of(all, shot)) return DB_OK;
    DB_TRY(open_shot(all, context, shot, &pieces, path));
    free(pieces.bytes);
    all->state[shot].needed = all->summary[shot].used && all->checkpoint->stage > 0;
    return DB_OK;
}

db_status db_parts_take_state(db_shots *all, size_t shot, const db_stage_state *state) {
    char path[DB_PART_PATH_SIZE];
    db_pieces pieces;
    all->state[shot].needed = 0;
    DB_TRY(open_shot(all, all->context, shot, &pieces, path));
    db_status status = state->shot(state->user, shot, &pieces);
    if (status == DB_OK && (pieces.failed || pieces.count != pieces.room))
        status = db_block_is_damaged(all->context, path);
    free(pieces.bytes);
    return status;
}
