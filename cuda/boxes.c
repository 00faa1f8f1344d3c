/* Boxes of a plan on a GPU: images and data stay there. */
#include "cuda/plan.h"

#include "cuda/operations.h"

#include <string.h>

/* Offsets in the memory that a call copies to the device, and back. It begins with the measured data, which are
 * copied only when they are new. */
typedef struct {
    size_t data, region, rule, list, link, solution, result, back,
        end;            /* bytes from the beginning */
    size_t result_size; /* doubles of a box */
    size_t outside;     /* sums where a block's memory is too small, which stay there */
} layout;

enum { ALIGNMENT = 64, DATA = 4 };

/* More measured data than this have memory of their own. */
static const size_t MOST_DATA_BYTES = (size_t)8 << 20;

static size_t data_bytes(const db_device_work *work) { return DATA * work->pixels * sizeof(float); }
static int is_together(const db_device_work *work) { return data_bytes(work) <= MOST_DATA_BYTES; }

static size_t reserve_piece(size_t *end, size_t bytes) {
    const size_t at = *end;
    *end += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

static int has_slopes(const db_boxes_request *q) {
    return q->sums == DB_BOXES_GRADIENT || q->sums == DB_BOXES_NORMAL;
}

static size_t links_of(const db_boxes_request *q) {
    size_t links = 0;
    for (size_t i = 0; i < q->link_lists && has_slopes(q); i++) links += q->links[i].count;
    return links;
}

/* Doubles of a box's result: its gradient, then the triangle of kept variables. */
static size_t result_size(const db_boxes_request *q) {
    const size_t all = q->most + DB_LINEAR, kept = q->most + q->kept;
    if (q->sums == DB_BOXES_NO_SUMS) return 0;
    if (q->sums == DB_BOXES_LINEAR) return sizeof(db_block_sums) / sizeof(double);
    return all + (q->sums == DB_BOXES_NORMAL ? kept * (kept + 1) / 2 : 0);
}

/* Doubles of a box's sums over its variables and coefficients. */
static size_t sum_size(const db_boxes_request *q) {
    const size_t all = q->most + DB_LINEAR;
    return has_slopes(q) ? (all * (all + 1) / 2 + all + 2) / 2 * 2 : 0;
}
/* ... and of the row of a pixel. */
static size_t row_length(const db_boxes_request *q) { return (q->most + DB_LINEAR + 2) | 1; }

/* 1 if the sums leave a block's memory room for few rows only. */
static int is_outside(const db_boxes_request *q) {
    enum { FEW = 16 };
    return sum_size(q) + FEW * row_length(q) + DB_CUDA_BOX_STATE >
           DB_CUDA_MOST_BLOCK_BYTES / sizeof(double);
}

static layout layout_of_boxes(const db_device_boxes *boxes, const db_device_work *work) {
    const db_boxes_request *q = boxes->request;
    layout l = { .result_size = result_size(q) };
    l.data = reserve_piece(&l.end, is_together(work) ? data_bytes(work) : 0);
    l.region = reserve_piece(&l.end, boxes->count * sizeof *boxes->region);
    l.rule = reserve_piece(&l.end, boxes->count * sizeof *q->rule);
    l.list = reserve_piece(&l.end, (q->link_lists + 1) * sizeof(db_cuda_box_list));
    l.link = reserve_piece(&l.end, links_of(q) * sizeof(db_cuda_box_link));
    l.solution = reserve_piece(&l.end, boxes->count * sizeof *boxes->solution);
    l.result = reserve_piece(&l.end, boxes->count * l.result_size * sizeof(double));
    l.back = l.end;
    l.outside =
        reserve_piece(&l.end, is_outside(q) ? boxes->count * sum_size(q) * sizeof(double) : 0);
    return l;
}

static void fill_lists(const db_device_boxes *boxes, db_cuda_box_list *list,
                       db_cuda_box_link *link) {
    const db_boxes_request *q = boxes->request;
    uint32_t count = 0;
    for (size_t i = 0; i < q->link_lists && has_slopes(q); i++) {
        const db_box_links *const from = &q->links[i];
        list[i] =
            (db_cuda_box_list){ count, count + (uint32_t)from->count, (uint32_t)from->variables };
        for (size_t l = 0; l < from->count; l++)
            link[count++] =
                (db_cuda_box_link){ (uint32_t)boxes->position[from->link[l].column],
                                    (uint32_t)from->link[l].variable, from->link[l].slope };
    }
}

/* The arrays of measured data; NULL: not given. */
static void data_of(const db_device_boxes *boxes, const float *array[DATA]) {
    array[0] = boxes->data.value;
    array[1] = boxes->data.weight;
    array[2] = boxes->data.shape_variance;
    array[3] = boxes->data.offset;
}

static void fill_data(const db_device_work *work, const db_device_boxes *boxes, char *here) {
    const float *array[DATA];
    data_of(boxes, array);
    for (size_t i = 0; i < DATA; i++)
        if (array[i])
            memcpy(here + i * work->pixels * sizeof(float), array[i], work->pixels * sizeof(float));
}

/* Parameters of the call, and data that are new, in one copy. */
static db_status bring_values(db_context *context, db_device_plan *plan, const db_device_work *work,
                              const db_device_boxes *boxes, const layout *l) {
    if (plan->box_values.bytes < l->end && is_together(work)) plan->box_version = 0;
    const int with_data = is_together(work) && plan->box_version != boxes->version;
    const size_t begin = with_data ? l->data : l->region;
    DB_TRY(db_cuda_need_more(context, plan, &plan->box_values, l->end, "the sums of boxes"));
    DB_TRY(db_cuda_need_locked(context, plan->number, &plan->host_box_values, l->back));
    char *const here = plan->host_box_values.memory;
    if (with_data) fill_data(work, boxes, here + l->data);
    memcpy(here + l->region, boxes->region, boxes->count * sizeof *boxes->region);
    memcpy(here + l->rule, boxes->request->rule, boxes->count * sizeof *boxes->request->rule);
    fill_lists(boxes, (db_cuda_box_list *)(void *)(here + l->list),
               (db_cuda_box_link *)(void *)(here + l->link));
    memcpy(here + l->solution, boxes->solution, boxes->count * sizeof *boxes->solution);
    DB_TRY(db_cuda_copy_there(context, plan, (char *)plan->box_values.memory + begin, here + begin,
                              l->result - begin, "copying boxes"));
    if (with_data) plan->box_version = boxes->version;
    return DB_OK;
}

/* Copies measured data that have memory of their own, unless they are there. */
static db_status bring_measured(db_context *context, db_device_plan *plan,
                                const db_device_work *work, const db_device_boxes *boxes) {
    const float *array[DATA];
    data_of(boxes, array);
    DB_TRY(
        db_cuda_need_more(context, plan, &plan->box_data, data_bytes(work), "what was measured"));
    if (plan->box_version == boxes->version) return DB_OK;
    for (size_t i = 0; i < DATA; i++)
        if (array[i])
            DB_TRY(
                db_cuda_to_device(context, plan, DB_CUDA_AS_GIVEN,
                                  (char *)plan->box_data.memory + i * work->pixels * sizeof(float),
                                  array[i], sizeof(float)));
    plan->box_version = boxes->version;
    return DB_OK;
}

static void point_to_data(const db_device_work *work, const db_device_boxes *boxes,
                          const char *there, db_cuda_boxes *a) {
    const float *array[DATA];
    const float **const to[DATA] = { &a->value, &a->weight, &a->shape_variance, &a->offset };
    data_of(boxes, array);
    for (size_t i = 0; i < DATA; i++)
        *to[i] = array[i] ? (const float *)(const void *)(there + i * work->pixels * sizeof(float))
                          : NULL;
}

/* Renders the plan's own images, or takes those of the last call. */
static db_status have_images(db_context *context, db_device_plan *plan, const db_device_work *work,
                             db_boxes_image image, db_cuda_arguments *a) {
    const size_t bytes = work->pixels * sizeof(float);
    const size_t images = image == DB_BOXES_AS_BEFORE ? plan->box_images.bytes / bytes
                                                      : 1 + db_device_derivatives(work);
    DB_TRY(db_cuda_check_count(context, plan, 1 + db_device_derivatives(work)));
    DB_TRY(db_cuda_need_more(context, plan, &plan->box_images, images * bytes,
                             "image and derivative images"));
    char *const memory = plan->box_images.memory;
    if (image != DB_BOXES_AS_BEFORE)
        DB_TRY(db_cuda_values_bring(context, plan, work, DB_CUDA_IMAGES, a));
    a->job.image = memory;
    for (size_t k = 0; k + 1 < images && k < DB_CUDA_MOST_IMAGES; k++)
        a->derivative[k] = memory + (k + 1) * bytes;
    if (image == DB_BOXES_AS_BEFORE) return DB_OK;
    return db_cuda_start_images(context, plan, work, a);
}

/* The rows of pixels that fit in a block's memory. */
static uint32_t choose_rows(const db_boxes_request *q) {
    const size_t room = DB_CUDA_MOST_BLOCK_BYTES / sizeof(double) - DB_CUDA_BOX_STATE -
                        (is_outside(q) ? 0 : sum_size(q)),
                 rows = room / row_length(q);
    return (uint32_t)(rows < DB_CUDA_BOX_BLOCK ? rows : DB_CUDA_BOX_BLOCK);
}

/* Bytes of a block's memory: sums by the coefficients and rows take turns. */
static size_t box_block_bytes(const db_boxes_request *q, uint32_t rows) {
    const size_t linear = DB_CUDA_BOX_BLOCK * (sizeof(db_block_sums) / sizeof(double)),
                 slopes = (is_outside(q) ? 0 : sum_size(q)) + rows * row_length(q),
                 most = has_slopes(q) && slopes > linear ? slopes : linear;
    return (DB_CUDA_BOX_STATE + most) * sizeof(double);
}

_Static_assert(DB_CUDA_BOX_BLOCK * sizeof(db_block_sums) + DB_CUDA_BOX_STATE * sizeof(double) <=
                   DB_CUDA_MOST_BLOCK_BYTES,
               "a block has room for its threads' sums");

/* Expands the packed triangle to rows of all unknowns. */
static void unpack_box(const db_device_boxes *boxes, size_t b, const double *from) {
    const db_boxes_request *q = boxes->request;
    const size_t variables = q->links[q->rule[b].links].variables, all = variables + DB_LINEAR;
    memcpy(db_boxes_gradient_of(boxes->result, q->most, b), from, all * sizeof *from);
    if (q->sums != DB_BOXES_NORMAL) return;
    double *const normal = db_boxes_normal_of(boxes->result, q->most, b);
    from += all;
    for (size_t k = 0; k < variables + q->kept; k++, from += k)
        memcpy(normal + k * all, from, (k + 1) * sizeof *from);
}

static void take_results(const db_device_plan *plan, const db_device_boxes *boxes,
                         const layout *l) {
    const char *const here = plan->host_box_values.memory;
    const double *const result = (const double *)(const void *)(here + l->result);
    memcpy(boxes->solution, here + l->solution, boxes->count * sizeof *boxes->solution);
    if (boxes->request->sums == DB_BOXES_LINEAR)
        memcpy(boxes->result, result, boxes->count * l->result_size * sizeof *result);
    for (size_t b = 0; b < boxes->count && has_slopes(boxes->request); b++)
        unpack_box(boxes, b, result + b * l->result_size);
}

static db_cuda_boxes arguments_of(const db_device_plan *plan, const db_device_boxes *boxes,
                                  const layout *l) {
    const db_boxes_request *q = boxes->request;
    char *const there = plan->box_values.memory;
    return (db_cuda_boxes){ .region = (const db_region *)(void *)(there + l->region),
                            .rule = (const db_box_rule *)(void *)(there + l->rule),
                            .list = (const db_cuda_box_list *)(void *)(there + l->list),
                            .link = (const db_cuda_box_link *)(void *)(there + l->link),
                            .solution = (db_box_solution *)(void *)(there + l->solution),
                            .result = (double *)(void *)(there + l->result),
                            .outside =
                                is_outside(q) ? (double *)(void *)(there + l->outside) : NULL,
                            .loss = *q->loss,
                            .result_size = (uint32_t)l->result_size,
                            .sum_size = (uint32_t)sum_size(q),
                            .rows = choose_rows(q),
                            .kept = (uint32_t)q->kept,
                            .solve = q->solve,
                            .sums = (int32_t)q->sums };
}

/* Coefficients and sums, and back in one copy. */
static db_status work_on_boxes(db_context *context, db_device_plan *plan,
                               const db_device_work *work, const db_device_boxes *boxes,
                               db_cuda_arguments *a) {
    const layout l = layout_of_boxes(boxes, work);
    DB_TRY(bring_values(context, plan, work, boxes, &l));
    if (!is_together(work)) DB_TRY(bring_measured(context, plan, work, boxes));
    a->boxes = arguments_of(plan, boxes, &l);
    point_to_data(work, boxes,
                  is_together(work) ? (const char *)plan->box_values.memory + l.data
                                    : plan->box_data.memory,
                  &a->boxes);
    a->boxes.shape = a->job.image;
    DB_TRY(db_cuda_launch(context, plan, db_cuda_box_sums, (uint32_t)boxes->count,
                          DB_CUDA_BOX_BLOCK, box_block_bytes(boxes->request, a->boxes.rows), a));
    DB_TRY(db_cuda_copy_back(context, plan, (char *)plan->host_box_values.memory + l.solution,
                             (const char *)plan->box_values.memory + l.solution,
                             l.back - l.solution, "copying sums of boxes"));
    DB_TRY(db_cuda_results_there(context, plan, 1));
    take_results(plan, boxes, &l);
    return DB_OK;
}

static db_status evaluate_boxes(db_context *context, db_device_plan *plan,
                                const db_device_work *work, const db_device_boxes *boxes) {
    DB_TRY(db_cuda_refuse_captured(context, plan));
    const db_boxes_request *q = boxes->request;
    db_cuda_arguments a = db_cuda_arguments_of(plan, work, DB_CUDA_AS_GIVEN);
    DB_TRY(have_images(context, plan, work, q->image, &a));
    if (!q->solve && q->sums == DB_BOXES_NO_SUMS) return db_cuda_results_there(context, plan, 0);
    return work_on_boxes(context, plan, work, boxes, &a);
}

db_status db_cuda_plan_boxes(db_context *context, db_device_plan *plan, const db_device_work *work,
                             const db_device_boxes *boxes) {
    db_cuda_scope scope;
    DB_TRY(db_cuda_enter(context, plan->number, &scope));
    return db_cuda_finish(plan, evaluate_boxes(context, plan, work, boxes), &scope);
}

static db_status bring_image(db_context *context, db_device_plan *plan, float *image) {
    DB_TRY(db_cuda_to_host(context, plan, DB_CUDA_AS_GIVEN, plan->box_images.memory, image,
                           sizeof *image));
    return db_cuda_results_there(context, plan, 1);
}

db_status db_cuda_plan_boxes_image(db_context *context, db_device_plan *plan, float *image) {
    db_cuda_scope scope;
    DB_TRY(db_cuda_enter(context, plan->number, &scope));
    return db_cuda_finish(plan, bring_image(context, plan, image), &scope);
}
