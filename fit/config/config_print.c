/* Prints each section with its keys; keys without a value become comments. */
#include "fit/config/config_print.h"

#include "base/context_internal.h"
#include "base/text_stream.h"
#include "fit/config/algorithms.h"
#include "fit/config/config_refine.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMMENT_COLUMN = 44 };

/* The shortest decimal number that reads back as the same double. */
static void print_number(FILE *stream, double value) {
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, stream);
}

void db_yaml_print_text(FILE *stream, const char *text) {
    int plain = isalnum((unsigned char)text[0]) || text[0] == '/' || text[0] == '.';
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("/._-+", *c)) plain = 0;
    if (plain) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            fprintf(stream, "\\x%02x", (unsigned)(unsigned char)*c);
        else
            fputc(*c, stream);
    }
    fputc('"', stream);
}

db_status db_yaml_setting(db_context *context, const char *key, const char *text, char **setting) {
    db_text_stream made;
    *setting = NULL;
    DB_TRY(db_text_stream_open(context, &made));
    fprintf(made.stream, "%s=", key);
    db_yaml_print_text(made.stream, text);
    DB_TRY(db_text_stream_finish(context, &made));
    *setting = made.bytes;
    return DB_OK;
}

static void print_quantities(const unsigned char *set, const db_fit_panel_groups *groups,
                             FILE *stream) {
    const char *separator = "[";
    char name[DB_FIT_NAME_SIZE];
    for (int q = 0; q < DB_FIT_MOST_QUANTITIES; q++) {
        if (!set[q]) continue;
        if (q >= DB_FIT_FIRST_CURVE) { /* all points together */
            fprintf(stream, "%s%s", separator, db_curves_name);
            separator = ", ";
            break;
        }
        fprintf(stream, "%s%s", separator,
                db_fit_quantity_name(groups, (db_fit_quantity){ q }, name));
        separator = ", ";
    }
    fputs("]", stream);
}

static void print_lattices(int count, FILE *stream) {
    if (count > 1)
        fprintf(stream, "{lattices: %d}", count);
    else
        fputs(count ? "yes" : "no", stream);
}

static void print_one(const db_config_key *key, const void *field, int index,
                      const db_fit_panel_groups *groups, FILE *stream) {
    char name[DB_FIT_NAME_SIZE];
    switch (key->is->kind) {
    case DB_FIELD_NUMBER:
        print_number(stream, ((const double *)field)[index] / key->is->factor);
        break;
    case DB_FIELD_INTEGER: fprintf(stream, "%d", db_config_integer(field, index)); break;
    case DB_FIELD_SEED: fprintf(stream, "%ld", ((const long *)field)[index]); break;
    case DB_FIELD_CHOICE: fputs(key->is->choices[db_config_integer(field, index)], stream); break;
    case DB_KEY_ALGORITHM: fputs(db_stage_algorithm(field), stream); break;
    case DB_KEY_LATTICES: print_lattices(db_config_integer(field, index), stream); break;
    case DB_KEY_PARAMETER:
        fputs(db_fit_quantity_name(groups, *(const db_fit_quantity *)field, name), stream);
        break;
    case DB_KEY_FILE:
    case DB_KEY_SITES:
    case DB_KEY_NAME: db_yaml_print_text(stream, field); break;
    case DB_KEY_PARAMETER_SET: print_quantities(field, groups, stream); break;
    }
}

/* Writes a key's value in the struct as YAML; file names unchanged. groups: of the configuration. */
static void print_value(const db_config_key *key, const void *base,
                        const db_fit_panel_groups *groups, FILE *stream) {
    const void *const field = db_config_field(key, base);
    const int count = db_config_key_values(key, base);
    if (key->is->count > 1) fputc('[', stream);
    for (int i = 0; i < count; i++) {
        if (i) fputs(", ", stream);
        print_one(key, field, i, groups, stream);
    }
    if (key->is->count > 1) fputc(']', stream);
}

