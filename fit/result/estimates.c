/* Makes the list of estimates, and puts errors and correlations into it. */
#include "fit/result/estimates.h"

#include "base/context_internal.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The next `size` bytes of a block. */
static void *carve(char **block, size_t size) {
    void *const place = *block;
    *block += size;
    return place;
}

static void describe_estimate(const db_fit_settings *settings, size_t i, char *name,
                              db_fit_estimate *e) {
    const db_fit_parameter *const p = &settings->parameters[i];
    db_fit_quantity_name(&settings->panel_groups, db_fit_quantity_of(p), name);
    *e = (db_fit_estimate){ .name = name,
                            .unit = db_parameter_describe(p->parameter)->unit,
                            .parameter = p->parameter,
                            .shared = 1,
                            .start = NAN,
                            .value = NAN,
                            .error_unscaled = NAN,
                            .error_scaled = NAN,
                            .error_robust = NAN,
                            .error = NAN };
}

db_status db_estimates_make(db_context *context, const db_fit_settings *settings,
                            db_fit_estimates *e) {
    const size_t n = settings->parameter_count, row = n * sizeof(double);
    const size_t each = sizeof *e->list + sizeof *e->correlation + sizeof *e->direction + 3 * row +
                        DB_FIT_NAME_SIZE;
    free(e->memory);
    *e = (db_fit_estimates){ .count = n, .shared_misfit = 1, .memory = calloc(n + 1, each) };
    char *block = e->memory;
    if (!block) return db_fail_memory(context, "the result's parameters");
    e->list = carve(&block, n * sizeof *e->list);
    e->correlation = carve(&block, n * sizeof *e->correlation);
    e->direction = carve(&block, n * sizeof *e->direction);
    for (size_t i = 0; i < n; i++) {
        e->correlation[i] = carve(&block, row);
        e->correlation[i][i] = 1;
        e->direction[i].component = carve(&block, row);
        e->direction[i].change = carve(&block, row);
    }
    for (size_t i = 0; i < n; i++)
        describe_estimate(settings, i, carve(&block, DB_FIT_NAME_SIZE), &e->list[i]);
    return DB_OK;
}

void db_estimates_take(db_fit_estimates *e, const db_covariance *c, const size_t *index,
                       double misfit) {
    const size_t count = c->count;
    for (size_t k = 0; k < count; k++) {
        db_fit_estimate *const to = &e->list[index[k]];
        to->error_unscaled = c->error[k];
        to->error_scaled = c->error[k] * misfit;
        to->error_robust = fmax(to->error_robust, isinf(c->error[k]) ? c->error[k] : c->robust[k]);
        to->error = fmax(to->error_scaled, to->error_robust);
        for (size_t l = 0; l < count; l++)
            e->correlation[index[k]][index[l]] = c->correlation[k][l];
    }
    e->direction_count = c->direction_count;
    for (size_t d = 0; d < c->direction_count; d++) {
        e->direction[d].eigenvalue = c->direction[d].eigenvalue;
        e->direction[d].condition = c->direction[d].condition;
        for (size_t k = 0; k < count; k++) {
            e->direction[d].component[index[k]] = c->direction[d].component[k];
            e->direction[d].change[index[k]] = c->direction[d].change[k];
        }
    }
}
