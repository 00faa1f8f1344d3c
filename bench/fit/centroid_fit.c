#include "centroid_fit.h"

#include "fit/pixels/predict.h"
#include "fit/objective/variables.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESIDUALS = 3, ROUNDS = 20, STEPS = 50 };
static const double far = 4; /* spreads: spots beyond are left out */

typedef struct fit {
    db_context *context;
    const db_observed_spots *spots;
    db_experiment *model;
    db_variables variables;
    double unit[DB_PARAMETER_COUNT]; /* of the coordinates that GSL sees */
    unsigned char *use;              /* [spots] */
    double spread[2];                /* of positions (pixels) and turns (degree) */
    double *residual;                /* [spots][3]: not weighed; of all spots */
} fit;

/* By h, k, l; of the same the strongest first. */
static int in_order(const void *a, const void *b) {
    const db_observed_spot *const x = a;
    const db_observed_spot *const y = b;
    const int order = db_compare_hkl(x->hkl, y->hkl);
    return order ? order : (x->counts < y->counts) - (x->counts > y->counts);
}

static int is_indexed(const db_fit_geometry *geometry, double dmin, db_observed_spot *spot) {
    double index[3];
    if (db_fit_geometry_resolution(geometry, spot->panel, spot->position[0], spot->position[1]) <
        dmin)
        return 0;
    db_index_point(geometry, spot->panel, spot->position, index);
    for (int i = 0; i < 3; i++) {
        spot->hkl[i] = (int)lrint(index[i]);
        if (fabs(index[i] - spot->hkl[i]) > 0.25) return 0;
    }
    return 1;
}

void db_centroids_index(const db_fit_geometry *geometry, double dmin, db_observed_spots *spots) {
    size_t kept = 0;
    for (size_t i = 0; i < spots->count; i++) {
        db_observed_spot spot = spots->spot[i];
        if (is_indexed(geometry, dmin, &spot)) spots->spot[kept++] = spot;
    }
    qsort(spots->spot, kept, sizeof *spots->spot, in_order);
    spots->count = 0;
    for (size_t i = 0; i < kept; i++) {
        const db_observed_spot spot = spots->spot[i];
        const size_t n = spots->count;
        if (n && memcmp(spots->spot[n - 1].hkl, spot.hkl, sizeof spot.hkl) == 0) continue;
        spots->spot[spots->count++] = spot;
    }
}

