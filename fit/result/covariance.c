/* Standard errors, robust errors, correlations and badly determined directions. */
#include "fit/result/covariance.h"

#include "base/context_internal.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parameters with an influence on the data, and their normal matrix, scaled to unit diagonal. */
typedef struct scaled_matrix {
    size_t count, *index; /* numbers of these parameters */
    double least;         /* eigenvalues below this part of the largest are rounding */
    double *alone;        /* error of a parameter if it alone were refined */
    double *element;      /* [count][count] */
    double *eigenvalue;   /* ascending */
    double *vector;       /* [count][count], eigenvectors in columns */
    double *work;         /* [4][count] */
    double *memory;       /* memory of all lists above */
} scaled_matrix;

static int allocate_matrix(size_t n, scaled_matrix *m) {
    memset(m, 0, sizeof *m);
    m->index = calloc(n + 1, sizeof *m->index);
    m->memory = calloc(n * (2 * n + 6) + 1, sizeof *m->memory);
    m->alone = m->memory;
    m->eigenvalue = m->alone + n;
    m->work = m->eigenvalue + n;
    m->element = m->work + 4 * n;
    m->vector = m->element + n * n;
    return m->index && m->memory;
}

static void free_matrix(scaled_matrix *m) {
    free(m->index);
    free(m->memory);
}

db_status db_covariance_make(db_context *context, size_t n, db_covariance *c) {
    *c = (db_covariance){ .count = n };
    c->numbers = calloc(n * (4 * n + 2) + 1, sizeof *c->numbers);
    c->correlation = calloc(n + 1, sizeof *c->correlation);
    c->direction = calloc(n + 1, sizeof *c->direction);
    if (!c->numbers || !c->correlation || !c->direction)
        return db_fail_memory(context, "errors and correlations");
    c->error = c->numbers;
    c->robust = c->error + n;
    c->inverse = c->robust + n;
    double *rows = c->inverse + n * n;
    for (size_t i = 0; i < n; i++, rows += 3 * n) {
        c->robust[i] = NAN;
        c->correlation[i] = rows;
        c->direction[i].component = rows + n;
        c->direction[i].change = rows + 2 * n;
    }
    return DB_OK;
}

void db_covariance_clear(db_covariance *c) {
    free(c->numbers);
    free(c->correlation);
    free(c->direction);
    memset(c, 0, sizeof *c);
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
            /* A cosine; rounding of a column may bring it beyond 1, or make it NAN. */
            m->element[a * n + b] = a == b ? 1 : isfinite(c) ? fmin(fmax(c, -1), 1) : 0;
        }
}

static void find_eigenvectors(scaled_matrix *m) {
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
    const int determined = value[k] > m->least * value[n - 1];
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

int db_direction_is_determined(const db_fit_direction *d) { return isfinite(d->condition); }

/* Gives parameters in an undetermined direction an error of INFINITY. */
static void invert(const scaled_matrix *m, db_covariance *estimate) {
    const size_t n = m->count;
    const double *const value = m->eigenvalue;
    for (size_t k = 0; k < n; k++) {
        const int determined = value[k] > m->least * value[n - 1];
        for (size_t a = 0; a < n; a++) {
            double *const row = estimate->inverse + m->index[a] * estimate->count;
            const double component = m->vector[a * n + k];
            for (size_t b = 0; b < n && determined; b++)
                row[m->index[b]] +=
                    component * m->vector[b * n + k] / value[k] * m->alone[a] * m->alone[b];
            if (!determined && fabs(component) > DB_LEAST_COMPONENT)
                estimate->error[m->index[a]] = INFINITY;
        }
    }
}

/* Sets initial values; parameters without influence are directions of their own. */
static void begin_directions(const scaled_matrix *m, const int *used, db_covariance *estimate) {
    const size_t count = estimate->count;
    for (size_t i = 0, a = 0; i < count; i++) {
        if (a < m->count && m->index[a] == i) {
            a++;
            continue;
        }
        if (!used[i]) continue;
        estimate->error[i] = INFINITY;
        db_fit_direction *const d = &estimate->direction[estimate->direction_count++];
        d->condition = INFINITY;
        d->component[i] = 1;
        for (size_t k = 0; k < count; k++) d->change[k] = NAN;
    }
}

void db_covariance_take_inverse(db_covariance *c) {
    const size_t n = c->count;
    for (size_t i = 0; i < n; i++) {
        const double own = c->inverse[i * (n + 1)];
        if (!isinf(c->error[i])) c->error[i] = own > 0 ? sqrt(own) : (double)NAN;
    }
    for (size_t i = 0; i < n; i++) {
        c->correlation[i][i] = 1;
        for (size_t k = 0; k < n; k++) {
            const double both = c->error[i] * c->error[k];
            if (i != k && isfinite(both) && both > 0)
                c->correlation[i][k] = fmin(fmax(c->inverse[i * n + k] / both, -1), 1);
        }
    }
}

double db_covariance_sandwich(const db_covariance *c, const double *scatter, size_t i) {
    const double *const row = c->inverse + i * c->count;
    double sum = 0;
    if (isnan(c->error[i])) return c->error[i];
    for (size_t k = 0; k < c->count; k++)
        for (size_t l = 0; l < c->count; l++) sum += row[k] * scatter[k * c->count + l] * row[l];
    return sqrt(fmax(0, sum));
}

db_status db_covariance_estimate(db_context *context, const double *normal, size_t count,
                                 const int *used, double least, db_covariance *estimate) {
    scaled_matrix m;
    db_status status = db_covariance_make(context, count, estimate);
    if (!allocate_matrix(count, &m)) status = db_fail_memory(context, "errors and correlations");
    m.least = least;
    if (status == DB_OK) {
        scale_matrix(normal, count, used, &m);
        begin_directions(&m, used, estimate);
    }
    if (status == DB_OK && m.count > 0) {
        find_eigenvectors(&m);
        for (size_t k = 0; k < m.count; k++)
            describe_direction(&m, k, &estimate->direction[estimate->direction_count++]);
        invert(&m, estimate);
    }
    if (status == DB_OK) db_covariance_take_inverse(estimate);
    free_matrix(&m);
    return status;
}
