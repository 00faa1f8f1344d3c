/* Boxes of a measured image, measured one by one from an image that the plan renders, here or on its device. */
#include "engine/boxes_state.h"

#include "base/measured_pixels.h"
#include "base/threads.h"
#include "loss/box_window.h"

#include <stdlib.h>
#include <string.h>

static db_status check_frame(const db_plan *plan, const db_box_frame *frame) {
    if (frame->size != sizeof *frame)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "boxes: size of the frame is %zu, expected %zu (use DB_BOX_FRAME_INIT)",
                       frame->size, sizeof *frame);
    if (!frame->image || !frame->image->value || !frame->background || !frame->strong ||
        !frame->own)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "boxes: expected an image, backgrounds, strong and own pixels, found NULL "
                       "for one of them");
    DB_TRY(db_need_panels(plan->context, frame->image));
    if (!(frame->gain > 0))
        return db_fail(plan->context, DB_ERROR_USAGE, "boxes: expected a gain above 0, found %g",
                       frame->gain);
    for (size_t b = 0; b < plan->tiles.given_count; b++)
        if (!db_measured_holds(frame->image, &plan->tiles.given[b]))
            return db_fail(plan->context, DB_ERROR_USAGE,
                           "boxes: box %zu is not within a panel of the measured image", b);
    for (size_t b = 0; frame->order && b < plan->tiles.given_count; b++)
        if (frame->order[b] >= plan->tiles.given_count)
            return db_fail(plan->context, DB_ERROR_USAGE,
                           "boxes: the order names a box that there is not");
    return DB_OK;
}

db_status db_boxes_create_in(db_plan *plan, const db_box_frame *frame, db_boxes **boxes) {
    *boxes = NULL;
    DB_TRY(check_frame(plan, frame));
    DB_TRY(db_boxes_make(plan, 0, boxes));
    (*boxes)->frame = *frame;
    return DB_OK;
}

static void measure_all(const db_boxes *boxes, const db_box_rule *rule, int threads,
                        db_box_window *windows, db_box_measured *measured) {
    const long count = (long)db_boxes_count(boxes);
    const size_t *const order = boxes->frame.order;
    const db_region *const region = boxes->plan->tiles.given;
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) if (threads > 1)
#else
    (void)threads;
#endif
    for (long k = 0; k < count; k++) {
        const size_t b = order ? order[k] : (size_t)k;
        db_measure_box(&boxes->frame, &region[b], boxes->image, &rule[b],
                       &windows[db_thread_number()], &measured[b]);
    }
}

static db_status measure_boxes(db_boxes *boxes, const db_box_rule *rule,
                               db_box_measured *measured) {
    const db_context *const context = boxes->plan->context;
    const int threads = db_threads_for(context, (long)db_boxes_count(boxes));
    DB_TRY(db_boxes_render_here(boxes, 0));
    db_box_window *const windows = calloc((size_t)threads, sizeof *windows);
    int made = 0;
    db_enter_stage(context, "boxes");
    while (windows && made < threads &&
           db_box_window_make(boxes->plan->tiles.given, db_boxes_count(boxes), &windows[made]))
        made++;
    if (made == threads) measure_all(boxes, rule, threads, windows, measured);
    for (int t = 0; t < made; t++) db_box_window_clear(&windows[t]);
    free(windows);
    db_leave_stage(context, "boxes");
    return made == threads ? DB_OK : db_fail_memory(boxes->plan->context, "boxes");
}

static double sum_of(const float *image, const db_region *r) {
    double sum = 0;
    for (int s = 0; s < r->slow_count; s++)
        for (int f = 0; f < r->fast_count; f++)
            sum += (double)image[r->offset + (size_t)s * r->stride + (size_t)f];
    return sum;
}

db_status db_boxes_light(db_boxes *boxes, double *light) {
    const db_context *const context = boxes->plan->context;
    const long count = (long)db_boxes_count(boxes);
    db_boxes_begin(boxes, DB_BOXES_IMAGE);
    DB_TRY(db_boxes_render_here(boxes, 1));
    db_enter_stage(context, "sums");
#if defined(_OPENMP)
    const int threads = db_threads_for(context, count);
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (long b = 0; b < count; b++) light[b] = sum_of(boxes->image, &boxes->plan->tiles.given[b]);
    db_leave_stage(context, "sums");
    return DB_OK;
}

db_status db_boxes_measure(db_boxes *boxes, const db_box_rule *rule, db_box_measured *measured) {
    if (!boxes->frame.size)
        return db_boxes_refuse(boxes, "expected boxes of a measured image (db_boxes_create_in)");
    if (!rule || !measured)
        return db_boxes_refuse(boxes, "expected rules and room for results, found NULL");
    DB_TRY(db_boxes_rules_check(boxes, rule));
    if (boxes->rendered == DB_BOXES_AS_BEFORE)
        return db_boxes_refuse(boxes, "nothing has been rendered yet");
    return measure_boxes(boxes, rule, measured);
}
