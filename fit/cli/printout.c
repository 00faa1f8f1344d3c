/* Printed text of dualbragg fit: the log, tables of one image and of many shots. */
#include "fit/cli/printout.h"

#include "base/quantile.h"
#include "base/shown_text.h"
#include "fit/config/certain.h"
#include "fit/intensities/outputs.h"

#include "fit/report/value_with_error.h"
#include "fit/result/curves_found.h"
#include "fit/verdict/verdict_tests.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

db_status db_fit_log_open(db_context *context, db_fit_log *log, int quiet) {
    log->quiet = quiet;
    return db_text_stream_open(context, &log->text);
}

static void say(db_fit_log *log, int print, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    db_shown_vprint(log->text.stream, format, arguments);
    if (print) {
        db_shown_vprint(stdout, format, again);
        fflush(stdout);
    }
    va_end(again);
}

void db_fit_say(db_fit_log *log, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(log, !log->quiet, format, arguments);
    va_end(arguments);
}

void db_fit_detail(db_fit_log *log, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(log, log->verbose && !log->quiet, format, arguments);
    va_end(arguments);
}

db_status db_fit_log_close(db_context *context, db_fit_log *log, const char *path) {
    if (path) return db_text_stream_write(context, &log->text, DB_OK, path);
    const db_status status = db_text_stream_finish(context, &log->text);
    if (status == DB_OK) db_text_stream_free(&log->text);
    return status;
}

static void say_bound(db_fit_log *log, double bound) {
    if (isfinite(bound))
        db_fit_detail(log, "  %12.7g", bound);
    else
        db_fit_detail(log, "  %12s", "-");
}

static void say_mosaic(db_fit_log *log, const db_experiment *start) {
    const db_crystal *const crystal = &start->crystal;
    const double *const abc = crystal->mosaic_abc;
    const int count = crystal->mosaic_domains;
    if (start->spread.spots == DB_SPOTS_CLOSED) {
        db_fit_say(log, "spots in closed form\n");
        return;
    }
    db_fit_say(log, "%d mosaic domain%s of ", count, count == 1 ? "" : "s");
    if (crystal->mosaic_anisotropic)
        db_fit_say(log, "%g, %g, %g deg about a*, c x a*, c\n", abc[0], abc[1], abc[2]);
    else
        db_fit_say(log, "%g deg\n", crystal->mosaic_spread);
}

void db_fit_say_start(db_fit_log *log, const db_fit_config *config, const db_measured_image *image,
                      const db_experiment *start) {
    const db_fit_settings *const settings = &config->settings;
    const db_fit_panel_groups *const groups = &settings->panel_groups;
    char name[DB_FIT_NAME_SIZE];
    const db_detector *const detector = &start->detector;
    const double *const cell = start->crystal.cell;
    db_fit_say(log, "\nImage: %s, %s, %d x %d pixels, %zu of them not trusted\n",
               config->image_file, image->format, image->fast_pixels, image->slow_pixels,
               image->masked);
    db_fit_say(log,
               "Geometry (%s): wavelength %.6g A, distance %.6g mm, pixels of %.6g mm, beam at "
               "pixel %.2f %.2f\n",
               config->header_geometry ? "header, where not given" : "given",
               start->beam.wavelength, detector->distance, detector->panels[0].pixel_size[0],
               detector->centre[0] / detector->panels[0].pixel_size[0],
               detector->centre[1] / detector->panels[0].pixel_size[1]);
    db_fit_say(log, "Cell: %.4f %.4f %.4f A  %.3f %.3f %.3f deg; %g x %g x %g cells, ", cell[0],
               cell[1], cell[2], cell[3], cell[4], cell[5], start->crystal.Ncells[0],
               start->crystal.Ncells[1], start->crystal.Ncells[2]);
    say_mosaic(log, start);
    if (settings->intensity == DB_FIT_KNOWN)
        db_fit_say(log, "Intensities: known, %s\n", config->hkl_file);
    else
        db_fit_say(log, "Intensities: %s\n",
                   settings->joint.wanted ? "joint, one for each reflection of all shots"
                                          : "free, each spot has its own");
    size_t refined = 0;
    for (size_t i = 0; i < settings->parameter_count; i++)
        refined += !db_fit_parameter_is_tied(&settings->parameters[i]);
    db_fit_say(log, "Refines %zu parameters in %zu stages\n", refined, settings->stage_count);
    db_fit_detail(log, "\n  %-16s  %12s  %12s  %12s\n", "to refine", "start", "min", "max");
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        const db_parameter_info *const info = db_parameter_describe(p->parameter);
        db_fit_detail(log, "  %-16s  %12.7g",
                      db_fit_quantity_name(groups, db_fit_quantity_of(p), name),
                      p->group < 0 ? db_parameter_get(start, p->parameter) : 0);
        if (db_fit_parameter_is_tied(p)) {
            db_fit_detail(log, "  follows %s\n", db_fit_quantity_name(groups, p->follows, name));
            continue;
        }
        say_bound(log, p->lower);
        say_bound(log, p->upper);
        db_fit_detail(log, "  %s\n", strcmp(info->unit, "1") == 0 ? "" : info->unit);
    }
}

