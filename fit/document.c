/* PREFIX.json, its fields each with its meaning, and the report. */
#include "fit/document.h"

#include "base/context_internal.h"
#include "fit/report/image_report.h"
#include "fit/report/refined_config.h"
#include "fit/report/result_fields.h"
#include "fit/report/value_with_error.h"
#include "fit/intensities/outputs.h"

#include <dualbragg/expert/fit_files.h>
#include <dualbragg/fit_shots.h>
#include <stdlib.h>
#include <string.h>

/* A shot, beside the result that knows the local parameters. */
typedef struct shot_row {
    db_fit_result shot;              /* borrowed */
    char operator[DB_INDEXING_TEXT]; /* by which it was reindexed; "": unknown */
    double probability;
} shot_row;

static int in_use(const void *of) { return ((const shot_row *)of)->shot.used; }

static int of_several(const void *of) { return ((const shot_row *)of)->shot.crystal > 0; }

static int is_indexed(const void *of) { return *((const shot_row *)of)->operator!= '\0'; }

static json_t *value_text(const db_fit_estimate *e) {
    char text[DB_VALUE_TEXT_SIZE];
    return json_string(db_value_with_error(text, e->value, e->error));
}

/* Lists with a member of each local parameter's estimate e. */
#define LOCALS(name, estimates, made)                                                              \
    static json_t *name(db_document *d, const void *of) {                                          \
        const db_fit_estimates *const all = estimates;                                             \
        json_t *const array = json_array();                                                        \
        (void)of;                                                                                  \
        for (size_t i = 0; i < all->count; i++) {                                                  \
            const db_fit_estimate *const e = &all->list[i];                                        \
            if (!e->shared) db_document_add(d, array, made);                                       \
        }                                                                                          \
        return array;                                                                              \
    }
#define OF_SHOT (&((const shot_row *)of)->shot.estimates)
LOCALS(local_names, d->estimates, json_string(e->name))
LOCALS(local_units, d->estimates, json_string(e->unit))
LOCALS(local_starts, OF_SHOT, db_document_number(e->start))
LOCALS(local_values, OF_SHOT, db_document_number(e->value))
LOCALS(local_errors, OF_SHOT, db_document_number(e->error))
LOCALS(local_texts, OF_SHOT, value_text(e))
LOCALS(local_bounds, OF_SHOT, json_string(db_bound_text(e->at_bound)))

/* A figure of the starting and of the refined model. */
#define PAIR(name, member)                                                                         \
    static json_t *name(db_document *d, const void *of) {                                          \
        const db_fit_result *const shot = &((const shot_row *)of)->shot;                           \
        return db_document_numbers(d, (const double[]){ shot->before.member, shot->after.member }, \
                                   2);                                                             \
    }
PAIR(chi2_pair, chi2_reduced)
PAIR(correlation_pair, correlation)
PAIR(centroid_pair, centroid_rms)

#define OF shot_row
static const db_json_field shot_rows[] = {
    NAMED("name", shot.name, "", ""),
    NAMED_IF(of_several, "crystal", shot.crystal, "",
             "series of several crystals: number of the one that it shows, from 1"),
    NAMED_FLAG("used", shot.used, "no: the shot was excluded and has only a reason"),
    NAMED_FLAG("usable", shot.verdict.usable,
               "no: spots of its image contradict the common result, or a quantity of the shot is "
               "at a bound"),
    NAMED("reason", shot.reason, "",
          "reason why it was excluded or is not usable, or end of its single stages"),
    VALUE_IF(is_indexed, operator, "",
             "operator by which the shot was reindexed, with its model in joint intensities, "
             "without it in merged ones of a series"),
    VALUE_IF(is_indexed, probability, "", "probability of this way of indexing among all ways"),
    MADE_IF(in_use, "start", local_starts, "list", NULL, "",
            "starting values of the local parameters"),
    MADE_IF(in_use, "refined", local_values, "list", NULL, "",
            "refined values of the local parameters"),
    MADE_IF(
        in_use, "error", local_errors, "list", NULL, "",
        "standard errors of the local parameters, null: tied, at a bound, held, or not determined; "
        "they include errors of shared parameters, except with `intensity: joint`, where they hold "
        "for fixed intensities and shared parameters"),
    MADE_IF(in_use, "text", local_texts, "list", NULL, "",
            "refined values with errors in units of the last digit"),
    MADE_IF(in_use, "at_bound", local_bounds, "list", NULL, "", "`no`, `lower`, `upper`"),
    NAMED_IF(in_use, "orientation", shot.reference, "",
             "rotation from the standard frame, row by row, that the refined angles turn"),
    NAMED_IF(in_use, "light_explained", shot.verdict.light_explained, "",
             "rotation series, joint intensities: fraction of the squared light of its spots that "
             "the model explains; else null"),
    NAMED_IF(in_use, "pixels", shot.after.pixels, "", "pixels in use"),
    NAMED_IF(in_use, "shoeboxes", shot.after.shoeboxes, "", "shoeboxes in use"),
    MADE_IF(in_use, "chi2_reduced", chi2_pair, "list", NULL, "",
            "χ² per degree of freedom of starting and refined model"),
    MADE_IF(in_use, "correlation", correlation_pair, "list", NULL, "",
            "correlation of starting and refined model with the measurement without background"),
    MADE_IF(in_use, "centroid_rms", centroid_pair, "list", NULL, "pixels",
            "observed minus model centroid, root mean square, of starting and refined model"),
};
static TABLE(shot_fields, shot_rows);
#undef OF

