#define _POSIX_C_SOURCE 200809L
#include "fit/report/result_fields.h"

#include "fit/config/config_refine.h"
#include "fit/report/value_with_error.h"
#include "fit/verdict/warnings.h"

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
    VALUE(features, "", "what the program was built with"),
    VALUE(command, "", "command line"),
    VALUE(configuration, "", "file"),
    VALUE(image, "", "file; empty for many shots"),
    VALUE(shots, "", "list of shots; empty for one image"),
    VALUE(structure_factors, "", "file; empty where intensities are free"),
    VALUE(date, "", "UTC"),
};
TABLE(db_provenance_fields, provenance_rows);
#undef OF

json_t *db_make_provenance(db_document *d, const void *of) {
    const db_fit_config *const config = d->config;
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    (void)of;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    const provenance p = { .program = "dualbragg",
                           .version = db_version(),
                           .features = db_features(),
                           .command = config->command,
                           .configuration = config->config_file,
                           .image = config->image_file,
                           .shots = config->shot_list,
                           .structure_factors = config->hkl_file,
                           .date = date };
    return db_json_object(d, &db_provenance_fields, &p);
}

static json_t *intensity(db_document *d, const void *of) {
    (void)of;
    return d->config->settings.intensity == DB_FIT_KNOWN
               ? db_document_section(d, &db_config_sections[DB_SECTION_INTENSITY], d->config)
               : json_string("free");
}

/* Panels of each group of the configuration. */
static json_t *panel_groups(db_document *d, const void *of) {
    const db_fit_panel_groups *const groups = &d->config->settings.panel_groups;
    json_t *const object = json_object();
    (void)of;
    for (size_t g = 0; g < groups->count; g++) {
        json_t *const panels = json_array();
        for (int p = 0; p < (int)groups->panel_count; p++)
            if (groups->of_panel[p] == (short)g) add(d, panels, json_integer(p));
        set(d, object, groups->name[g], panels);
    }
    return object;
}

static json_t *precision(db_document *d, const void *of) {
    (void)of;
    return json_string(d->config->settings.precision == DB_PRECISION_MIXED ? "mixed" : "double");
}

static json_t *starts_section(db_document *d, const void *of) {
    (void)of;
    return db_document_section(d, &db_config_sections[DB_SECTION_STARTS], d->config);
}

static json_t *data_section(db_document *d, const void *of) {
    (void)of;
    return db_document_section(d, &db_config_sections[DB_SECTION_DATA], d->config);
}

static json_t *stages(db_document *d, const void *of) {
    const db_fit_settings *const settings = &d->config->settings;
    json_t *const array = json_array();
    (void)of;
    for (size_t s = 0; s < settings->stage_count; s++) {
        const db_stage_entry entry = db_stage_entry_of(settings, s);
        add(d, array, db_document_section(d, &db_stage_section, &entry));
    }
    return array;
}

static const db_json_field settings_rows[] = {
    MADE("intensity", intensity, "text or object of the configuration", NULL, "",
         "`free`, or the keys of `known`"),
    MADE("panel_groups", panel_groups, "object of the configuration", NULL, "",
         "section `panel_groups`: numbers of panels of each group"),
    MADE("precision", precision, "text", NULL, "", ""),
    MADE("starts", starts_section, "object of the configuration", NULL, "", "section `starts`"),
    MADE("data", data_section, "object of the configuration", NULL, "", "section `data`"),
    MADE("stages", stages, "list of the configuration", NULL, "",
         "section `stages`, defaults included"),
};
TABLE(db_settings_fields, settings_rows);

json_t *db_make_settings(db_document *d, const void *of) {
    return db_json_object(d, &db_settings_fields, of);
}

typedef struct parameter {
    const char *name;
    const char *unit;
    const char *meaning;
    const char *text;
    const char *at_bound;
    double start, refined, error, error_unscaled, error_scaled, error_robust, min, max, prior[2];
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
    VALUE(name, "", ""),
    VALUE(unit, "", ""),
    VALUE(meaning, "", "what it is"),
    VALUE(text, "", "refined value with its standard error in units of the last digit: 58.412(3)"),
    VALUE(start, "`unit`", ""),
    VALUE(refined, "`unit`", ""),
    VALUE(error, "`unit`",
          "standard error, the one to quote; null: tied, at a bound, or not determined"),
    VALUE(error_unscaled, "`unit`", "error by noise alone"),
    VALUE(error_scaled, "`unit`",
          "that times the root of χ² per degree of freedom, where it exceeds 1"),
    VALUE(error_robust, "`unit`",
          "error by disagreement of shoeboxes or shots; null: too few of them"),
    FLAG(determined, "no: the data leave it open"),
    VALUE(min, "`unit`", "lower bound; null: none"),
    VALUE(max, "`unit`", "upper bound; null: none"),
    VALUE_IF(has_prior, prior, "`unit`", "centre and sigma; only where there is a prior"),
    VALUE(at_bound, "", "`no`, `lower`, `upper`"),
    MADE_IF(is_tied, "follows", leader, "text", NULL, "",
            "name of the parameter whose value it keeps; only where it does"),
};
TABLE(db_parameter_fields, parameter_rows);
#undef OF

