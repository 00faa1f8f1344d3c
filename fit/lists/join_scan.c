/* Joins experiment lists of singly refined frames to a list of their scan. */
#include "fit/lists/join_scan.h"

#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest relative difference between the matrices of frames of one crystal. */
static const double NEAR = 0.02;

static json_t *only_model(const json_t *part, const char *kind) {
    const json_t *const list = json_object_get(part, kind);
    return json_array_size(list) == 1 ? json_array_get(list, 0) : NULL;
}

static int numbers_of(const json_t *list, double *value, size_t count) {
    int right = json_array_size(list) == count;
    for (size_t i = 0; i < count && right; i++) {
        right = json_is_number(json_array_get(list, i));
        value[i] = json_number_value(json_array_get(list, i));
    }
    return right;
}

/* Place of a frame in its scan, and its crystal. */
typedef struct frame {
    long number;
    double start, width, a_star[9];
} frame;

/* Reads a frame; 0: it has no rotation. */
static int frame_of(const json_t *part, frame *f) {
    static const char *const names[] = { "real_space_a", "real_space_b", "real_space_c" };
    const json_t *const scan = only_model(part, "scan");
    const json_t *const crystal = only_model(part, "crystal");
    double range[2], oscillation[2], real[9], dual[9];
    int right = numbers_of(json_object_get(scan, "image_range"), range, 2) &&
                numbers_of(json_object_get(scan, "oscillation"), oscillation, 2) &&
                range[0] == range[1] && oscillation[1] > 0;
    for (int i = 0; i < 3 && right; i++)
        right = numbers_of(json_object_get(crystal, names[i]), real + 3 * i, 3);
    if (!right || !only_model(part, "imageset") || !(db_dual_basis(real, dual) > 0)) return 0;
    f->number = (long)range[0];
    f->start = oscillation[0];
    f->width = oscillation[1];
    db_transpose(dual, f->a_star);
    return 1;
}

static int same_models(const json_t *a, const json_t *b) {
    static const char *const kinds[] = { "beam",     "detector", "goniometer",
                                         "imageset", "profile",  "scaling_model" };
    int same = 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        same &= json_equal(json_object_get(a, kinds[i]), json_object_get(b, kinds[i]));
    return same;
}

static double difference(const double a[9], const double b[9]) {
    double off = 0, size = 0;
    for (int i = 0; i < 9; i++) {
        off += (a[i] - b[i]) * (a[i] - b[i]);
        size += a[i] * a[i];
    }
    return sqrt(off / size);
}

static int follows(const db_scan_run *run, const json_t *part, const frame *f) {
    const double n = (double)run->count;
    return f->number == run->number + (long)run->count &&
           fabs(f->width - run->width) < 1e-6 * run->width &&
           fabs(f->start - run->start - n * run->width) < 1e-3 * run->width &&
           difference(run->a_star[run->count - 1], f->a_star) < NEAR &&
           same_models(run->part, part);
}

int db_scan_run_take(db_scan_run *run, json_t *part) {
    frame f = { 0 };
    const int is_frame = frame_of(part, &f);
    if (run->part && (run->count == 0 || !is_frame || !follows(run, part, &f))) return 0;
    if (run->count == run->room && is_frame) {
        const size_t room = run->room ? 2 * run->room : 16;
        double(*const grown)[9] = realloc(run->a_star, room * sizeof *grown);
        if (!grown) return -1;
        run->a_star = grown;
        run->room = room;
    }
    if (run->part) {
        json_decref(part);
    } else {
        run->part = part;
        run->number = f.number;
        run->start = f.start;
        run->width = f.width;
    }
    if (is_frame) memcpy(run->a_star[run->count++], f.a_star, sizeof f.a_star);
    return 1;
}

/* Matrices at the points before and behind each frame: half-way between the middles of two frames, and as far
 * beyond the middles at the ends. */
static void at_point(const db_scan_run *run, size_t point, double a_star[9]) {
    const size_t last = run->count - 1, before = point == 0     ? 0
                                                 : point > last ? last - 1
                                                                : point - 1;
    const double weight = point == 0 ? 1.5 : point > last ? -0.5 : 0.5;
    for (int i = 0; i < 9; i++)
        a_star[i] = weight * run->a_star[before][i] + (1 - weight) * run->a_star[before + 1][i];
}

static json_t *list_of(const double *value, size_t count) {
    json_t *const list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, json_real(value[i]));
    return list;
}

static void set_crystal(const db_scan_run *run, json_t *crystal) {
    static const char *const names[] = { "real_space_a", "real_space_b", "real_space_c" };
    double dual[9], real[9], largest = 0;
    db_transpose(run->a_star[run->count / 2], dual);
    db_dual_basis(dual, real);
    for (size_t i = 1; i < run->count; i++)
        largest = fmax(largest, difference(run->a_star[0], run->a_star[i]));
    if (largest < 1e-12) return; /* it stays the crystal of the first frame */
    for (int i = 0; i < 3; i++) json_object_set_new(crystal, names[i], list_of(real + 3 * i, 3));
    json_t *const points = json_array();
    for (size_t p = 0; p <= run->count; p++) {
        double a_star[9];
        at_point(run, p, a_star);
        json_array_append_new(points, list_of(a_star, 9));
    }
    json_object_set_new(crystal, "A_at_scan_points", points);
}

static void set_scan(const db_scan_run *run, json_t *scan) {
    json_t *const times = json_array();
    json_t *const epochs = json_array();
    const double time =
        json_number_value(json_array_get(json_object_get(scan, "exposure_time"), 0));
    for (size_t i = 0; i < run->count; i++) {
        json_array_append_new(times, json_real(time));
        json_array_append_new(epochs, json_real(0));
    }
    json_object_set_new(scan, "image_range",
                        json_pack("[I,I]", (json_int_t)run->number,
                                  (json_int_t)run->number + (json_int_t)run->count - 1));
    json_object_set_new(scan, "exposure_time", times);
    json_object_set_new(scan, "epochs", epochs);
}

json_t *db_scan_run_join(db_scan_run *run) {
    json_t *const part = run->part;
    if (run->count > 1) {
        set_crystal(run, only_model(part, "crystal"));
        set_scan(run, only_model(part, "scan"));
    }
    run->part = NULL;
    run->count = 0;
    return part;
}

void db_scan_run_clear(db_scan_run *run) {
    json_decref(run->part);
    free(run->a_star);
    *run = (db_scan_run){ .part = NULL };
}