static void say_statistics(db_fit_log *log, const db_fit_statistics *b,
                           const db_fit_statistics *a) {
    db_fit_say(log, "\nOn %zu pixels in %zu shoeboxes%17s  %12s\n", a->pixels, a->shoeboxes,
               "start", "refined");
    db_fit_say(log, "  %-38s  %12.4f  %12.4f\n", "chi2 per degree of freedom", b->chi2_reduced,
               a->chi2_reduced);
    db_fit_say(log, "  %-38s  %12.3f  %12.3f\n", "rms residual (counts)", b->rms_residual,
               a->rms_residual);
    db_fit_say(log, "  %-38s  %12.1f  %12.1f\n", "strong pixels explained (percent)",
               100 * b->strong_explained, 100 * a->strong_explained);
    db_fit_say(log, "  %-38s  %12.4f  %12.4f\n", "correlation of model with measured",
               b->correlation, a->correlation);
    db_fit_say(log, "  %-38s  %12.3f  %12.3f\n", "spot positions, rms error (pixels)",
               b->centroid_rms, a->centroid_rms);
}

/* Is a parameter still 0, because no stage has moved it? */
static int stays_at_zero(const db_fit_estimate *e) {
    return !(fabs(e->start) > 0) && !(fabs(e->value) > 0) && !isfinite(e->error);
}

static void say_parameter(db_fit_log *log, const db_fit_config *config, const db_fit_estimate *e,
                          db_fit_quantity follows, int width) {
    void (*const tell)(db_fit_log *, const char *, ...) =
        stays_at_zero(e) ? db_fit_detail : db_fit_say;
    char refined[DB_VALUE_TEXT_SIZE], name[DB_FIT_NAME_SIZE];
    tell(log, "  %-*s  %12.7g  %-18s  %-5s", width, e->name, e->start,
         db_value_with_error(refined, e->value, e->error), e->unit);
    if (follows.number >= 0)
        tell(log, "  follows %s",
             db_fit_quantity_name(&config->settings.panel_groups, follows, name));
    if (e->at_bound) tell(log, "  at its %s bound", e->at_bound < 0 ? "lower" : "upper");
    tell(log, "\n");
}

/* Prints parameters with one value, in a table whose first column has this title. */
static void say_parameters(db_fit_log *log, const db_fit_config *config,
                           const db_fit_estimates *found, const char *title, int width) {
    size_t unmoved = 0, count = 0;
    for (size_t i = 0; i < found->count; i++) {
        if (!found->list[i].shared || (unsigned)found->list[i].parameter >= DB_PARAMETER_COUNT)
            continue; /* curves have a table of their own */
        if (!count++)
            db_fit_say(log, "\n  %-*s  %12s  %-18s  %s\n", width, title, "start", "refined",
                       "unit");
        say_parameter(log, config, &found->list[i], config->settings.parameters[i].follows, width);
        unmoved += (size_t)stays_at_zero(&found->list[i]);
    }
    if (unmoved)
        db_fit_say(log, "  %zu parameter%s stages were left out (--verbose, log)\n", unmoved,
                   unmoved == 1 ? " is 0: its" : "s are 0: their");
}

