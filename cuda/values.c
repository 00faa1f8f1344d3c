/* The arrays of the job: found again from call to call, compared, and copied where they changed. */
#include "cuda/plan.h"

#include <string.h>

/* A copy more takes longer than so many bytes that have not changed. */
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

/* No pointer keeps an address of the host: one that is not set later stays NULL. */
static void clear_pointers(db_kernel_job *job) {
    static const size_t members[] = { offsetof(db_kernel_job, panel),
                                      offsetof(db_kernel_job, source_double),
                                      offsetof(db_kernel_job, source_float),
                                      offsetof(db_kernel_job, sample_double),
                                      offsetof(db_kernel_job, sample_float),
                                      offsetof(db_kernel_job, intensity_double),
                                      offsetof(db_kernel_job, intensity_float),
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

static size_t row_bytes(const db_device_work *work) {
    return work->precision == DB_PRECISION_MIXED ? sizeof(db_cuda_row_float)
                                                 : sizeof(db_cuda_row_double);
}

/* Coefficients are laid out for the device (db_cuda_row_*): so many bytes. */
static size_t coefficient_bytes(const db_device_work *work, size_t bytes) {
    const size_t runs = bytes / sizeof(db_kernel_contraction);
    if (!work->job.tangent) return runs * row_bytes(work);
    return runs / work->job.parameter_count * db_cuda_tangent_images(work) * row_bytes(work);
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
    return is_coefficients(array->member) ? coefficient_bytes(work, array->bytes) : array->bytes;
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

/* Windows of columns: {bit, first, end} */
static const int windows[][3] = {
    { DB_CUDA_WINDOW_LATTICE, DB_COLUMN_LATTICE, DB_COLUMN_ORIGIN },
    { DB_CUDA_WINDOW_PANEL, DB_COLUMN_ORIGIN, DB_COLUMN_Z },
    { DB_CUDA_WINDOW_GENERAL, DB_COLUMN_Z, DB_COLUMN_DEBYE_WALLER },
    { DB_CUDA_WINDOW_DEBYE_WALLER, DB_COLUMN_DEBYE_WALLER, DB_COLUMN_CELLS },
    { DB_CUDA_WINDOW_CELLS, DB_COLUMN_CELLS, DB_COLUMN_AMPLITUDE },
};

static int windows_of(const db_kernel_contraction *c) {
    int found = 0;
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        if (c->columns && c->first_column < windows[w][2] &&
            c->first_column + c->columns > windows[w][1])
            found |= windows[w][0];
    return found;
}

/* The only loose column of a run; -1: none, -2: several. */
static int loose_column_of(const db_kernel_contraction *c) {
    const int last = c->first_column + c->columns - 1;
    if (!c->columns || last < DB_COLUMN_AMPLITUDE) return -1;
    return c->columns == 1 ? last - DB_COLUMN_AMPLITUDE : -2;
}

static void lay_out_double(const db_kernel_contraction *c, int loose, db_cuda_row_double *row) {
    memset(row, 0, sizeof *row);
    row->windows = windows_of(c);
    if (loose >= 0) {
        row->windows = DB_CUDA_WINDOW_LOOSE;
        row->loose = loose;
        row->loose_coefficient = c->coefficient_double[0];
    } else {
        for (int i = 0; i < c->columns; i++)
            row->coefficient[c->first_column + i] = c->coefficient_double[i];
    }
}

static void lay_out_float(const db_kernel_contraction *c, int loose, db_cuda_row_float *row) {
    memset(row, 0, sizeof *row);
    row->windows = windows_of(c);
    if (loose >= 0) {
        row->windows = DB_CUDA_WINDOW_LOOSE;
        row->loose = loose;
        row->loose_coefficient = c->coefficient_float[0];
    } else {
        for (int i = 0; i < c->columns; i++)
            row->coefficient[c->first_column + i] = c->coefficient_float[i];
    }
}

/* Derivatives along a direction */

/* Number of a panel's loose column of a run's column; -1: it is not loose. */
static int loose_number(const db_kernel_contraction *c, int i) {
    return c->first_column + i - DB_COLUMN_AMPLITUDE < 0
               ? -1
               : c->first_column + i - DB_COLUMN_AMPLITUDE;
}

static size_t loose_columns(const db_device_work *work, size_t panel) {
    const size_t runs = work->job.parameter_count;
    size_t count = 0;
    for (size_t n = 0; n < runs; n++) {
        const db_kernel_contraction *c = &work->job.contraction[panel * runs + n];
        for (int i = 0; i < c->columns; i++) count += loose_number(c, i) >= 0;
    }
    return count;
}

size_t db_cuda_panels(const db_device_work *work) {
    for (size_t i = 0; i < work->array_count; i++)
        if (work->array[i].member == offsetof(db_kernel_job, panel))
            return work->array[i].bytes / sizeof *work->job.panel;
    return 0;
}

size_t db_cuda_tangent_images(const db_device_work *work) {
    size_t most = 1;
    for (size_t panel = 0; panel < db_cuda_panels(work); panel++) {
        const size_t loose = loose_columns(work, panel);
        if (loose > most) most = loose;
    }
    return most;
}

/* Adds a run of columns to the panel's rows; *next: row of the next loose column. */
static void lay_out_run(const db_kernel_contraction *c, int mixed, char *rows, size_t *next) {
    for (int i = 0; i < c->columns; i++) {
        const int loose = loose_number(c, i);
        const size_t row = loose < 0 ? 0 : (*next)++;
        db_cuda_row_double *const wide = (db_cuda_row_double *)(void *)rows + row;
        db_cuda_row_float *const fine = (db_cuda_row_float *)(void *)rows + row;
        if (loose >= 0 && mixed) {
            fine->windows |= DB_CUDA_WINDOW_LOOSE;
            fine->loose = loose;
            fine->loose_coefficient = c->coefficient_float[i];
        } else if (loose >= 0) {
            wide->windows |= DB_CUDA_WINDOW_LOOSE;
            wide->loose = loose;
            wide->loose_coefficient = c->coefficient_double[i];
        } else if (mixed)
            fine->coefficient[c->first_column + i] = c->coefficient_float[i];
        else
            wide->coefficient[c->first_column + i] = c->coefficient_double[i];
    }
    if (mixed)
        ((db_cuda_row_float *)(void *)rows)->windows |= windows_of(c);
    else
        ((db_cuda_row_double *)(void *)rows)->windows |= windows_of(c);
}

/* All rows of all panels, anew: a direction is seldom the same again. */
static void fill_tangent(const db_device_work *work, char *out, int *changed) {
    const size_t images = db_cuda_tangent_images(work), runs = work->job.parameter_count;
    for (size_t panel = 0; panel < db_cuda_panels(work); panel++) {
        char *const rows = out + panel * images * row_bytes(work);
        size_t next = 0;
        memset(rows, 0, images * row_bytes(work));
        for (size_t n = 0; n < runs; n++)
            lay_out_run(&work->job.contraction[panel * runs + n], db_cuda_is_mixed(work), rows,
                        &next);
    }
    *changed = 1;
}

/* Writes coefficients where they differ from what is there. */
static db_status fill_coefficients(db_context *context, const db_device_work *work, size_t bytes,
                                   char *out, int *changed) {
    const db_kernel_contraction *from = work->job.contraction;
    const int mixed = work->precision == DB_PRECISION_MIXED;
    for (size_t i = 0; i < bytes / sizeof *from; i++) {
        union {
            db_cuda_row_double wide;
            db_cuda_row_float fine;
        } row;
        const int loose = loose_column_of(&from[i]);
        const size_t size = mixed ? sizeof row.fine : sizeof row.wide;
        if (loose == -2)
            return db_fail(context, DB_ERROR_UNSUPPORTED,
                           "cuda: a parameter that moves several values of sources or rotations");
        if (mixed)
            lay_out_float(&from[i], loose, &row.fine);
        else
            lay_out_double(&from[i], loose, &row.wide);
        if (*changed || memcmp(out + i * size, &row, size) != 0) {
            memcpy(out + i * size, &row, size);
            *changed = 1;
        }
    }
    return DB_OK;
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
    } else if (is_coefficients(wanted->member) && work->job.tangent) {
        fill_tangent(work, copy, changed);
    } else if (is_coefficients(wanted->member)) {
        DB_TRY(fill_coefficients(context, work, wanted->bytes, copy, changed));
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

/* By the plan's own stream, as what is captured would be copied at each launch of the graph. */
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
