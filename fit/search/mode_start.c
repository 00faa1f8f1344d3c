/* Takes the direction in which the loss curves down most, and the best length along it. */
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

/* The loss depends on a small mode m by m.G m/2, G being the slopes of its slopes: each row from
 * the slopes where one component alone is a little off 0. Sets possible to 0 where it cannot be. */
static db_status second_slopes(db_moments *moments, const mode *m, double *x, double *second,
                               int *possible) {
    const double little = 0.5;
    double loss;
    *possible = 1;
    for (size_t i = 0; i < m->count; i++) {
        double alone[COMPONENTS] = { 0 };
        alone[i] = 1;
        put(m, alone, little, x);
        double *const row = second + i * m->count;
        DB_TRY(db_moments_slopes(moments, x, m->variable, m->count, &loss, row));
        *possible &= isfinite(loss) != 0;
        for (size_t j = 0; j < m->count; j++) row[j] /= little;
    }
    for (size_t i = 0; i < m->count; i++)
        for (size_t j = 0; j < i; j++)
            second[i * m->count + j] = second[j * m->count + i] =
                0.5 * (second[i * m->count + j] + second[j * m->count + i]);
    return DB_OK;
}

/* The direction in which the loss falls fastest. */
static void steepest(size_t n, double *second, double *direction) {
    double value[COMPONENTS], vectors[COMPONENTS * COMPONENTS], w[4 * COMPONENTS];
    /* gsl_eigen_symmv_alloc would abort without memory */
    gsl_eigen_symmv_workspace work = { n, w, w + n, w + 2 * n, w + 3 * n };
    gsl_matrix_view matrix = gsl_matrix_view_array(second, n, n),
                    vector = gsl_matrix_view_array(vectors, n, n);
    gsl_vector_view values = gsl_vector_view_array(value, n);
    gsl_eigen_symmv(&matrix.matrix, &values.vector, &vector.matrix, &work);
    size_t least = 0;
    for (size_t i = 1; i < n; i++)
        if (value[i] < value[least]) least = i;
    for (size_t i = 0; i < n; i++) direction[i] = vectors[i * n + least];
}

/* The best of some lengths along it. */
static db_status best_length(db_moments *moments, const mode *m, const double *direction, double *x,
                             double *best) {
    double least = INFINITY, loss;
    *best = DB_MODE_OFF_ZERO;
    for (double length = 0.5; length < 20; length *= 1.6) {
        put(m, direction, length, x);
        DB_TRY(db_moments_slopes(moments, x, NULL, 0, &loss, NULL));
        if (!(loss < least)) continue;
        least = loss;
        *best = length;
    }
    return DB_OK;
}

static int is_small(const double *x, const mode *m) {
    for (size_t i = 0; i < m->count; i++)
        if (fabs(x[m->variable[i]]) > DB_MODE_OFF_ZERO) return 0;
    return m->count > 0;
}

static db_status start_mode(db_moments *moments, const mode *m, double *x) {
    const db_variables *const v = moments->variables;
    double second[COMPONENTS * COMPONENTS], direction[COMPONENTS] = { 0 }, before[COMPONENTS];
    double length;
    int possible;
    for (size_t i = 0; i < m->count; i++) before[i] = x[m->variable[i]];
    DB_TRY(second_slopes(moments, m, x, second, &possible));
    if (!possible) {
        put(m, before, 1, x);
        return DB_OK;
    }
    steepest(m->count, second, direction);
    DB_TRY(best_length(moments, m, direction, x, &length));
    put(m, direction, length, x);
    for (size_t i = 0; i < m->count; i++) {
        const size_t k = m->variable[i];
        x[k] = fmin(fmax(x[k], v->lower[k]), v->upper[k]);
    }
    return DB_OK;
}

db_status db_mode_starts(db_moments *moments, double *x) {
    for (unsigned k = 0; k < DB_SPREAD_MODES; k++) {
        const mode m = find_mode(moments->variables, k);
        if (is_small(x, &m)) DB_TRY(start_mode(moments, &m, x));
    }
    return DB_OK;
}
