/* Boxes of a plan: rendered, solved and added up, here or on the plan's device. */
#include "engine/boxes_state.h"

#include "base/given.h"
#include "engine/execute.h"
#include "engine/plan_background.h"

#include "base/large_memory.h"
#include "base/threads.h"
#include "loss/block.h"
#include "loss/eliminate.h"

#include <stdlib.h>
#include <string.h>

static db_status need_image(db_boxes *boxes, float **image) {
    if (!*image) *image = db_allocate_large((boxes->plan->tiles.pixels + 1) * sizeof **image);
    return *image ? DB_OK : db_fail_memory(boxes->plan->context, "the images of boxes");
}

static db_status check_plan(const db_plan *plan) {
    if (plan->job.pixel_type != DB_FLOAT32)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "boxes: expected a plan of pixel type float, found double");
    if (db_plan_background_pixels(plan))
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "boxes: expected a plan without a background; the background of boxes is "
                       "the offset of their data");
    return DB_OK;
}

db_status db_boxes_make(db_plan *plan, int sums, db_boxes **boxes) {
    *boxes = NULL;
    DB_TRY(check_plan(plan));
    if (sums) DB_TRY(db_plan_attach_device_for_boxes(plan));
    db_boxes *made = calloc(1, sizeof *made);
    if (!made) return db_fail_memory(plan->context, "boxes");
    made->plan = plan;
    made->derivative = calloc(plan->parameters.count + 1, sizeof *made->derivative);
    db_status status =
        made->derivative ? need_image(made, &made->image) : db_fail_memory(plan->context, "boxes");
    for (size_t k = 0; k < plan->parameters.count && status == DB_OK; k++)
        if (!db_plan_on_device(plan)) status = need_image(made, &made->derivative[k]);
    if (status != DB_OK) db_boxes_destroy(&made);
    *boxes = made;
    return status;
}

db_status db_boxes_create(db_plan *plan, db_boxes **boxes) { return db_boxes_make(plan, 1, boxes); }

void db_boxes_destroy(db_boxes **boxes) {
    if (!boxes || !*boxes) return;
    db_boxes *const b = *boxes;
    *boxes = NULL;
    for (size_t k = 0; b->derivative && k < b->plan->parameters.count; k++) free(b->derivative[k]);
    free(b->derivative);
    free(b->image);
    free(b);
}

db_status db_boxes_set_data(db_boxes *boxes, const db_box_data *data) {
    if (data->size != sizeof *data)
        return db_fail(boxes->plan->context, DB_ERROR_USAGE,
                       "data of boxes: size is %zu, expected %zu (use DB_BOX_DATA_INIT)",
                       data->size, sizeof *data);
    if (!data->value || !data->weight || !data->shape_variance)
        return db_fail(
            boxes->plan->context, DB_ERROR_USAGE,
            "data of boxes: expected values, weights and shape variances, found NULL for "
            "the %s",
            !data->value    ? "values"
            : !data->weight ? "weights"
                            : "shape variances");
    boxes->data = *data;
    boxes->version = ++boxes->plan->versions.box_data;
    return DB_OK;
}

db_status db_boxes_rules_check(const db_boxes *boxes, const db_box_rule *rule) {
    DB_TRY(db_need_list(boxes->plan->context, "rules of boxes", rule, db_boxes_count(boxes)));
    for (size_t b = 0; b < db_boxes_count(boxes); b++)
        DB_TRY(DB_NEED_ZEROS(boxes->plan->context, "rule of a box", &rule[b]));
    return DB_OK;
}

db_status db_boxes_refuse(const db_boxes *boxes, const char *what) {
    return db_fail(boxes->plan->context, DB_ERROR_USAGE, "boxes: %s", what);
}

static int has_slopes(const db_boxes_request *q) {
    return q->sums == DB_BOXES_GRADIENT || q->sums == DB_BOXES_NORMAL;
}

static db_status check_links(const db_boxes *boxes, const db_boxes_request *q) {
    db_context *const context = boxes->plan->context;
    DB_TRY(db_need_list(context, "links of boxes", q->links, q->link_lists));
    if (q->most > DB_BOXES_MOST_VARIABLES)
        return db_fail(boxes->plan->context, DB_ERROR_USAGE,
                       "boxes: expected at most %d variables of a box, found %zu",
                       (int)DB_BOXES_MOST_VARIABLES, q->most);
    for (size_t i = 0; i < q->link_lists; i++) {
        const db_box_links *const list = &q->links[i];
        DB_TRY(db_need_list(context, "a list of links of boxes", list->link, list->count));
        if (list->variables > q->most)
            return db_boxes_refuse(boxes, "a list has more variables than most");
        for (size_t l = 0; l < list->count; l++)
            if (list->link[l].column >= boxes->plan->parameters.count ||
                list->link[l].variable >= list->variables)
                return db_boxes_refuse(boxes,
                                       "a link names a parameter or a variable that there is not");
    }
    for (size_t b = 0; b < db_boxes_count(boxes); b++)
        if (q->rule[b].links >= q->link_lists)
            return db_boxes_refuse(boxes, "a box names a list of links that there is not");
    return DB_OK;
}