static json_t *shots(db_document *d, const void *of) {
    const db_fit_shots_result *const r = of;
    json_t *const array = json_array();
    for (size_t s = 0; s < r->shot_count; s++) {
        shot_row row = { .shot = r->shot[s] };
        const db_indexing *const way = db_intensity_indexing(r, s, &row.probability);
        if (way) (void)db_indexing_text(way, row.operator);
        db_document_add(d, array, db_json_object(d, &shot_fields, &row));
    }
    return array;
}

static json_t *has_converged(db_document *d, const void *of) {
    (void)d;
    return json_boolean(((const db_fit_shots_result *)of)->status == DB_OK);
}

/* Are there intensities that several frames or shots share, so that their light was compared? */
static int shares_light(const void *of) {
    const db_fit_shots_result *const r = of;
    return r->passages || r->intensities;
}

static json_t *common_centring(db_document *d, const void *of) {
    (void)d;
    return db_document_letter(((const db_fit_shots_result *)of)->centring);
}

static json_t *model(db_document *d, const void *of) {
    (void)of;
    return d->refined ? db_document_section(d, &db_config_sections[DB_SECTION_MODEL], d->refined)
                      : json_null();
}

#define OF db_fit_curves
static const db_json_field prior_rows[] = { VALUE(smoothness, "electrons", ""),
                                            VALUE(calm, "",
                                                  "factor on smoothness and kramers_kronig away "
                                                  "from the edge of the starting curve; 0: none"),
                                            VALUE(kramers_kronig, "electrons", "") };
static TABLE(prior_fields, prior_rows);
#undef OF

static int has_curves(const void *of) {
    return ((const db_fit_shots_result *)of)->curves.points[2] > 0;
}

static json_t *curve_priors(db_document *d, const void *of) {
    return db_json_object(d, &prior_fields, &((const db_fit_shots_result *)of)->curves);
}

#define OF db_fit_shots_result
static const db_json_field run_rows[] = {
    MADE("schema", db_make_schema, "integer", NULL, "",
         "2; increases if readers of older files would be misled"),
    MADE("provenance", db_make_provenance, "object", &db_provenance_fields, "",
         "origin of the file"),
    MADE("converged", has_converged, "yes/no", NULL, "", ""),
    VALUE(reason, "", "why the refinement ended"),
    MADE("settings", db_make_settings, "object", &db_settings_fields, "",
         "settings of the refinement"),
    MADE("model", model, "object of the configuration", NULL, "",
         "section `model` of the configuration: the refined model of one image, the starting model "
         "of many shots; null for several panels without an experiment list"),
    MADE("found_cell", db_make_found_cell, "object", &db_found_cell_fields, "",
         "if the model had no cell: the cell that was found, and other possible lattices; else "
         "null"),
    MADE("parameters", db_make_parameters, "list", &db_parameter_fields, "",
         "shared parameters; for one image all parameters"),
    MADE("correlation", db_make_correlation, "list of lists", NULL, "",
         "correlation matrix of these parameters, 1 on the diagonal, 0 if not defined"),
    MADE(
        "directions", db_make_directions, "list", &db_direction_fields, "",
        "eigenvectors of the scaled normal matrix of these parameters, the worst determined first"),
    NAMED("shared_misfit", estimates.shared_misfit, "",
          "scatter of misfit between regions of the detector, divided by the scatter expected from "
          "their shoeboxes; 1: as expected"),
    VALUE(seconds, "s", ""),
    LIST("history", history, history_count, db_history_fields,
         "every evaluation with the values of `parameters`; for many shots the joint evaluations"),
    MADE("local", local_names, "list", NULL, "", "names of the local parameters"),
    MADE("local_units", local_units, "list", NULL, "", "units of the local parameters"),
    MADE("shots", shots, "list", &shot_fields, "", "one per line of the list of shots"),
};
static TABLE(run_fields, run_rows);