/* Residuals of all spots under the model. */
static db_status predict(const fit *f) {
    db_fit_geometry geometry;
    const db_status status = db_fit_geometry_of(f->context, f->model, &geometry);
    if (status != DB_OK) return status;
    for (size_t i = 0; i < f->spots->count; i++) {
        const db_observed_spot *const spot = &f->spots->spot[i];
        db_reflection r = { .panel = spot->panel };
        double *const residual = f->residual + i * RESIDUALS;
        memcpy(r.hkl, spot->hkl, sizeof r.hkl);
        const int there = db_predict_on_panel(&geometry, &r);
        for (int k = 0; k < 2; k++)
            residual[k] = there ? spot->position[k] - r.position[k] : (double)NAN;
        residual[2] = r.excitation;
    }
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

static db_status move(fit *f, const gsl_vector *x) {
    double value[DB_PARAMETER_COUNT];
    for (size_t k = 0; k < f->variables.count; k++)
        value[k] = f->variables.start[k] + f->unit[k] * gsl_vector_get(x, k);
    db_variables_set(&f->variables, value, f->model);
    return predict(f);
}

static int residuals(const gsl_vector *x, void *data, gsl_vector *out) {
    fit *const f = data;
    size_t row = 0;
    if (move(f, x) != DB_OK) return GSL_EFAILED;
    for (size_t i = 0; i < f->spots->count; i++)
        for (int k = 0; k < RESIDUALS && f->use[i]; k++)
            gsl_vector_set(out, row++, f->residual[i * RESIDUALS + (size_t)k] / f->spread[k == 2]);
    return GSL_SUCCESS;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Standard deviation of normal numbers with the same median of magnitudes. */
static double robust_spread(double *magnitude, size_t count) {
    qsort(magnitude, count, sizeof *magnitude, ascending);
    return 1.4826 * magnitude[count / 2];
}

/* Spreads of the chosen spots; which of them are far off. Returns whether any of it changed. */
static int weigh(fit *f, const unsigned char *chosen, double *room) {
    int changed = 0;
    for (int kind = 0; kind < 2; kind++) {
        size_t count = 0;
        for (size_t i = 0; i < f->spots->count; i++)
            for (int k = kind ? 2 : 0; k < (kind ? 3 : 2) && chosen[i]; k++)
                room[count++] = fabs(f->residual[i * RESIDUALS + (size_t)k]);
        const double spread = robust_spread(room, count);
        changed |= fabs(spread - f->spread[kind]) > 1e-3 * spread;
        f->spread[kind] = spread;
    }
    for (size_t i = 0; i < f->spots->count; i++) {
        int good = chosen[i];
        for (int k = 0; k < RESIDUALS; k++)
            good = good && fabs(f->residual[i * RESIDUALS + (size_t)k]) < far * f->spread[k == 2];
        changed |= good != f->use[i];
        f->use[i] = (unsigned char)good;
    }
    return changed;
}

static db_status solve(fit *f) {
    size_t rows = 0;
    for (size_t i = 0; i < f->spots->count; i++) rows += f->use[i] ? RESIDUALS : 0;
    if (rows < f->variables.count) return DB_ERROR_INPUT;
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    options.fdtype = GSL_MULTIFIT_NLINEAR_CTRDIFF;
    options.h_df = 1e-4;
    gsl_multifit_nlinear_fdf problem = {
        .f = residuals, .n = rows, .p = f->variables.count, .params = f
    };
    gsl_vector *const x = gsl_vector_calloc(problem.p);
    gsl_multifit_nlinear_workspace *const work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &options, problem.n, problem.p);
    int info, failed = !x || !work;
    if (!failed) failed = gsl_multifit_nlinear_init(x, &problem, work) != GSL_SUCCESS;
    if (!failed) {
        gsl_multifit_nlinear_driver(STEPS, 1e-9, 1e-9, 0, NULL, NULL, &info, work);
        failed = move(f, gsl_multifit_nlinear_position(work)) != DB_OK;
    }
    for (size_t k = 0; k < f->variables.count && !failed; k++)
        f->variables.start[k] += f->unit[k] * gsl_vector_get(work->x, k);
    for (size_t c = 0; c < f->variables.columns && !failed; c++)
        f->variables.origin[c] = db_parameter_get(f->model, f->variables.parameter[c]);
    gsl_multifit_nlinear_free(work);
    gsl_vector_free(x);
    return failed ? DB_NOT_CONVERGED : DB_OK;
}

/* Does a step of a parameter move any prediction? */
static db_status moves(fit *f, db_parameter p, int *moving) {
    const double step = db_parameter_describe(p)->scale, value = db_parameter_get(f->model, p);
    const size_t count = f->spots->count * RESIDUALS;
    double *const before = malloc((count + 1) * sizeof *before);
    db_status status = before ? predict(f) : DB_ERROR_MEMORY;
    *moving = 0;
    if (status == DB_OK) {
        memcpy(before, f->residual, count * sizeof *before);
        db_parameter_set(f->model, p, value + step);
        status = predict(f);
        db_parameter_set(f->model, p, value);
    }
    for (size_t i = 0; i < count && status == DB_OK; i++)
        *moving |= fabs(before[i] - f->residual[i]) > 1e-9;
    free(before);
    return status;
}

/* Those that move spots become the parameters of the first stage. */
static db_status choose_variables(fit *f, db_fit_settings *settings) {
    const db_panel_placement nothing_moves = { .groups = &settings->panel_groups };
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        int moving;
        db_fit_parameter_set_stage(p, 0, 0);
        if (db_fit_parameter_is_tied(p) || p->group >= 0) continue;
        const db_status status = moves(f, p->parameter, &moving);
        if (status != DB_OK) return status;
        db_fit_parameter_set_stage(p, 0, moving);
    }
    db_variables_make(settings, 1, NULL, f->model, &nothing_moves, &f->variables);
    for (size_t k = 0; k < f->variables.count; k++)
        f->unit[k] =
            db_parameter_describe(settings->parameters[f->variables.index[k]].parameter)->scale;
    return DB_OK;
}

static db_status refine(fit *f, db_fit_settings *settings, const unsigned char *chosen,
                        double *room) {
    db_status status = choose_variables(f, settings);
    if (status == DB_OK) status = predict(f);
    for (int round = 0; round < ROUNDS && status == DB_OK; round++) {
        if (!weigh(f, chosen, room)) break;
        status = solve(f);
    }
    return status;
}

db_status db_centroid_fit(db_context *context, const db_fit_settings *settings,
                          const db_observed_spots *spots, const unsigned char *use,
                          db_experiment *model) {
    const size_t count = spots->count * RESIDUALS + 1;
    fit f = { .context = context, .spots = spots, .model = model };
    f.use = calloc(spots->count + 1, 1);
    f.residual = malloc(count * sizeof *f.residual);
    double *const room = malloc(count * sizeof *room);
    db_fit_settings own; /* which of its parameters move spots is said there */
    db_status status = db_fit_settings_copy(context, settings, &own);
    if (status == DB_OK)
        status = f.use && f.residual && room ? refine(&f, &own, use, room) : DB_ERROR_MEMORY;
    db_fit_settings_clear(&own);
    free(room);
    free(f.residual);
    free(f.use);
    return status;
}