/* "key: value   # meaning (unit)"; an open key as "# key: example   # meaning; default: ...". */
static void print_line(const db_config_key *key, const void *base,
                       const db_fit_panel_groups *groups, const char *indent, db_config_style style,
                       FILE *stream) {
    const int open = db_config_key_is_open(key, base);
    if (open && style == DB_CONFIG_PLAIN) return;
    const long start = ftell(stream);
    fprintf(stream, "%s%s%s: ", indent, open ? "# " : "", key->is->name);
    if (open)
        fputs(key->example, stream);
    else
        print_value(key, base, groups, stream);
    if (style == DB_CONFIG_EXPLAINED) {
        const long width = ftell(stream) - start;
        fprintf(stream, "%*s # %s", width < COMMENT_COLUMN ? (int)(COMMENT_COLUMN - width) : 0, "",
                key->is->help);
        for (int i = 0; key->is->choices && key->is->choices[i]; i++)
            fprintf(stream, "%s %s", i ? "," : "; one of", key->is->choices[i]);
        if (*key->is->unit) fprintf(stream, " (%s)", key->is->unit);
        if (open) fprintf(stream, "; default: %s", key->open);
    }
    fputc('\n', stream);
}

static void print_section(const db_config_section *section, const void *base, const char *indent,
                          db_config_style style, FILE *stream) {
    for (size_t i = 0; i < section->count; i++)
        print_line(&section->keys[i], base, NULL, indent, style, stream);
}

static void print_heading(const db_config_section *section, db_config_style style, FILE *stream) {
    if (style == DB_CONFIG_EXPLAINED)
        fprintf(stream, "\n%s: # %s\n", section->name, section->help);
    else
        fprintf(stream, "%s:\n", section->name);
}

/* A section that fills the configuration, with its heading. */
static void print_part(const db_fit_config *config, int part, db_config_style style, FILE *stream) {
    print_heading(&db_config_sections[part], style, stream);
    print_section(&db_config_sections[part], config, "  ", style, stream);
}

static void print_panels(const db_fit_panel_groups *groups, size_t group, FILE *stream) {
    const char *separator = "";
    for (size_t p = 0; p < groups->panel_count; p++) {
        if (groups->of_panel[p] != (short)group) continue;
        size_t last = p;
        while (db_fit_panel_groups_of(groups, last + 1) == (int)group) last++;
        fprintf(stream, last > p ? "%s%zu-%zu" : "%s%zu", separator, p, last);
        separator = ", ";
        p = last;
    }
}

static void print_panel_groups(const db_fit_panel_groups *groups, db_config_style style,
                               FILE *stream) {
    if (style == DB_CONFIG_EXPLAINED)
        fputs("\n# rigid groups of panels, numbered from 0 (not for a detector of one panel):\n# "
              "panel_groups:\n#   quadrant_0: [0-15]\n#   quadrant_1: [16-24, 26, 28-31]\n# or "
              "each panel of model.expt, or the modules of a single panel, as panel_0, panel_1 "
              "...:\n# panel_groups: panels\n# or groups of its hierarchy, as group_0, group_1 ... "
              "(level 0: the whole detector):\n# panel_groups: level 1\n",
              stream);
    if (groups->count == 0) return;
    fputs("panel_groups:\n", stream);
    for (size_t g = 0; g < groups->count; g++) {
        fprintf(stream, "  %s: [", groups->name[g]);
        print_panels(groups, g, stream);
        fputs("]\n", stream);
    }
}

/* Prints a section as comments. */
static void print_as_comment(const db_fit_config *config, int part, FILE *stream) {
    const db_config_section *const section = &db_config_sections[part];
    fprintf(stream, "# %s:\n", section->name);
    for (size_t i = 0; i < section->count; i++) {
        fputs("# ", stream);
        print_line(&section->keys[i], config, NULL, "  ", DB_CONFIG_EXPLAINED, stream);
    }
}

static void print_intensity(const db_fit_config *config, db_config_style style, FILE *stream) {
    const char *const rule = config->settings.joint.wanted ? "joint" : "free";
    if (config->settings.intensity == DB_FIT_KNOWN) {
        print_part(config, DB_SECTION_INTENSITY, style, stream);
    } else if (style == DB_CONFIG_PLAIN) {
        fprintf(stream, "intensity: %s\n", rule);
    } else {
        fprintf(stream,
                "\n# free: each spot has its own intensity; joint: many shots share one intensity "
                "for each reflection (intensities); or known structure factors:\nintensity: %s\n",
                rule);
        print_as_comment(config, DB_SECTION_INTENSITY, stream);
    }
}

/* Prints a section that is only of use with others; as a comment if it is not used. */
static void print_special(const db_fit_config *config, int part, int used, db_config_style style,
                          FILE *stream) {
    if (used) {
        print_part(config, part, style, stream);
    } else if (style == DB_CONFIG_EXPLAINED) {
        fprintf(stream, "\n# %s:\n", db_config_sections[part].help);
        print_as_comment(config, part, stream);
    }
}

