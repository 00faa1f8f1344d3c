/* A plan on a device: what the backend is handed, and when. */
#include "engine/device_plan.h"
#include "engine/plan_kinds.h"

#include "kernel/spot_find.h"

#include "base/growth.h"
#include "model/site_kinds.h"
#include "base/host_memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_array(db_device_work *work, size_t member, size_t count, size_t each,
                      unsigned long version) {
    if (count)
        work->array[work->array_count++] = (db_device_array){ member, count * each, version };
}
/* The version of what never changes. */
enum { FIXED = 1 };
#define ADD(member, count, version)                                                                \
    add_array(work, offsetof(db_kernel_job, member), count, sizeof *work->job.member, version)

/* That of an array of the plan; of one that another call puts in its place, a version that never comes
 * again. */
static unsigned long version_of(db_plan *plan, const void *array, const void *own,
                                unsigned long version) {
    return array == own ? version : ULONG_MAX - plan->versions.passing++;
}

static size_t site_entries(const db_plan *plan, int kinds) {
    return kinds ? (plan->table.count + 1) * db_site_part(kinds) : 0;
}

/* What a device makes spots in closed form of. */
static void list_search(db_plan *plan, db_device_work *work) {
    const db_kernel_spots *const spots = &work->job.spots;
    const size_t panels = plan->experiment.detector.panel_count;
    ADD(spots.experiment, 1, 0);
    ADD(spots.search, 1, 0);
    ADD(spots.window, panels, 0);
    ADD(spots.group, spots->groups, 0);
    ADD(spots.group_of, work->job.source_count, 0);
    ADD(spots.spread, sizeof plan->values.interface.spread / sizeof(double), 0);
    ADD(spots.panel, panels * (sizeof *plan->values.interface.panel / sizeof(double)), 0);
    ADD(spots.source,
        work->job.source_count * (sizeof *plan->values.interface.source / sizeof(double)), 0);
    ADD(spots.amplitude, spots->amplitude ? plan->table.count : 0, plan->table.version);
    ADD(spots.tiles.cells, panels, FIXED);
    ADD(spots.tiles.first, spots->tiles.cell_count + 1, FIXED);
    ADD(spots.tiles.tile, spots->tiles.first[spots->tiles.cell_count], FIXED);
    ADD(spots.tiles.before, spots->tiles.sums, FIXED);
    ADD(spots.tiles.reflection, spots->tiles.reflection ? 3 * plan->tiles.region_count : 0, FIXED);
    work->spots_version = plan->versions.spots;
}

/* What it makes their slopes of, besides. */
static void list_slopes(db_plan *plan, db_device_work *work) {
    const db_kernel_spots *const spots = &work->job.spots;
    work->slopes_version = plan->versions.spot_slopes;
    ADD(spots.pass, spots->passes, 0);
    ADD(spots.dual, spots->passes * spots->dual_length, 0);
    ADD(spots.direction, spots->direction ? spots->parameters : 0, 0);
    ADD(spots.step, spots->step ? work->job.parameter_count : 0, 0);
}

/* Spots in closed form; none before a plan's first image. */
static void list_spots(db_plan *plan, db_device_work *work) {
    const db_kernel_spots *own = &plan->job.spots;
    const db_kernel_spots *spots = &work->job.spots;
    if (spots->spot == own->spot) {
        if (spots->search) list_search(plan, work);
        if (spots->search && db_device_has_slopes(work->kind)) list_slopes(plan, work);
        return;
    }
    if (!spots->first) return;
    ADD(spots.first, plan->tiles.region_count + 1, plan->versions.spots);
    ADD(spots.number, spots->first[plan->tiles.region_count], plan->versions.spots);
    ADD(spots.spot, spots->count, version_of(plan, spots->spot, own->spot, plan->versions.spots));
}