/* Prints how much larger errors are than noise alone makes them. */
static void say_errors(db_fit_log *log, const db_fit_estimates *found) {
    double most = 0;
    for (size_t i = 0; i < found->count; i++) {
        const db_fit_estimate *const e = &found->list[i];
        if (isfinite(e->error) && e->error_unscaled > 0)
            most = fmax(most, e->error / e->error_unscaled);
    }
    if (most > 1.5)
        db_fit_say(
            log, "  Errors include misfit: they are up to %.1f times the errors by noise alone.\n",
            most);
    if (found->shared_misfit > 1)
        db_fit_say(log,
                   "  Misfit scatters between regions of the detector %.1f times as much as "
                   "expected from their shoeboxes.\n",
                   found->shared_misfit);
}

static void say_warnings(db_fit_log *log, size_t count,
                         char (*const warning)[DB_FIT_WARNING_SIZE]) {
    if (count) db_fit_say(log, "\n");
    for (size_t i = 0; i < count; i++) db_fit_say(log, "  Warning: %s\n", warning[i]);
}

/* Prints starts that went through all stages, and the given one. */
static void say_starts(db_fit_log *log, const db_fit_config *config, const db_fit_result *r) {
    const db_fit_starts *const starts = &config->settings.starts;
    if (r->start_count < 2) return;
    db_fit_say(log,
               "\n%zu starts within %g degree (seed %d), and how much of the strong pixels they "
               "explain\n  %5s %7s  %26s  %11s  %10s\n",
               r->start_count, starts->turn, starts->seed, "rank", "number",
               "turned about x, y, z (deg)", "first stage", "all stages");
    for (size_t i = 0; i < r->start_count; i++) {
        const db_fit_start *const s = &r->starts[i];
        const int ran = isfinite(s->refined_explained);
        if (!ran && s->number != 0) continue;
        db_fit_say(log, "  %5zu %7d  %8.3f %8.3f %8.3f  %9.1f %%", i + 1, s->number, s->turn[0],
                   s->turn[1], s->turn[2], 100 * s->explained);
        if (ran) db_fit_say(log, "  %8.1f %%", 100 * s->refined_explained);
        db_fit_say(log, "%s%s\n", s->number == 0 ? "  the given one" : "",
                   s->chosen ? "  chosen" : "");
    }
}

/* Prints stages with a condition. */
static void say_trials(db_fit_log *log, const db_fit_config *config, const db_fit_result *r) {
    if (r->trial_count) db_fit_say(log, "\n");
    for (size_t i = 0; i < r->trial_count; i++) {
        const db_fit_trial *const t = &r->trials[i];
        const char *const name = config->settings.stages[t->stage].name;
        if (t->misfit > 0) {
            if (t->kept) continue;
            if (fabs(t->before) > 0)
                db_fit_say(
                    log,
                    "Stage %s is left out: spots found without a model contradict what pixels "
                    "ask for (log likelihood %.1f -> %.1f, expected a decrease of at most "
                    "%g)\n",
                    name, -t->before, -t->after, DB_CERTAIN);
            else
                db_fit_say(log,
                           "Stage %s is left out: at its start the misfit exceeds the noise (chi2 "
                           "per degree of freedom %.2f, expected at most %g)\n",
                           name, t->misfit, config->settings.stages[t->stage].most_misfit);
            continue;
        }
        if (!t->kept && t->covered > 0 && t->covered <= DB_FIT_MOST_COVERED) {
            db_fit_say(log, "Stage %s is left out: it has not converged\n", name);
            continue;
        }
        if (!t->kept && t->covered > 0) {
            db_fit_say(log, "Stage %s is left out: its spots would cover %.0f %% of the detector\n",
                       name, 100 * t->covered);
            continue;
        }
        if (!(fabs(t->before) > 0) && !(fabs(t->after) > 0)) {
            db_fit_say(log,
                       "Stage %s is left out: %zu spots are too few to hold half of them out\n",
                       name, t->spots);
            continue;
        }
        if (t->kept)
            db_fit_say(
                log, "Stage %s is kept: held-out spots are described better (loss %.3f -> %.3f)\n",
                name, t->before, t->after);
        else
            db_fit_say(log,
                       "Stage %s is left out: the loss of held-out spots would have to fall by "
                       "more than %g (%.3f -> %.3f)\n",
                       name, DB_FIT_LEAST_GAIN, t->before, t->after);
    }
}

