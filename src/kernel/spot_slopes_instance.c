/* See kernel/spot_slopes.h; compiled once for each instruction set, with DB_INSTANCE_TAG. */
#include "kernel/spot_slopes.h"

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

/* d(amplitude) - amplitude (z.G z + z.b) with z = o + y; G is a lower triangle, as W is. */
static void columns_at_rest(const spot_values *s, const double o[3], int p,
                            double column[DB_SPOT_COLUMNS]) {
    const double a = s->amplitude.v;
    double g[9], b[3];
    shift_of(s, p, g, b);
    int c = 4;
    column[0] = s->amplitude.d[p];
    for (int i = 0; i < 3; i++) {
        double by_y = b[i], at_o = b[i];
        for (int j = 0; j <= i; j++) {
            column[c++] = -a * g[3 * i + j];
            at_o += g[3 * i + j] * o[j];
            by_y += g[3 * i + j] * o[j];
        }
        for (int j = i; j < 3; j++) by_y += g[3 * j + i] * o[j];
        column[0] -= a * o[i] * at_o;
        column[1 + i] = -a * by_y;
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

#define INSTANCE_NAME_(tag) db_spot_slopes_##tag
#define INSTANCE_NAME(tag) INSTANCE_NAME_(tag)
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_spot_slopes_work *work, size_t spot);
void INSTANCE_NAME(DB_INSTANCE_TAG)(const db_spot_slopes_work *work, size_t spot) {
    const size_t length = work->moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS;
    const spot_values s =
        spot_at(work->experiment, work->interface, work->slots, &work->entry[spot].name);
    for (int p = 0; p < work->slots->count; p++) {
        if (work->place[p] >= work->parameters) continue;
        const size_t at = (spot * work->parameters + work->place[p]) * length;
        if (work->moving)
            columns_moving(&s, p, work->slope + at);
        else
            columns_at_rest(&s, work->spot[spot].value_double + DB_SPOT_INSIDE, p,
                            work->slope + at);
        for (size_t c = 0; c < length; c++) work->narrow[at + c] = (float)work->slope[at + c];
    }
}