static db_status check_choices(const db_boxes *boxes, const db_boxes_request *q) {
    db_context *const context = boxes->plan->context;
    DB_TRY(db_need_choice(context, "image of boxes", (int)q->image, DB_BOXES_DERIVATIVES));
    DB_TRY(db_need_choice(context, "sums of boxes", (int)q->sums, DB_BOXES_NORMAL));
    DB_TRY(db_need_choice(context, "target of boxes", (int)q->loss->target, DB_LOSS_STUDENT));
    return db_boxes_rules_check(boxes, q->rule);
}

static db_status check_request(const db_boxes *boxes, const db_boxes_request *q,
                               const db_box_solution *solution, const void *result) {
    const db_boxes_image image = q->image == DB_BOXES_AS_BEFORE ? boxes->rendered : q->image;
    if (q->size != sizeof *q)
        return db_fail(boxes->plan->context, DB_ERROR_USAGE,
                       "request of boxes: size is %zu, expected %zu (use DB_BOXES_REQUEST_INIT)",
                       q->size, sizeof *q);
    if (!boxes->data.value) return db_boxes_refuse(boxes, "expected data, found none");
    if (!q->loss || !q->rule || !solution)
        return db_boxes_refuse(boxes,
                               "expected a loss, rules and solutions, found NULL for one of them");
    DB_TRY(check_choices(boxes, q));
    if (!(q->loss->gain > 0)) return db_boxes_refuse(boxes, "expected a gain above 0");
    if (image == DB_BOXES_AS_BEFORE) return db_boxes_refuse(boxes, "nothing has been rendered yet");
    if (q->sums == DB_BOXES_NO_SUMS) return DB_OK;
    if (!result) return db_boxes_refuse(boxes, "expected room for sums, found NULL");
    if (!has_slopes(q)) return DB_OK;
    if (image != DB_BOXES_DERIVATIVES)
        return db_boxes_refuse(boxes, "sums by variables need derivatives");
    if (q->kept > DB_LINEAR)
        return db_boxes_refuse(boxes, "expected at most 4 coefficients to be kept");
    return check_links(boxes, q);
}

/* On the processor */

static db_block block_of(const db_boxes *boxes, const db_boxes_request *q, size_t b) {
    return (db_block){ .region = boxes->plan->tiles.given[b],
                       .value = boxes->data.value,
                       .weight = boxes->data.weight,
                       .shape_variance = boxes->data.shape_variance,
                       .shape = boxes->image,
                       .offset = boxes->data.offset,
                       .loss = q->loss,
                       .ridge = q->rule[b].ridge,
                       .expected = q->rule[b].expected };
}

static void derive_here(const db_boxes *boxes, const db_boxes_request *q, size_t b, db_block *block,
                        db_box_solution *solution, double *result) {
    const db_box_links *const list = &q->links[q->rule[b].links];
    const size_t all = list->variables + DB_LINEAR;
    const db_derivatives derivatives = { boxes->derivative, list->link, list->count,
                                         list->variables };
    double *const gradient = db_boxes_gradient_of(result, q->most, b);
    double *const normal =
        q->sums == DB_BOXES_NORMAL ? db_boxes_normal_of(result, q->most, b) : NULL;
    if (q->rule[b].held_at_zero && !(solution->linear[0] > 0)) block->used[0] = 0;
    solution->loss = db_block_derive(block, solution->linear, &derivatives, gradient, normal);
    if (normal)
        solution->loss -= db_eliminate(all, list->variables + q->kept, gradient, normal, all);
}

static void work_on_box(const db_boxes *boxes, const db_boxes_request *q, size_t b,
                        db_box_solution *solution, void *result) {
    const db_box_rule *const rule = &q->rule[b];
    db_block block = block_of(boxes, q, b);
    if (q->solve) {
        for (int i = 0; i < DB_LINEAR; i++) block.used[i] = rule->solved[i];
        solution->loss = db_block_solve(&block, solution->linear, &solution->variance);
    }
    for (int i = 0; i < DB_LINEAR; i++) block.used[i] = rule->summed[i];
    if (q->sums == DB_BOXES_LINEAR)
        db_block_sum(&block, solution->linear, (db_block_sums *)result + b);
    else if (has_slopes(q))
        derive_here(boxes, q, b, &block, solution, result);
}

