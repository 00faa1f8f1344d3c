/* Runs a stage of moments: finds spots, refines against their moments, and keeps parameters that held-out spots
 * confirm. */
#include "fit/search/moment_stage.h"

#include "base/context_internal.h"
#include "fit/search/moments.h"
#include "fit/search/refinement.h"
#include "fit/config/config_refine.h"
#include "fit/config/modes.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/fit_configurations.h>

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The start of a mode near 0, where its slope is 0, too: the direction in which the loss decreases most, at the
 * best length. */
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

/* For a small mode m the loss is m.G m/2. A row of G comes from slopes with one component slightly off 0. Sets
 * possible to 0 if the components cannot be changed. */
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

/* The best of some lengths along this direction. */
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

/* Moves each refined mode that is as small at x as db_modes_leave_zero leaves it, to where the loss decreases
 * fastest from 0. */
static db_status mode_starts(db_moments *moments, double *x) {
    for (unsigned k = 0; k < DB_SPREAD_MODES; k++) {
        const mode m = find_mode(moments->variables, k);
        if (is_small(x, &m)) DB_TRY(start_mode(moments, &m, x));
    }
    return DB_OK;
}

enum {
    MOST_SPOTS = 1000,
    PER_VARIABLE = 2 /* fewest spots of a half; each gives five or six numbers */
};

typedef struct stage_run {
    db_refinement *refinement;
    const db_fit_stage *stage;
    int number;
    db_variables variables;
    db_moments moments;
    int is_trial; /* 1: no evaluations in the history */
} stage_run;

static db_status evaluate_moments(void *user, const double *x, db_evaluation *at) {
    stage_run *const s = user;
    const db_status status =
        db_moments_evaluate(&s->moments, x, &at->loss, at->gradient, at->normal);
    at->is_of_another = s->moments.has_lost;
    return status;
}

static int record_moments(void *user, const double *x, const db_fit_history *now) {
    const stage_run *const s = user;
    db_refinement *const r = s->refinement;
    db_fit_history *const entry = s->is_trial ? NULL : db_fit_course_add(&r->course, now);
    (void)x;
    if (!entry) return 0;
    db_report_values(r->data.settings, &r->given, &s->moments.experiment, &r->placement,
                     entry->value);
    return db_fit_course_tell(&r->course, entry);
}

/* Minimizes from the start with the spots that the moments have in use. */
static db_status minimize(stage_run *s, db_stage_result *end) {
    db_refinement *const r = s->refinement;
    db_moments *const m = &s->moments;
    db_search search = { .context = r->context,
                         .problem = { evaluate_moments, record_moments, NULL, NULL, s },
                         .stage = s->stage,
                         .number = s->number,
                         .course = &r->course,
                         .degrees = (double)(m->to - m->from) };
    memset(end, 0, sizeof *end);
    memcpy(end->value, s->variables.start, s->variables.count * sizeof *end->value);
    db_moments_take_all(m);
    DB_TRY(mode_starts(m, end->value));
    DB_TRY(db_unknowns_of_variables(r->context, r->data.settings, &s->variables, &search.unknowns));
    db_status status = db_search_prepare(&search);
    if (status == DB_OK) status = db_search_run(&search, end->value, end->at_bound, end);
    db_search_clear(&search);
    return status;
}

/* Refines each half, and judges it by the other one. */
static db_status try_halves(stage_run *s, db_fit_trial *trial) {
    db_moments *const m = &s->moments;
    const db_variables *const v = &s->variables;
    double loss;
    const size_t least = PER_VARIABLE * v->count;
    db_stage_result end;
    trial->spots = m->count;
    if (m->half < least || m->count - m->half < least) return DB_OK;
    s->is_trial = 1;
    for (int half = 0; half < 2; half++) {
        m->from = half ? m->half : 0;
        m->to = half ? m->count : m->half;
        DB_TRY(db_moments_slopes(m, v->start, NULL, 0, &loss, NULL));
        trial->before += m->held_out / (double)m->count;
        DB_TRY(minimize(s, &end));
        DB_TRY(db_moments_slopes(m, end.value, NULL, 0, &loss, NULL));
        trial->after += m->held_out / (double)m->count;
    }
    m->from = 0;
    m->to = m->count;
    s->is_trial = 0;
    trial->kept = trial->after < trial->before - DB_FIT_LEAST_GAIN;
    return DB_OK;
}

