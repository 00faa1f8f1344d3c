#define _POSIX_C_SOURCE 200809L
#include "fit/damaged_state.h"

#include "base/md5.h"
#include "fit/shots/blocks.h"
#include "support/unit_test.h"

#include <glob.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 8 };

typedef struct state_file {
    char *path, *bytes;
    size_t size;
} state_file;

typedef struct damaged_run {
    db_context *context;
    const db_fit_shot_source *source;
    const db_fit_settings *settings;
    db_fit_shots_options options;
    state_file file[MOST_FILES];
    size_t files;
    atomic_int evaluated; /* all threads ask for it */
} damaged_run;

static void note_evaluation(void *user, const db_fit_shots_event *event) {
    damaged_run *const run = user;
    run->evaluated |= event->kind == DB_SHOTS_EVALUATED;
}

static int has_evaluated(void *user) { return ((const damaged_run *)user)->evaluated; }

static void write_file(const state_file *file, const char *bytes, size_t size) {
    FILE *const out = fopen(file->path, "wb");
    assert_true(out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
}

static void load_files(damaged_run *run) {
    char pattern[4200];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s*", run->options.checkpoint);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_in_range(found.gl_pathc, 2, MOST_FILES);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        state_file *const file = &run->file[run->files++];
        FILE *const in = fopen(found.gl_pathv[i], "rb");
        assert_true(in && fseek(in, 0, SEEK_END) == 0);
        file->path = strdup(found.gl_pathv[i]);
        file->size = (size_t)ftell(in);
        file->bytes = malloc(file->size + 1);
        rewind(in);
        assert_int_equal(fread(file->bytes, 1, file->size, in), file->size);
        fclose(in);
    }
    globfree(&found);
}

/* A run from the files, of which one has other bytes. */
static db_status go_on(damaged_run *run, const state_file *damaged, const char *bytes,
                       size_t size) {
    db_fit_shots_result *result = NULL;
    (void)db_fit_checkpoint_remove(run->context, run->options.checkpoint);
    for (size_t i = 0; i < run->files; i++)
        write_file(&run->file[i], run->file[i].bytes, run->file[i].size);
    if (damaged) write_file(damaged, bytes, size);
    run->evaluated = 0;
    const db_status status =
        db_fit_run(run->context, run->source, run->settings, &run->options, &result);
    db_fit_shots_result_destroy(&result);
    return status;
}

static void is_told(const damaged_run *run, const state_file *file, db_status status,
                    const char *what, size_t at) {
    const char *const message = db_context_message(run->context);
    if (status != DB_ERROR_INPUT || !strstr(message, run->options.checkpoint))
        fail_msg("%s, %s %zu: status %d, %s", file->path, what, at, (int)status, message);
}

static void cut_off(damaged_run *run, const state_file *file, size_t count) {
    for (size_t k = 0; k < count; k++) {
        const size_t size = k * (file->size - 1) / (count - 1);
        is_told(run, file, go_on(run, file, file->bytes, size), "cut at", size);
    }
}

static void change(damaged_run *run, const state_file *file, size_t count) {
    for (size_t k = 0; k < count; k++) {
        const size_t at = (k * 0x9e3779b97f4a7c15u >> 11) % file->size;
        file->bytes[at] = (char)(file->bytes[at] ^ (1 << k % 8));
        const db_status status = go_on(run, file, file->bytes, file->size);
        file->bytes[at] = (char)(file->bytes[at] ^ (1 << k % 8));
        is_told(run, file, status, "changed at", at);
    }
}

/* Gives a block the digest of its bytes. */
static void seal(char *block, size_t size) {
    char *const digest = block + offsetof(db_block_head, digest);
    char text[sizeof((db_block_head *)NULL)->digest] = "";
    memset(digest, 0, sizeof text);
    db_md5_base64(block, size, text);
    memcpy(digest, text, sizeof text);
}

/* Words of a block become numbers that are far too large, or nothing. */
static void forge_block(damaged_run *run, const state_file *file, char *bytes, size_t begin,
                        size_t size, size_t count) {
    static const unsigned char worst[] = { 0xff, 0x7f, 0x00 };
    const size_t payload = size - sizeof(db_block_head);
    for (size_t k = 0; k < count; k++) {
        const size_t near = 2 * k, far = (k * 0x9e3779b97f4a7c15u >> 11) % payload;
        const size_t at = k % 2 || near + 8 > payload ? far : near;
        const size_t width = payload - at < 8 ? payload - at : 8;
        char *const word = bytes + begin + sizeof(db_block_head) + at;
        memset(word, worst[at == near ? 0 : k % 3], width);
        seal(bytes + begin, size);
        const db_status status = go_on(run, file, bytes, file->size);
        assert_true(status == DB_OK || *db_context_message(run->context));
        memcpy(bytes + begin, file->bytes + begin, size);
    }
}

/* The first block says what the refinement is, which is compared; shots are alike: one of them is enough. */
static void forge(damaged_run *run, const state_file *file, size_t count) {
    char *const bytes = malloc(file->size);
    size_t shots = 0;
    db_block_head head;
    assert_non_null(bytes);
    memcpy(bytes, file->bytes, file->size);
    for (size_t at = 0, size; at < file->size; at += size) {
        assert_true(db_block_head_in(bytes + at, file->size - at, &head));
        size = sizeof head + (size_t)head.bytes;
        shots += head.shot >= 0;
        if (at > 0 && shots < 2 && head.bytes) forge_block(run, file, bytes, at, size, count);
    }
    free(bytes);
}

void go_on_from_damaged_states(db_context *context, const db_fit_shot_source *source,
                               const db_fit_settings *settings, const db_fit_shots_options *options,
                               size_t count, size_t forged) {
    damaged_run run = {
        .context = context, .source = source, .settings = settings, .options = *options
    };
    run.options.resume = 1;
    run.options.progress = note_evaluation;
    run.options.cancelled = has_evaluated;
    run.options.user = &run;
    load_files(&run);
    for (size_t i = 0; i < run.files; i++) {
        cut_off(&run, &run.file[i], count);
        change(&run, &run.file[i], count);
        forge(&run, &run.file[i], forged);
    }
    assert_int_equal(go_on(&run, NULL, NULL, 0), DB_ERROR_CANCELLED);
    assert_true(run.evaluated); /* nothing but the damage was wrong */
    for (size_t i = 0; i < run.files; i++) {
        free(run.file[i].path);
        free(run.file[i].bytes);
    }
}
