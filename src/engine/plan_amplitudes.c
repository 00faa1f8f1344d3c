/* Derivatives by all structure factors. A slot is a run of tiles with a list of its sums. Lists are added in the
 * order of the slots, so that sums have the same bits for any number of threads. */
#include "engine/plan_amplitudes.h"

#include "engine/device_plan.h"
#include "engine/execute.h"
#include "engine/plan_background.h"
#include "engine/spots.h"
#include "engine/plan_kinds.h"
#include "kernel/amplitude_sums.h"
#include "model/amplitude_box.h"

#include <dualbragg/products.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of slots in one execution, and of lists kept at one time. */
enum { MOST_SLOTS = 4096, LISTS = 256 };

struct db_plan_amplitudes {
    uint32_t *value; /* [table_count]: number of each entry's value; NULL: each has its own */
    size_t value_count;
    db_amplitude_sums list[LISTS];
    /* sums by the entries of the kernels' table, default_F last. They are 0 between calls: a call clears
     * the few entries that it has touched */
    double *by_entry;
    uint64_t *touched; /* one bit for each entry that may differ from 0 */
    size_t entries;
    uint64_t *marks; /* not owned; see db_plan_amplitudes_mark */
};

/* Bits of a set of numbers. */

static void put_bit(uint64_t *bits, size_t number) {
    bits[number / 64] |= (uint64_t)1 << number % 64;
}

size_t db_amplitude_mark_words(size_t count) { return (count + 63) / 64; }

size_t db_amplitude_take_mark(uint64_t *marks, size_t word) {
    const int bit = __builtin_ctzll(marks[word]);
    marks[word] &= marks[word] - 1;
    return 64 * word + (size_t)bit;
}

void db_plan_amplitudes_destroy(db_plan_amplitudes *own) {
    if (!own) return;
    for (size_t i = 0; i < LISTS; i++) db_amplitude_sums_clear(&own->list[i]);
    free(own->value);
    free(own->by_entry);
    free(own->touched);
    free(own);
}

/* Frees the sums; the next call allocates new ones, which are 0. */
static void forget_entries(db_plan_amplitudes *own) {
    free(own->by_entry);
    free(own->touched);
    own->by_entry = NULL;
    own->touched = NULL;
    own->entries = 0;
}

static db_status create_amplitudes(db_plan *plan) {
    if (plan->amplitudes) return DB_OK;
    plan->amplitudes = calloc(1, sizeof *plan->amplitudes);
    return plan->amplitudes ? DB_OK
                            : db_fail_memory(plan->context, "the structure factors of a plan");
}

/* Values */

size_t db_plan_amplitude_values(const db_plan *plan) {
    return plan->amplitudes && plan->amplitudes->value ? plan->amplitudes->value_count
                                                       : plan->table.count;
}

db_status db_plan_share_amplitudes(db_plan *plan, const uint32_t *value, size_t count) {
    for (size_t i = 0; value && i < plan->table.count; i++)
        if (value[i] >= count && value[i] != DB_NO_AMPLITUDE)
            return db_fail(plan->context, DB_ERROR_USAGE,
                           "shared structure factors: entry %zu of the box: expected a number "
                           "below %zu, or DB_NO_AMPLITUDE, found %u",
                           i, count, value[i]);
    DB_TRY(create_amplitudes(plan));
    uint32_t *own = NULL;
    if (value) {
        own = malloc((plan->table.count + 1) * sizeof *own);
        if (!own) return db_fail_memory(plan->context, "the structure factors of a plan");
        memcpy(own, value, plan->table.count * sizeof *own);
    }
    free(plan->amplitudes->value);
    plan->amplitudes->value = own;
    plan->amplitudes->value_count = count;
    return DB_OK;
}

db_status db_plan_amplitudes_share_as(const db_plan *other, db_plan *plan) {
    const db_plan_amplitudes *own = other->amplitudes;
    return own && own->value ? db_plan_share_amplitudes(plan, own->value, own->value_count) : DB_OK;
}

/* The value of an entry; SIZE_MAX: default_F. */
static size_t value_of(const db_plan *plan, size_t entry) {
    const db_plan_amplitudes *own = plan->amplitudes;
    if (entry >= plan->table.count) return SIZE_MAX;
    if (!own || !own->value) return entry;
    return own->value[entry] == DB_NO_AMPLITUDE ? SIZE_MAX : own->value[entry];
}

