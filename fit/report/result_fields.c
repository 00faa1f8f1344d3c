/* Tables of parameters, errors and statistics. */
#define _POSIX_C_SOURCE 200809L
#include "fit/report/result_fields.h"

#include "fit/config/config_refine.h"
#include "fit/report/value_with_error.h"
#include "fit/verdict/warnings.h"

#include <dualbragg/expert/fit_cell.h>

#include <time.h>

json_t *db_make_schema(db_document *d, const void *of) {
    (void)d, (void)of;
    return json_integer(DB_RESULT_SCHEMA);
}

typedef struct provenance {
    const char *program;
    const char *version;
    const char *features;
    const char *command;
    const char *configuration;
    const char *image;
    const char *shots;
    const char *structure_factors;
    const char *date;
} provenance;

#define OF provenance
static const db_json_field provenance_rows[] = {
    VALUE(program, "", ""),
    VALUE(version, "", ""),
    VALUE(features, "", "components of the build"),
    VALUE(command, "", "command line"),
    VALUE(configuration, "", "file"),
    VALUE(image, "", "file, also of several lattices; empty for a list of shots"),
    VALUE(shots, "", "list of shots; empty for one image"),
    VALUE(structure_factors, "", "file; empty if intensities are free"),
    VALUE(date, "", "UTC"),
};
TABLE(db_provenance_fields, provenance_rows);
#undef OF

json_t *db_make_provenance(db_document *d, const void *of) {
    const db_fit_config *const config = d->config;
    const db_fit_shots_result *const result = of;
    const int lattices = !*config->image_file && !*config->shot_list && result->shot_count;
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    const provenance p = { .program = "dualbragg",
                           .version = db_version(),
                           .features = db_features(),
                           .command = config->command,
                           .configuration = config->config_file,
                           .image = lattices ? result->shot[0].name : config->image_file,
                           .shots = config->shot_list,
                           .structure_factors = config->hkl_file,
                           .date = date };
    return db_json_object(d, &db_provenance_fields, &p);
}

static json_t *intensity(db_document *d, const void *of) {
    const db_fit_settings *const settings = &d->config->settings;
    (void)of;
    return settings->intensity == DB_FIT_KNOWN
               ? db_document_section(d, &db_config_sections[DB_SECTION_INTENSITY], d->config)
               : json_string(settings->joint.wanted ? "joint" : "free");
}

/* Panels of each group of the configuration. */
static json_t *panel_groups(db_document *d, const void *of) {
    const db_fit_panel_groups *const groups = &d->config->settings.panel_groups;
    json_t *const object = json_object();
    (void)of;
    for (size_t g = 0; g < groups->count; g++) {
        json_t *const panels = json_array();
        for (int p = 0; p < (int)groups->panel_count; p++)
            if (groups->of_panel[p] == (short)g) db_document_add(d, panels, json_integer(p));
        db_document_set(d, object, groups->name[g], panels);
    }
    return object;
}

static json_t *precision(db_document *d, const void *of) {
    (void)of;
    return json_string(d->config->settings.precision == DB_PRECISION_MIXED ? "mixed" : "double");
}

static json_t *stages(db_document *d, const void *of) {
    const db_fit_settings *const settings = &d->config->settings;
    json_t *const array = json_array();
    (void)of;
    for (size_t s = 0; s < settings->stage_count; s++) {
        const db_stage_entry entry = db_stage_entry_of(settings, s);
        db_document_add(d, array, db_document_section(d, &db_stage_section, &entry));
    }
    return array;
}

static const db_json_field settings_rows[] = {
    MADE("intensity", intensity, "text or object of the configuration", NULL, "",
         "`free`, `joint`, or the keys of known structure factors"),
    MADE("panel_groups", panel_groups, "object of the configuration", NULL, "",
         "section `panel_groups`: numbers of panels of each group"),
    MADE("precision", precision, "text", NULL, "", ""),
    SECTION("starts", DB_SECTION_STARTS, "section `starts`"),
    SECTION("data", DB_SECTION_DATA, "section `data`"),
    SECTION("shots", DB_SECTION_SHOTS, "section `shots`"),
    MADE("stages", stages, "list of the configuration", NULL, "",
         "section `stages`, defaults included"),
};
TABLE(db_settings_fields, settings_rows);

