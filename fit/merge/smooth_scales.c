/* Scales of sweeps, linear between knots: Gauss-Newton steps with the intensities eliminated. */
#include "fit/merge/smooth_scales.h"

#include "base/context_internal.h"
#include "fit/linear/cholesky.h"
#include "fit/merge/scaling.h"
#include "fit/merge/scaling_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Standard deviations of a sweep's scale and B from those of the first sweep: so wide that they hold nothing. */
static const double OTHER_SWEEP[2] = { 3, 15 };
/* Steps between knots begin with these: of log k, and of B (angstrom^2). */
static const double FIRST_STEPS[2] = { 0.1, 2 };
/* Narrowest and widest steps, relative to these: nothing is measured so well, or changes so much. */
static const double NARROWEST = 1e-3, WIDEST = 30;
enum { KINDS = 2, TOUCHED = 2 * KINDS, MOST_ROUNDS = 60 };

db_status db_smooth_scales_make(db_context *context, size_t sweeps, const double *begin,
                                double apart, db_smooth_scales *s) {
    *s = (db_smooth_scales){ .sweeps = sweeps, .step_k = FIRST_STEPS[0], .step_b = FIRST_STEPS[1] };
    s->first = calloc(sweeps + 1, sizeof *s->first);
    s->begin = calloc(sweeps + 1, sizeof *s->begin);
    s->spacing = calloc(sweeps + 1, sizeof *s->spacing);
    for (size_t w = 0; w < sweeps && s->first && s->begin && s->spacing; w++) {
        const double frames = begin[w + 1] - begin[w], intervals = fmax(1, round(frames / apart));
        s->first[w + 1] = s->first[w] + (size_t)intervals + 1;
        s->begin[w] = begin[w];
        s->spacing[w] = frames / intervals;
    }
    const size_t knots = s->first ? s->first[sweeps] : 0;
    s->log_k = calloc(knots + 1, sizeof *s->log_k);
    s->b = calloc(knots + 1, sizeof *s->b);
    if (s->first && s->begin && s->spacing && s->log_k && s->b) return DB_OK;
    db_smooth_scales_clear(s);
    return db_fail_memory(context, "the scales of sweeps");
}

void db_smooth_scales_clear(db_smooth_scales *s) {
    free(s->first);
    free(s->begin);
    free(s->spacing);
    free(s->log_k);
    free(s->b);
    *s = (db_smooth_scales){ .sweeps = 0 };
}

/* The two knots beside a time: number of the first one; beyond: weight of the other one. */
static size_t knots_beside(const db_smooth_scales *s, const db_sweep_time *time, double *beyond) {
    const size_t first = s->first[time->sweep], intervals = s->first[time->sweep + 1] - first - 1;
    const double since = (double)time->at - s->begin[time->sweep],
                 place = fmin(fmax(0, since / s->spacing[time->sweep]), (double)intervals);
    const size_t knot = (size_t)fmin(floor(place), (double)intervals - 1);
    *beyond = place - (double)knot;
    return first + knot;
}

double db_smooth_scale_at(const db_smooth_scales *s, const db_sweep_time *time, double fall) {
    double beyond;
    const size_t k = knots_beside(s, time, &beyond);
    const double log_k = (1 - beyond) * s->log_k[k] + beyond * s->log_k[k + 1],
                 b = (1 - beyond) * s->b[k] + beyond * s->b[k + 1];
    return exp(log_k - b * fall);
}

/* Work of the fit. Unknowns: log k of all knots, then B of all knots. */
typedef struct smooth_work {
    const db_asu_list *list;
    const db_observations *observations;
    const db_sweep_time *time;
    db_smooth_scales *scales;
    size_t knots, unknowns;
    size_t *first,
        *order;    /* measurements by reflection: order[first[r]] to order[first[r + 1] - 1] */
    double *share; /* [measurements] robust weights */
    double *mean;  /* [reflections] */
    double *usual; /* [reflections] expected intensities, for variances: those of the last round */
    unsigned char *shell;                  /* [reflections] */
    double dark[DB_MOST_SHELLS];           /* usual noise of the background (photons^2) */
    double *measured, *normal, *factor;    /* [unknowns] squared; measured: without restraints */
    double *pull, *gradient, *step, *room; /* [unknowns]; pull: without restraints */
    double *cross;                         /* [unknowns] of a reflection */
    size_t *touched;
    unsigned char *held, *is_touched;
    db_error_model errors;
    db_deviations *deviations;
    double far;
} smooth_work;