/* Fraction of the detector within two standard deviations of the model's spots. If it is large, spots explain any
 * pixel, and images of them take long. */
static db_status find_covered(const stage_run *s, double *covered) {
    static const double four_pi = 4 * 3.14159265358979323846;
    const db_experiment *const model = &s->moments.experiment;
    db_predicted_spots all;
    *covered = 1; /* more spots than can be predicted */
    const db_status status = db_spots_predict(s->refinement->context, model, NULL, &all);
    if (status != DB_OK) return status == DB_ERROR_INPUT ? DB_OK : status;
    *covered = 0;
    for (size_t i = 0; i < all.count; i++) {
        const double *const c = all.spot[i].covariance;
        *covered += four_pi * sqrt(fmax(0, c[0] * c[1] - c[2] * c[2]));
    }
    *covered /= (double)db_experiment_pixels(model);
    db_predicted_spots_clear(&all);
    return DB_OK;
}

static db_status run_moments(stage_run *s, db_stage_result *end) {
    db_refinement *const r = s->refinement;
    db_fit_trial *trial = NULL;
    if (s->stage->earned) {
        trial = db_refinement_trial(r, s->number);
        if (!trial) return db_fail_memory(r->context, "the trial of a stage");
        DB_TRY(try_halves(s, trial));
        if (!trial->kept) return DB_OK;
    }
    DB_TRY(minimize(s, end));
    if (!trial || end->end == DB_STAGE_CANCELLED) return DB_OK;
    DB_TRY(find_covered(s, &trial->covered));
    trial->kept = trial->covered <= DB_FIT_MOST_COVERED && end->end != DB_STAGE_LIMIT &&
                  end->end != DB_STAGE_ROUNDOFF;
    if (!trial->kept) memset(end, 0, sizeof *end); /* as for stages that spots do not confirm */
    return DB_OK;
}

/* Leaves out spots that the lattice has not made, if they are more than a tenth: Student's distribution of six numbers with
 * four degrees of freedom bears as many, and a larger share would widen the model until it reaches them. */
static db_status leave_out_foreign(db_refinement *r, db_moments *m) {
    enum { MOST_NUMBERS = 6 };
    const size_t count = m->count, half = m->half;
    size_t foreign = 0;
    if (!r->find_foreign || count == 0) return DB_OK;
    db_observed_spots spots = { count, calloc(count, sizeof *spots.spot) };
    unsigned char *const is_foreign = calloc(count, 1);
    db_status status = db_need_memory(r->context, spots.spot && is_foreign, "the foreign spots");
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        spots.spot[i].panel = m->spot[i].panel;
        memcpy(spots.spot[i].position, m->observed[i].place, sizeof spots.spot[i].position);
    }
    if (status == DB_OK)
        status = r->find_foreign(r->context, &r->result->experiment, &r->data, &spots, is_foreign);
    for (size_t i = 0; i < count && status == DB_OK; i++) foreign += is_foreign[i];
    if (status == DB_OK && (DB_STUDENT_FREEDOM + MOST_NUMBERS) * foreign > count) {
        m->count = 0;
        for (size_t i = 0; i < count; i++) {
            if (i == half) m->half = m->count;
            if (is_foreign[i]) continue;
            m->spot[m->count] = m->spot[i];
            m->observed[m->count++] = m->observed[i];
        }
        if (half == count) m->half = m->count;
        m->to = m->count;
    }
    free(is_foreign);
    db_observed_spots_clear(&spots);
    return status;
}