/* Everything that kernels of this kind and precision read through the job's pointers. */
static void list_arrays(db_plan *plan, db_device_work *work) {
    const db_kernel_job *job = &work->job;
    const int mixed = work->precision == DB_PRECISION_MIXED,
              gradient = db_device_has_slopes(work->kind);
    const size_t panels = plan->experiment.detector.panel_count,
                 intervals = (size_t)plan->experiment.background.count + 1,
                 rotations = gradient ? (size_t)job->rotation_slopes : 0,
                 sources = gradient ? (size_t)job->source_slopes : 0;
    /* a halo looks up its nodes in a table of default_F alone, too */
    const int tabled = (job->table_used || job->halo.number) && !job->interpolate;
    const size_t squares = tabled ? plan->table.count + 1 : 0;
    ADD(panel, panels, 0);
    ADD(source_double, job->source_count, 0);
    ADD(sample_double, job->sample_count, 0);
    if (mixed) {
        ADD(source_float, job->source_count, 0);
        ADD(sample_float, job->sample_count, 0);
        ADD(lattice_slope_float, rotations * job->sample_count * 9, 0);
        ADD(source_slope_float, sources * job->source_count, 0);
        ADD(intensity_float, squares,
            version_of(plan, job->intensity_float, plan->job.intensity_float, plan->table.version));
    } else {
        ADD(lattice_slope_double, rotations * job->sample_count * 9, 0);
        ADD(source_slope_double, sources * job->source_count, 0);
        ADD(intensity_double, squares,
            version_of(plan, job->intensity_double, plan->job.intensity_double,
                       plan->table.version));
    }
    ADD(site_part, site_entries(plan, job->site_kinds), plan->table.version);
    ADD(site_curve, 2 * job->source_count * (size_t)job->site_kinds, 0);
    if (!plan->spots)
        ADD(site_curve_slope, 2 * sources * job->source_count * (size_t)job->site_kinds, 0);
    ADD(region_node, job->region_node ? 3 * plan->tiles.region_count : 0, 0);
    ADD(amplitude_table, job->interpolate ? plan->table.margin_count : 0, plan->table.version);
    if (job->amorphous.bins) {
        ADD(amorphous.knot, intervals + 1, 0);
        ADD(amorphous.cubic, intervals * 4, 0);
        ADD(amorphous.bin, (size_t)job->amorphous.bins, 0);
    }
    if (job->halo.number) {
        ADD(halo.number, DB_HALO_NUMBERS, 0);
        ADD(halo.slope, rotations * DB_HALO_SLOPES, 0);
    }
    if (gradient) ADD(contraction, panels * job->parameter_count, 0);
    if (db_device_has_spots(work->kind)) list_spots(plan, work);
}

static size_t pixel_bytes(db_pixel_type type) {
    return type == DB_FLOAT64 ? sizeof(double) : sizeof(float);
}

/* The background, where the host has it. */
static db_status list_background(db_plan *plan, db_device_work *work, unsigned long version) {
    int there;
    DB_TRY(db_device_has(plan, work->job.background, &there));
    if (!work->job.background || there) return DB_OK;
    add_array(work, offsetof(db_kernel_job, background), plan->tiles.pixels,
              pixel_bytes(plan->job.pixel_type),
              version ? version : ULONG_MAX - plan->versions.passing++);
    return DB_OK;
}

static db_device_work work_of(db_plan *plan, const db_kernel_job *job, db_kernel_kind kind) {
    db_device_work work = { .job = *job,
                            .precision = plan->precision,
                            .kind = kind,
                            .region_count = plan->tiles.region_count,
                            .pixels = plan->tiles.pixels };
    if (job->region_node) { /* whose kernels compare nodes */
        work.kind = DB_KERNEL_GENERAL_FORWARD;
        work.job.table_used = 1;
    }
    list_arrays(plan, &work);
    return work;
}

void db_device_leave(db_context *context, db_status why) {
    db_device *const device = &context->device;
    snprintf(device->note, sizeof device->note, "%.500s", context->message);
    context->message[0] = 0;
    if (why != DB_ERROR_DEVICE) return;
    device->backend = NULL;
    device->left = 1;
    device->model[0] = 0;
    snprintf(device->name, sizeof device->name, "cpu");
}

/* With "auto": whether the processor is predicted to be sooner done with what is to be made. */
static int processor_is_faster(const db_plan *plan, const db_device_load *load, const char *what) {
    const db_device_operations *device = plan->device.chosen.backend->operations;
    if (!plan->device.chosen.automatic || !device->seconds) return 0;
    const double here = db_device_processor_seconds(plan, load), there = device->seconds(load);
    db_device *const noted = &plan->context->device;
    if (here >= there) return 0;
    snprintf(noted->note, sizeof noted->note,
             "it is predicted to need %.2g ms for %s, and %s %.2g ms", 1e3 * here, what,
             plan->device.chosen.name, 1e3 * there);
    return 1;
}

/* Its memory is ordinary memory, too. */
static db_status stay_on_processor(db_plan *plan) {
    plan->device.chosen = (db_device){ .name = "cpu" };
    return DB_OK;
}

