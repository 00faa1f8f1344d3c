/* What quantities that are held do to the errors of refined ones. */
#include "fit/result/errors.h"

#include "base/context_internal.h"
#include "fit/linear/cholesky.h"

#include <math.h>
#include <stdlib.h>

db_status db_held_response(db_context *context, const double *normal, size_t n, const int *used,
                           size_t held, double *change) {
    double *const factor = malloc((n * n + 1) * sizeof *factor);
    unsigned char *const stays = calloc(n + 1, 1);
    if (factor && stays) {
        for (size_t k = 0; k < n; k++) {
            stays[k] = k == held || !used[k];
            change[k] = -normal[k * n + held];
        }
        db_cholesky_factor(n, normal, n, 0, stays, DB_LEAST_FOR_VARIANCE, factor);
        db_cholesky_solve(n, factor, change);
    }
    const db_status status =
        db_need_memory(context, factor && stays, "what a held quantity changes");
    free(factor);
    free(stays);
    return status;
}

static int is_changed(const double *change, const size_t *index, size_t k,
                      const db_fit_estimates *estimates) {
    return index[k] < estimates->count && estimates->list[index[k]].error > 0 &&
           isfinite(estimates->list[index[k]].error) && isfinite(change[k]);
}

void db_held_widen(const double *change, const size_t *index, size_t n, db_fit_estimates *e) {
    for (size_t k = 0; k < n; k++) {
        if (!is_changed(change, index, k, e)) continue;
        for (size_t l = 0; l < k; l++) {
            if (!is_changed(change, index, l, e)) continue;
            const size_t a = index[k], b = index[l];
            const double own[2] = { e->list[a].error, e->list[b].error };
            const double both = e->correlation[a][b] * own[0] * own[1] + change[k] * change[l];
            e->correlation[a][b] = e->correlation[b][a] =
                both / (hypot(own[0], change[k]) * hypot(own[1], change[l]));
        }
    }
    for (size_t k = 0; k < n; k++)
        if (is_changed(change, index, k, e))
            e->list[index[k]].error = hypot(e->list[index[k]].error, change[k]);
}
