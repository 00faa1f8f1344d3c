/* Slopes of spots by the plan's parameters, from wide duals through kernel/spot.h, as coefficients of
 * the columns of kernel/spot_pixels.h. */
#include "engine/spots.h"

#include "base/threads.h"

#include <stdlib.h>

#define REAL double
#define DIRS many
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"
#include "kernel/spot.h"

static double vector_at(const vec3 *v, int i) { return i == 0 ? v->x.v : i == 1 ? v->y.v : v->z.v; }
static double slope_at(const vec3 *v, int i, int p) {
    return i == 0 ? v->x.d[p] : i == 1 ? v->y.d[p] : v->z.d[p];
}

/* z = W (d - c): dz = G z + b with G = dW W^-1 and b = -W dc. */
static void shift_of(const spot_values *s, int p, double g[9], double b[3]) {
    for (int i = 0; i < 3; i++) {
        b[i] = 0;
        for (int j = 0; j < 3; j++) {
            b[i] -= vector_at(&s->white.r[i], j) * slope_at(&s->centre, j, p);
            g[3 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                g[3 * i + j] += slope_at(&s->white.r[i], k, p) * vector_at(&s->root.r[k], j);
        }
    }
}

static void columns_at_rest(const spot_values *s, int p, double column[DB_SPOT_COLUMNS]) {
    double g[9], b[3];
    shift_of(s, p, g, b);
    int c = 4;
    column[0] = s->amplitude.d[p];
    for (int i = 0; i < 3; i++) {
        column[1 + i] = b[i];
        for (int j = 0; j <= i; j++) column[c++] = g[3 * i + j];
    }
}

static void columns_moving(const spot_values *s, int p, double column[DB_SPOT_COLUMNS_MOVING]) {
    double g[9], b[3];
    shift_of(s, p, g, b);
    column[0] = s->amplitude.d[p];
    for (int i = 0; i < 3; i++) column[1 + i] = b[i];
    column[4] = g[0];
    column[5] = g[1] + g[3];
    column[6] = g[4];
    column[7] = g[2];
    column[8] = g[5];
    for (int j = 0; j < 3; j++) column[9 + j] = g[6 + j];
    column[12] = s->to.d[p];
    column[13] = s->from.d[p];
}

/* Slopes of one spot by the parameters of a pass; `place` of each among those that move spots. */
static void fill_spot(const db_plan *plan, const db_parameter_slots *slots, size_t spot,
                      size_t first, size_t length, double *slope, float *narrow) {
    const spot_values s =
        spot_at(&plan->experiment, &plan->dual, slots, &db_spots_entries(plan)[spot].name);
    for (int p = 0; p < slots->count; p++) {
        const size_t place = plan->position[first + (size_t)p];
        if (place >= plan->job.spots.parameters) continue;
        const size_t at = (spot * plan->job.spots.parameters + place) * length;
        if (length == DB_SPOT_COLUMNS)
            columns_at_rest(&s, p, slope + at);
        else
            columns_moving(&s, p, slope + at);
        for (size_t c = 0; c < length; c++) narrow[at + c] = (float)slope[at + c];
    }
}

db_status db_spots_fill_slopes(db_plan *plan) {
    db_kernel_spots *job = &plan->job.spots;
    const size_t length = job->moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS;
    const long count = (long)job->count;
    float *narrow;
    double *slope = db_spots_slope_room(plan, job->count * job->parameters * length, &narrow);
    if (!slope) return db_fail_memory(plan->context, "the slopes of spots");
    for (size_t first = 0; first < plan->parameter_count; first += DB_SLOPES_AT_ONCE) {
        const db_parameter_slots slots = db_plan_slots(plan, first);
        db_model_dual(&plan->experiment, plan->directions, &slots, &plan->dual);
#if defined(_OPENMP)
        const int threads = db_threads_for(plan->context, count);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
        for (long i = 0; i < count; i++)
            fill_spot(plan, &slots, (size_t)i, first, length, slope, narrow);
    }
    plan->spot_slopes_version++;
    job->slope_double = slope;
    job->slope_float = narrow;
    return DB_OK;
}