const char *db_bound_text(int at_bound) {
    return at_bound < 0 ? "lower" : at_bound > 0 ? "upper" : "no";
}

json_t *db_make_parameters(db_document *d, const void *of) {
    const db_fit_result *const r = d->result;
    json_t *const array = json_array();
    (void)of;
    for (size_t i = 0; i < r->parameter_count; i++) {
        const db_fit_parameter *const settings = &d->config->settings.parameters[i];
        const db_parameter_info *const info = db_parameter_describe(r->parameter[i]);
        char text[DB_VALUE_TEXT_SIZE];
        const parameter p = { .name = r->name[i],
                              .unit = info->unit,
                              .meaning = info->description,
                              .text = db_value_with_error(text, r->refined[i], r->error[i]),
                              .at_bound = db_bound_text(r->at_bound[i]),
                              .start = r->start[i],
                              .refined = r->refined[i],
                              .error = r->error[i],
                              .error_unscaled = r->error_unscaled[i],
                              .error_scaled = r->error_scaled[i],
                              .error_robust = r->error_robust[i],
                              .min = settings->lower,
                              .max = settings->upper,
                              .prior = { settings->prior[0], settings->prior[1] },
                              .determined = !isinf(r->error[i]),
                              .follows = settings->follows };
        add(d, array, db_json_object(d, &db_parameter_fields, &p));
    }
    return array;
}

json_t *db_make_correlation(db_document *d, const void *of) {
    const db_fit_result *const r = d->result;
    json_t *const array = json_array();
    (void)of;
    for (size_t i = 0; i < r->parameter_count; i++)
        add(d, array, numbers(d, r->correlation[i], r->parameter_count));
    return array;
}

static json_t *direction_text(db_document *d, const void *of) {
    char words[DB_DIRECTION_TEXT_SIZE];
    return json_string(db_direction_text(words, d->result, of));
}

static json_t *component(db_document *d, const void *of) {
    return numbers(d, ((const db_fit_direction *)of)->component, d->result->parameter_count);
}

static json_t *change(db_document *d, const void *of) {
    return numbers(d, ((const db_fit_direction *)of)->change, d->result->parameter_count);
}

#define OF db_fit_direction
static const db_json_field direction_rows[] = {
    MADE("text", direction_text, "text", NULL, "", "in words"),
    VALUE(eigenvalue, "", ""),
    VALUE(condition, "", "largest eigenvalue over this one; null: not determined"),
    MADE("component", component, "list", NULL, "",
         "of each parameter, in units of the error that it would have alone"),
    MADE("change", change, "list", NULL, "",
         "of each parameter, in its unit: one standard deviation along this direction"),
};
TABLE(db_direction_fields, direction_rows);
#undef OF

json_t *db_make_directions(db_document *d, const void *of) {
    const db_fit_result *const r = d->result;
    (void)of;
    return db_json_list(d, &db_direction_fields, r->direction, r->direction_count,
                        sizeof *r->direction);
}

static json_t *values(db_document *d, const void *of) {
    return numbers(d, ((const db_fit_history *)of)->value, d->result->parameter_count);
}

#define OF db_fit_history
static const db_json_field history_rows[] = {
    VALUE(stage, "", "from 0"),
    VALUE(evaluation, "", "within the stage, from 1"),
    VALUE(target, "", "χ² per degree of freedom of the data in use"),
    VALUE(gradient_norm, "", "in the optimizer's coordinates"),
    MADE("values", values, "list", NULL, "", "of the parameters"),
};
TABLE(db_history_fields, history_rows);
#undef OF

json_t *db_make_history(db_document *d, const void *of) {
    const db_fit_result *const r = d->result;
    (void)of;
    return db_json_list(d, &db_history_fields, r->history, r->history_count, sizeof *r->history);
}