static size_t count_of(const db_observations *o) { return o->first[o->shots]; }

static void clear_smooth(smooth_work *w) {
    free(w->first);
    free(w->order);
    free(w->share);
    free(w->shell);
    free(w->measured);
    free(w->touched);
    free(w->held);
    free(w->deviations);
}

/* Sorts measurements by reflection. */
static void sort_by_reflection(smooth_work *w) {
    const db_observations *const o = w->observations;
    const size_t n = count_of(o), reflections = w->list->count;
    for (size_t i = 0; i < n; i++)
        if (o->list[i].reflection != DB_NO_REFLECTION) w->first[o->list[i].reflection + 1]++;
    for (size_t r = 0; r < reflections; r++) w->first[r + 1] += w->first[r];
    for (size_t i = n;
         i-- > 0;) { /* backwards: places are those after the end, until they are filled */
        const uint32_t r = o->list[i].reflection;
        if (r != DB_NO_REFLECTION) w->order[--w->first[r + 1]] = i;
    }
    /* now first[r + 1] is where r begins */
    for (size_t r = 0; r < reflections; r++) w->first[r] = w->first[r + 1];
    w->first[reflections] = 0;
    for (size_t i = 0; i < n; i++)
        w->first[reflections] += o->list[i].reflection != DB_NO_REFLECTION;
}

/* Intensity for variances: with a photon more than all measurements counted, or none at all would be known without an error.
 * light: photons for an intensity of 1; 0: unknown. */
static double usual_of(double intensity, double light) {
    return fmax(0, intensity) + (light > 0 ? 1 / light : 0);
}

/* Usual intensities and backgrounds before scales are known. */
static void find_usual(smooth_work *w) {
    const db_shells shells = db_scaling_shells(w->list);
    for (size_t r = 0; r < w->list->count; r++) {
        double light = 0, photons = 0;
        for (size_t p = w->first[r]; p < w->first[r + 1]; p++) {
            const db_observation *const o = &w->observations->list[w->order[p]];
            light += (double)o->light;
            photons += (double)o->light * (double)o->intensity;
        }
        w->usual[r] = light > 0 ? usual_of(photons / light, light) : 0;
        w->shell[r] = (unsigned char)db_shell_of(&shells, (double)w->list->d[r]);
    }
    db_scaling_find_dark(w->observations, w->shell, w->dark);
}

static db_status make_smooth(db_context *context, smooth_work *w) {
    const size_t n = count_of(w->observations), m = w->unknowns, r = w->list->count;
    w->first = calloc(r + 2, sizeof *w->first);
    w->order = calloc(n + 1, sizeof *w->order);
    w->share = calloc(n + 2 * r + 1, sizeof *w->share);
    w->shell = calloc(r + 1, 1);
    w->measured = calloc(3 * m * m + 5 * m + 1, sizeof *w->measured);
    w->touched = calloc(m + 1, sizeof *w->touched);
    w->held = calloc(2 * m + 1, 1);
    w->deviations = calloc(1, sizeof *w->deviations);
    if (!w->first || !w->order || !w->share || !w->shell || !w->measured || !w->touched ||
        !w->held || !w->deviations)
        return db_fail_memory(context, "the scales of sweeps");
    w->mean = w->share + n;
    w->usual = w->mean + r;
    w->normal = w->measured + m * m;
    w->factor = w->normal + m * m;
    w->pull = w->factor + m * m;
    w->gradient = w->pull + m;
    w->step = w->gradient + m;
    w->room = w->step + m;
    w->cross = w->room + m;
    w->is_touched = w->held + m;
    for (size_t i = 0; i < n; i++) w->share[i] = 1;
    for (int k = 0; k < DB_PARTIALITY_RANGES; k++) {
        w->errors.noise[k] = 1;
        w->errors.relative[k] = 0.04;
    }
    sort_by_reflection(w);
    find_usual(w);
    return DB_OK;
}

static double fall_of(const smooth_work *w, uint32_t r) {
    const double d = (double)w->list->d[r];
    return 1 / (2 * d * d);
}

