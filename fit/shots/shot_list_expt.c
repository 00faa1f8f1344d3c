/* The experiments of a DIALS experiment list as shots. */
#include "base/context_internal.h"
#include "fit/shots/shot_list.h"
#include "base/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *last_part(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* An image of a template such as shot_#####.cbf: the number, from 0, with as many digits as there
 * are signs, or more. */
static char *fill_template(const char *pattern, long number) {
    char digits[24];
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%ld", number);
    const size_t first = strcspn(pattern, "#"), signs = strspn(pattern + first, "#");
    const size_t zeros = signs > length ? signs - length : 0;
    char *const name = malloc(strlen(pattern) + length + 1);
    if (!name) return NULL;
    strcpy(name, pattern);
    if (signs == 0) return name;
    memset(name + first, '0', zeros);
    strcpy(name + first + zeros, digits);
    strcat(name + first + zeros + length, pattern + first + signs);
    return name;
}

/* The first image of a scan, or 1 without one. */
static db_status first_number(const db_json *root, const db_json *experiment, long *number) {
    const db_json reference = db_json_member(experiment, "scan"),
                  scans = db_json_member(root, "scan");
    *number = 1;
    if (!json_is_integer(reference.value)) return DB_OK;
    const db_json scan = db_json_element(&scans, (size_t)json_integer_value(reference.value)),
                  range = db_json_member(&scan, "image_range"), first = db_json_element(&range, 0);
    if (!first.value) return DB_OK;
    *number = (long)json_integer_value(first.value);
    return json_is_integer(first.value) && *number >= 0
               ? DB_OK
               : db_json_fail(&first, "the number of an image, from 0");
}

/* The image of an experiment, as the list names it; the caller frees it. */
static db_status image_of(const db_json *root, const db_json *experiment, char **name) {
    const db_json reference = db_json_member(experiment, "imageset"),
                  sets = db_json_member(root, "imageset");
    *name = NULL;
    if (!json_is_integer(reference.value)) return db_json_fail(&reference, "the number of a set");
    const db_json set = db_json_element(&sets, (size_t)json_integer_value(reference.value));
    const char *const pattern = db_json_text(&set, "template");
    if (pattern) {
        long number;
        DB_TRY(first_number(root, experiment, &number));
        *name = fill_template(pattern, number);
    } else {
        const db_json images = db_json_member(&set, "images");
        const char *const first = json_string_value(json_array_get(images.value, 0));
        if (!first) return db_json_fail(&images, "a list of images");
        *name = malloc(strlen(first) + 1);
        if (*name) strcpy(*name, first);
    }
    return *name ? DB_OK : db_fail_memory(root->context, root->path);
}

/* Where the image is: as named, or, if data have moved, beside the list. */
static char *find_image(const char *list, const char *name) {
    char *const named = db_name_beside(list, name);
    if (!named || access(named, R_OK) == 0) return named;
    char *const beside = db_name_beside(list, last_part(name));
    if (!beside || access(beside, R_OK) != 0) {
        free(beside);
        return named;
    }
    free(named);
    return beside;
}

static db_status add_experiment(const db_json *root, const db_json *experiments, size_t number,
                                db_fit_shot_list *list) {
    const db_json experiment = db_json_element(experiments, number);
    char *name, override[2 * DB_FIT_PATH_SIZE];
    DB_TRY(image_of(root, &experiment, &name));
    char *const image = name ? find_image(root->path, name) : NULL;
    free(name);
    db_shot_entry *const entry = image ? db_shot_list_add(list, image, (int)number) : NULL;
    free(image);
    int whole = entry != NULL;
    if (whole) {
        snprintf(override, sizeof override, "model.expt=%s", root->path);
        whole = db_shot_entry_add(entry, override);
        snprintf(override, sizeof override, "model.expt_number=%zu", number);
        whole = whole && db_shot_entry_add(entry, override);
    }
    return whole ? DB_OK : db_fail_memory(root->context, root->path);
}

db_status db_shot_list_read_expt(db_context *context, const char *path, db_fit_shot_list *list) {
    json_t *document = NULL;
    db_json root;
    DB_TRY(db_json_open(context, path, &document, &root));
    const db_json experiments = db_json_member(&root, "experiment");
    db_status status = DB_OK;
    if (!json_is_array(experiments.value)) status = db_json_fail(&experiments, "a list");
    for (size_t i = 0; i < json_array_size(experiments.value) && status == DB_OK; i++)
        status = add_experiment(&root, &experiments, i, list);
    json_decref(document);
    return status;
}
