/* The experiments of a DIALS experiment list as shots. */
#include "core/context_internal.h"
#include "fit/shots/shot_list.h"
#include "io/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *last_part(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The first image of a template such as shot_#####.cbf, whose number the scan tells. */
static char *fill_template(const char *pattern, long number) {
    char digits[32];
    char *const name = malloc(strlen(pattern) + 1);
    if (!name) return NULL;
    strcpy(name, pattern);
    const size_t first = strcspn(name, "#"), count = strspn(name + first, "#");
    const int length = snprintf(digits, sizeof digits, "%0*ld", (int)count, number);
    if (count > 0 && (size_t)length == count) memcpy(name + first, digits, count);
    return name;
}

/* The image of an experiment, as the list names it; the caller frees it. */
static db_status image_of(const db_json *root, const db_json *experiment, char **name) {
    const db_json reference = db_json_member(experiment, "imageset"),
                  sets = db_json_member(root, "imageset"),
                  scan_reference = db_json_member(experiment, "scan"),
                  scans = db_json_member(root, "scan");
    *name = NULL;
    if (!json_is_integer(reference.value)) return db_json_fail(&reference, "the number of a set");
    const db_json set = db_json_element(&sets, (size_t)json_integer_value(reference.value));
    const char *const pattern = db_json_text(&set, "template");
    if (pattern) {
        long number = 1;
        if (json_is_integer(scan_reference.value)) {
            const db_json scan =
                db_json_element(&scans, (size_t)json_integer_value(scan_reference.value));
            const json_t *const range = json_object_get(scan.value, "image_range");
            if (json_is_integer(json_array_get(range, 0)))
                number = (long)json_integer_value(json_array_get(range, 0));
        }
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
