/* Texts and digests that identify a checkpoint, and differences between two such texts. */
#define _POSIX_C_SOURCE 200809L
#include "fit/lists/identity.h"

#include "base/context_internal.h"
#include "base/measured_pixels.h"
#include "fit/config/config_keys.h"
#include "fit/config/input_files.h"
#include "fit/config/config_print.h"
#include "fit/config/listed_experiment.h"
#include "base/text_stream.h"
#include "base/file_content.h"
#include "base/file_stamp.h"
#include "base/md5.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of a configuration. */
static const char *file_name(const db_fit_config *config, const db_config_key *key) {
    return db_config_field(key, config);
}

/* Is the file an input beside the image? */
static int is_input(const db_fit_config *config, const db_config_key *key) {
    const char *const name = file_name(config, key);
    return key->is->kind == DB_KEY_FILE && *name && name != config->image_file &&
           name != config->output_prefix && name != config->shot_list;
}

static db_status digest_of_file(db_context *context, const char *path,
                                char digest[DB_MD5_TEXT_SIZE]) {
    db_file_content content;
    DB_TRY(db_file_content_read(context, path, &content));
    db_md5_base64(content.bytes, content.size, digest);
    db_file_content_clear(&content);
    return DB_OK;
}

/* Reads the image in the layout of the experiment list. */
static db_status read_listed(db_context *context, const db_fit_config *config,
                             db_measured_image *image) {
    db_listed listed;
    DB_TRY(db_listed_read(context, config, &listed));
    const db_status status =
        db_read_listed_image(context, config->image_file, &listed.content, image);
    db_listed_clear(&listed);
    return status;
}

/* Digests of the last files: all shots of an experiment list name this list, whose size grows with their number. */
typedef struct kept_digest {
    char path[DB_FIT_PATH_SIZE];
    db_file_stamp stamp;
    char digest[DB_MD5_TEXT_SIZE];
} kept_digest;
enum { KEPT = 8 };
static kept_digest kept[KEPT];

/* Finds the digest of a file in a state, or makes and keeps it; 0: no such file. */
static int look_up(const char *path, const db_file_stamp *stamp, char digest[DB_MD5_TEXT_SIZE],
                   int keeps) {
    static size_t next;
    int found = 0;
#pragma omp critical(db_identity_kept)
    {
        for (size_t i = 0; i < KEPT && !keeps && !found; i++) {
            if (strcmp(kept[i].path, path) != 0 || !db_file_stamp_same(&kept[i].stamp, stamp))
                continue;
            memcpy(digest, kept[i].digest, sizeof kept[i].digest);
            found = 1;
        }
        if (keeps && strlen(path) < sizeof kept->path) {
            kept_digest *const at = &kept[next++ % KEPT];
            strcpy(at->path, path);
            at->stamp = *stamp;
            memcpy(at->digest, digest, sizeof at->digest);
        }
    }
    return found;
}

static db_status digest_of_shared_file(db_context *context, const char *path,
                                       char digest[DB_MD5_TEXT_SIZE]) {
    db_file_stamp stamp, after;
    const int certain = db_file_stamp_take(path, &stamp);
    if (certain && look_up(path, &stamp, digest, 0)) return DB_OK;
    DB_TRY(digest_of_file(context, path, digest));
    if (certain && db_file_stamp_take(path, &after) && db_file_stamp_same(&stamp, &after))
        look_up(path, &stamp, digest, 1);
    return DB_OK;
}

/* Digest of one image of a file with many, else of the file. */
static db_status digest_of_image(db_context *context, const db_fit_config *config,
                                 char digest[DB_MD5_TEXT_SIZE]) {
    const char *const path = config->image_file;
    if (!strchr(path, '#') || access(path, F_OK) == 0) return digest_of_file(context, path, digest);
    db_measured_image image;
    DB_TRY(*config->expt_file ? read_listed(context, config, &image)
                              : db_read_image(context, path, &image));
    db_md5_base64((const char *)image.value, db_measured_pixels(&image) * sizeof *image.value,
                  digest);
    db_measured_image_clear(&image);
    return DB_OK;
}

static db_status print_content(db_context *context, const char *name, FILE *stream) {
    char digest[DB_MD5_TEXT_SIZE];
    DB_TRY(digest_of_shared_file(context, name, digest));
    fprintf(stream, "  content of %s: %s\n", name, digest);
    return DB_OK;
}

static db_status print_curve_file(void *user, db_context *context, char name[DB_FIT_PATH_SIZE]) {
    return print_content(context, name, user);
}

/* Prints digests of the configuration's files, without files that `common` names, too. */
static db_status print_files(db_context *context, const db_fit_config *config,
                             const db_fit_config *common, FILE *stream) {
    fputs("files:\n", stream);
    for (int s = 0; s < DB_SECTION_COUNT; s++) {
        const db_config_section *const section = &db_config_sections[s];
        for (size_t k = 0; k < section->count; k++) {
            const db_config_key *const key = &section->keys[k];
            if (!is_input(config, key)) continue;
            const char *const name = file_name(config, key);
            if (common && strcmp(name, file_name(common, key)) == 0) continue;
            DB_TRY(print_content(context, name, stream));
        }
    }
    char sites[DB_FIT_PATH_SIZE];
    if (common && strcmp(config->sites, common->sites) == 0) return DB_OK;
    memcpy(sites, config->sites, sizeof sites);
    return db_fit_each_curve_file(context, sites, print_curve_file, stream);
}

