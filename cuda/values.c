/* The arrays of the job: found in the last call's memory, compared, and copied if they changed. */
#include "cuda/plan.h"

#include <string.h>

/* MOST_GAP: unchanged bytes that are faster to copy than to start another copy. */
enum { ALIGNMENT = 256, MOST_GAP = 32 << 10 };

static size_t aligned_bytes(size_t bytes) {
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static const void *pointer_at(const db_kernel_job *job, size_t member) {
    const void *pointer;
    memcpy(&pointer, (const char *)job + member, sizeof pointer);
    return pointer;
}

static void set_pointer(db_kernel_job *job, size_t member, const void *pointer) {
    memcpy((char *)job + member, &pointer, sizeof pointer);
}

/* Clears all pointers, so that none keeps an address of the host: a pointer that is not set later stays NULL. */
static void clear_pointers(db_kernel_job *job) {
    static const size_t members[] = { offsetof(db_kernel_job, panel),
                                      offsetof(db_kernel_job, source_double),
                                      offsetof(db_kernel_job, source_float),
                                      offsetof(db_kernel_job, sample_double),
                                      offsetof(db_kernel_job, sample_float),
                                      offsetof(db_kernel_job, intensity_double),
                                      offsetof(db_kernel_job, intensity_float),
                                      offsetof(db_kernel_job, site_part),
                                      offsetof(db_kernel_job, site_curve),
                                      offsetof(db_kernel_job, site_curve_slope),
                                      offsetof(db_kernel_job, halo.number),
                                      offsetof(db_kernel_job, halo.slope),
                                      offsetof(db_kernel_job, amorphous.knot),
                                      offsetof(db_kernel_job, amorphous.cubic),
                                      offsetof(db_kernel_job, amorphous.bin),
                                      offsetof(db_kernel_job, amplitude_table),
                                      offsetof(db_kernel_job, region_node),
                                      offsetof(db_kernel_job, lattice_slope_double),
                                      offsetof(db_kernel_job, lattice_slope_float),
                                      offsetof(db_kernel_job, source_slope_double),
                                      offsetof(db_kernel_job, source_slope_float),
                                      offsetof(db_kernel_job, contraction),
                                      offsetof(db_kernel_job, spots.spot),
                                      offsetof(db_kernel_job, spots.entry),
                                      offsetof(db_kernel_job, spots.experiment),
                                      offsetof(db_kernel_job, spots.search),
                                      offsetof(db_kernel_job, spots.window),
                                      offsetof(db_kernel_job, spots.group),
                                      offsetof(db_kernel_job, spots.group_of),
                                      offsetof(db_kernel_job, spots.spread),
                                      offsetof(db_kernel_job, spots.panel),
                                      offsetof(db_kernel_job, spots.source),
                                      offsetof(db_kernel_job, spots.amplitude),
                                      offsetof(db_kernel_job, spots.tiles.cells),
                                      offsetof(db_kernel_job, spots.tiles.first),
                                      offsetof(db_kernel_job, spots.tiles.tile),
                                      offsetof(db_kernel_job, spots.tiles.before),
                                      offsetof(db_kernel_job, spots.tiles.reflection),
                                      offsetof(db_kernel_job, spots.first),
                                      offsetof(db_kernel_job, spots.number),
                                      offsetof(db_kernel_job, spots.step),
                                      offsetof(db_kernel_job, spots.slope_double),
                                      offsetof(db_kernel_job, spots.slope_float),
                                      offsetof(db_kernel_job, spots.pass),
                                      offsetof(db_kernel_job, spots.dual),
                                      offsetof(db_kernel_job, spots.direction),
                                      offsetof(db_kernel_job, background),
                                      offsetof(db_kernel_job, derivative) };
    job->reference = NULL;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        set_pointer(job, members[i], NULL);
}

static db_cuda_array *find_array(db_cuda_values *values, size_t member, int use) {
    for (size_t i = 0; i < values->count; i++)
        if (values->array[i].member == member && values->array[i].use == use)
            return &values->array[i];
    return NULL;
}

/* Arrays that are copied together: small ones, and lists of spots, which change with every call, as
 * long as they are not long. */
static int is_small(const db_device_array *array) {
    static const size_t MOST_SPOTS_BYTES = (size_t)1 << 20;
    const int of_spots = array->member >= offsetof(db_kernel_job, spots) &&
                         array->member < offsetof(db_kernel_job, spots) + sizeof(db_kernel_spots);
    return !array->version || (of_spots && array->bytes <= MOST_SPOTS_BYTES);
}

static int is_coefficients(size_t member) { return member == offsetof(db_kernel_job, contraction); }

static size_t bytes_of_array(const db_device_work *work, const db_device_array *array) {
    return is_coefficients(array->member) ? db_cuda_coefficient_bytes(work, array->bytes)
                                          : array->bytes;
}

/* Gives every small array its place. Where one is new or has grown, memory is allocated for all,
 * and all are copied again. */
static db_status place_arrays(db_context *context, db_device_plan *plan, const db_device_work *work,
                              db_cuda_use use) {
    db_cuda_values *values = &plan->values;
    int changed = 0;
    for (size_t i = 0; i < work->array_count; i++) {
        const db_device_array *wanted = &work->array[i];
        const int own = is_coefficients(wanted->member) ? (int)use : 0;
        db_cuda_array *array = find_array(values, wanted->member, own);
        if (!array) {
            array = &values->array[values->count++];
            *array = (db_cuda_array){ .member = wanted->member, .use = own };
        }
        const size_t bytes = bytes_of_array(work, wanted);
        if (!is_small(wanted) || bytes <= array->room) continue;
        array->room =
            aligned_bytes(wanted->version ? bytes + bytes / 4 : bytes); /* lists may grow */
        changed = 1;
    }
    /* after a failed call memory may be missing */
    if (!changed && values->device.bytes >= values->used && values->host.bytes >= values->used)
        return DB_OK;
    values->used = 0;
    for (size_t i = 0; i < values->count; i++) {
        values->array[i].offset = values->used;
        values->used += values->array[i].room;
        if (values->array[i].room) values->array[i].bytes = 0;
    }
    DB_TRY(db_cuda_need_more(context, plan, &values->device, values->used,
                             db_device_has_spots(work->kind) ? "the list of spots"
                                                             : "the parameters of a plan"));
    return db_cuda_need_locked(context, plan->number, &values->host, values->used);
}

/* Brings the host's copy of a small array up to date. */
static db_status fill_array(db_context *context, db_cuda_values *values, const db_device_work *work,
                            const db_device_array *wanted, db_cuda_array *array, int *changed) {
    char *const copy = (char *)values->host.memory + array->offset;
    const size_t bytes = bytes_of_array(work, wanted);
    *changed = array->bytes != bytes;
    array->bytes = 0; /* until it is on the device */
    if (wanted->version) {
        *changed |= array->version != wanted->version;
        if (*changed) memcpy(copy, pointer_at(&work->job, wanted->member), bytes);
        array->version = wanted->version;
    } else if (is_coefficients(wanted->member)) {
        DB_TRY(db_cuda_fill_coefficients(context, work, wanted->bytes, copy, changed));
    } else {
        const void *from = pointer_at(&work->job, wanted->member);
        if (!*changed) *changed = memcmp(copy, from, bytes) != 0;
        if (*changed) memcpy(copy, from, bytes);
    }
    array->bytes = bytes;
    return DB_OK;
}

static db_status copy_range(db_context *context, db_device_plan *plan, size_t begin, size_t end) {
    db_cuda_values *values = &plan->values;
    if (begin == end) return DB_OK;
    return db_cuda_send(context, plan, (char *)values->device.memory + begin,
                        (char *)values->host.memory + begin, end - begin, "copying parameters");
}

static const char *name_of(size_t member) {
    return member == offsetof(db_kernel_job, background) ? "the background"
           : member < offsetof(db_kernel_job, spots)     ? "the list of structure factors"
                                                         : "the list of spots";
}

static db_status room_for_large(db_context *context, db_device_plan *plan, size_t member,
                                size_t bytes, db_cuda_buffer *own) {
    return db_cuda_need_more(context, plan, own, bytes, name_of(member));
}

static db_status bring_large(db_context *context, db_device_plan *plan, const db_device_work *work,
                             const db_device_array *wanted, db_cuda_array *array) {
    if (array->bytes == wanted->bytes && array->version == wanted->version) return DB_OK;
    array->bytes = 0;
    DB_TRY(room_for_large(context, plan, wanted->member, wanted->bytes, &array->own));
    DB_TRY(db_cuda_send(context, plan, array->own.memory, pointer_at(&work->job, wanted->member),
                        wanted->bytes, "copying lists"));
    array->bytes = wanted->bytes;
    array->version = wanted->version;
    return DB_OK;
}

static db_status bring_arrays(db_context *context, db_device_plan *plan, const db_device_work *work,
                              db_cuda_use use, db_cuda_arguments *a) {
    db_cuda_values *values = &plan->values;
    size_t begin = 0, end = 0; /* of changes that are copied together */
    clear_pointers(&a->job);
    DB_TRY(place_arrays(context, plan, work, use));
    for (size_t i = 0; i < work->array_count; i++) {
        const db_device_array *wanted = &work->array[i];
        db_cuda_array *array =
            find_array(values, wanted->member, is_coefficients(wanted->member) ? (int)use : 0);
        if (!is_small(wanted)) {
            DB_TRY(bring_large(context, plan, work, wanted, array));
            set_pointer(&a->job, wanted->member, array->own.memory);
            continue;
        }
        int changed;
        DB_TRY(fill_array(context, values, work, wanted, array, &changed));
        const char *there = (const char *)values->device.memory + array->offset;
        if (is_coefficients(wanted->member))
            a->row = there;
        else
            set_pointer(&a->job, wanted->member, there);
        if (!changed) continue;
        if (begin == end || array->offset < end || array->offset - end > MOST_GAP) {
            DB_TRY(copy_range(context, plan, begin, end));
            begin = array->offset;
        }
        end = array->offset + array->room;
    }
    DB_TRY(copy_range(context, plan, begin, end));
    return db_cuda_spots_bring(context, plan, work, a);
}

db_status db_cuda_values_reserve(db_context *context, db_device_plan *plan,
                                 const db_device_work *work) {
    DB_TRY(place_arrays(context, plan, work, DB_CUDA_IMAGES));
    for (size_t i = 0; i < work->array_count; i++) {
        const db_device_array *wanted = &work->array[i];
        db_cuda_array *array = find_array(&plan->values, wanted->member, 0);
        if (!is_small(wanted))
            DB_TRY(room_for_large(context, plan, wanted->member, wanted->bytes, &array->own));
    }
    return DB_OK;
}

/* Copies on the plan's own stream: a copy on the captured stream would be repeated at each launch of the graph. */
static db_status bring_apart(db_context *context, db_device_plan *plan, const db_device_work *work,
                             db_cuda_use use, db_cuda_arguments *a) {
    cudaStream_t const captured = plan->stream;
    plan->stream = plan->own_stream;
    db_status status = bring_arrays(context, plan, work, use, a);
    if (status == DB_OK)
        status = db_cuda_status(context, plan->number, cudaStreamSynchronize(plan->stream),
                                "copying parameters");
    plan->stream = captured;
    return status;
}

db_status db_cuda_values_bring(db_context *context, db_device_plan *plan,
                               const db_device_work *work, db_cuda_use use, db_cuda_arguments *a) {
    if (plan->captured) return bring_apart(context, plan, work, use, a);
    db_status status = db_cuda_box_open(context, plan);
    if (status == DB_OK) status = bring_arrays(context, plan, work, use, a);
    for (size_t i = 0; status != DB_OK && i < plan->values.count; i++)
        plan->values.array[i].bytes = 0;
    return status;
}

void db_cuda_values_forget(db_cuda_values *values) {
    for (size_t i = 0; i < values->count; i++)
        values->array[i].bytes = values->array[i].room = values->array[i].offset = 0;
    values->used = 0;
}

void db_cuda_values_release(db_cuda_values *values) {
    for (size_t i = 0; i < values->count; i++) db_cuda_release(&values->array[i].own);
    db_cuda_release(&values->device);
    db_cuda_release_locked(&values->host);
    values->count = 0;
}