static db_status render_here(db_boxes *boxes) {
    db_plan *const plan = boxes->plan;
    if (boxes->rendered == DB_BOXES_IMAGE) return db_plan_forward(plan, boxes->image);
    for (size_t k = 0; k < plan->parameters.count; k++)
        DB_TRY(need_image(boxes, &boxes->derivative[k])); /* a device may have had them */
    return db_plan_gradient(plan, boxes->image, (void *const *)boxes->derivative);
}

/* An image that went with its device, or was never finished. */
static db_status render_again(db_boxes *boxes) {
    if (boxes->rendered_at == boxes->plan->versions.values) return render_here(boxes);
    return db_fail(boxes->plan->context, DB_ERROR_DEVICE,
                   "boxes: the image rendered last is lost, with a device that failed or to other "
                   "boxes of the plan, which has other values since: expected an evaluation that "
                   "renders");
}

db_status db_boxes_render_here(db_boxes *boxes, int anew) {
    if (anew)
        DB_TRY(render_here(boxes));
    else if (boxes->there || !boxes->is_here)
        DB_TRY(render_again(boxes)); /* a device had it */
    boxes->is_here = 1;
    boxes->there = 0;
    return DB_OK;
}

static db_status evaluate_here(db_boxes *boxes, const db_boxes_request *q,
                               db_box_solution *solution, void *result) {
    const db_context *const context = boxes->plan->context;
    const long count = (long)db_boxes_count(boxes);
    DB_TRY(db_boxes_render_here(boxes, q->image != DB_BOXES_AS_BEFORE));
    if (!q->solve && q->sums == DB_BOXES_NO_SUMS) return DB_OK;
    db_enter_stage(context, "sums");
#if defined(_OPENMP)
    const int threads = db_threads_for(context, count);
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads) if (threads > 1)
#endif
    for (long b = 0; b < count; b++) work_on_box(boxes, q, (size_t)b, &solution[b], result);
    db_leave_stage(context, "sums");
    return DB_OK;
}

/* On the device */

static db_status evaluate_there(db_boxes *boxes, const db_boxes_request *q,
                                db_box_solution *solution, void *result, int *done) {
    db_plan *const plan = boxes->plan;
    const db_device_boxes work = { .region = plan->tiles.given,
                                   .count = db_boxes_count(boxes),
                                   .data = boxes->data,
                                   .version = boxes->version,
                                   .request = q,
                                   .position = plan->slopes.position,
                                   .solution = solution,
                                   .result = result };
    *done = 1;
    if (q->image == DB_BOXES_DERIVATIVES) {
        DB_TRY(db_plan_need_parameters(plan));
        DB_TRY(db_plan_prepare_slopes(plan));
    } else if (q->image == DB_BOXES_IMAGE) {
        DB_TRY(db_plan_prepare_spots(plan));
    }
    DB_TRY(db_device_evaluate_boxes(plan, &work, done));
    if (*done) boxes->there = plan->versions.box_images;
    return DB_OK;
}

db_status db_boxes_evaluate(db_boxes *boxes, const db_boxes_request *request,
                            db_box_solution *solution, void *result) {
    DB_TRY(check_request(boxes, request, solution, result));
    if (request->image != DB_BOXES_AS_BEFORE) {
        db_boxes_begin(boxes, request->image);
        boxes->plan->versions.box_images++;
    }
    const int there = request->image != DB_BOXES_AS_BEFORE || db_boxes_are_there(boxes);
    if (db_plan_on_device(boxes->plan) && there) {
        int done;
        const db_status status = evaluate_there(boxes, request, solution, result, &done);
        if (done) return status;
    }
    return evaluate_here(boxes, request, solution, result);
}

db_status db_boxes_image_of(db_boxes *boxes, const float **image) {
    int done = 0;
    *image = boxes->image;
    if (boxes->is_here || boxes->rendered == DB_BOXES_AS_BEFORE) return DB_OK;
    if (db_plan_on_device(boxes->plan) && db_boxes_are_there(boxes))
        DB_TRY(db_device_boxes_image(boxes->plan, boxes->image, &done));
    if (!done) {
        DB_TRY(render_again(boxes));
        boxes->there = 0;
    }
    boxes->is_here = 1;
    return DB_OK;
}