json_t *db_make_settings(db_document *d, const void *of) {
    return db_json_object(d, &db_settings_fields, of);
}

/* An estimate, and its parameter in the settings. */
typedef struct parameter {
    db_fit_estimate found;
    const char *meaning;
    const char *text;
    const char *at_bound;
    double min, max, prior[2];
    int determined;
    db_fit_quantity follows;
} parameter;

static int has_prior(const void *of) { return isfinite(((const parameter *)of)->prior[1]); }
static int is_tied(const void *of) { return ((const parameter *)of)->follows.number >= 0; }
static json_t *leader(db_document *d, const void *of) {
    return db_document_quantity(d, ((const parameter *)of)->follows);
}

#define OF parameter
static const db_json_field parameter_rows[] = {
    NAMED("name", found.name, "", ""),
    NAMED("unit", found.unit, "", ""),
    VALUE(meaning, "", "meaning of the parameter"),
    VALUE(text, "", "refined value with its standard error in units of the last digit: 58.412(3)"),
    NAMED("start", found.start, "`unit`", ""),
    NAMED("refined", found.value, "`unit`", ""),
    NAMED("error", found.error, "`unit`",
          "standard error, the one to quote; null: tied, at a bound, or not determined"),
    NAMED("error_unscaled", found.error_unscaled, "`unit`", "error by noise alone"),
    NAMED("error_scaled", found.error_scaled, "`unit`",
          "error_unscaled times the root of χ² per degree of freedom, if it exceeds 1"),
    NAMED("error_robust", found.error_robust, "`unit`",
          "error by the scatter between shoeboxes or shots; null: too few of them"),
    FLAG(determined, "no: the data do not determine it"),
    VALUE(min, "`unit`", "lower bound; null: none"),
    VALUE(max, "`unit`", "upper bound; null: none"),
    VALUE_IF(has_prior, prior, "`unit`", "centre and sigma; only if there is a prior"),
    VALUE(at_bound, "", "`no`, `lower`, `upper`"),
    MADE_IF(is_tied, "follows", leader, "text", NULL, "",
            "name of the parameter that it follows; only if it follows one"),
};
TABLE(db_parameter_fields, parameter_rows);
#undef OF

const char *db_bound_text(int at_bound) {
    return at_bound < 0 ? "lower" : at_bound > 0 ? "upper" : "no";
}

json_t *db_make_parameters(db_document *d, const void *of) {
    json_t *const array = json_array();
    (void)of;
    for (size_t i = 0; i < d->estimates->count; i++) {
        const db_fit_estimate *const e = &d->estimates->list[i];
        const db_fit_parameter *const settings = &d->config->settings.parameters[i];
        char text[DB_VALUE_TEXT_SIZE];
        const parameter p = { .found = *e,
                              .meaning = db_parameter_describe(e->parameter)->description,
                              .text = db_value_with_error(text, e->value, e->error),
                              .at_bound = db_bound_text(e->at_bound),
                              .min = settings->lower,
                              .max = settings->upper,
                              .prior = { settings->prior[0], settings->prior[1] },
                              .determined = !isinf(e->error),
                              .follows = settings->follows };
        if (e->shared) db_document_add(d, array, db_json_object(d, &db_parameter_fields, &p));
    }
    return array;
}

/* Values of shared parameters, from a list for all. */
static json_t *of_shared(db_document *d, const double *values) {
    json_t *const array = json_array();
    for (size_t i = 0; i < d->estimates->count; i++)
        if (d->estimates->list[i].shared) db_document_add(d, array, db_document_number(values[i]));
    return array;
}

json_t *db_make_correlation(db_document *d, const void *of) {
    json_t *const array = json_array();
    (void)of;
    for (size_t i = 0; i < d->estimates->count; i++)
        if (d->estimates->list[i].shared)
            db_document_add(d, array, of_shared(d, d->estimates->correlation[i]));
    return array;
}

static json_t *direction_text(db_document *d, const void *of) {
    char words[DB_DIRECTION_TEXT_SIZE];
    return json_string(db_direction_text(words, d->estimates, of));
}

static json_t *direction_component(db_document *d, const void *of) {
    return of_shared(d, ((const db_fit_direction *)of)->component);
}

