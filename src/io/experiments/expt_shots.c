#define _POSIX_C_SOURCE 200809L /* strdup */
/* The images of an experiment list, one after the other. */
#include "io/format_readers.h"

#include "base/context_internal.h"

#if defined(DB_HAVE_JANSSON)
#include "base/json_kept.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer than any series; they limit the memory that a wrong number can take. */
enum { MOST_IMAGES = 100000, MOST_TEXT = 1 << 28 };

/* The number of experiments that share a set of images, and of those listed so far. */
typedef struct sharing {
    size_t experiments, listed;
} sharing;

typedef struct listing {
    const db_json *root;
    size_t set_count;
    sharing *set; /* of each set; owned */
    db_listed_shots *shots;
} listing;

/* The signs of a template such as shot_#####.cbf; NULL: it has none. A folder's name may have them, too. */
static const char *signs_of(const char *pattern) { return strchr(db_file_name(pattern), '#'); }

/* An image of a template: its number, from 0, with at least as many digits as there are signs. */
static char *fill_template(const char *pattern, long number) {
    char digits[24];
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%ld", number);
    const size_t first = (size_t)(signs_of(pattern) - pattern),
                 signs = strspn(pattern + first, "#");
    const size_t zeros = signs > length ? signs - length : 0;
    char *const name = malloc(strlen(pattern) + length + 1);
    if (!name) return NULL;
    memcpy(name, pattern, first);
    memset(name + first, '0', zeros);
    strcpy(name + first + zeros, digits);
    strcat(name + first + zeros + length, pattern + first + signs);
    return name;
}

/* FILE#NUMBER. */
static char *name_in_file(const char *file, long number) {
    const size_t size = strlen(file) + 24;
    char *const name = malloc(size);
    if (name) snprintf(name, size, "%s#%ld", file, number);
    return name;
}

static db_status add_shot(const listing *l, size_t number, char *image) {
    if (db_listed_shots_add(l->shots, (long)number, image)) return DB_OK;
    return db_fail_memory(l->root->context, l->root->path);
}

/* The images of an experiment's scan; *count 0: it has none. */
static db_status read_range(const db_json *root, const db_json *experiment, long *first,
                            long *count) {
    const db_json reference = db_json_member(experiment, "scan"),
                  scans = db_json_member(root, "scan");
    int range[2];
    *first = 1;
    *count = 0;
    if (!json_is_integer(reference.value)) return DB_OK;
    const db_json scan = db_json_element(&scans, (size_t)json_integer_value(reference.value)),
                  images = db_json_member(&scan, "image_range");
    if (!images.value) return DB_OK;
    DB_TRY(db_json_integers(&images, range, 2));
    *first = range[0];
    *count = (long)range[1] - range[0] + 1;
    if (range[0] >= 0 && *count >= 1 && *count <= MOST_IMAGES) return DB_OK;
    return db_json_fail(&images, "the first and the last image, from 0, at most 100000 of them");
}

/* 1 if the file's indices contain this one. They mostly count up by 1, which is tried first. */
static int has_index(const db_json *indices, long index) {
    const long begin = (long)json_integer_value(json_array_get(indices->value, 0));
    const json_t *const there =
        index < begin ? NULL : json_array_get(indices->value, (size_t)(index - begin));
    if (there && json_integer_value(there) == index) return 1;
    for (size_t i = 0; i < json_array_size(indices->value); i++)
        if (json_integer_value(json_array_get(indices->value, i)) == index) return 1;
    return 0;
}

/* Adds the images of a sequence: one file each, or one file with all. */
static db_status add_sequence(const listing *l, const db_json *set, const char *pattern,
                              size_t number, long first, long count) {
    const db_json indices = db_json_member(set, "single_file_indices");
    const size_t listed = json_array_size(indices.value);
    const int is_pattern = signs_of(pattern) != NULL;
    const long last = count ? first + count - 1 : first;
    if ((size_t)(last - first + 1) * strlen(pattern) > MOST_TEXT)
        return db_fail(set->context, DB_ERROR_INPUT,
                       "%s: %s: %ld images of names that have %zu characters; expected fewer",
                       set->path, set->place, count, strlen(pattern));
    for (long image = first; image <= last; image++) {
        const int in_file = !is_pattern && (listed > 0 || last > 1);
        if (in_file && listed > 0 && !has_index(&indices, image - 1))
            return db_fail(set->context, DB_ERROR_INPUT,
                           "%s: %s: expected the index %ld of image %ld, which a scan has, found "
                           "%zu others",
                           set->path, indices.place, image - 1, image, listed);
        DB_TRY(add_shot(l, number,
                        is_pattern ? fill_template(pattern, image)
                        : in_file  ? name_in_file(pattern, image)
                                   : strdup(pattern)));
    }
    return DB_OK;
}