db_status db_moment_stage_take(db_refinement *r, int number, const db_variables *variables,
                               db_moments *moments) {
    const db_experiment *const from = &r->result->experiment;
    const db_fit_stage *const stage = &r->data.settings->stages[number];
    db_fit_settings settings = *r->data.settings; /* borrows */
    settings.max_shoeboxes =
        settings.max_shoeboxes > MOST_SPOTS ? settings.max_shoeboxes : MOST_SPOTS;
    const db_fit_data data = { r->data.image, r->data.strong, &settings };
    db_shoeboxes boxes;
    double dmin;
    DB_TRY(db_stage_limit(r->context, from, &data, number, &dmin));
    DB_TRY(db_shoeboxes_place(r->context, from, &data, dmin, DB_SHOEBOXES_STRONG, &boxes));
    db_status status = db_moments_make(r->context, from, &boxes, variables,
                                       stage->blur * stage->blur - 1, moments);
    db_shoeboxes_clear(&boxes);
    if (status == DB_OK) {
        status = leave_out_foreign(r, moments);
        if (status != DB_OK) db_moments_clear(moments);
    }
    if (status != DB_OK || moments->count > 0 || settings.one_of_series) return status;
    db_moments_clear(moments);
    return db_refinement_fail_dark(r->context, stage);
}

static db_status run_moment_stage(db_refinement *r, int number, db_stage_result *end) {
    const db_fit_settings *const settings = r->data.settings;
    stage_run s = { .refinement = r, .stage = &settings->stages[number], .number = number };
    memset(end, 0, sizeof *end);
    DB_TRY(db_variables_make(r->context, settings, 1u << number, &r->given, &r->result->experiment,
                             &r->placement, &s.variables));
    db_status status = db_moment_stage_take(r, number, &s.variables, &s.moments);
    if (status == DB_OK) status = run_moments(&s, end);
    const int kept = !s.stage->earned || (r->result->trial_count > 0 &&
                                          r->result->trials[r->result->trial_count - 1].kept);
    if (status == DB_OK && kept)
        status = db_refinement_store(r, &s.variables, end);
    else if (status == DB_OK)
        db_refinement_drop(r, number);
    db_moments_clear(&s.moments);
    db_variables_clear(&s.variables);
    return status;
}

/* Refuses a stage; the model keeps the parameters refined so far. */
static void refuse_moments(db_refinement *r, int number, const char *why, db_stage_result *end) {
    db_fit_result *const result = r->result;
    const db_fit_settings *const settings = r->data.settings;
    for (int i = number; i < (int)settings->stage_count; i++) db_refinement_drop(r, i);
    end->end = DB_STAGE_REFUSED;
    snprintf(end->reason, sizeof end->reason, "stage %s is not begun: %.300s",
             settings->stages[number].name, why);
    result->status = DB_NOT_CONVERGED;
    snprintf(result->reason, sizeof result->reason, "stage %s is not begun: %.440s",
             settings->stages[number].name, why);
}

static db_status run_stage(db_refinement *r, int number, db_stage_result *end) {
    return r->data.settings->stages[number].kind == DB_STAGE_MOMENTS
               ? run_moment_stage(r, number, end)
               : db_refinement_run_stage(r, number, end);
}

/* Is a stage at an end that no further one follows? */
static int has_ended(const db_stage_result *end) {
    return end->end == DB_STAGE_REFUSED || end->end == DB_STAGE_DIVERGED ||
           end->end == DB_STAGE_CANCELLED;
}

/* Runs stages `first` to `last`, or to the one at whose end no further one follows. */
static db_status run_stages(db_refinement *r, int first, int last, db_stage_result *end) {
    memset(end, 0, sizeof *end);
    for (int s = first; s <= last && !has_ended(end); s++) DB_TRY(run_stage(r, s, end));
    return DB_OK;
}

/* How likely the spots are once stages `first` to `last` have refined a model beside the present one; -INFINITY: they cannot. */
static db_status try_indices(const db_refinement *r, const db_experiment *model, int first,
                             int last, double *likelihood) {
    db_fit_settings settings;
    db_fit_verdict verdict;
    db_other_indices found;
    db_stage_result end;
    *likelihood = -INFINITY;
    DB_TRY(db_fit_settings_copy(r->context, r->data.settings, &settings));
    db_refinement apart = { .context = r->context,
                            .data = { r->data.image, r->data.strong, &settings },
                            .own = &settings,
                            .find_foreign = r->find_foreign };
    db_status status = db_refinement_begin_apart(&apart, model);
    if (status == DB_OK) status = run_stages(&apart, first, last, &end);
    if (status == DB_OK && !has_ended(&end)) {
        status = r->check(r->context, &apart.result->experiment, &apart.data, &verdict, &found);
        if (status == DB_OK) *likelihood = found.own;
    }
    db_refinement_clear_apart(&apart);
    db_fit_settings_clear(&settings);
    return status == DB_ERROR_INPUT ? DB_OK : status; /* a model without spots is no rival */
}

