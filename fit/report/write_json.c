#include <dualbragg/fit.h>

#include "base/context_internal.h"
#include "fit/verdict/direction_text.h"
#include "fit/report/json_document.h"
#include "fit/report/refined_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Grows when a reader of the last one would be misled; docs/reference/json.md describes it. */
enum { SCHEMA = 1 };

static json_t *starts_array(db_document *d, const db_fit_result *result) {
    json_t *const array = json_array();
    for (size_t i = 0; i < result->start_count; i++) {
        const db_fit_start *const start = &result->starts[i];
        json_t *const object = json_object();
        set(d, object, "number", json_integer(start->number));
        set(d, object, "turn", numbers(d, start->turn, 3));
        set(d, object, "target", number(start->target));
        set(d, object, "explained", number(start->explained));
        set(d, object, "evaluations", json_integer(start->evaluations));
        set(d, object, "refined_explained", number(start->refined_explained));
        set(d, object, "chosen", json_boolean(start->chosen));
        add(d, array, object);
    }
    return array;
}

static json_t *parameters_array(db_document *d, const db_fit_config *config,
                                const db_fit_result *result) {
    static const char *const bounds[3] = { "lower", "no", "upper" };
    json_t *const array = json_array();
    for (size_t i = 0; i < result->parameter_count; i++) {
        const db_fit_parameter *const settings = &config->settings.parameters[i];
        const db_parameter_info *const info = db_parameter_describe(result->parameter[i]);
        json_t *const entry = json_object();
        set(d, entry, "name", json_string(result->name[i]));
        set(d, entry, "unit", json_string(info->unit));
        set(d, entry, "start", number(result->start[i]));
        set(d, entry, "refined", number(result->refined[i]));
        set(d, entry, "error", number(result->error[i]));
        set(d, entry, "error_unscaled", number(result->error_unscaled[i]));
        set(d, entry, "error_scaled", number(result->error_scaled[i]));
        set(d, entry, "error_robust", number(result->error_robust[i]));
        set(d, entry, "determined", json_boolean(!isinf(result->error[i])));
        set(d, entry, "min", number(settings->lower));
        set(d, entry, "max", number(settings->upper));
        if (settings->prior[1] < INFINITY) set(d, entry, "prior", numbers(d, settings->prior, 2));
        set(d, entry, "at_bound", json_string(bounds[result->at_bound[i] + 1]));
        if (settings->follows >= 0)
            set(d, entry, "follows", db_document_quantity(d, settings->follows));
        add(d, array, entry);
    }
    return array;
}

static json_t *statistics_object(db_document *d, const db_fit_statistics *s) {
    json_t *const object = json_object();
    set(d, object, "pixels", json_integer((json_int_t)s->pixels));
    set(d, object, "shoeboxes", json_integer((json_int_t)s->shoeboxes));
    set(d, object, "chi2", number(s->chi2));
    set(d, object, "chi2_reduced", number(s->chi2_reduced));
    set(d, object, "rms_residual", number(s->rms_residual));
    set(d, object, "strong_pixels", number(s->strong_pixels));
    set(d, object, "strong_explained", number(s->strong_explained));
    set(d, object, "correlation", number(s->correlation));
    set(d, object, "centroid_rms", number(s->centroid_rms));
    return object;
}

static json_t *verdict_object(db_document *d, const db_fit_verdict *v) {
    json_t *const object = json_object(), *const tests = json_array();
    set(d, object, "usable", json_boolean(v->usable));
    set(d, object, "reason", json_string(v->reason));
    set(d, object, "spots", json_integer((json_int_t)v->spots));
    set(d, object, "at", json_integer((json_int_t)v->at));
    set(d, object, "beside", json_integer((json_int_t)v->beside));
    set(d, object, "position_rms", number(v->position_rms));
    set(d, object, "predicted", json_integer((json_int_t)v->predicted));
    set(d, object, "seen", json_integer((json_int_t)v->seen));
    set(d, object, "intensities", json_integer((json_int_t)v->intensities));
    set(d, object, "tests", tests);
    for (int k = 0; k < DB_FIT_TESTS; k++) {
        const db_fit_test *const t = &v->test[k];
        json_t *const entry = json_object();
        set(d, entry, "name", json_string(db_fit_test_name((db_fit_test_kind)k)));
        set(d, entry, "found", number(t->found));
        set(d, entry, "least", number(t->least));
        set(d, entry, "most", number(t->most));
        set(d, entry, "passed", json_boolean(t->passed));
        add(d, tests, entry);
    }
    return object;
}