static void say_shoeboxes(db_fit_log *log, const db_fit_config *config,
                          const db_fit_result *result) {
    const int width = 2 * result->shoebox_half_width + 1;
    db_fit_say(log, "Shoeboxes of %d x %d pixels (half width %d%s)\n", width, width,
               result->shoebox_half_width,
               config->settings.shoebox_half_width ? "" : ", chosen by the spacing of reflections");
}

static void say_light_part(db_fit_log *log, double part) {
    if (isnan(part)) return;
    db_fit_say(log, "  %-58s  %9.3g  at least 0.667 for intensities\n",
               "fraction of spots with the right brightness (factor 1.5)", part);
}

/* Why an error of partialities is 0. */
static const char *no_error(const db_fit_mates *m) {
    if (isnan(m->gain)) return "are too few to show one";
    return m->gain > 0.5 * log((double)m->pairs)
               ? "differ as other reflections do: the symmetry or the model is wrong"
               : "show none";
}

/* What errors of intensities include. */
static void say_mates(db_fit_log *log, const db_fit_mates *m) {
    if (m->error > 0)
        db_fit_say(
            log,
            "\nPartialities: %zu pairs of symmetry mates show an error of %.2g sqrt(1 + ln^2 "
            "partiality), which sigma(F^2) includes; strong pairs scatter by %.2g sigma, by "
            "noise alone %.2g\n",
            m->pairs, m->error, m->scatter, m->noise_scatter);
    else
        db_fit_say(log,
                   "\nPartialities: sigma(F^2) includes no error of theirs: %zu pairs of symmetry "
                   "mates %s\n",
                   m->pairs, no_error(m));
}

/* May the result be used? */
static void say_verdict(db_fit_log *log, const db_fit_verdict *v) {
    db_fit_say(log, "\nJudged by %zu spots found without a model, %zu of them at reflections%s\n",
               v->spots, v->at, v->usable ? "" : "; NOT TO BE USED, a test failed");
    const char *before = "  margins over rivals (log likelihood): ";
    for (int k = 0; k < DB_FIT_RIVALS; k++) {
        if (isnan(v->test[k].found)) continue;
        db_fit_say(log, "%s%s %.0f", before, db_fit_test_name((db_fit_test_kind)k),
                   v->test[k].found);
        before = ", ";
    }
    db_fit_say(log, "\n");
    for (int k = 0; k < DB_FIT_TESTS; k++) {
        const db_fit_test *const t = &v->test[k];
        if (isnan(t->found)) continue;
        void (*const tell)(db_fit_log *, const char *, ...) =
            t->passed ? db_fit_detail : db_fit_say;
        tell(log, "  %-58s  %9.3g", db_fit_test_meaning((db_fit_test_kind)k), t->found);
        const int has_least = t->least != 0 && isfinite(t->least);
        if (has_least) tell(log, "  at least %g", t->least);
        if (isfinite(t->most)) tell(log, "%s at most %g", has_least ? "," : " ", t->most);
        tell(log, "%s\n", t->passed ? "" : "  FAILED");
    }
    say_light_part(log, v->light_part);
}