/* Entry of the box at a place of the table with margin; the entry after the last is default_F. */
static size_t entry_with_margin(const db_plan *plan, size_t at) {
    const int *extent = plan->experiment.structure_factors.extent;
    size_t place[3], entry = 0;
    for (int j = 2; j >= 0; j--) {
        const size_t wide = (size_t)extent[j] + 2 * DB_TABLE_MARGIN;
        place[j] = at % wide;
        at /= wide;
    }
    for (int j = 0; j < 3; j++) {
        if (place[j] < DB_TABLE_MARGIN || place[j] >= (size_t)extent[j] + DB_TABLE_MARGIN)
            return plan->table.count;
        entry = entry * (size_t)extent[j] + place[j] - DB_TABLE_MARGIN;
    }
    return entry;
}

/* Entries of the table as the kernels read it. */
static size_t kernel_entries(const db_plan *plan) {
    return plan->table.margin_count && !plan->spots ? plan->table.margin_count
                                                    : plan->table.count + 1;
}

static size_t entry_of_kernel(const db_plan *plan, size_t at) {
    return plan->table.margin_count && !plan->spots ? entry_with_margin(plan, at) : at;
}

static double amplitude_of(const db_plan *plan, size_t entry) {
    const db_structure_factors *f = &plan->experiment.structure_factors;
    return entry < plan->table.count ? f->amplitude[entry] : f->default_F;
}

/* Sums with a cotangent */

static void sum_slot(const db_execution *x, size_t slot, int thread) {
    const db_plan *plan = x->plan;
    const size_t number = x->before + slot, first = plan->tiles.count * number / x->all,
                 end = plan->tiles.count * (number + 1) / x->all;
    db_amplitude_sums *list = &plan->amplitudes->list[slot];
    (void)thread;
    if (db_amplitude_sums_begin(list))
        x->kernel(x->job, plan->tiles.list + first, end - first, NULL, list);
    else
        list->failed = 1;
}

static db_status add_lists(const db_plan *plan, size_t count) {
    const db_plan_amplitudes *own = plan->amplitudes;
    for (size_t i = 0; i < count; i++) {
        const db_amplitude_sums *list = &own->list[i];
        if (list->failed) return db_fail_memory(plan->context, "the gradient by structure factors");
        for (size_t n = 0; n < list->count; n++) {
            own->by_entry[list->entry[n]] += list->sum[n];
            put_bit(own->touched, list->entry[n]);
        }
    }
    return DB_OK;
}

/* Sums derivatives by the entries of the kernels' table, without the overall scale. Entries are squared structure
 * factors, or structure factors if the plan interpolates. */
static db_status sum_sampled(db_plan *plan, const void *cotangent) {
    db_kernel_job job = plan->job;
    job.image = NULL;
    job.cotangent = cotangent;
    const size_t all = plan->tiles.count < MOST_SLOTS ? plan->tiles.count : MOST_SLOTS;
    db_execution x = { .plan = plan,
                       .job = &job,
                       .kernel = db_kernel_instance(plan->context->isa, plan->precision,
                                                    DB_KERNEL_AMPLITUDES),
                       .work = sum_slot,
                       .all = all };
    for (; x.before < all; x.before += x.slots) {
        x.slots = all - x.before < LISTS ? all - x.before : LISTS;
        DB_TRY(db_execute(&x));
        DB_TRY(add_lists(plan, x.slots));
    }
    return DB_OK;
}

static size_t entry_of_node(const db_plan *plan, const int hkl[3]) {
    size_t entry;
    return plan->table.count && db_amplitude_entry(&plan->experiment.structure_factors, hkl, &entry)
               ? entry
               : plan->table.count;
}

/* A spot is proportional to the square of its structure factor. Reflections with F = 0 have no spots. */
static void sum_closed(const db_plan *plan, const double *by_spot) {
    const db_kernel_spots *spots = &plan->job.spots;
    const db_spot_entry *entry = plan->job.spots.entry;
    for (size_t i = 0; i < spots->first[plan->tiles.region_count]; i++) {
        const uint32_t s = spots->number[i];
        const size_t at = entry_of_node(plan, entry[s].name.hkl);
        const double amplitude = amplitude_of(plan, at);
        if (amplitude == 0 || by_spot[i] == 0) continue;
        plan->amplitudes->by_entry[at] +=
            spots->spot[s].value_double[DB_SPOT_AMPLITUDE] / (amplitude * amplitude) * by_spot[i];
        put_bit(plan->amplitudes->touched, at);
    }
}