static void print_refine(const db_fit_config *config, db_config_style style, FILE *stream) {
    const db_fit_settings *const settings = &config->settings;
    if (config->automatic && !settings->parameter_count) return; /* parameters are open */
    print_heading(&db_refine_section, style, stream);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (db_fit_parameter_is_of_curve(p)) continue; /* written in the section curves */
        const int ranged = !isnan(p->range);
        char name[DB_FIT_NAME_SIZE];
        const db_parameter_facts *const possible =
            db_facts_of(p->parameter); /* default of the parameter */
        const db_refine_entry entry = { p->range,
                                        ranged || p->lower <= possible->least ? NAN : p->lower,
                                        ranged || p->upper >= possible->most ? NAN : p->upper,
                                        p->scale,
                                        p->follows,
                                        { p->prior[1] < INFINITY ? p->prior[0] : NAN, p->prior[1] },
                                        p->shared,
                                        p->earned };
        fprintf(stream, "  %s:",
                db_fit_quantity_name(&settings->panel_groups, db_fit_quantity_of(p), name));
        const char *separator = " {";
        for (size_t k = 0; k < db_refine_section.count; k++) {
            const db_config_key *const key = &db_refine_section.keys[k];
            if (db_config_key_is_open(key, &entry)) continue;
            fprintf(stream, "%s%s: ", separator, key->is->name);
            print_value(key, &entry, &settings->panel_groups, stream);
            separator = ", ";
        }
        fputs(*separator == ',' ? "}\n" : "\n", stream);
    }
    if (style == DB_CONFIG_PLAIN) return;
    fputs("# each parameter takes, in its own unit:\n", stream);
    for (size_t k = 0; k < db_refine_section.count; k++)
        print_line(&db_refine_section.keys[k], &db_refine_default, NULL, "#    ", style, stream);
    fputs("# parameters:\n", stream);
    for (int p = 0; p < DB_PARAMETER_COUNT; p++) {
        const db_parameter_info *const info = db_parameter_describe((db_parameter)p);
        if (db_config_takes_parameter((db_parameter)p))
            fprintf(stream, "#    %-21s %s (%s)\n", info->name, info->description, info->unit);
    }
    fputs("# motions of a group of panels, from its start: shifts along the axes of the detector, "
          "turns about its centre:\n#    GROUP:shift_fast, GROUP:shift_slow, GROUP:shift_normal "
          "(mm)\n#    GROUP:turn_fast, GROUP:turn_slow, GROUP:turn_normal (deg)\n#    "
          "panel_groups:shift_fast ... for all groups without an entry of their own\n",
          stream);
}

static void print_stages(const db_fit_settings *settings, db_config_style style, FILE *stream) {
    if (settings->stage_count) print_heading(&db_stage_section, style, stream);
    for (size_t s = 0; s < settings->stage_count; s++) {
        const char *indent = "  - ";
        const db_stage_entry entry = db_stage_entry_of(settings, s);
        for (size_t k = 0; k < db_stage_section.count; k++) {
            const db_config_key *const key = &db_stage_section.keys[k];
            if (db_config_key_is_open(key, &entry)) continue; /* a stage without a name */
            print_line(key, &entry, &settings->panel_groups, indent,
                       s == 0 ? style : DB_CONFIG_PLAIN, stream);
            indent = "    ";
        }
    }
}

void db_fit_config_print(const db_fit_config *config, db_config_style style, FILE *stream) {
    print_section(&db_config_sections[DB_SECTION_TOP], config, "", style, stream);
    print_part(config, DB_SECTION_MODEL, style, stream);
    print_panel_groups(&config->settings.panel_groups, style, stream);
    print_intensity(config, style, stream);
    print_refine(config, style, stream);
    print_part(config, DB_SECTION_STARTS, style, stream);
    print_stages(&config->settings, style, stream);
    print_part(config, DB_SECTION_DATA, style, stream);
    if (style == DB_CONFIG_PLAIN && !*config->shot_list) return;
    print_part(config, DB_SECTION_SHOTS, style, stream);
    print_special(config, DB_SECTION_AMPLITUDES, db_fit_config_merges(config), style, stream);
    print_special(config, DB_SECTION_CURVES, db_fit_refines_curves(&config->settings), style,
                  stream);
}
