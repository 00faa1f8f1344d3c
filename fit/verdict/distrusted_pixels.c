#include "fit/verdict/distrusted_pixels.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_LISTED = 100 };
/* Standard deviations; noise alone goes beyond them in one pixel of two million, if it is normal.
 */
static const double FAR_OFF = 5;

/* Least trusted first; equals in the order of the detector. */
static int least_trusted_first(const void *a, const void *b) {
    const db_fit_pixel *const x = a, *const y = b;
    if (x->trust != y->trust) return x->trust < y->trust ? -1 : 1;
    if (x->panel != y->panel) return x->panel < y->panel ? -1 : 1;
    return x->slow != y->slow ? x->slow - y->slow : x->fast - y->fast;
}

/* Pixel (fast, slow) of a block, if it is in use and far off. */
static int is_far_off(const db_objective *shot, size_t b, int fast, int slow, db_fit_pixel *pixel) {
    const db_region *const r = &shot->blocks.region[b];
    const size_t at = r->offset + (size_t)slow * r->stride + (size_t)fast;
    if (!(shot->blocks.weight[at] > 0)) return 0;
    const db_block block = db_objective_block(shot, b);
    const db_pixel_report report = db_block_pixel(&block, shot->solution[b].linear, fast, slow);
    const double counts = (double)shot->blocks.value[at],
                 z = (counts - report.expected) / sqrt(report.variance);
    *pixel = (db_fit_pixel){ .panel = r->panel,
                             .fast = r->fast_start + fast,
                             .slow = r->slow_start + slow,
                             .counts = counts,
                             .model = report.expected,
                             .z = z,
                             .trust = report.trust };
    return fabs(z) > FAR_OFF;
}

/* How many there are; those for which there is room are written to list. */
static size_t collect(const db_objective *shot, size_t room, db_fit_pixel *list) {
    size_t count = 0;
    for (size_t b = 0; b < shot->blocks.count; b++) {
        const db_region *const r = &shot->blocks.region[b];
        for (int slow = 0; slow < r->slow_count; slow++)
            for (int fast = 0; fast < r->fast_count; fast++) {
                db_fit_pixel pixel;
                if (!is_far_off(shot, b, fast, slow, &pixel)) continue;
                if (count < room) list[count] = pixel;
                count++;
            }
    }
    return count;
}

db_status db_distrusted_pixels_find(db_context *context, const db_objective *shot,
                                    db_fit_result *result) {
    const db_fit_target target = shot->loss_of.target;
    if (target != DB_FIT_HUBER && target != DB_FIT_STUDENT) return DB_OK;
    const size_t count = collect(shot, 0, NULL);
    db_fit_pixel *const all = malloc((count + 1) * sizeof *all);
    if (!all) return db_fail_memory(context, "the distrusted pixels");
    collect(shot, count, all);
    qsort(all, count, sizeof *all, least_trusted_first);
    result->distrusted_count = count;
    result->distrusted_listed = count < MOST_LISTED ? count : MOST_LISTED;
    result->distrusted = all;
    return DB_OK;
}