static json_t *direction_change(db_document *d, const void *of) {
    return of_shared(d, ((const db_fit_direction *)of)->change);
}

#define OF db_fit_direction
static const db_json_field direction_rows[] = {
    MADE("text", direction_text, "text", NULL, "", "in words"),
    VALUE(eigenvalue, "", ""),
    VALUE(condition, "", "largest eigenvalue divided by this one; null: not determined"),
    MADE("component", direction_component, "list", NULL, "",
         "component of each parameter, in units of its error with all others known"),
    MADE("change", direction_change, "list", NULL, "",
         "change of each parameter, in its unit, by one standard deviation along this direction"),
};
TABLE(db_direction_fields, direction_rows);
#undef OF

json_t *db_make_directions(db_document *d, const void *of) {
    const db_fit_estimates *const e = d->estimates;
    (void)of;
    return db_json_list(d, &db_direction_fields, e->direction, e->direction_count,
                        sizeof *e->direction);
}

static json_t *history_values(db_document *d, const void *of) {
    return of_shared(d, ((const db_fit_history *)of)->value);
}

#define OF db_fit_history
static const db_json_field history_rows[] = {
    VALUE(stage, "", "from 0"),
    VALUE(evaluation, "", "number within the stage, from 1"),
    VALUE(target, "",
          "by pixels χ² per degree of freedom of the data in use; by moments the loss of the "
          "spots, which may be negative"),
    VALUE(gradient_norm, "", "in the optimizer's coordinates"),
    MADE("values", history_values, "list", NULL, "", "of the parameters"),
};
TABLE(db_history_fields, history_rows);
#undef OF

/* A cell that was found, in PREFIX.json. */

#define OF db_fit_bravais
static const db_json_field bravais_rows[] = {
    VALUE(symbol, "", "family and centring, as `tP`"),
    VALUE(cell, "Å, degree",
          "cell that explains the spots best at the given distance; for many images the median"),
    VALUE(strain, "",
          "largest change of an edge (relative) or an angle (radian) that makes the found lattice "
          "one of this kind"),
    VALUE(indexed, "", "spots near nodes of this lattice"),
    VALUE(
        misfit, "",
        "scatter of spots about nodes of this lattice, divided by their scatter about nodes of the "
        "triclinic lattice (squared width of places times width of turns), at the best detector "
        "distance and tilts"),
    FLAG(fits, "no lattice of lower symmetry is much likelier"),
};
static TABLE(bravais_fields, bravais_rows);
#undef OF

static json_t *bravais_list(db_document *d, const void *of) {
    const db_fit_found_cell *const cell = of;
    return db_json_list(d, &bravais_fields, cell->lattice, (size_t)cell->count,
                        sizeof *cell->lattice);
}

#define OF db_fit_found_cell
static const db_json_field found_rows[] = {
    NAMED("spots", found.spots, "", "strongest spots of the image, which distinguish lattices"),
    NAMED("indexed", found.indexed, "", "spots near nodes of the triclinic lattice"),
    NAMED("by_chance", found.by_chance, "",
          "expected `indexed` for one lattice in a random orientation"),
    NAMED("log_probability", found.log_probability, "",
          "ln of the probability that one of all tried lattices explains as many spots by chance"),
    VALUE(reduced, "Å, degree", "reduced cell"),
    VALUE(chosen, "", "index into `lattices` of the model's lattice"),
    NAMED_FLAG("named", named, "its symmetry was given"),
    VALUE(distance, "",
          "relative change of the detector distance for which the spots ask; 0: none found"),
    VALUE(searches, "", "1: of all images together; else of each image or sweep by itself"),
    VALUE(images, "", "images that were searched; sweeps, if each was searched by itself"),
    VALUE(agreeing, "", "of these, with this cell"),
    MADE("lattices", bravais_list, "list", &bravais_fields, "",
         "possible Bravais lattices, the highest symmetry first"),
};
TABLE(db_found_cell_fields, found_rows);
#undef OF

json_t *db_make_found_cell(db_document *d, const void *of) {
    (void)of;
    return d->config->found_cell ? db_json_object(d, &db_found_cell_fields, d->config->found_cell)
                                 : json_null();
}
