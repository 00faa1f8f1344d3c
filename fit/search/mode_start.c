#include "fit/search/mode_start.h"

#include "base/context_internal.h"
#include "fit/config/modes.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <string.h>

enum { COMPONENTS = 9 };

/* The refined components of a mode. */
typedef struct mode {
    size_t count;
    size_t variable[COMPONENTS];
} mode;

static mode find_mode(const db_variables *v, unsigned k) {
    mode m = { 0 };
    for (size_t i = 0; i < v->table_count; i++) {
        if (db_mode_of(v->parameter[i]) == k) m.variable[m.count++] = i;
    }
    return m;
}

static void put(const mode *m, const double *component, double factor, double *values) {
    for (size_t i = 0; i < m->count; i++) values[m->variable[i]] = factor * component[i];
}

/* How a loss is evaluated. */
typedef struct evaluation {
    db_lm_evaluate call;
    void *user;
    double *gradient;
    double *normal;
} evaluation;

static int loss_at(const evaluation *e, const double *x, double *loss) {
    return e->call(e->user, x, loss, e->gradient, e->normal) == 0 && isfinite(*loss);
}

/* The loss depends on a small mode m by m.G m/2, G being the slopes of its slopes: each row from
 * the slopes where one component alone is a little off 0. */
static int second_slopes(const evaluation *e, const mode *m, double *x, double *second) {
    const double little = 0.5;
    double loss;
    for (size_t i = 0; i < m->count; i++) {
        double alone[COMPONENTS] = { 0 };
        alone[i] = 1;
        put(m, alone, little, x);
        if (!loss_at(e, x, &loss)) return 0;
        for (size_t j = 0; j < m->count; j++)
            second[i * m->count + j] = e->gradient[m->variable[j]] / little;
    }
    for (size_t i = 0; i < m->count; i++)
        for (size_t j = 0; j < i; j++)
            second[i * m->count + j] = second[j * m->count + i] =
                0.5 * (second[i * m->count + j] + second[j * m->count + i]);
    return 1;
}

/* The direction in which the loss falls fastest. */
static db_status steepest(db_context *context, size_t n, double *second, double *direction) {
    double value[COMPONENTS], vectors[COMPONENTS * COMPONENTS];
    gsl_eigen_symmv_workspace *const work = gsl_eigen_symmv_alloc(n);
    if (!work) return db_fail_memory(context, "the start of a mode");
    gsl_matrix_view matrix = gsl_matrix_view_array(second, n, n),
                    vector = gsl_matrix_view_array(vectors, n, n);
    gsl_vector_view values = gsl_vector_view_array(value, n);
    gsl_eigen_symmv(&matrix.matrix, &values.vector, &vector.matrix, work);
    gsl_eigen_symmv_free(work);
    size_t least = 0;
    for (size_t i = 1; i < n; i++)
        if (value[i] < value[least]) least = i;
    for (size_t i = 0; i < n; i++) direction[i] = vectors[i * n + least];
    return DB_OK;
}

/* The best of some lengths along it. */
static double best_length(const evaluation *e, const mode *m, const double *direction, double *x) {
    double least = INFINITY, best = DB_MODE_OFF_ZERO, loss;
    for (double length = 0.5; length < 20; length *= 1.6) {
        put(m, direction, length, x);
        if (!loss_at(e, x, &loss) || !(loss < least)) continue;
        least = loss;
        best = length;
    }
    return best;
}

static int is_small(const double *x, const mode *m) {
    for (size_t i = 0; i < m->count; i++)
        if (fabs(x[m->variable[i]]) > DB_MODE_OFF_ZERO) return 0;
    return m->count > 0;
}

db_status db_mode_starts(db_context *context, const db_variables *variables,
                         db_lm_evaluate evaluate, void *user, double *gradient, double *normal,
                         double *x) {
    const evaluation e = { evaluate, user, gradient, normal };
    for (unsigned k = 0; k < DB_SPREAD_MODES; k++) {
        const mode m = find_mode(variables, k);
        double second[COMPONENTS * COMPONENTS], direction[COMPONENTS] = { 0 };
        double before[COMPONENTS];
        if (!is_small(x, &m)) continue;
        for (size_t i = 0; i < m.count; i++) before[i] = x[m.variable[i]];
        if (!second_slopes(&e, &m, x, second)) {
            put(&m, before, 1, x);
            continue;
        }
        DB_TRY(steepest(context, m.count, second, direction));
        const double length = best_length(&e, &m, direction, x);
        put(&m, direction, length, x);
        for (size_t i = 0; i < m.count; i++) {
            double *const at = &x[m.variable[i]];
            *at = fmin(fmax(*at, variables->lower[m.variable[i]]), variables->upper[m.variable[i]]);
        }
    }
    return DB_OK;
}
