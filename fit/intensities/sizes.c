/* Sizes of blocks among the unknowns of joint intensities. */
#include "fit/intensities/sizes.h"

#include <math.h>

/* Is a shared quantity, by its number in the order, a size of blocks? */
static int is_size(const db_fit_settings *settings, const db_schur_order *order, size_t g) {
    return db_facts_of(settings->parameters[order->index[g]].parameter)->kind == DB_KIND_CELLS;
}

/* Edges of blocks with this size: its own, and those that follow it. */
static double edges_of(const db_fit_settings *settings, const db_schur_order *order, size_t g) {
    const db_fit_quantity leader = db_fit_quantity_of(&settings->parameters[order->index[g]]);
    double edges = 1;
    for (size_t i = 0; i < settings->parameter_count; i++)
        edges += settings->parameters[i].follows.number == leader.number;
    return edges;
}

/* With L at the last pass: u = L (3 - L^2/N^2)/2, which is L with slope 1 at N = L, and straight in 1/N^2. */
static double unknown_of(double last, double size) {
    const double ratio = last / size;
    return 0.5 * last * (3 - ratio * ratio);
}

/* Most growth of a size in one pass. A straight line may promise nodes of no width, and of such nodes derivatives by size
 * vanish. */
static const double MOST_GROWTH = 2;

static double size_of(double last, double unknown) {
    const double squares = 3 - 2 * unknown / last; /* (L/N)^2 */
    return last / sqrt(fmax(squares, 1 / (MOST_GROWTH * MOST_GROWTH)));
}

void db_sizes_linearize(const db_fit_settings *settings, const db_schur_order *order,
                        const double *shared, const db_linearization *s) {
    double growth[DB_FIT_MOST_PARAMETERS] = { 0 }; /* of the light, as a part of it */
    int any = 0;
    for (size_t g = 0; g < order->shared; g++) {
        if (!is_size(settings, order, g)) continue;
        growth[s->local + g] = edges_of(settings, order, g) / shared[g];
        any = 1;
    }
    if (any) db_linearization_hold_light(s, growth);
}

void db_sizes_unknown(const db_fit_settings *settings, const db_schur_order *order,
                      const double *last, const double *value, double *unknown) {
    for (size_t g = 0; g < order->shared; g++)
        unknown[g] = is_size(settings, order, g) ? unknown_of(last[g], value[g]) : value[g];
}

void db_sizes_step(const db_fit_settings *settings, const db_schur_order *order, const double *last,
                   const double *value, const double *step, double *to) {
    for (size_t g = 0; g < order->shared; g++)
        to[g] = is_size(settings, order, g)
                    ? size_of(last[g], unknown_of(last[g], value[g]) + step[g])
                    : value[g] + step[g];
}

double db_sizes_factor(const db_fit_settings *settings, const db_schur_order *order,
                       const double *last, const double *value) {
    double factor = 1;
    for (size_t g = 0; g < order->shared; g++)
        if (is_size(settings, order, g))
            factor *= pow(last[g] / value[g], edges_of(settings, order, g));
    return factor;
}