static void say_image(db_fit_log *log, const db_fit_config *config, const db_fit_result *result) {
    char use[DB_USE_SIZE];
    db_fit_say(log, "\nAfter %d evaluations, %.2f s: %s%s\n", result->evaluations, result->seconds,
               db_verdict_heading(result->status, result->verdict.usable), result->reason);
    db_verdict_sentence(result, use);
    db_fit_say(log, "%s\n", use);
    say_starts(log, config, result);
    say_trials(log, config, result);
    say_shoeboxes(log, config, result);
    say_statistics(log, &result->before, &result->after);
    say_parameters(log, config, &result->estimates, "parameter", 16);
    say_errors(log, &result->estimates);
    say_verdict(log, &result->verdict);
    if (result->reflections) say_mates(log, &result->mates);
    say_warnings(log, result->warning_count, result->warnings);
}

/* Standard error of a parameter: its own, or the error of the one it follows, which has the same value;
 * NAN if fixed. */
static double error_of(const db_fit_result *r, const db_fit_config *config,
                       db_parameter parameter) {
    for (size_t i = 0; i < r->estimates.count; i++)
        if (config->settings.parameters[i].group < 0 &&
            config->settings.parameters[i].parameter == parameter) {
            const db_fit_parameter *const p = &config->settings.parameters[i];
            const db_parameter leader =
                db_fit_parameter_is_tied(p) ? db_quantity_parameter(p->follows) : parameter;
            return leader != parameter ? error_of(r, config, leader) : r->estimates.list[i].error;
        }
    return NAN;
}

void db_fit_say_cell(db_fit_log *log, const db_fit_config *config, const db_fit_result *result) {
    static const db_parameter constants[6] = { DB_CELL_A,     DB_CELL_B,    DB_CELL_C,
                                               DB_CELL_ALPHA, DB_CELL_BETA, DB_CELL_GAMMA };
    db_fit_say(log, "\nRefined cell:");
    for (int i = 0; i < 6; i++) {
        const double value = result->experiment.crystal.cell[i],
                     error = error_of(result, config, constants[i]);
        char text[DB_VALUE_TEXT_SIZE];
        if (error > 0)
            db_fit_say(log, " %s", db_value_with_error(text, value, error));
        else
            db_fit_say(log, " %.*f", i < 3 ? 4 : 3, value);
    }
    if (!isnan(result->distance_step))
        db_fit_say(log, " (distance held at %.6g mm)", result->experiment.detector.distance);
    db_fit_say(log, "\n");
}

/* Distribution of a parameter's values, or of its errors, over the shots in use that have it. */
typedef struct spread {
    double low, median, high; /* low, high: deciles */
} spread;

