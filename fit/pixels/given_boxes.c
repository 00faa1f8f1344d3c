/* Shoeboxes of a list. */
#include "fit/pixels/shoeboxes.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Squared distance of a reflection from a box's middle; INFINITY if the box is not for it. */
static double distance(const db_fit_spot *box, const db_spot *r) {
    const double *const at = r->position;
    const int indexed = box->hkl[0] || box->hkl[1] || box->hkl[2];
    if (box->panel != r->panel || at[0] < box->box[0] || at[0] >= box->box[1] + 1 ||
        at[1] < box->box[2] || at[1] >= box->box[3] + 1)
        return INFINITY;
    if (indexed && memcmp(box->hkl, r->hkl, sizeof r->hkl) != 0) return INFINITY;
    const double fast = at[0] - 0.5 * (box->box[0] + box->box[1] + 1),
                 slow = at[1] - 0.5 * (box->box[2] + box->box[3] + 1);
    return fast * fast + slow * slow;
}

db_status db_given_boxes_assign(db_context *context, const db_fit_spots *boxes,
                                const db_predicted_spots *prediction, const db_fit_spot ***given) {
    const db_fit_spot **const of = calloc(prediction->count + 1, sizeof *of);
    if (!of) return db_fail_memory(context, "the given shoeboxes");
    for (size_t b = 0; b < boxes->count; b++) {
        size_t nearest = prediction->count;
        double least = INFINITY;
        for (size_t i = 0; i < prediction->count; i++) {
            const double square = distance(&boxes->spot[b], &prediction->spot[i]);
            if (!(square < least)) continue;
            least = square;
            nearest = i;
        }
        if (nearest < prediction->count && !of[nearest]) of[nearest] = &boxes->spot[b];
    }
    *given = of;
    return DB_OK;
}

int db_given_boxes_half_width(const db_fit_spots *boxes) {
    int half_width = 1;
    for (size_t b = 0; b < boxes->count; b++)
        for (int i = 0; i < 4; i += 2) {
            const int half = (boxes->spot[b].box[i + 1] - boxes->spot[b].box[i] + 1) / 2;
            half_width = half > half_width ? half : half_width;
        }
    return half_width;
}

/* First pixel of a square around pixels from..to, on a panel of `pixels` pixels. */
static int first_pixel(int from, int to, int half_width, int pixels) {
    const int first = (from + to) / 2 - half_width, last = pixels - (2 * half_width + 1);
    return first > last ? last : first < 0 ? 0 : first;
}

db_region db_given_box_region(const db_fit_spot *box, int half_width, const int pixels[2]) {
    const int width = 2 * half_width + 1;
    return (db_region){ .panel = box->panel,
                        .fast_start = first_pixel(box->box[0], box->box[1], half_width, pixels[0]),
                        .slow_start = first_pixel(box->box[2], box->box[3], half_width, pixels[1]),
                        .fast_count = width,
                        .slow_count = width,
                        .stride = (size_t)width };
}

int db_given_box_pixels(const db_fit_spot *box, const db_region *region, uint8_t *own) {
    int left = 0;
    for (int s = 0; s < region->slow_count; s++)
        for (int f = 0; f < region->fast_count; f++) {
            const int fast = region->fast_start + f, slow = region->slow_start + s;
            uint8_t *const pixel = &own[(size_t)s * region->stride + (size_t)f];
            if (fast < box->box[0] || fast > box->box[1] || slow < box->box[2] ||
                slow > box->box[3])
                *pixel = 0;
            left += *pixel;
        }
    return left > 0;
}
