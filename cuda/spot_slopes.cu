/* Slopes of spots in closed form by the parameters, from the dual numbers of kernel/spot.h. */
#include <dualbragg/experiment.h>

#define LANES 1
#define REAL double
#define DIRS 2
#include "ad/lane.h"
#include "model/amplitude_box.h"
#include "model/interface.h"
#include "model/site_scattering.h"
#include "kernel/radiometry.h"
#include "kernel/spot.h"
#include "kernel/spot_slopes.h"
#include "kernel/spot_coefficients.h"

#include "cuda/arguments.h"
#include "cuda/device_code.h"

#include <assert.h>
#include <stddef.h>

static_assert(DIRS == DB_SPOT_PASS, "a direction for each parameter of a pass");
static_assert(sizeof(interface_values) <= DB_CUDA_MODEL_BYTES, "a block's memory has the model");

/* The model's values for a pass: the block's threads copy them together, but for panels and sources. */
DB_CUDA_FN const interface_values *model_of_pass(const db_kernel_job *job, uint32_t pass) {
    enum { SPREAD = offsetof(spread_interface, parts) / sizeof(double) };
    const db_kernel_spots *const spots = &job->spots;
    const double *const from = spots->dual + pass * spots->dual_length;
    const num *const rest = (const num *)(const void *)(from + SPREAD);
    interface_values *const z = (interface_values *)(void *)block_memory();
    double *const spread = (double *)(void *)&z->spread;
    for (uint32_t i = thread_number(); i < SPREAD; i += thread_count()) spread[i] = from[i];
    if (thread_number() == 0) {
        z->spread.parts = spots->pass[pass].parts;
        z->layer_step = rest[0];
        z->attenuation = rest[1];
        z->panel = (panel_interface *)(void *)(uintptr_t)(rest + 2);
        z->site_curve = (num *)(void *)(uintptr_t)(from + spots->dual_length) -
                        2 * (size_t)job->site_kinds * job->source_count;
        z->source = (source_interface *)(void *)z->site_curve - job->source_count;
    }
    block_barrier();
    return z;
}

/* The place of a spot's slope by a parameter; further columns are `slopes` apart. */
DB_CUDA_FN size_t place_of_slope(const db_kernel_spots *spots, size_t spot, size_t parameter,
                                 size_t columns, size_t slopes) {
    return (spot * DB_CUDA_SPOT_PASSES(spots->parameters, slopes) + parameter / slopes) * columns *
               slopes +
           parameter % slopes;
}

DB_CUDA_FN size_t slopes_of_pass(const db_kernel_spots *spots) {
    return spots->slope_float ? (size_t)DB_CUDA_SPOT_SLOPES : (size_t)DB_CUDA_DOUBLE_SPOT_SLOPES;
}

DB_CUDA_FN num square_of(const db_kernel_job *job, const db_spot_pass *pass, const num *curve,
                         size_t spot) {
    const db_kernel_spots *const spots = &job->spots;
    const int *const hkl = spots->entry[spot].name.hkl;
    const db_structure_factors *const f = &spots->experiment->structure_factors;
    const int kinds = job->site_kinds;
    size_t entry;
    if (kinds)
        return site_square(kinds, db_site_part_of(f, job->site_part, hkl, kinds),
                           curve + 2 * (size_t)kinds * spots->entry[spot].name.source);
    num amplitude =
        n_passive(spots->amplitude && db_amplitude_entry(f, hkl, &entry) ? spots->amplitude[entry]
                                                                         : f->default_F);
    for (int k = 0; k < DIRS; k++)
        amplitude.d[k] = pass->is_amplitude[k] && hkl[0] == pass->hkl[k][0] &&
                         hkl[1] == pass->hkl[k][1] && hkl[2] == pass->hkl[k][2];
    return n_sqr(amplitude);
}

DB_CUDA_KERNEL(db_cuda_spot_slopes_kernel, DB_CUDA_SLOPES_BLOCK, 2) {
    const db_kernel_spots *const spots = &a->job.spots;
    const uint32_t count = (uint32_t)spots->count,
                   blocks = (count + DB_CUDA_SLOPES_BLOCK - 1) / DB_CUDA_SLOPES_BLOCK,
                   number = block_number() / blocks,
                   spot = block_number() % blocks * DB_CUDA_SLOPES_BLOCK + thread_number();
    const db_spot_pass *const pass = &spots->pass[number];
    const interface_values *const z = model_of_pass(&a->job, number);
    const size_t columns = spots->moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS,
                 slopes = slopes_of_pass(spots);
    if (spot >= count) return;
    const db_spot_name name = spots->entry[spot].name;
    const spot_node node = spot_turn_of(z, &name);
    const spot_values s =
        spot_of(spots->experiment, z, &name, &node, square_of(&a->job, pass, z->site_curve, spot));
    for (int k = 0; k < DIRS; k++) {
        lane column[DB_SPOT_COLUMNS_MOVING];
        if (pass->place[k] < 0) continue;
        if (spots->moving)
            spot_move_coefficients(&s, k, column);
        else
            spot_rest_coefficients(&s, spots->spot[spot].value_double + DB_SPOT_INSIDE, k, column);
        const size_t at = place_of_slope(spots, spot, (size_t)pass->place[k], columns, slopes);
        for (size_t c = 0; c < columns; c++)
            if (spots->slope_float)
                ((float *)a->slopes)[at + c * slopes] = (float)column[c];
            else
                ((double *)a->slopes)[at + c * slopes] = column[c];
    }
}

/* Along a direction. */
DB_CUDA_KERNEL(db_cuda_spot_tangent_kernel, DB_CUDA_SLOPES_BLOCK, 1) {
    const db_kernel_spots *const spots = &a->job.spots;
    const size_t columns = spots->moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS,
                 slopes = slopes_of_pass(spots),
                 i = (size_t)block_number() * thread_count() + thread_number();
    double sum = 0;
    if (i >= spots->count * columns) return;
    for (size_t k = 0; k < spots->parameters; k++) {
        const size_t at =
            place_of_slope(spots, i / columns, k, columns, slopes) + i % columns * slopes;
        if (spots->direction[k] != 0)
            sum += spots->direction[k] *
                   (spots->slope_float ? (double)spots->slope_float[at] : spots->slope_double[at]);
    }
    if (spots->slope_float)
        ((float *)a->slopes)[i * slopes] = (float)sum;
    else
        ((double *)a->slopes)[i * slopes] = sum;
}
