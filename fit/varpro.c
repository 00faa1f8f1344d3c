#include "fit/varpro.h"

#include <math.h>
#include <string.h>

size_t db_varpro_sums_room(size_t parameters) { return parameters * (1 + DB_LINEAR + parameters); }

void db_varpro_sums_init(db_varpro_sums *sums, size_t parameters, double *memory) {
    sums->parameters = parameters;
    sums->dy = memory;
    sums->dx = sums->dy + parameters;
    sums->dd = sums->dx + DB_LINEAR * parameters;
}

void db_varpro_sums_zero(db_varpro_sums *sums) {
    sums->yy = 0;
    memset(sums->xy, 0, sizeof sums->xy);
    memset(sums->xx, 0, sizeof sums->xx);
    memset(sums->dy, 0, db_varpro_sums_room(sums->parameters) * sizeof(double));
}

static void accumulate_linear(db_varpro_sums *sums, double y, double weight,
                              const double x[DB_LINEAR]) {
    sums->yy += weight * y * y;
    for (int i = 0; i < DB_LINEAR; i++) {
        const double wx = weight * x[i];
        sums->xy[i] += wx * y;
        for (int j = 0; j <= i; j++) sums->xx[i][j] += wx * x[j];
    }
}

static void accumulate_derivatives(db_varpro_sums *sums, double y, double weight,
                                   const double x[DB_LINEAR], const double *d, int with_normal) {
    const size_t n = sums->parameters;
    for (size_t k = 0; k < n; k++) {
        const double wd = weight * d[k];
        sums->dy[k] += wd * y;
        for (size_t i = 0; i < DB_LINEAR; i++) sums->dx[k * DB_LINEAR + i] += wd * x[i];
        if (!with_normal) continue;
        for (size_t l = 0; l <= k; l++) sums->dd[k * n + l] += wd * d[l];
    }
}

void db_varpro_accumulate(db_varpro_sums *sums, const db_varpro_pixels *pixels, int with_normal) {
    double d[DB_PARAMETER_COUNT] = { 0 };
    for (int slow = 0; slow < pixels->slow_count; slow++) {
        const size_t row = pixels->offset + (size_t)slow * pixels->stride;
        for (int fast = 0; fast < pixels->fast_count; fast++) {
            const size_t i = row + (size_t)fast;
            const double weight = (double)pixels->weight[i], y = (double)pixels->value[i];
            if (!(weight > 0)) continue;
            const double x[DB_LINEAR] = { (double)pixels->shape[i], 1, pixels->fast_start + fast,
                                          pixels->slow_start + slow };
            for (size_t k = 0; k < sums->parameters; k++) d[k] = (double)pixels->derivative[k][i];
            accumulate_linear(sums, y, weight, x);
            accumulate_derivatives(sums, y, weight, x, d, with_normal);
        }
    }
}

void db_varpro_sums_add(db_varpro_sums *sums, const db_varpro_sums *more) {
    sums->yy += more->yy;
    for (int i = 0; i < DB_LINEAR; i++) {
        sums->xy[i] += more->xy[i];
        for (int j = 0; j <= i; j++) sums->xx[i][j] += more->xx[i][j];
    }
    const size_t room = db_varpro_sums_room(sums->parameters);
    for (size_t k = 0; k < room; k++) sums->dy[k] += more->dy[k];
}

/* The normal matrix of the coefficients first..DB_LINEAR-1, scaled to unit diagonal, as L L^T. */
typedef struct cholesky {
    int first;
    double scale[DB_LINEAR], l[DB_LINEAR][DB_LINEAR];
} cholesky;

/* 0 if a column is (nearly) a combination of the others. */
static int decompose(const db_varpro_sums *sums, int first, double ridge, cholesky *c) {
    const double least = 1e-12; /* of a pivot; all would be 1 for orthogonal columns */
    c->first = first;
    for (int i = first; i < DB_LINEAR; i++) {
        const double diagonal = sums->xx[i][i] + (i == 0 ? ridge : 0);
        if (!(diagonal > 1e-300)) return 0;
        c->scale[i] = 1 / sqrt(diagonal);
        for (int j = first; j <= i; j++) {
            double sum = i == j ? 1 : sums->xx[i][j] * c->scale[i] * c->scale[j];
            for (int k = first; k < j; k++) sum -= c->l[i][k] * c->l[j][k];
            if (i == j && !(sum > least)) return 0;
            c->l[i][j] = i == j ? sqrt(sum) : sum / c->l[j][j];
        }
    }
    return 1;
}

/* v := L^-1 (scale v): then u.v of two such vectors is u^T N^-1 v. */
static void halfway(const cholesky *c, double v[DB_LINEAR]) {
    for (int i = c->first; i < DB_LINEAR; i++) {
        double sum = v[i] * c->scale[i];
        for (int k = c->first; k < i; k++) sum -= c->l[i][k] * v[k];
        v[i] = sum / c->l[i][i];
    }
}

static void solve(const cholesky *c, double v[DB_LINEAR]) {
    halfway(c, v);
    for (int i = DB_LINEAR - 1; i >= c->first; i--) {
        double sum = v[i];
        for (int k = i + 1; k < DB_LINEAR; k++) sum -= c->l[k][i] * v[k];
        v[i] = sum / c->l[i][i];
    }
    for (int i = c->first; i < DB_LINEAR; i++) v[i] *= c->scale[i];
}