static const db_json_field list_rows[] = {
    VALUE(chi2_reduced, "",
          "χ² per degree of freedom of starting and refined models, all shots in use"),
    VALUE(pixels, "", "pixels in use"),
    VALUE(shoeboxes, "", "shoeboxes in use"),
    VALUE(used, "", "shots in use"),
    LINES(warnings, warning_count, "points to check before the result is used"),
    TEXTS(advice, warning_count, "advice for each warning"),
    VALUE_IF(shares_light, light_spots, "",
             "rotation series, joint intensities: spots on the images, of the final data"),
    VALUE_IF(shares_light, light_part, "",
             "rotation series, joint intensities: fraction of these spots whose brightness in the "
             "model is right "
             "within a factor of 1.5; null: fewer than 20 spots"),
    FLAG_IF(shares_light, intensities_usable,
            "rotation series, joint intensities: they may be used: light_part is 2/3 or more"),
    MADE("centring", common_centring, "text or null", NULL, "",
         "letter of a centring that the symmetry does not name, if spots of all shots are at its "
         "reflections only; null: none"),
    VALUE(centring_gain, "",
          "log likelihood of these spots with its reflections minus with all; 0: no centring"),
    MADE_IF(
        db_has_intensities, "intensities", db_make_intensities, "object", &db_intensity_fields, "",
        "intensities that all shots share (`intensity: joint`), or of a rotation series: of all "
        "sweeps, merged"),
    MADE_IF(has_curves, "curve_priors", curve_priors, "object", &prior_fields, "",
            "standard deviations of the priors on curves, given or chosen by the evidence of the "
            "shots; 0: none"),
    MADE("curves", db_make_curves, "list", &db_curve_fields, "",
         "refined curves of f' and f'' (`curves.energies`); their points are `parameters`, too"),
};
static TABLE(list_fields, list_rows);
#undef OF

/* Data of the documents of a refinement. */
typedef struct report {
    const db_fit_config *config;
    const db_fit_shots_result *result;
    int described;                 /* of one image: 1: a configuration can describe its model ... */
    db_fit_config refined;         /* ... and this one does; owned */
    const db_image_report *images; /* of one image, on a page; NULL: none */
} report;

static db_status make_refined(db_context *context, report *r) {
    const db_experiment *const model = &r->result->shot[0].experiment;
    if (!r->result->in_full) return DB_OK;
    if (model->detector.panel_count != 1 && !*r->config->expt_file) return DB_OK;
    r->described = 1;
    return db_fit_refined_config(context, r->config, model, &r->refined);
}

static db_document document(const report *r) {
    db_document d = db_document_begin(&r->config->settings.panel_groups);
    d.config = r->config;
    d.refined = r->described ? &r->refined : r->result->in_full ? NULL : r->config;
    d.estimates = &r->result->estimates;
    db_json_fill(&d, d.root, &run_fields, r->result);
    if (r->result->in_full)
        db_json_fill(&d, d.root, &db_result_fields, &r->result->shot[0]);
    else
        db_json_fill(&d, d.root, &list_fields, r->result);
    return d;
}

db_status db_fit_write_json(db_context *context, const char *path, const db_fit_config *config,
                            const db_fit_shots_result *result) {
    report r = { .config = config, .result = result };
    db_status status = make_refined(context, &r);
    if (status == DB_OK) {
        db_document d = document(&r);
        status = db_document_end(context, &d, DB_OK, path);
    }
    db_fit_config_clear(&r.refined);
    return status;
}

static db_status print_data(db_context *context, const void *of, FILE *stream) {
    const report *const r = of;
    db_document d = document(r);
    DB_TRY(db_page_print_document(context, "data", &d, stream));
    return r->images ? db_image_report_print(context, r->images, stream) : DB_OK;
}

db_status db_fit_write_html(db_context *context, const char *path, const db_fit_config *config,
                            const db_measured_image *image, const db_fit_shots_result *result) {
    db_image_report images;
    report r = { .config = config, .result = result, .images = result->in_full ? &images : NULL };
    if (r.images) DB_TRY(db_image_report_make(context, config, image, &result->shot[0], &images));
    db_status status = make_refined(context, &r);
    if (status == DB_OK) status = db_page_write(context, path, &db_report_page, print_data, &r);
    if (r.images) db_image_report_clear(&images);
    db_fit_config_clear(&r.refined);
    return status;
}

void db_show_json_fields(FILE *stream) {
    fputs("# PREFIX.json\n\n`dualbragg fit` writes all results of a refinement into PREFIX.json, "
          "for other programs.\n`dualbragg fit --show-json` prints this page.\n\nNumbers that are "
          "not finite are `null`. Lists of numbers of parameters have the order of `parameters` or "
          "`local`.\n`a[].b` is the value `b` of each object in the list `a`.\n\n## One image or "
          "many shots\n\n",
          stream);
    db_json_print_fields(stream, &run_fields);
    fputs("\n## Also for one image\n\n", stream);
    db_json_print_fields(stream, &db_result_fields);
    fputs("\n## Also for many shots\n\n", stream);
    db_json_print_fields(stream, &list_fields);
}
