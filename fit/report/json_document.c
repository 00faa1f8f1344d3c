#define _POSIX_C_SOURCE 200809L
#include "fit/report/json_document.h"

#include "base/context_internal.h"

#include <time.h>

json_t *db_document_text(const char *bytes) {
    json_t *const plain = json_string(bytes);
    if (plain) return plain;
    char *const copy = strdup(bytes);
    if (!copy) return NULL;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c > 0x7e) *c = '?';
    json_t *const replaced = json_string(copy);
    free(copy);
    return replaced;
}

json_t *db_document_quantity(const db_document *d, int number_of_it) {
    char name[DB_FIT_NAME_SIZE];
    return json_string(db_fit_quantity_name(d->groups, number_of_it, name));
}

static json_t *key_element(db_document *d, const db_config_key *key, const void *field, int index) {
    switch (key->type) {
    case DB_KEY_NUMBER: return number(((const double *)field)[index] / key->factor);
    case DB_KEY_INTEGER: return json_integer(db_config_integer(field, index));
    case DB_KEY_SEED: return json_integer(((const long *)field)[index]);
    case DB_KEY_CHOICE: return json_string(key->choices[db_config_integer(field, index)]);
    case DB_KEY_FILE:
    case DB_KEY_NAME: return db_document_text(field);
    case DB_KEY_PARAMETER: return db_document_quantity(d, db_config_integer(field, 0));
    case DB_KEY_PARAMETER_SET: break;
    }
    json_t *const names = json_array();
    for (int q = 0; q < DB_FIT_MOST_PARAMETERS; q++)
        if (((const unsigned char *)field)[q]) add(d, names, db_document_quantity(d, q));
    return names;
}

json_t *db_document_section(db_document *d, const db_config_section *section, const void *base) {
    json_t *const object = json_object();
    for (size_t k = 0; k < section->count; k++) {
        const db_config_key *const key = &section->keys[k];
        const void *const field = (const char *)base + key->offset;
        if (db_config_key_is_open(key, base)) continue;
        json_t *value = key->count > 1 ? json_array() : key_element(d, key, field, 0);
        if (key->count > 1)
            for (int i = 0; i < key->count; i++) add(d, value, key_element(d, key, field, i));
        set(d, object, key->name, value);
    }
    return object;
}

json_t *db_document_provenance(db_document *d, const db_fit_config *config) {
    json_t *const object = json_object();
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    set(d, object, "program", json_string("dualbragg"));
    set(d, object, "version", json_string(db_version()));
    set(d, object, "features", json_string(db_features()));
    set(d, object, "command", db_document_text(config->command));
    set(d, object, "configuration", db_document_text(config->config_file));
    set(d, object, "image", db_document_text(config->image_file));
    set(d, object, "date", json_string(date));
    return object;
}

/* Panels of each group of the configuration. */
static json_t *panel_groups(db_document *d, const db_fit_panel_groups *groups) {
    json_t *const object = json_object();
    for (size_t g = 0; g < groups->count; g++) {
        json_t *const panels = json_array();
        for (int p = 0; p < DB_FIT_MOST_PANELS; p++)
            if (groups->of_panel[p] == (short)g) add(d, panels, json_integer(p));
        set(d, object, groups->name[g], panels);
    }
    return object;
}

json_t *db_document_settings(db_document *d, const db_fit_config *config) {
    const db_fit_settings *const settings = &config->settings;
    const int known = settings->intensity == DB_FIT_KNOWN;
    json_t *const object = json_object(), *const stages = json_array();
    set(d, object, "intensity",
        known ? db_document_section(d, &db_config_sections[DB_SECTION_INTENSITY], config)
              : json_string("free"));
    set(d, object, "panel_groups", panel_groups(d, &settings->panel_groups));
    set(d, object, "precision",
        json_string(settings->precision == DB_PRECISION_MIXED ? "mixed" : "double"));
    set(d, object, "starts",
        db_document_section(d, &db_config_sections[DB_SECTION_STARTS], config));
    set(d, object, "data", db_document_section(d, &db_config_sections[DB_SECTION_DATA], config));
    for (size_t s = 0; s < settings->stage_count; s++)
        add(d, stages, db_document_section(d, &db_stage_section, &settings->stages[s]));
    set(d, object, "stages", stages);
    return object;
}

db_document db_document_begin(const db_fit_panel_groups *groups) {
    db_document d = { .groups = groups, .failures = db_json_failures() };
    d.root = json_object();
    return d;
}

db_status db_document_end(db_context *context, db_document *d, db_status status, const char *path) {
    if (status == DB_OK)
        status = db_json_write(context, path, d->incomplete ? NULL : d->root,
                               JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17),
                               d->failures);
    json_decref(d->root);
    d->root = NULL;
    return status;
}