static db_status attach_to_device(db_plan *plan) {
    db_context *context = plan->context;
    const db_device_work work = work_of(plan, &plan->job, db_plan_forward_kind(plan));
    const int closed_halo = plan->spots && plan->job.halo.number;
    const db_status status =
        plan->experiment.reference.on || closed_halo
            ? db_fail(context, DB_ERROR_UNSUPPORTED, "device %s: %s on the processor only",
                      plan->device.chosen.name,
                      closed_halo ? "a diffuse halo beside spots in closed form is computed"
                                  : "nanoBragg's arithmetic (compat) runs")
            : plan->device.chosen.backend->operations->create(context, plan->device.chosen.number,
                                                              &work, &plan->device.part);
    if (status == DB_OK || !plan->device.chosen.automatic) return status;
    db_device_leave(context, status);
    return stay_on_processor(plan);
}

db_status db_plan_attach_device(db_plan *plan) {
    plan->device.chosen = plan->context->device;
    if (!plan->device.chosen.backend) return DB_OK;
    const db_device_load load = db_device_load_of(plan);
    return processor_is_faster(plan, &load, "an image") ? stay_on_processor(plan)
                                                        : attach_to_device(plan);
}

db_status db_plan_attach_device_for_boxes(db_plan *plan) {
    const db_device_load load = db_device_load_of_boxes(plan);
    db_device *const device = &plan->context->device;
    const int predicted = strcmp(plan->device.chosen.name, "cpu") == 0 && !plan->device.chosen.left;
    if (!predicted || !device->backend || !device->automatic || !device->backend->operations->boxes)
        return DB_OK;
    plan->device.chosen = *device;
    if (processor_is_faster(plan, &load, "sums of its boxes")) return stay_on_processor(plan);
    device->note[0] = 0;
    return attach_to_device(plan);
}

void db_plan_detach_device(db_plan *plan) {
    if (!plan->device.part) return;
    plan->device.chosen.backend->operations->destroy(plan->context, plan->device.part);
    plan->device.part = NULL;
}

const char *db_plan_device(const db_plan *plan) {
    return plan->device.part ? plan->device.chosen.name : "cpu";
}

db_status db_device_ask(db_context *context, const db_device *device, const void *memory,
                        int *has) {
    int answer = memory ? device->backend->operations->is_device_memory(device->number, memory) : 0;
    if (answer < 0) { /* the kernel still knows what the processor can read */
        const int readable = db_host_reads(memory);
        answer = readable < 0 ? -1 : !readable;
    }
    *has = answer > 0;
    if (answer >= 0) return DB_OK;
    return db_fail(
        context, DB_ERROR_DEVICE,
        "device %s: it has failed and cannot be asked any more whether memory is its own",
        device->name);
}

db_status db_device_check_left(db_context *context, const db_device *device, const void *memory) {
    if (!device->left || !memory || db_host_reads(memory) == 1) return DB_OK;
    return db_fail(context, DB_ERROR_DEVICE,
                   "expected memory of the host, since the processor took over from a device that "
                   "failed (%.300s); found memory that it cannot read",
                   device->note);
}

db_status db_device_has(const db_plan *plan, const void *memory, int *has) {
    *has = 0;
    return plan->device.part ? db_device_ask(plan->context, &plan->device.chosen, memory, has)
                             : db_device_check_left(plan->context, &plan->device.chosen, memory);
}

db_status db_device_check_job(const db_plan *plan, const db_kernel_job *job, size_t derivatives) {
    const void *const memory[] = { job->image, job->data, job->weight, job->cotangent };
    if (!plan->device.chosen.left) return DB_OK;
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        DB_TRY(db_device_check_left(plan->context, &plan->device.chosen, memory[i]));
    for (size_t k = 0; k < derivatives; k++)
        DB_TRY(db_device_check_left(plan->context, &plan->device.chosen, job->derivative[k]));
    return DB_OK;
}

/* Whether the processor can do what the device fails at: with "auto", if no memory of the call's is the
 * device's. Asked before, because a device that has failed may not answer. */
static db_status may_move(const db_plan *plan, const db_kernel_job *job, size_t derivatives,
                          int *may) {
    const void *const memory[] = { job->image, job->data, job->weight };
    int there, any = 0;
    *may = 0;
    if (!plan->device.chosen.automatic) return DB_OK;
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        DB_TRY(db_device_has(plan, memory[i], &there));
        any |= there;
    }
    for (size_t k = 0; job->derivative && k < derivatives; k++) {
        DB_TRY(db_device_has(plan, job->derivative[k], &there));
        any |= there;
    }
    *may = !any;
    return DB_OK;
}

static void move_to_processor(db_plan *plan, db_status why) {
    db_device_leave(plan->context, why);
    memcpy(plan->device.chosen.note, plan->context->device.note, sizeof plan->device.chosen.note);
    plan->device.chosen.left = 1;
    db_plan_detach_device(plan);
}