static double quantile(const double *sorted, size_t count, double part) {
    const double place = part * (double)(count - 1);
    const size_t below = (size_t)place, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

/* 0: no shot has a value, or there is no memory. */
static int spread_of(const db_fit_shots_result *r, size_t parameter, int errors, spread *found) {
    double *const values = malloc((r->shot_count + 1) * sizeof *values);
    size_t count = 0;
    for (size_t s = 0; s < r->shot_count && values; s++) {
        /* in another process */
        if (!r->shot[s].used || parameter >= r->shot[s].estimates.count) continue;
        const db_fit_estimate *const e = &r->shot[s].estimates.list[parameter];
        const double value = errors ? e->error : e->value;
        if (isfinite(value)) values[count++] = value;
    }
    if (count > 0) {
        db_sort_numbers(values, count);
        *found = (spread){ quantile(values, count, 0.1), quantile(values, count, 0.5),
                           quantile(values, count, 0.9) };
    }
    free(values);
    return count > 0;
}

/* Prints a table of what each crystal of a series has; width: of the first column. */
static void say_crystals(db_fit_log *log, const db_fit_config *config, const db_fit_shots_result *r,
                         int width) {
    size_t said = 0;
    for (size_t s = 0; s < r->shot_count; s++) {
        const db_fit_result *const shot = &r->shot[s];
        char title[40];
        size_t count = 0;
        if (!shot->used || shot->crystal <= said || !shot->estimates.count) continue;
        said = shot->crystal;
        snprintf(title, sizeof title, "crystal %zu", said);
        for (size_t i = 0; i < shot->estimates.count; i++) {
            if (!shot->estimates.list[i].by_crystal) continue;
            if (!count++)
                db_fit_say(log, "\n  %-*s  %12s  %-18s  %s\n", width, title, "start", "refined",
                           "unit");
            say_parameter(log, config, &shot->estimates.list[i],
                          config->settings.parameters[i].follows, width);
        }
    }
}

/* The shot in use before another one; NULL: none. */
static const db_fit_result *used_before(const db_fit_shots_result *r, size_t shot) {
    while (shot-- > 0)
        if (r->shot[shot].used && r->shot[shot].estimates.count) return &r->shot[shot];
    return NULL;
}

/* Prints what frames of a series have that were taken with one setting, where it changes. */
static void say_settings(db_fit_log *log, const db_fit_config *config, const db_fit_shots_result *r,
                         int width) {
    for (size_t s = 0; s < r->shot_count; s++) {
        const db_fit_result *const shot = &r->shot[s], *const before = used_before(r, s);
        size_t count = 0;
        for (size_t i = 0; i < shot->estimates.count && shot->used; i++) {
            const db_fit_estimate *const e = &shot->estimates.list[i];
            if (!e->by_setting || (before && before->estimates.list[i].value == e->value)) continue;
            if (!count++) {
                db_fit_say(log, "\n  from %s on", shot->name);
                if (shot->crystal) db_fit_say(log, ", crystal %zu", shot->crystal);
                db_fit_say(log, "\n  %-*s  %12s  %-18s  %s\n", width, "each setting's own", "start",
                           "refined", "unit");
            }
            say_parameter(log, config, e, config->settings.parameters[i].follows, width);
        }
    }
}

static void say_local(db_fit_log *log, const db_fit_shots_result *r) {
    size_t count = 0;
    for (size_t i = 0; i < r->estimates.count; i++) {
        spread values, errors;
        const db_fit_estimate *const e = &r->estimates.list[i];
        if (e->shared || e->by_crystal || e->by_setting) continue;
        if (!count++)
            db_fit_say(log, "\n  %-24s  %12s  %12s  %12s  %12s\n", "each shot's own", "median",
                       "lower decile", "upper decile", "median error");
        if (!spread_of(r, i, 0, &values)) continue;
        const int known = spread_of(r, i, 1, &errors);
        db_fit_say(log, "  %-24s  %12.7g  %12.7g  %12.7g  ", r->estimates.list[i].name,
                   values.median, values.low, values.high);
        if (known)
            db_fit_say(log, "%12.3g\n", errors.median);
        else
            db_fit_say(log, "%12s\n", "-");
    }
}

/* Prints a value of a table; a dash if it is not defined. */
static void say_value(db_fit_log *log, int width, int decimals, double value) {
    if (isfinite(value))
        db_fit_say(log, " %*.*f", width, decimals, value);
    else
        db_fit_say(log, " %*s", width, "-");
}

static void say_shell(db_fit_log *log, const db_merge_shell *s, int with_reference) {
    db_fit_say(log, "  %7.2f %6.2f %10zu", s->d_max, s->d_min, s->measured);
    say_value(log, 9, 1, 100 * s->completeness);
    say_value(log, 12, 2, s->multiplicity);
    say_value(log, 7, 2, s->mean_i_over_sigma);
    say_value(log, 6, 3, s->cc_half);
    say_value(log, 6, 3, s->cc_star);
    say_value(log, 7, 3, s->r_split);
    say_value(log, 6, 3, s->cc_anomalous);
    say_value(log, 6, 3, s->cc_half_weighted);
    say_value(log, 6, 3, s->cc_anomalous_weighted);
    if (with_reference) {
        say_value(log, 6, 3, s->cc_reference);
        say_value(log, 6, 3, s->r_reference);
        say_value(log, 8, 3, s->cc_anomalous_reference);
    }
    db_fit_say(log, "\n");
}

static void say_intensities(db_fit_log *log, const db_fit_shots_result *r) {
    db_merge_statistics statistics;
    char indexing[DB_INDEXING_LINE], crystals[DB_KINDS_LINE], reference[DB_REFERENCE_LINE];
    if (!db_intensities_of(r)) return;
    db_intensity_indexing_line(r, indexing);
    if (*indexing) db_fit_say(log, "\nIndexing: %s\n", indexing);
    const int is_clear = db_intensity_crystals_line(r, crystals);
    if (*crystals) db_fit_say(log, "\n%s: %s\n", is_clear ? "Crystals" : "  Warning", crystals);
    db_intensity_statistics(r, &statistics);
    const int with_reference = statistics.overall.reference_count > 0;
    db_fit_say(log,
               "\n%s, by resolution (A); last line: all\n"
               "     from     to   measured complete %% multiplicity I/sigma  CC1/2    CC* "
               "R_split CC_ano wCC1/2 wCCano%s\n",
               r->intensities ? "Intensities that all shots share"
                              : "Intensities of all sweeps, merged",
               with_reference ? " CC_ref  R_ref  ref_ano" : "");
    for (int b = 0; b < statistics.shells; b++)
        say_shell(log, &statistics.shell[b], with_reference);
    say_shell(log, &statistics.overall, with_reference);
    db_fit_say(log, "wCC1/2, wCCano: CC1/2 and CC_ano with a low weight for reflections whose "
                    "errors exceed the mean of their resolution shell\n");
    if (with_reference)
        db_fit_say(log,
                   "CC_ref, R_ref, ref_ano: correlation and R of intensities, correlation of "
                   "Bijvoet differences, against\n%zu intensities of the reference, times %.4g "
                   "exp(%.2f / (2 d^2))\n",
                   statistics.overall.reference_count, statistics.reference.k,
                   0 - statistics.reference.b);
    db_intensity_reference_line(r, reference);
    if (*reference) db_fit_say(log, "  Warning: %s\n", reference);
}

/* Prints the light of the frames of a series, or of shots with joint intensities. */
static void say_light(db_fit_log *log, const db_fit_shots_result *r) {
    double *const values = malloc((r->shot_count + 1) * sizeof *values);
    size_t count = 0, least = 0;
    for (size_t s = 0; s < r->shot_count && values; s++) {
        const double explained = r->shot[s].verdict.light_explained;
        if (!r->shot[s].used || !isfinite(explained)) continue;
        if (!count || explained < r->shot[least].verdict.light_explained) least = s;
        values[count++] = explained;
    }
    if (count > 0) {
        db_sort_numbers(values, count);
        db_fit_say(log,
                   "\nLight of %zu images: the model explains %.0f %% of it (median), least of %s, "
                   "%.0f %%\n",
                   count, 100 * quantile(values, count, 0.5), r->shot[least].name, 100 * values[0]);
        say_light_part(log, r->light_part);
    }
    free(values);
}

/* Is a shot wrong, or excluded, for a reason of its own, not only because the series is? */
static int is_told(const db_fit_result *shot, int used) {
    return shot->used == used && !shot->verdict.usable && (!used || *shot->reason);
}

/* Prints shots that are wrong, of those in use, or excluded shots. */
static void say_reasons(db_fit_log *log, const db_fit_shots_result *r, int used) {
    size_t count = 0;
    for (size_t s = 0; s < r->shot_count; s++) {
        const db_fit_result *const shot = &r->shot[s];
        count += (size_t)is_told(shot, used);
    }
    if (count)
        db_fit_say(log, "\n%zu shot%s %s:\n", count, count > 1 ? "s" : "",
                   used        ? "in use, but wrong"
                   : count > 1 ? "were excluded"
                               : "was excluded");
    for (size_t s = 0; s < r->shot_count; s++) {
        const db_fit_result *const shot = &r->shot[s];
        if (is_told(shot, used)) db_fit_say(log, "  %s: %s\n", shot->name, shot->reason);
    }
}

static void say_curve(db_fit_log *log, const db_found_curve *c) {
    char edge[DB_VALUE_TEXT_SIZE], first[DB_VALUE_TEXT_SIZE], second[DB_VALUE_TEXT_SIZE];
    if (isfinite(c->edge))
        db_fit_say(log, "\nSites %s: edge at %s eV\n", c->name,
                   db_value_with_error(edge, c->edge, c->edge_error));
    else
        db_fit_say(log,
                   "\nSites %s: no edge, because f'' does not rise by more than twice its error: "
                   "%s electrons\n",
                   c->name, db_value_with_error(edge, c->rise, c->rise_error));
    if (isfinite(c->shift))
        db_fit_say(log,
                   "  f'' lies %s eV above that of the first sites, by the area between both.\n",
                   db_value_with_error(edge, c->shift, c->shift_error));
    db_fit_say(log, "  %10s  %14s  %14s\n", "eV", "f'", "f'' (electrons)");
    for (size_t i = 0; i < c->count; i++) {
        const db_curve_point *const p = &c->point[i];
        db_fit_say(log, "  %10.6g  %14s  %14s\n", p->energy,
                   db_value_with_error(first, p->f_prime, p->f_prime_error),
                   db_value_with_error(second, p->f_second, p->f_second_error));
    }
}

static const char *chosen_or_given(double given) { return isnan(given) ? " (by evidence)" : ""; }

static void say_curves(db_fit_log *log, const db_fit_config *config, const db_fit_shots_result *r) {
    db_found_curves found;
    const db_status status =
        db_curves_found(NULL, config->sites, &config->settings, &r->estimates, &found);
    for (size_t k = 0; k < found.count && status == DB_OK; k++) say_curve(log, &found.kind[k]);
    if (found.count)
        db_fit_say(log, "  Priors (electrons): smoothness %g%s, kramers_kronig %g%s\n",
                   r->curves.smoothness, chosen_or_given(config->settings.curves.smoothness),
                   r->curves.kramers_kronig,
                   chosen_or_given(config->settings.curves.kramers_kronig));
    if (found.count && r->curves.calm > 0)
        db_fit_say(log,
                   "  Away from the edge of the starting curve both priors are multiplied by %g.\n",
                   r->curves.calm);
    db_found_curves_clear(&found);
}

static void say_shots(db_fit_log *log, const db_fit_config *config, const db_fit_shots_result *r) {
    db_fit_say(log, "\nAfter %.2f s: %s%s\n", r->seconds,
               db_verdict_heading(r->status, db_verdict_of_all(r)), r->reason);
    db_fit_say(log,
               "%zu of %zu shots in use, %zu pixels in %zu shoeboxes: chi2 per degree of freedom "
               "%.4f -> %.4f\n",
               r->used, r->shot_count, r->pixels, r->shoeboxes, r->chi2_reduced[0],
               r->chi2_reduced[1]);
    say_parameters(log, config, &r->estimates, "shared by all shots", 24);
    say_curves(log, config, r);
    say_errors(log, &r->estimates);
    say_crystals(log, config, r, 24);
    say_settings(log, config, r, 24);
    say_local(log, r);
    say_light(log, r);
    say_intensities(log, r);
    say_warnings(log, r->warning_count, r->warnings);
    say_reasons(log, r, 1);
    say_reasons(log, r, 0);
}

void db_fit_say_result(db_fit_log *log, const db_fit_config *config,
                       const db_fit_shots_result *result) {
    if (result->in_full)
        say_image(log, config, &result->shot[0]);
    else
        say_shots(log, config, result);
}