static void print_config(const db_fit_config *config, FILE *stream) {
    db_fit_config plain = *config; /* borrows its lists */
    plain.output_prefix[0] = plain.image_file[0] = '\0';
    snprintf(plain.shot_list, sizeof plain.shot_list, "%s", "the list");
    db_fit_config_print(&plain, DB_CONFIG_PLAIN, stream);
}

static db_status compose_identity(db_context *context, const db_fit_config *config,
                                  const db_fit_config *common, int with_settings, int with_files,
                                  db_text_stream *text) {
    db_status status = DB_OK;
    DB_TRY(db_text_stream_open(context, text));
    if (with_settings) print_config(config, text->stream);
    if (with_files) status = print_files(context, config, common, text->stream);
    const db_status finished = db_text_stream_finish(context, text);
    if (status != DB_OK && finished == DB_OK) db_text_stream_free(text);
    return status == DB_OK ? finished : status;
}

db_status db_identity_text(db_context *context, const db_fit_config *config, char **text) {
    db_text_stream composed;
    *text = NULL;
    DB_TRY(compose_identity(context, config, NULL, 1, 1, &composed));
    *text = composed.bytes;
    return DB_OK;
}

static db_status digest_text(db_context *context, const db_fit_config *config,
                             const db_fit_config *common, int files,
                             char digest[DB_FIT_DIGEST_SIZE]) {
    db_text_stream text;
    DB_TRY(compose_identity(context, config, common, !files, files, &text));
    db_md5_base64(text.bytes, text.length, digest);
    db_text_stream_free(&text);
    return DB_OK;
}

db_status db_identity_of_settings(db_context *context, const db_fit_config *config,
                                  char digest[DB_FIT_DIGEST_SIZE]) {
    return digest_text(context, config, NULL, 0, digest);
}

db_status db_identity_of_shot(db_context *context, const db_fit_config *config,
                              const db_fit_config *common, db_fit_shot_identity *identity) {
    _Static_assert((int)DB_FIT_DIGEST_SIZE >= (int)DB_MD5_TEXT_SIZE, "a digest has room");
    DB_TRY(digest_of_image(context, config, identity->image));
    DB_TRY(db_identity_of_settings(context, config, identity->configuration));
    return digest_text(context, config, common, 1, identity->files);
}

/* A line "key: value", or "- key: value"; a key may occur more than once. A line without indentation begins a
 * section. */
typedef struct line {
    const char *begin;
    int length;
    const char *key;
    int key_length;
    const char *value;
    int value_length;
    char section[DB_FIT_NAME_SIZE];
} line;

/* The next line; 0: none. */
static int next_line(const char **at, line *l) {
    if (!**at) return 0;
    l->begin = *at;
    l->length = (int)strcspn(*at, "\n");
    *at += l->length + ((*at)[l->length] == '\n');
    const int indent = (int)strspn(l->begin, " -");
    const char *const end = strstr(l->begin + indent, ": ");
    const int last = l->length > indent && l->begin[l->length - 1] == ':';
    l->key = l->begin + indent;
    l->key_length =
        end && end < l->begin + l->length ? (int)(end - l->key) : l->length - indent - last;
    l->value = l->key + l->key_length;
    l->value += strspn(l->value, ": ");
    l->value_length = (int)(l->begin + l->length - l->value);
    if (*l->begin != ' ') snprintf(l->section, sizeof l->section, "%.*s", l->key_length, l->key);
    return 1;
}

static int same_key(const line *a, const line *b) {
    return strcmp(a->section, b->section) == 0 && a->key_length == b->key_length &&
           strncmp(a->key, b->key, (size_t)a->key_length) == 0;
}

/* The corresponding line in another text: among lines with its key, the one with the same number. 0: none. */
static int counterpart(const char *own, const line *l, const char *other, line *found) {
    line at = { .length = 0 };
    int number = 0;
    while (next_line(&own, &at) && at.begin != l->begin) number += same_key(&at, l);
    memset(found, 0, sizeof *found);
    while (next_line(&other, found))
        if (same_key(found, l) && number-- == 0) return 1;
    return 0;
}

static void add_difference(const line *l, const line *here, const line *there,
                           char text[DB_DIFFERENCES_SIZE]) {
    const size_t used = strlen(text);
    const char *value[2];
    int size[2];
    const line *const both[2] = { here, there };
    for (int i = 0; i < 2; i++) {
        const int empty = both[i] && both[i]->value_length <= 0;
        value[i] = !both[i] ? "not" : empty ? "there" : both[i]->value;
        size[i] = !both[i] || empty ? (int)strlen(value[i]) : both[i]->value_length;
    }
    const int top = *l->begin != ' ';
    snprintf(text + used, DB_DIFFERENCES_SIZE - used, "%s%s%s%.*s (%.*s here, %.*s in it)",
             used ? "; " : "", top ? "" : l->section, top ? "" : ".",
             l->key_length < 80 ? l->key_length : 80, l->key, size[0] < 60 ? size[0] : 60, value[0],
             size[1] < 60 ? size[1] : 60, value[1]);
}

int db_identity_differences(const char *here, const char *there, char text[DB_DIFFERENCES_SIZE]) {
    line l = { .length = 0 };
    line other;
    text[0] = '\0';
    for (const char *at = here; next_line(&at, &l);) {
        const int found = counterpart(here, &l, there, &other);
        if (!found || other.length != l.length ||
            memcmp(other.begin, l.begin, (size_t)l.length) != 0)
            add_difference(&l, &l, found ? &other : NULL, text);
    }
    memset(&l, 0, sizeof l);
    for (const char *at = there; next_line(&at, &l);)
        if (!counterpart(there, &l, here, &other)) add_difference(&l, NULL, &l, text);
    return *text != '\0';
}