/* What a call wants: sums, boxes, or, where both are NULL, images. */
typedef struct {
    double *sums;
    const db_device_boxes *boxes;
} wanted;

static db_status call_device(db_plan *plan, const db_device_work *work, const wanted *what) {
    const db_device_operations *device = plan->device.chosen.backend->operations;
    if (what->boxes) return device->boxes(plan->context, plan->device.part, work, what->boxes);
    if (what->sums) return device->normal(plan->context, plan->device.part, work, what->sums);
    return device->render(plan->context, plan->device.part, work);
}

/* job: as the caller has it, which has all memory of the call */
static db_status run_on_device(db_plan *plan, const db_kernel_job *job, const db_device_work *work,
                               wanted what, int *done) {
    db_context *context = plan->context;
    int may;
    *done = 1;
    DB_TRY(may_move(plan, job, db_device_derivatives(work), &may));
    if (context->progress && context->progress(context->progress_user, 0))
        return db_fail(context, DB_ERROR_CANCELLED, "cancelled by the progress callback");
    db_enter_stage(context, "device");
    const db_status status = call_device(plan, work, &what);
    db_leave_stage(context, "device");
    *done = status == DB_OK || !may;
    if (!*done) {
        move_to_processor(plan, status);
        return DB_OK;
    }
    if (status == DB_OK && context->progress) context->progress(context->progress_user, 1);
    return status;
}

db_status db_device_render(db_plan *plan, db_kernel_kind kind, int *done) {
    db_kernel_job job = plan->job;
    if (!db_device_has_slopes(kind)) job.derivative = NULL;
    const db_device_work work = work_of(plan, &job, kind);
    return run_on_device(plan, &job, &work, (wanted){ 0 }, done);
}

db_status db_device_normal(db_plan *plan, const db_kernel_job *job, double *sums, int *done) {
    db_device_work work = work_of(plan, job, db_plan_gradient_kind(plan));
    work.job.image = NULL;
    work.job.derivative = NULL;
    *done = 1;
    DB_TRY(list_background(plan, &work, plan->versions.background));
    return run_on_device(plan, job, &work, (wanted){ .sums = sums }, done);
}

db_status db_device_evaluate_boxes(db_plan *plan, const db_device_boxes *boxes, int *done) {
    const int slopes = boxes->request->image == DB_BOXES_DERIVATIVES;
    db_kernel_job job = plan->job;
    job.image = NULL;
    job.derivative = NULL;
    const db_device_work work =
        work_of(plan, &job, slopes ? db_plan_gradient_kind(plan) : db_plan_forward_kind(plan));
    return run_on_device(plan, &job, &work, (wanted){ .boxes = boxes }, done);
}

db_status db_device_boxes_image(db_plan *plan, float *image, int *done) {
    const db_device *const device = &plan->device.chosen;
    const db_status status =
        device->backend->operations->boxes_image(plan->context, plan->device.part, image);
    *done = status == DB_OK || !device->automatic;
    if (!*done) move_to_processor(plan, status);
    return *done ? status : DB_OK;
}

db_status db_device_tangent(db_plan *plan, const db_kernel_job *job, int *done) {
    const db_device_work work = work_of(plan, job, db_plan_gradient_kind(plan));
    return run_on_device(plan, job, &work, (wanted){ 0 }, done);
}

db_status db_device_variant(db_plan *plan, const db_kernel_job *job, int *done) {
    const db_device_work work = work_of(plan, job, db_plan_forward_kind(plan));
    return run_on_device(plan, job, &work, (wanted){ 0 }, done);
}

db_status db_device_add(db_plan *plan, int copy, const void *from, unsigned long version,
                        void *to) {
    db_device_work work = { .job = plan->job,
                            .precision = plan->precision,
                            .kind = db_plan_forward_kind(plan),
                            .region_count = plan->tiles.region_count,
                            .pixels = plan->tiles.pixels };
    work.job.image = to;
    work.job.background = from;
    DB_TRY(list_background(plan, &work, version));
    return plan->device.chosen.backend->operations->add(plan->context, plan->device.part, &work,
                                                        copy);
}

db_status db_device_bring(db_plan *plan, db_pixel_type type, const void *pixels, void **copy) {
    const size_t bytes = plan->tiles.pixels * pixel_bytes(type);
    int there;
    *copy = NULL;
    DB_TRY(db_device_has(plan, pixels, &there));
    if (!there) return DB_OK;
    *copy = malloc(bytes);
    if (!*copy) return db_fail_memory(plan->context, "pixels of a device");
    const db_status status = db_plan_memory_read(plan, pixels, *copy, bytes);
    if (status == DB_OK) return DB_OK;
    free(*copy);
    *copy = NULL;
    return status;
}