/* A measurement beside the model. */
typedef struct smooth_measurement {
    double g, intensity, variance, noise;
} smooth_measurement;

static smooth_measurement measurement_of(const smooth_work *w, size_t i, uint32_t r, double fall) {
    const db_observation *const o = &w->observations->list[i];
    smooth_measurement m = { .g = db_smooth_scale_at(w->scales, &w->time[i], fall),
                             .intensity = (double)o->intensity };
    const double J = m.g * w->usual[r];
    m.noise = db_scaling_noise(o, w->dark[w->shell[r]], J);
    m.variance =
        db_error_variance(&w->errors, db_partiality_range((double)o->partiality), m.noise, J);
    return m;
}

/* Precision of the mean of a reflection: with robust weights, and without. */
typedef struct mean_precision {
    double robust, full;
    double light; /* photons for an intensity of 1 */
} mean_precision;

static mean_precision find_mean(smooth_work *w, uint32_t r, double fall) {
    mean_precision precision = { 0, 0, 0 };
    double sum = 0;
    for (size_t p = w->first[r]; p < w->first[r + 1]; p++) {
        const smooth_measurement m = measurement_of(w, w->order[p], r, fall);
        precision.light +=
            w->share[w->order[p]] * m.g * (double)w->observations->list[w->order[p]].light;
        const double share = w->share[w->order[p]] / m.variance;
        sum += share * m.g * m.intensity;
        precision.robust += share * m.g * m.g;
        precision.full += m.g * m.g / m.variance;
    }
    w->mean[r] = precision.robust > 0 ? sum / precision.robust : 0;
    return precision;
}

static void touch_unknown(smooth_work *w, size_t unknown, size_t *count) {
    if (w->is_touched[unknown]) return;
    w->is_touched[unknown] = 1;
    w->cross[unknown] = 0;
    w->touched[(*count)++] = unknown;
}

/* Adds a measurement, whose deviation from the others gives its robust weight. */
static void add_measurement(smooth_work *w, size_t i, uint32_t r, double fall,
                            mean_precision precision, size_t *count) {
    const smooth_measurement m = measurement_of(w, i, r, fall);
    const double whole = m.g * m.g / m.variance, own = w->share[i] * whole,
                 others = precision.robust - own, off = m.intensity - m.g * w->mean[r];
    double beyond, slope[TOUCHED];
    size_t unknown[TOUCHED];
    if (others > 1e-12 * precision.robust) {
        /* from the mean of the others, whose weights decide nothing here: else two that disagree would have full
         * weights and none in turns */
        const double away = off * precision.robust / others,
                     of_mean = 1 + whole / fmax(others, precision.full - whole);
        const db_observation *const o = &w->observations->list[i];
        w->share[i] =
            db_scaling_robust_share(db_scaling_square(o, away, m.variance * of_mean), w->far);
        if (db_scaling_photons(o, m.noise) >= DB_SCALING_FEWEST_PHOTONS)
            db_deviations_add(w->deviations, db_partiality_range((double)o->partiality),
                              fmax(0, w->mean[r]) * fmax(0, w->mean[r]) * m.g * m.g / m.noise,
                              away * away / (m.noise * of_mean));
    }
    const double weight = own / (m.g * m.g), J = m.g * w->mean[r];
    const size_t knot = knots_beside(w->scales, &w->time[i], &beyond);
    for (size_t k = 0; k < TOUCHED; k++) {
        const double part = k % 2 ? beyond : 1 - beyond;
        unknown[k] = knot + k % 2 + (k < 2 ? 0 : w->knots);
        slope[k] = J * part * (k < 2 ? 1 : -fall);
        touch_unknown(w, unknown[k], count);
        w->pull[unknown[k]] += weight * slope[k] * off;
        w->cross[unknown[k]] += weight * slope[k] * m.g;
    }
    for (size_t k = 0; k < TOUCHED; k++)
        for (size_t l = 0; l < TOUCHED; l++)
            w->measured[unknown[k] * w->unknowns + unknown[l]] += weight * slope[k] * slope[l];
}