/* The plane for a given J. A block whose few pixels do not determine a plane says nothing. */
static void solve_plane(const db_varpro_sums *sums, double intensity, cholesky *c,
                        double linear[DB_LINEAR]) {
    linear[0] = intensity;
    for (int i = 1; i < DB_LINEAR; i++) linear[i] = sums->xy[i] - sums->xx[i][0] * intensity;
    if (decompose(sums, 1, 0, c)) {
        solve(c, linear);
    } else {
        c->first = DB_LINEAR;
        for (int i = 0; i < DB_LINEAR; i++) linear[i] = 0;
    }
}

static int solve_all(const db_varpro_sums *sums, double ridge, cholesky *c,
                     db_varpro_solution *solution) {
    if (!decompose(sums, 0, ridge, c)) return 0;
    memcpy(solution->linear, sums->xy, sizeof solution->linear);
    solve(c, solution->linear);
    double unit[DB_LINEAR] = { 1, 0, 0, 0 };
    solve(c, unit);
    solution->intensity_variance = unit[0];
    return solution->linear[0] >= 0;
}

static double target(const db_varpro_sums *sums, double ridge, const double linear[DB_LINEAR]) {
    double sum = sums->yy + ridge * linear[0] * linear[0];
    for (int i = 0; i < DB_LINEAR; i++) {
        double row = 0.5 * linear[i] * sums->xx[i][i] - sums->xy[i];
        for (int j = 0; j < i; j++) row += linear[j] * sums->xx[i][j];
        sum += 2 * linear[i] * row;
    }
    return sum;
}

static void add_gradient(const db_varpro_sums *sums, const double linear[DB_LINEAR],
                         double *gradient) {
    for (size_t k = 0; k < sums->parameters; k++) {
        double residual = sums->dy[k];
        for (size_t i = 0; i < DB_LINEAR; i++) residual -= linear[i] * sums->dx[k * DB_LINEAR + i];
        gradient[k] -= 2 * linear[0] * residual;
    }
}

static void add_normal(const db_varpro_sums *sums, const cholesky *c, double intensity,
                       double *normal) {
    const size_t n = sums->parameters;
    double half[DB_PARAMETER_COUNT][DB_LINEAR];
    for (size_t k = 0; k < n; k++) {
        memcpy(half[k], sums->dx + k * DB_LINEAR, sizeof half[k]);
        halfway(c, half[k]);
        for (size_t l = 0; l <= k; l++) {
            double element = sums->dd[k * n + l];
            for (int i = c->first; i < DB_LINEAR; i++) element -= half[k][i] * half[l][i];
            normal[k * n + l] += intensity * intensity * element;
            if (l < k) normal[l * n + k] = normal[k * n + l];
        }
    }
}

static void finish(const db_varpro_sums *sums, const cholesky *c, double ridge,
                   db_varpro_solution *solution, double *gradient, double *normal) {
    solution->target = c->first < DB_LINEAR ? target(sums, ridge, solution->linear) : 0;
    if (gradient) add_gradient(sums, solution->linear, gradient);
    if (normal) add_normal(sums, c, solution->linear[0], normal);
}

void db_varpro_solve(const db_varpro_sums *sums, double ridge, db_varpro_solution *solution,
                     double *gradient, double *normal) {
    cholesky c;
    if (!solve_all(sums, ridge, &c, solution)) {
        solution->intensity_variance = 0;
        solve_plane(sums, 0, &c, solution->linear);
    }
    finish(sums, &c, ridge, solution, gradient, normal);
}

void db_varpro_solve_plane(const db_varpro_sums *sums, double intensity,
                           db_varpro_solution *solution, double *gradient, double *normal) {
    cholesky c;
    solution->intensity_variance = 0;
    solve_plane(sums, intensity, &c, solution->linear);
    finish(sums, &c, 0, solution, gradient, normal);
}

void db_varpro_share(const db_varpro_sums *sums, db_varpro_shared *shared) {
    cholesky c;
    double data[DB_LINEAR], shape[DB_LINEAR], derivative[DB_LINEAR];
    if (!decompose(sums, 1, 0, &c)) return; /* no plane, hardly any pixel */
    memcpy(data, sums->xy, sizeof data);
    for (int i = 0; i < DB_LINEAR; i++) shape[i] = sums->xx[i][0];
    halfway(&c, data);
    halfway(&c, shape);
    shared->numerator += data[0];
    shared->denominator += shape[0];
    for (int i = c.first; i < DB_LINEAR; i++) {
        shared->numerator -= data[i] * shape[i];
        shared->denominator -= shape[i] * shape[i];
    }
    for (size_t k = 0; k < sums->parameters; k++) {
        memcpy(derivative, sums->dx + k * DB_LINEAR, sizeof derivative);
        halfway(&c, derivative);
        shared->cross[k] += derivative[0];
        for (int i = c.first; i < DB_LINEAR; i++) shared->cross[k] -= derivative[i] * shape[i];
    }
}

void db_varpro_project_shared(const db_varpro_shared *shared, double intensity, size_t parameters,
                              double *normal) {
    if (!(shared->denominator > 0)) return;
    for (size_t k = 0; k < parameters; k++)
        for (size_t l = 0; l < parameters; l++)
            normal[k * parameters + l] -=
                intensity * intensity * shared->cross[k] * shared->cross[l] / shared->denominator;
}