void db_plan_note_processor(db_plan *plan, const char *what) {
    if (db_plan_on_device(plan)) plan->device.note = what;
}

const char *db_plan_device_note(const db_plan *plan) {
    return plan->device.note ? plan->device.note : "";
}

/* Streams */

db_status db_plan_set_stream(db_plan *plan, db_stream_use use, void *stream) {
    if (use != DB_STREAM_OWN && use != DB_STREAM_WAIT && use != DB_STREAM_ASYNCHRONOUS)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "stream: expected DB_STREAM_OWN, DB_STREAM_WAIT or DB_STREAM_ASYNCHRONOUS, "
                       "found %d",
                       (int)use);
    if (!plan->device.part && use == DB_STREAM_OWN) return DB_OK;
    if (!plan->device.part)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "stream: expected a plan on a GPU, found one on the processor, which has no "
                       "streams");
    DB_TRY(plan->device.chosen.backend->operations->set_stream(plan->context, plan->device.part,
                                                               use, stream));
    plan->device.stream_use = use;
    return DB_OK;
}

db_status db_plan_wait(db_plan *plan) {
    if (!plan->device.part) return DB_OK;
    return plan->device.chosen.backend->operations->wait(plan->context, plan->device.part);
}

/* Memory */

/* Of plans whose device has been left it is ordinary memory, which is remembered: other pieces are the
 * device's still. */
static db_status create_ordinary(db_plan *plan, size_t bytes, void **memory) {
    DB_GROW(plan->context, plan->device.ordinary, plan->device.ordinary_room,
            plan->device.ordinary_count + 1, "memory of a plan");
    *memory = malloc(bytes);
    if (!*memory) return db_fail_memory(plan->context, "an image");
    plan->device.ordinary[plan->device.ordinary_count++] = *memory;
    return DB_OK;
}

static int is_ordinary(db_plan *plan, const void *memory) {
    for (size_t i = 0; i < plan->device.ordinary_count; i++)
        if (plan->device.ordinary[i] == memory) {
            plan->device.ordinary[i] = plan->device.ordinary[--plan->device.ordinary_count];
            return 1;
        }
    return !plan->device.chosen.backend;
}

db_status db_plan_memory_create(db_plan *plan, db_memory kind, size_t bytes, void **memory) {
    const db_device_backend *backend = plan->device.chosen.backend;
    *memory = NULL;
    if (!bytes) bytes = 1;
    if (plan->device.chosen.left) return create_ordinary(plan, bytes, memory);
    *memory = backend ? backend->operations->memory_create(plan->device.chosen.number, kind, bytes)
                      : malloc(bytes);
    if (*memory) return DB_OK;
    return db_fail(plan->context, DB_ERROR_MEMORY, "out of memory for %zu bytes %s %s", bytes,
                   kind == DB_MEMORY_DEVICE ? "of device" : "of the host for device",
                   plan->device.chosen.name);
}

static db_status copy_memory(db_plan *plan, void *to, const void *from, size_t bytes) {
    const db_device_backend *backend = plan->device.chosen.backend;
    if (!bytes) return DB_OK;
    /* what is under way may write or read it */
    if (plan->device.stream_use != DB_STREAM_OWN) DB_TRY(db_plan_wait(plan));
    if (backend &&
        !(plan->device.chosen.left && db_host_reads(to) == 1 && db_host_reads(from) == 1))
        return backend->operations->memory_copy(plan->context, plan->device.chosen.number, to, from,
                                                bytes);
    DB_TRY(db_device_check_left(plan->context, &plan->device.chosen, to));
    DB_TRY(db_device_check_left(plan->context, &plan->device.chosen, from));
    memcpy(to, from, bytes);
    return DB_OK;
}

db_status db_plan_memory_write(db_plan *plan, void *memory, const void *from, size_t bytes) {
    return copy_memory(plan, memory, from, bytes);
}

db_status db_plan_memory_read(db_plan *plan, const void *memory, void *to, size_t bytes) {
    return copy_memory(plan, to, memory, bytes);
}

void db_plan_memory_destroy(db_plan *plan, void **memory) {
    if (!memory || !*memory) return;
    if (is_ordinary(plan, *memory))
        free(*memory);
    else
        plan->device.chosen.backend->operations->memory_destroy(plan->device.chosen.number,
                                                                *memory);
    *memory = NULL;
}