static json_t *history_array(db_document *d, const db_fit_result *result) {
    json_t *const array = json_array();
    for (size_t i = 0; i < result->history_count; i++) {
        const db_fit_history *const h = &result->history[i];
        json_t *const entry = json_object();
        set(d, entry, "stage", json_integer(h->stage));
        set(d, entry, "evaluation", json_integer(h->evaluation));
        set(d, entry, "target", number(h->target));
        set(d, entry, "gradient_norm", number(h->gradient_norm));
        set(d, entry, "values", numbers(d, h->value, result->parameter_count));
        add(d, array, entry);
    }
    return array;
}

/* Headline errors: error and correlation in one. */
static json_t *covariance_array(db_document *d, const db_fit_result *result) {
    json_t *const array = json_array();
    for (size_t i = 0; i < result->parameter_count; i++) {
        json_t *const row = json_array();
        for (size_t k = 0; k < result->parameter_count; k++)
            add(d, row, number(result->correlation[i][k] * result->error[i] * result->error[k]));
        add(d, array, row);
    }
    return array;
}

static json_t *directions_array(db_document *d, const db_fit_result *result) {
    json_t *const array = json_array();
    for (size_t i = 0; i < result->direction_count; i++) {
        const db_fit_direction *const direction = &result->direction[i];
        char words[DB_DIRECTION_TEXT_SIZE];
        json_t *const entry = json_object();
        set(d, entry, "text", json_string(db_direction_text(words, result, direction)));
        set(d, entry, "eigenvalue", number(direction->eigenvalue));
        set(d, entry, "condition", number(direction->condition));
        set(d, entry, "component", numbers(d, direction->component, result->parameter_count));
        set(d, entry, "change", numbers(d, direction->change, result->parameter_count));
        add(d, array, entry);
    }
    return array;
}

static json_t *goodness_object(db_document *d, const db_fit_goodness *g) {
    json_t *const object = json_object();
    set(d, object, "pixels", json_integer((json_int_t)g->pixels));
    set(d, object, "chi2_reduced", number(g->chi2_reduced));
    set(d, object, "residual", number(g->residual));
    set(d, object, "correlation", number(g->correlation));
    return object;
}

static json_t *shells_array(db_document *d, const db_fit_result *result) {
    json_t *const array = json_array();
    for (size_t i = 0; i < result->shell_count; i++) {
        const db_fit_shell *const shell = &result->shells[i];
        json_t *const entry = json_object();
        set(d, entry, "d_max", number(shell->d_max));
        set(d, entry, "d_min", number(shell->d_min));
        set(d, entry, "before", goodness_object(d, &shell->before));
        set(d, entry, "after", goodness_object(d, &shell->after));
        add(d, array, entry);
    }
    return array;
}

static json_t *areas_array(db_document *d, const db_fit_result *result) {
    json_t *const array = json_array();
    for (size_t i = 0; i < result->area_count; i++) {
        const db_fit_area *const area = &result->areas[i];
        json_t *const entry = json_object();
        set(d, entry, "panel", json_integer((json_int_t)area->panel));
        set(d, entry, "fast_start", json_integer(area->fast_start));
        set(d, entry, "slow_start", json_integer(area->slow_start));
        set(d, entry, "fast_count", json_integer(area->fast_count));
        set(d, entry, "slow_count", json_integer(area->slow_count));
        set(d, entry, "spots", json_integer((json_int_t)area->spots));
        set(d, entry, "shift", numbers(d, area->shift, 2));
        set(d, entry, "before", goodness_object(d, &area->before));
        set(d, entry, "after", goodness_object(d, &area->after));
        add(d, array, entry);
    }
    return array;
}

static json_t *distrusted_object(db_document *d, const db_fit_result *result) {
    json_t *const object = json_object(), *const array = json_array();
    for (size_t i = 0; i < result->distrusted_listed; i++) {
        const db_fit_pixel *const pixel = &result->distrusted[i];
        json_t *const entry = json_object();
        set(d, entry, "panel", json_integer((json_int_t)pixel->panel));
        set(d, entry, "fast", json_integer(pixel->fast));
        set(d, entry, "slow", json_integer(pixel->slow));
        set(d, entry, "counts", number(pixel->counts));
        set(d, entry, "model", number(pixel->model));
        set(d, entry, "z", number(pixel->z));
        set(d, entry, "trust", number(pixel->trust));
        add(d, array, entry);
    }
    set(d, object, "count", json_integer((json_int_t)result->distrusted_count));
    set(d, object, "pixels", array);
    return object;
}