/* Adds a reflection with its intensity eliminated. One that was measured once says nothing. */
static void add_smooth_reflection(smooth_work *w, uint32_t r) {
    const double fall = fall_of(w, r);
    size_t count = 0;
    if (w->first[r + 1] - w->first[r] < 2) return;
    const mean_precision precision = find_mean(w, r, fall);
    if (!(precision.robust > 0)) return;
    for (size_t p = w->first[r]; p < w->first[r + 1]; p++)
        add_measurement(w, w->order[p], r, fall, precision, &count);
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++)
            w->measured[w->touched[a] * w->unknowns + w->touched[b]] -=
                w->cross[w->touched[a]] * w->cross[w->touched[b]] / precision.robust;
    for (size_t a = 0; a < count; a++) w->is_touched[w->touched[a]] = 0;
    /* for the next round: in this one it would change the weights of the sums, whose curvatures might be negative */
    w->usual[r] = usual_of(w->mean[r], precision.light);
}

static double *values_of(const db_smooth_scales *s, int kind) { return kind ? s->b : s->log_k; }
static double *step_of(db_smooth_scales *s, int kind) { return kind ? &s->step_b : &s->step_k; }

/* Adds a restraint on the difference of an unknown and the one before it; first: on the unknown alone. */
static void restrain_step(smooth_work *w, int kind, size_t knot, int first, double sigma) {
    const double *const value = values_of(w->scales, kind);
    const size_t n = w->unknowns, u = knot + (kind ? w->knots : 0), v = u - 1;
    const double weight = 1 / (sigma * sigma),
                 off = first ? value[knot] : value[knot] - value[knot - 1];
    w->gradient[u] -= weight * off;
    w->normal[u * n + u] += weight;
    if (first) return;
    w->gradient[v] += weight * off;
    w->normal[v * n + v] += weight;
    w->normal[u * n + v] -= weight;
    w->normal[v * n + u] -= weight;
}

static void add_restraints(smooth_work *w) {
    db_smooth_scales *const s = w->scales;
    for (int kind = 0; kind < KINDS; kind++) {
        w->held[kind ? w->knots : 0] = 1;
        for (size_t sweep = 0; sweep < s->sweeps; sweep++)
            for (size_t k = s->first[sweep]; k < s->first[sweep + 1]; k++)
                if (k > s->first[sweep])
                    restrain_step(w, kind, k, 0, *step_of(s, kind));
                else if (sweep > 0)
                    restrain_step(w, kind, k, 1, OTHER_SWEEP[kind]);
    }
}

/* Variance of the difference of an unknown from the one before it. */
static double variance_of_step(smooth_work *w, size_t unknown) {
    double sum = 0;
    memset(w->room, 0, w->unknowns * sizeof *w->room);
    w->room[unknown] = 1;
    w->room[unknown - 1] = w->held[unknown - 1] ? 0 : -1;
    db_cholesky_forward(w->unknowns, w->factor, w->room);
    for (size_t i = 0; i < w->unknowns; i++) sum += w->room[i] * w->room[i];
    return sum;
}

/* Finds the step of all scales with the present widths. */
static void solve_step(smooth_work *w) {
    const size_t n = w->unknowns;
    memcpy(w->normal, w->measured, n * n * sizeof *w->normal);
    memcpy(w->gradient, w->pull, n * sizeof *w->gradient);
    add_restraints(w);
    db_cholesky_factor(n, w->normal, n, 0, w->held, DB_LEAST_FOR_STEP, w->factor);
    memcpy(w->step, w->gradient, n * sizeof *w->step);
    db_cholesky_solve(n, w->factor, w->step);
}

/* How much too narrow is the width of steps? Its likeliest square is the sum of step^2 over the number of steps that the
 * data determine (D. J. C. MacKay, Neural Comput. 4 (1992) 415). Returns the logarithm of this over its square; 0 if nothing
 * determines steps. */
static double narrowness(smooth_work *w, int kind) {
    const double none = 1e-9, least = 1e-9; /* of the steps; of the quotient */
    db_smooth_scales *const s = w->scales;
    const double *const value = values_of(s, kind), *const step = w->step + (kind ? w->knots : 0);
    const double square = *step_of(s, kind) * *step_of(s, kind);
    double sum = 0, determined = 0, count = 0;
    solve_step(w);
    for (size_t sweep = 0; sweep < s->sweeps; sweep++)
        for (size_t k = s->first[sweep] + 1; k < s->first[sweep + 1]; k++, count++) {
            const double change = value[k] + step[k] - value[k - 1] - step[k - 1];
            sum += change * change;
            determined += 1 - variance_of_step(w, k + (kind ? w->knots : 0)) / square;
        }
    return determined > none * count ? log(fmax(least, sum / (determined * square))) : 0;
}