/* Adds the kernels' sum of an entry to its value, or to default_F. */
static db_status add_entry(const db_plan *plan, size_t i, double *amplitudes, double *default_F) {
    const db_plan_amplitudes *own = plan->amplitudes;
    const int interpolated = own->entries != plan->table.count + 1;
    double by_entry = plan->job.scale * own->by_entry[i];
    own->by_entry[i] = 0;
    if (by_entry == 0) return DB_OK;
    const size_t entry = entry_of_kernel(plan, i), value = value_of(plan, entry);
    if (!interpolated) by_entry *= 2 * amplitude_of(plan, entry);
    if (!isfinite(by_entry))
        return db_fail(plan->context, DB_ERROR_INPUT,
                       "gradient by structure factors is not finite: expected cotangent times "
                       "derivatives below 1e38%s",
                       plan->precision == DB_PRECISION_MIXED ? "; try double precision" : "");
    if (value == SIZE_MAX)
        *default_F += by_entry;
    else if (amplitudes)
        amplitudes[value] += by_entry;
    if (value != SIZE_MAX && own->marks) put_bit(own->marks, value);
    return DB_OK;
}

/* Adds the sums of entries to the gradient by values. */
static db_status form_gradient(const db_plan *plan, double *amplitudes, double *default_F) {
    const db_plan_amplitudes *own = plan->amplitudes;
    double by_default = 0;
    if (amplitudes && !own->marks)
        memset(amplitudes, 0, db_plan_amplitude_values(plan) * sizeof *amplitudes);
    for (size_t word = 0; word < db_amplitude_mark_words(own->entries); word++)
        while (own->touched[word])
            DB_TRY(add_entry(plan, db_amplitude_take_mark(own->touched, word), amplitudes,
                             &by_default));
    if (default_F) *default_F = by_default;
    return DB_OK;
}

static db_status make_entries(db_plan *plan) {
    DB_TRY(create_amplitudes(plan));
    db_plan_amplitudes *own = plan->amplitudes;
    const size_t entries = kernel_entries(plan);
    if (entries > UINT32_MAX)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "gradient by structure factors: %zu of them, with a margin for "
                       "interpolation, more than the supported 2^32",
                       entries);
    if (own->entries == entries) return DB_OK;
    forget_entries(own);
    own->by_entry = calloc(entries, sizeof *own->by_entry);
    own->touched = calloc(db_amplitude_mark_words(entries), sizeof *own->touched);
    if (!own->by_entry || !own->touched) {
        forget_entries(own);
        return db_fail_memory(plan->context, "the gradient by structure factors");
    }
    own->entries = entries;
    return DB_OK;
}

db_status db_plan_amplitudes_mark(db_plan *plan, uint64_t *marks) {
    DB_TRY(create_amplitudes(plan));
    plan->amplitudes->marks = marks;
    return DB_OK;
}

db_status db_plan_amplitudes_vjp(db_plan *plan, const void *cotangent, const double *by_spot,
                                 double *amplitudes, double *default_F) {
    DB_TRY(make_entries(plan));
    db_status status = DB_OK;
    if (plan->spots)
        sum_closed(plan, by_spot);
    else
        status = sum_sampled(plan, cotangent);
    if (status == DB_OK) status = form_gradient(plan, amplitudes, default_F);
    if (status != DB_OK) forget_entries(plan->amplitudes);
    return status;
}

/* The image along a direction */

static double direction_of(const db_plan *plan, size_t entry, const double *amplitudes,
                           const double *default_F) {
    const size_t value = value_of(plan, entry);
    if (value == SIZE_MAX) return default_F ? *default_F : 0;
    return amplitudes ? amplitudes[value] : 0;
}

/* Table along the direction: the derivatives of the squares, or the direction itself if the plan interpolates. */
static void *direction_table(const db_plan *plan, const double *amplitudes,
                             const double *default_F) {
    const size_t entries = kernel_entries(plan);
    const int interpolated = entries != plan->table.count + 1,
              mixed = !interpolated && plan->precision == DB_PRECISION_MIXED;
    void *const table = malloc(entries * (mixed ? sizeof(float) : sizeof(double)));
    for (size_t i = 0; table && i < entries; i++) {
        const size_t entry = entry_of_kernel(plan, i);
        const double step = direction_of(plan, entry, amplitudes, default_F),
                     each = interpolated ? step : 2 * amplitude_of(plan, entry) * step;
        if (mixed)
            ((float *)table)[i] = (float)each;
        else
            ((double *)table)[i] = each;
    }
    return table;
}