/* The last of the stages of moments from stage `number` on, before stage `to`. */
static int last_of_moments(const db_fit_settings *settings, int number, int to) {
    while (number + 1 < to && settings->stages[number + 1].kind == DB_STAGE_MOMENTS) number++;
    return number;
}

/* Takes other indices and repeats the stages before stage `number`, if all stages of moments make them likelier than the model's
 * own. taken: 1: it did. */
static db_status take_likelier(db_refinement *r, int number, int to, const db_other_indices *other,
                               db_stage_result *end, int *taken) {
    db_experiment *const model = &r->result->experiment, with = *model; /* borrows */
    const double *const pixel = model->detector.panels[0].pixel_size;
    const int last = last_of_moments(r->data.settings, number, to);
    double own, likelihood;
    with.crystal = other->crystal;
    memcpy(with.detector.centre, other->centre, sizeof other->centre);
    DB_TRY(try_indices(r, model, number, last, &own));
    DB_TRY(try_indices(r, &with, 0, last, &likelihood));
    *taken = likelihood > own;
    if (!*taken) return DB_OK;
    db_notice(
        r->context,
        "other indices, with the beam centre at pixel %.1f, %.1f (fast, slow) in place of %.1f, "
        "%.1f, raise the log likelihood of the spots by %.3g, once the tilts of the detector are "
        "refined; so the first stages are repeated with them",
        with.detector.centre[0] / pixel[0], with.detector.centre[1] / pixel[1],
        model->detector.centre[0] / pixel[0], model->detector.centre[1] / pixel[1],
        likelihood - own);
    model->crystal = with.crystal;
    memcpy(model->detector.centre, with.detector.centre, sizeof with.detector.centre);
    return run_stages(r, 0, number - 1, end);
}

/* Does a stage refine the beam centre? It does not, if all shots share it: then no shot may have one of its own. */
static int refines_beam(const db_fit_settings *settings, int number) {
    for (int d = 0; d < 2; d++) {
        const db_fit_parameter *const beam =
            db_fit_settings_find(settings, d ? DB_BEAM_SLOW : DB_BEAM_FAST);
        if (beam && db_fit_parameter_in_stage(beam, (size_t)number)) return 1;
    }
    return 0;
}

/* Stages that data must earn begin only from a lattice that spots confirm: with a wrong lattice they widen spots
 * until these reach everything. The model so far has the given tilts of the detector, and its beam centre may have made up
 * for wrong ones: if other indices are likelier beside other tilts, they are taken, once. */
static db_status check_lattice(db_refinement *r, int number, int to, db_stage_result *end) {
    const db_fit_settings *const settings = r->data.settings;
    db_fit_verdict verdict;
    db_other_indices other = { .gain = NAN }, *const wanted =
                                                  refines_beam(settings, number) ? &other : NULL;
    int taken = 0;
    memset(end, 0, sizeof *end);
    if (!settings->stages[number].earned || r->result->trial_count || !r->check) return DB_OK;
    DB_TRY(r->check(r->context, &r->result->experiment, &r->data, &verdict, wanted));
    if (other.gain > 0) {
        DB_TRY(take_likelier(r, number, to, &other, end, &taken));
        if (has_ended(end)) return DB_OK;
        if (taken) DB_TRY(r->check(r->context, &r->result->experiment, &r->data, &verdict, wanted));
    }
    if (!verdict.usable) refuse_moments(r, number, verdict.reason, end);
    return DB_OK;
}

db_status db_stage_run(db_refinement *r, int number, int to, db_stage_result *end) {
    DB_TRY(check_lattice(r, number, to, end));
    return has_ended(end) ? DB_OK : run_stage(r, number, end);
}
