/* Standard errors, robust errors, correlations and badly determined directions. */
#include "fit/result/covariance.h"

#include "base/context_internal.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eigenvalues below this part of the largest are rounding: derivative images are floats, whose
 * errors of 1e-7 enter squared. */
static const double LEAST_EIGENVALUE = 1e-12;
/* A parameter takes part in a direction from this component on. */
static const double LEAST_COMPONENT = 1e-4;

/* The parameters that have an influence on the data, and the normal matrix between them, scaled to
 * unit diagonal. */
typedef struct scaled_matrix {
    size_t count, *index; /* of each among all parameters */
    double *alone;        /* error if it alone were refined */
    double *element;      /* [count][count] */
    double *eigenvalue;   /* ascending */
    double *vector;       /* [count][count], eigenvectors in columns */
    double *inverse;      /* see invert */
    double *work;         /* [4][count] */
    double *memory;       /* of all of these */
} scaled_matrix;

static int allocate_matrix(size_t n, scaled_matrix *m) {
    memset(m, 0, sizeof *m);
    m->index = calloc(n + 1, sizeof *m->index);
    m->memory = calloc(n * (3 * n + 6) + 1, sizeof *m->memory);
    m->alone = m->memory;
    m->eigenvalue = m->alone + n;
    m->work = m->eigenvalue + n;
    m->element = m->work + 4 * n;
    m->vector = m->element + n * n;
    m->inverse = m->vector + n * n;
    return m->index && m->memory;
}

static void free_matrix(scaled_matrix *m) {
    free(m->index);
    free(m->memory);
}

static int allocate_estimate(size_t n, db_covariance *c) {
    memset(c, 0, sizeof *c);
    c->numbers = calloc(n * (3 * n + 2) + 1, sizeof *c->numbers);
    c->correlation = calloc(n + 1, sizeof *c->correlation);
    c->direction = calloc(n + 1, sizeof *c->direction);
    if (!c->numbers || !c->correlation || !c->direction) return 0;
    c->error = c->numbers;
    c->robust = c->error + n;
    double *rows = c->robust + n;
    for (size_t i = 0; i < n; i++, rows += 3 * n) {
        c->correlation[i] = rows;
        c->direction[i].component = rows + n;
        c->direction[i].change = rows + 2 * n;
    }
    return 1;
}

void db_covariance_clear(db_covariance *c) {
    free(c->numbers);
    free(c->correlation);
    free(c->direction);
    memset(c, 0, sizeof *c);
}

double db_covariance_robust_error(const db_covariance *c, size_t i, size_t parts,
                                  size_t quantities) {
    const size_t least_parts = 4; /* per quantity */
    if (parts < least_parts * quantities) return NAN;
    return c->robust[i] * sqrt((double)parts / ((double)parts - (double)quantities));
}

static void scale_matrix(const double *normal, size_t count, const int *used, scaled_matrix *m) {
    m->count = 0;
    for (size_t i = 0; i < count; i++) {
        const double alone = 1 / sqrt(normal[i * count + i]);
        if (!used[i] || !isfinite(alone)) continue;
        m->alone[m->count] = alone;
        m->index[m->count++] = i;
    }
    const size_t n = m->count;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            const double c = normal[m->index[a] * count + m->index[b]] * m->alone[a] * m->alone[b];
            /* A cosine; beyond 1, or not a number, only where one column is nothing but
             * rounding. */
            m->element[a * n + b] = a == b ? 1 : isfinite(c) ? fmin(fmax(c, -1), 1) : 0;
        }
}

static void solve(scaled_matrix *m) {
    const size_t n = m->count;
    double *const w = m->work;
    gsl_eigen_symmv_workspace work = { n, w, w + n, w + 2 * n, w + 3 * n };
    gsl_matrix_view matrix = gsl_matrix_view_array(m->element, n, n),
                    vectors = gsl_matrix_view_array(m->vector, n, n);
    gsl_vector_view values = gsl_vector_view_array(m->eigenvalue, n);
    gsl_eigen_symmv(&matrix.matrix, &values.vector, &vectors.matrix, &work);
    gsl_eigen_symmv_sort(&values.vector, &vectors.matrix, GSL_EIGEN_SORT_VAL_ASC);
}