static db_kernel_spot *direction_spots(const db_plan *plan, const double *amplitudes,
                                       const double *default_F) {
    const db_kernel_spots *spots = &plan->job.spots;
    const db_spot_entry *entry = plan->job.spots.entry;
    db_kernel_spot *made = malloc((spots->count + 1) * sizeof *made);
    for (size_t s = 0; made && s < spots->count; s++) {
        const size_t at = entry_of_node(plan, entry[s].name.hkl);
        const double amplitude = amplitude_of(plan, at),
                     step = direction_of(plan, at, amplitudes, default_F);
        made[s] = spots->spot[s];
        double *const brightness = &made[s].value_double[DB_SPOT_AMPLITUDE];
        *brightness = amplitude == 0 ? 0 : *brightness * (2 * step / amplitude);
        made[s].value_float[DB_SPOT_AMPLITUDE] = (float)*brightness;
    }
    return made;
}

/* Renders tiles into an image: kernels of kind DB_KERNEL_AMPLITUDES do so if they get no room. */
static void render_direction(const db_execution *x, size_t slot, int thread) {
    (void)thread;
    x->kernel(x->job, x->plan->tiles.list + slot, 1, NULL, NULL);
}

static db_status render_on_processor(db_plan *plan, const db_kernel_job *job, db_kernel_kind kind) {
    const db_execution x = { .plan = plan,
                             .job = job,
                             .kernel =
                                 db_kernel_instance(plan->context->isa, plan->precision, kind),
                             .slots = plan->tiles.count,
                             .work = kind == DB_KERNEL_AMPLITUDES ? render_direction : NULL };
    return db_execute(&x);
}

/* Renders into the host's memory, and copies the image if it belongs to a device. */
static db_status render_beside_device(db_plan *plan, const db_kernel_job *job,
                                      db_kernel_kind kind) {
    const size_t each = plan->job.pixel_type == DB_FLOAT64 ? sizeof(double) : sizeof(float);
    db_kernel_job own = *job;
    int there;
    DB_TRY(db_device_has(plan, job->image, &there));
    if (!there) return render_on_processor(plan, job, kind);
    own.image = malloc(plan->tiles.pixels * each);
    if (!own.image) return db_fail_memory(plan->context, "an image of a device");
    db_status status = render_on_processor(plan, &own, kind);
    if (status == DB_OK) status = db_plan_add_image(plan, 1, own.image, job->image);
    free(own.image);
    return status;
}

static db_status render_variant(db_plan *plan, const db_kernel_job *job, db_kernel_kind kind) {
    if (kind == DB_KERNEL_AMPLITUDES) {
        db_plan_note_processor(plan,
                               "the image along a direction of interpolated structure factors");
        return render_beside_device(plan, job, kind);
    }
    if (db_plan_on_device(plan)) {
        int done;
        const db_status status = db_device_variant(plan, job, &done);
        if (done) return status;
    }
    DB_TRY(db_device_check_job(plan, job, 0));
    return render_on_processor(plan, job, kind);
}

/* Renders the crystal alone, with derivatives of squared structure factors in place of the squares. */
db_status db_plan_amplitudes_jvp(db_plan *plan, const double *amplitudes, const double *default_F,
                                 void *tangent) {
    db_kernel_job job = plan->job;
    db_kernel_kind kind = db_plan_forward_kind(plan);
    void *table = NULL;
    job.image = tangent;
    job.derivative = NULL;
    job.water = 0;
    job.amorphous.bins = 0;
    if (plan->spots) {
        DB_TRY(db_spots_fill(plan));
        job.spots = plan->job.spots;
        job.spots.spot = table = direction_spots(plan, amplitudes, default_F);
    } else if (plan->table.margin_count) {
        job.amplitude_direction = table = direction_table(plan, amplitudes, default_F);
        kind = DB_KERNEL_AMPLITUDES;
    } else {
        table = direction_table(plan, amplitudes, default_F);
        job.intensity_double = table;
        job.intensity_float = table;
        if (!plan->table.count)
            job.default_intensity = 2 * amplitude_of(plan, 0) * (default_F ? *default_F : 0);
    }
    if (!table) return db_fail_memory(plan->context, "a direction of structure factors");
    const db_status status = render_variant(plan, &job, kind);
    free(table);
    return status;
}