static json_t *shoeboxes_array(db_document *d, const db_fit_result *result) {
    json_t *const array = json_array();
    for (size_t i = 0; i < result->shoebox_count; i++) {
        const db_fit_shoebox *const box = &result->shoeboxes[i];
        json_t *const entry = json_object(), *const hkl = json_array();
        for (int k = 0; k < 3; k++) add(d, hkl, json_integer(box->hkl[k]));
        set(d, entry, "hkl", hkl);
        set(d, entry, "d_spacing", number(box->d_spacing));
        set(d, entry, "predicted", numbers(d, box->predicted, 2));
        set(d, entry, "intensity", number(box->intensity));
        set(d, entry, "intensity_esd", number(box->intensity_esd));
        set(d, entry, "background", numbers(d, box->background, 3));
        set(d, entry, "chi2", number(box->chi2));
        set(d, entry, "centroid_offset", numbers(d, box->centroid_offset, 2));
        set(d, entry, "sigma_z", number(box->sigma_z));
        set(d, entry, "worst_z", number(box->worst_z));
        set(d, entry, "outlier", json_boolean(box->outlier));
        set(d, entry, "pixels_used", json_integer(box->pixels_used));
        set(d, entry, "strong_pixels", json_integer(box->strong_pixels));
        set(d, entry, "strong_explained", json_integer(box->strong_explained));
        add(d, array, entry);
    }
    return array;
}

static void compose(db_document *d, const db_fit_config *config, const db_fit_config *refined,
                    const db_fit_result *result) {
    json_t *const root = d->root, *const correlation = json_array(),
                  *const statistics = json_object(), *const warnings = json_array();
    set(d, root, "schema", json_integer(SCHEMA));
    set(d, root, "provenance", db_document_provenance(d, config));
    set(d, root, "converged", json_boolean(result->status == DB_OK));
    set(d, root, "reason", db_document_text(result->reason));
    for (size_t i = 0; i < result->warning_count; i++)
        add(d, warnings, db_document_text(result->warnings[i]));
    set(d, root, "verdict", verdict_object(d, &result->verdict));
    set(d, root, "warnings", warnings);
    set(d, root, "settings", db_document_settings(d, config));
    set(d, root, "parameters", parameters_array(d, config, result));
    for (size_t i = 0; i < result->parameter_count; i++)
        add(d, correlation, numbers(d, result->correlation[i], result->parameter_count));
    set(d, root, "correlation", correlation);
    set(d, root, "covariance", covariance_array(d, result));
    set(d, root, "directions", directions_array(d, result));
    set(d, root, "model", db_document_section(d, &db_config_sections[DB_SECTION_MODEL], refined));
    double a_star[9];
    db_crystal_matrix(&result->experiment.crystal, a_star);
    set(d, root, "reciprocal_matrix", numbers(d, a_star, 9));
    set(d, statistics, "before", statistics_object(d, &result->before));
    set(d, statistics, "after", statistics_object(d, &result->after));
    set(d, root, "statistics", statistics);
    set(d, root, "shells", shells_array(d, result));
    set(d, root, "areas", areas_array(d, result));
    set(d, root, "starts", starts_array(d, result));
    set(d, root, "shoebox_half_width", json_integer(result->shoebox_half_width));
    set(d, root, "sigma_z_median", number(result->sigma_z_median));
    set(d, root, "sigma_z_limit", number(result->sigma_z_limit));
    set(d, root, "distrusted", distrusted_object(d, result));
    set(d, root, "evaluations", json_integer(result->evaluations));
    set(d, root, "seconds", number(result->seconds));
    set(d, root, "history", history_array(d, result));
    set(d, root, "shoeboxes", shoeboxes_array(d, result));
}

db_status db_fit_write_json(db_context *context, const char *path, const db_fit_config *config,
                            const db_fit_result *result) {
    db_fit_config *const refined = malloc(sizeof *refined);
    if (!refined) return db_fail_memory(context, path);
    db_document d = db_document_begin(&config->settings.panel_groups);
    db_status status = db_fit_refined_config(context, config, &result->experiment, refined);
    if (status == DB_OK) compose(&d, config, refined, result);
    status = db_document_end(context, &d, status, path);
    free(refined);
    return status;
}