static db_status add_of_set(const listing *l, const db_json *set, size_t number, size_t place) {
    const db_json images = db_json_member(set, "images"),
                  indices = db_json_member(set, "single_file_indices");
    const char *const name = json_string_value(json_array_get(images.value, place));
    const json_t *const index = json_array_get(indices.value, place);
    if (!name) return db_json_fail(&images, "a list of images");
    if (!index) return add_shot(l, number, strdup(name));
    const json_int_t frame = json_integer_value(index) + 1;
    if (!json_is_integer(index) || frame < 1 || frame > 999999999)
        return db_json_fail(&indices, "numbers of images in their file, from 0");
    return add_shot(l, number, name_in_file(name, (long)frame));
}

/* Adds one image for each experiment that shares the set, in their order; all images if one experiment has the set
 * alone. */
static db_status add_set(const listing *l, const db_json *set, sharing *own, size_t number,
                         long count) {
    const db_json images = db_json_member(set, "images");
    const size_t listed = json_array_size(images.value);
    if (listed > 1 && own->experiments > 1 && own->experiments != listed)
        return db_fail(set->context, DB_ERROR_INPUT,
                       "%s: %s: %zu experiments share a set of %zu images; expected one image for "
                       "each, or sequences with scans",
                       set->path, set->place, own->experiments, listed);
    if (count > 1 && own->experiments == 1 && (size_t)count != listed)
        return db_fail(set->context, DB_ERROR_INPUT,
                       "%s: %s: expected the %ld images of the scan, found %zu", set->path,
                       images.place, count, listed);
    if (listed <= 1 || own->experiments > 1)
        return add_of_set(l, set, number, listed > 1 ? own->listed++ : 0);
    for (size_t place = 0; place < listed; place++) DB_TRY(add_of_set(l, set, number, place));
    return DB_OK;
}

static db_status add_experiment(const listing *l, const db_json *experiment, size_t number) {
    const db_json reference = db_json_member(experiment, "imageset"),
                  sets = db_json_member(l->root, "imageset");
    const json_int_t which = json_integer_value(reference.value);
    long first, count;
    if (!json_is_integer(reference.value) || which < 0 || (size_t)which >= l->set_count)
        return db_json_fail(&reference, "the number of a set");
    const db_json set = db_json_element(&sets, (size_t)which);
    const char *const pattern = db_json_text(&set, "template");
    DB_TRY(read_range(l->root, experiment, &first, &count));
    return pattern ? add_sequence(l, &set, pattern, number, first, count)
                   : add_set(l, &set, &l->set[which], number, count);
}

static db_status list_all(listing *l) {
    const db_json experiments = db_json_member(l->root, "experiment"),
                  sets = db_json_member(l->root, "imageset");
    const size_t count = json_array_size(experiments.value);
    if (!json_is_array(experiments.value)) return db_json_fail(&experiments, "a list");
    l->set_count = json_array_size(sets.value);
    l->set = calloc(l->set_count + 1, sizeof *l->set);
    if (!l->set) return db_fail_memory(l->root->context, l->root->path);
    for (size_t i = 0; i < count; i++) {
        const json_t *const set = json_object_get(json_array_get(experiments.value, i), "imageset");
        const json_int_t which = json_integer_value(set);
        if (json_is_integer(set) && which >= 0 && (size_t)which < l->set_count)
            l->set[which].experiments++;
    }
    for (size_t i = 0; i < count; i++) {
        const db_json experiment = db_json_element(&experiments, i);
        DB_TRY(add_experiment(l, &experiment, i));
    }
    return DB_OK;
}

db_status db_expt_shots(db_context *context, const char *path, db_listed_shots *shots) {
    const json_t *document;
    db_json root;
    listing l = { .root = &root, .shots = shots };
    DB_TRY(db_json_open_kept(context, path, &document, &root));
    const db_status status = list_all(&l);
    free(l.set);
    db_json_give_back(document);
    return status;
}
#else
db_status db_expt_shots(db_context *context, const char *path, db_listed_shots *shots) {
    (void)shots;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build has no JSON support (jansson), which experiment lists need",
                   path);
}
#endif