static void describe_direction(const scaled_matrix *m, size_t k, db_fit_direction *d) {
    const size_t n = m->count;
    const double *const value = m->eigenvalue;
    const double *const vector = m->vector;
    const int determined = value[k] > LEAST_EIGENVALUE * value[n - 1];
    double largest = 0;
    for (size_t a = 0; a < n; a++)
        if (fabs(vector[a * n + k]) > fabs(largest) * (1 + 1e-9)) largest = vector[a * n + k];
    d->eigenvalue = fmax(0, value[k]);
    d->condition = determined ? value[n - 1] / value[k] : INFINITY;
    for (size_t a = 0; a < n; a++) {
        const double component = largest < 0 ? -vector[a * n + k] : vector[a * n + k];
        d->component[m->index[a]] = component;
        d->change[m->index[a]] =
            determined ? component * m->alone[a] / sqrt(value[k]) : (double)NAN;
    }
}

/* (scaled matrix)^-1 over the directions that are determined; INFINITY on the diagonal of
 * parameters that take part in one that is not. */
static void invert(const scaled_matrix *m) {
    const size_t n = m->count;
    const double *const value = m->eigenvalue;
    const double *const vector = m->vector;
    double *const inverse = m->inverse;
    for (size_t k = 0; k < n; k++) {
        const int determined = value[k] > LEAST_EIGENVALUE * value[n - 1];
        for (size_t a = 0; a < n; a++) {
            const double component = vector[a * n + k];
            for (size_t b = 0; b < n && determined; b++)
                inverse[a * n + b] += component * vector[b * n + k] / value[k];
            if (!determined && fabs(component) > LEAST_COMPONENT) inverse[a * n + a] = INFINITY;
        }
    }
}

/* Root of the diagonal of inverse x scatter x inverse. */
static void estimate_robust(const scaled_matrix *m, const double *scatter, size_t count,
                            db_covariance *estimate) {
    const size_t n = m->count;
    const double *const inverse = m->inverse;
    for (size_t a = 0; a < n; a++) {
        double sum = 0;
        for (size_t b = 0; b < n; b++)
            for (size_t c = 0; c < n && isfinite(inverse[a * n + a]); c++)
                sum += inverse[a * n + b] * m->alone[b] *
                       scatter[m->index[b] * count + m->index[c]] * m->alone[c] *
                       inverse[a * n + c];
        estimate->robust[m->index[a]] =
            isfinite(inverse[a * n + a]) ? sqrt(fmax(0, sum)) * m->alone[a] : INFINITY;
    }
}

/* Initial values; parameters without influence are directions of their own. */
static void begin(const scaled_matrix *m, size_t count, const int *used, int with_scatter,
                  db_covariance *estimate) {
    for (size_t i = 0, a = 0; i < count; i++) {
        estimate->error[i] = used[i] ? INFINITY : (double)NAN;
        estimate->robust[i] = with_scatter && used[i] ? INFINITY : (double)NAN;
        estimate->correlation[i][i] = 1;
        if (a < m->count && m->index[a] == i) {
            a++;
            continue;
        }
        if (!used[i]) continue;
        db_fit_direction *const d = &estimate->direction[estimate->direction_count++];
        d->condition = INFINITY;
        d->component[i] = 1;
        for (size_t k = 0; k < count; k++) d->change[k] = NAN;
    }
}

static void estimate_errors(const scaled_matrix *m, db_covariance *estimate) {
    const size_t n = m->count;
    for (size_t a = 0; a < n; a++) {
        const double own = m->inverse[a * n + a];
        estimate->error[m->index[a]] = sqrt(own) * m->alone[a];
        for (size_t b = 0; b < n; b++) {
            const double both = sqrt(own * m->inverse[b * n + b]);
            if (a != b && isfinite(both) && both > 0)
                estimate->correlation[m->index[a]][m->index[b]] =
                    fmin(fmax(m->inverse[a * n + b] / both, -1), 1);
        }
    }
}

db_status db_covariance_estimate(db_context *context, const double *normal, const double *scatter,
                                 size_t count, const int *used, db_covariance *estimate) {
    scaled_matrix m;
    const int room = allocate_estimate(count, estimate);
    if (!allocate_matrix(count, &m) || !room) {
        free_matrix(&m);
        return db_fail_memory(context, "errors and correlations");
    }
    scale_matrix(normal, count, used, &m);
    begin(&m, count, used, scatter != NULL, estimate);
    if (m.count > 0) {
        solve(&m);
        for (size_t k = 0; k < m.count; k++)
            describe_direction(&m, k, &estimate->direction[estimate->direction_count++]);
        invert(&m);
        if (scatter) estimate_robust(&m, scatter, count, estimate);
        estimate_errors(&m, estimate);
    }
    free_matrix(&m);
    return DB_OK;
}