/* Moves the logarithm of the width of steps to its likeliest value: beyond it, then by false position. It ends at the
 * narrowest width if this is still too wide: steps are 0. Returns the movement. */
static double choose_width(smooth_work *w, int kind) {
    enum { MOST_TRIALS = 20 };
    const double enough = 0.002, first = log(*step_of(w->scales, kind)),
                 narrowest = log(NARROWEST * FIRST_STEPS[kind]),
                 widest = log(WIDEST * FIRST_STEPS[kind]);
    double at = first, narrow = narrowness(w, kind), other = at, other_narrow = 0,
           move = 0.5 * narrow;
    for (int trial = 0; trial < MOST_TRIALS && narrow != 0 && fabs(move) > enough; trial++) {
        const double next = fmax(narrowest, fmin(widest, at + move));
        if (next == at) break;
        *step_of(w->scales, kind) = exp(next);
        const double now = narrowness(w, kind);
        if (now * narrow < 0) {
            other = at;
            other_narrow = narrow;
        } else
            other_narrow *=
                0.5; /* 0 before both sides are known; else the far end gives way (Illinois) */
        at = next;
        narrow = now;
        move = other_narrow != 0 ? narrow * (other - at) / (narrow - other_narrow) : 2 * move;
    }
    return fabs(at - first);
}

/* Takes the step of all scales; returns the longest, of log k and of B over 2 d^2 at the finest resolution. */
static double take_smooth_step(smooth_work *w) {
    const double finest = 1 / (2 * w->list->d_min * w->list->d_min), most = 1;
    double longest = 0;
    solve_step(w);
    for (size_t u = 0; u < w->unknowns; u++)
        longest = fmax(longest, fabs(w->step[u]) * (u < w->knots ? 1 : finest));
    const double part = longest > most ? most / longest : 1;
    for (size_t u = 0; u < w->unknowns; u++)
        values_of(w->scales, u >= w->knots)[u < w->knots ? u : u - w->knots] += part * w->step[u];
    return longest;
}

static void iterate_smooth(smooth_work *w) {
    const double settled = 1e-4, settled_width = 0.01, usual = DB_SCALING_FAR;
    double longest = INFINITY, widened = INFINITY;
    w->far = DB_SCALING_FARTHEST;
    for (int round = 0;
         round < MOST_ROUNDS && (longest > settled || widened > settled_width || w->far > usual);
         round++) {
        memset(w->measured, 0, w->unknowns * w->unknowns * sizeof *w->measured);
        memset(w->pull, 0, w->unknowns * sizeof *w->pull);
        memset(w->deviations, 0, sizeof *w->deviations);
        for (uint32_t r = 0; r < w->list->count; r++) add_smooth_reflection(w, r);
        /* not before wrong measurements are rejected: they would widen the steps, and scales that follow them would make
         * them seem right */
        if (w->far <= usual) widened = choose_width(w, 0) + choose_width(w, 1);
        longest = take_smooth_step(w);
        if (!db_error_model_fit(w->deviations, &w->errors))
            db_error_model_of_few(w->deviations, &w->errors);
        w->far = fmax(usual, w->far / 1.5);
    }
}

db_status db_smooth_scales_fit(db_context *context, const db_asu_list *list,
                               const db_observations *observations, const db_sweep_time *time,
                               db_smooth_scales *scales) {
    smooth_work w = { .list = list,
                      .observations = observations,
                      .time = time,
                      .scales = scales,
                      .knots = scales->first[scales->sweeps] };
    w.unknowns = KINDS * w.knots;
    const db_status status = make_smooth(context, &w);
    if (status == DB_OK) {
        for (uint32_t r = 0; r < list->count; r++)
            if (w.first[r + 1] > w.first[r] + 1) scales->shared += w.first[r + 1] - w.first[r];
        iterate_smooth(&w);
    }
    clear_smooth(&w);
    return status;
}
