/* Reads numbers, words, lists and file names from YAML nodes. */
#include "fit/config/config_value.h"

#include "base/shown_text.h"
#include "base/context_internal.h"
#include "base/nearest_name.h"
#include "base/path.h"
#include "base/text_reader.h"
#include "fit/config/algorithms.h"
#include "fit/config/input_files.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/setup_fields.h>

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 128, WHERE_SIZE = 512, WANTED_SIZE = 192 };

static void describe_place(char where[WHERE_SIZE], const db_config_reader *reader,
                           const db_yaml_node *node, int line, const char *section,
                           const char *name) {
    char key[192];
    snprintf(key, sizeof key, "%s%s%.80s", section, *section && *name ? "." : "", name);
    if (node->argument)
        snprintf(where, WHERE_SIZE, "argument '%.200s': %s", node->argument, key);
    else
        snprintf(where, WHERE_SIZE, "%s:%d: %s", reader->path, line, key);
}

static db_status fail_in_line(const db_config_reader *reader, const db_yaml_node *node, int line,
                              const char *section, const char *name, const char *format,
                              va_list arguments) {
    char where[WHERE_SIZE], text[WHERE_SIZE];
    describe_place(where, reader, node, line, section, name);
    db_shown_vformat(text, sizeof text, format, arguments);
    return db_fail(reader->context, DB_ERROR_USAGE, "%s: %s", where, text);
}

db_status db_config_fail(const db_config_reader *reader, const db_yaml_node *node,
                         const char *section, const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const db_status status =
        fail_in_line(reader, node, node->line, section, name, format, arguments);
    va_end(arguments);
    return status;
}

/* As db_config_fail, at the line of the node's key. */
__attribute__((format(printf, 5, 6))) static db_status
fail_at_key(const db_config_reader *reader, const db_yaml_node *node, const char *section,
            const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const db_status status =
        fail_in_line(reader, node, node->key_line, section, name, format, arguments);
    va_end(arguments);
    return status;
}

/* The other section that has a key of this name; NULL if none has. */
static const char *home_of_key(const char *section, const char *name) {
    for (int i = 0; i < DB_SECTION_COUNT; i++) {
        const db_config_section *const other = &db_config_sections[i];
        if (strcmp(other->name, section) != 0 && db_config_key_find(other, name))
            return *other->name ? other->name : "the top level";
    }
    return NULL;
}

db_status db_config_fail_unknown(const db_config_reader *reader, const db_yaml_node *node,
                                 const char *section, const char *name, const char *const *known,
                                 size_t known_count) {
    const char *const home = home_of_key(section, name);
    if (home)
        return fail_at_key(reader, node, section, name, "unknown key here; it belongs to %s", home);
    return fail_at_key(
        reader, node, section, name, "unknown key%s",
        db_hint_at_names(name, known, known_count, "dualbragg fit --show-defaults lists all").text);
}

/* Content of a node, for "found ...". */
static const char *found(const db_yaml_node *node, char text[64]) {
    if (node->kind == DB_YAML_LIST)
        snprintf(text, 64, "a list of %zu", node->count);
    else if (node->kind == DB_YAML_MAP)
        snprintf(text, 64, "a map");
    else if (*node->text == '\0')
        snprintf(text, 64, "nothing");
    else
        snprintf(text, 64, "'%.40s'", node->text);
    return text;
}

db_status db_config_fail_expected(const db_config_reader *reader, const db_yaml_node *node,
                                  const char *section, const char *name, const char *format, ...) {
    char wanted[WHERE_SIZE], text[64];
    va_list arguments;
    va_start(arguments, format);
    db_shown_vformat(wanted, sizeof wanted, format, arguments);
    va_end(arguments);
    return db_config_fail(reader, node, section, name, "expected %s, found %s", wanted,
                          found(node, text));
}

/* Expected content: "a number greater than 0 (mm)", "3 whole numbers from 1 to 10" ... */
static const char *wanted(const db_config_key *key, char text[WANTED_SIZE]) {
    const int whole = key->is->kind != DB_FIELD_NUMBER;
    char count[24], limits[64], unit[40];
    if (key->is->count == 1)
        snprintf(count, sizeof count, "a ");
    else if (key->is->fewest)
        snprintf(count, sizeof count, "a list of %d to %d ", key->is->fewest, key->is->count);
    else
        snprintf(count, sizeof count, "a list of %d ", key->is->count);
    if (key->is->least > 0 && key->is->least < 1e-300)
        snprintf(limits, sizeof limits, " greater than 0");
    else if (key->is->least > -1e300 && key->is->most < (whole ? INT_MAX : 1e300))
        snprintf(limits, sizeof limits, " from %g to %g", key->is->least, key->is->most);
    else if (key->is->least > -1e300)
        snprintf(limits, sizeof limits, " not below %g", key->is->least);
    else
        limits[0] = '\0';
    snprintf(unit, sizeof unit, *key->is->unit ? " (%s)" : "%s", key->is->unit);
    snprintf(text, WANTED_SIZE, "%s%snumber%s%s%s", count, whole ? "whole " : "",
             key->is->count == 1 ? "" : "s", limits, unit);
    return text;
}

/* Checks a value in a struct, with a message about its written form. */
static db_status check_value(db_context *context, const char *what, const db_config_key *key,
                             const void *values, int index) {
    const db_setup_field *const is = key->is;
    const int number = is->kind == DB_FIELD_NUMBER;
    const double value =
        number ? ((const double *)values)[index] / is->factor : db_config_integer(values, index);
    const int open = key->open && (number ? isnan(value) : (int)value == is->open);
    int choices = 0;
    char text[WANTED_SIZE];
    while (is->choices && is->choices[choices]) choices++;
    if (open || (choices ? value >= 0 && value < choices : value >= is->least && value <= is->most))
        return DB_OK;
    if (choices)
        snprintf(text, sizeof text, "0 to %d", choices - 1);
    else
        wanted(key, text);
    return db_fail(context, DB_ERROR_USAGE, "%s: %s %g, expected %s", what, is->name, value, text);
}

db_status db_config_check_part(db_context *context, const char *what,
                               const db_config_section *section, size_t first, size_t size,
                               const void *part) {
    for (size_t k = 0; k < section->count; k++) {
        const db_config_key *const key = &section->keys[k];
        const size_t place = key->base + key->is->offset;
        if (place < first || place >= first + size || key->is->kind == DB_FIELD_SEED ||
            key->is->kind >= DB_FIELD_KINDS)
            continue;
        for (int i = 0; i < key->is->count; i++)
            DB_TRY(check_value(context, what, key, (const char *)part + (place - first), i));
    }
    return DB_OK;
}

static db_status take_number(const db_config_reader *reader, const char *section,
                             const db_config_key *key, const db_yaml_node *node, double *value) {
    char what[WANTED_SIZE];
    const int is_scalar = node->kind == DB_YAML_SCALAR;
    const db_word word = { is_scalar ? node->text : "", is_scalar ? strlen(node->text) : 0 };
    const int whole = key->is->kind != DB_FIELD_NUMBER;
    if (!is_scalar || !db_word_number(word, value) || *value < key->is->least ||
        *value > key->is->most || (whole && *value != nearbyint(*value)))
        return db_config_fail_expected(reader, node, section, key->is->name, "%s",
                                       wanted(key, what));
    return DB_OK;
}

static db_status store_number(const db_config_reader *reader, const char *section,
                              const db_config_key *key, const db_yaml_node *node, int index,
                              void *base) {
    double value = 0;
    DB_TRY(take_number(reader, section, key, node, &value));
    char *const field = db_config_field(key, base);
    if (key->is->kind == DB_FIELD_NUMBER)
        ((double *)(void *)field)[index] = value * key->is->factor;
    else if (key->is->kind == DB_FIELD_INTEGER)
        ((int *)(void *)field)[index] = (int)value;
    else
        ((long *)(void *)field)[index] = (long)value;
    return DB_OK;
}

/* May a list have `count` numbers? The others stay open. */
static int takes_as_many(const db_config_key *key, size_t count) {
    const size_t all = (size_t)key->is->count, fewest = (size_t)key->is->fewest;
    return count == all || (fewest && count >= fewest && count < all);
}

/* Numbers without brackets: 20 20 10, or 20,20,10. */
static db_status take_written_list(const db_config_reader *reader, const char *section,
                                   const db_config_key *key, const db_yaml_node *node, void *base) {
    char what[WANTED_SIZE], number[64];
    const char *cursor = node->text;
    int count = 0;
    for (; count < key->is->count; count++) {
        db_yaml_node one = *node;
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE ",");
        if (!word.length) break;
        snprintf(number, sizeof number, "%.*s", (int)word.length, word.start);
        one.text = number;
        DB_TRY(store_number(reader, section, key, &one, count, base));
    }
    if (!db_next_word(&cursor, DB_WHITE_SPACE ",").length && takes_as_many(key, (size_t)count))
        return DB_OK;
    return db_config_fail_expected(reader, node, section, key->is->name, "%s", wanted(key, what));
}

static db_status take_numbers(const db_config_reader *reader, const char *section,
                              const db_config_key *key, const db_yaml_node *node, void *base) {
    if (key->is->count == 1) return store_number(reader, section, key, node, 0, base);
    char what[WANTED_SIZE];
    if (node->kind == DB_YAML_SCALAR) return take_written_list(reader, section, key, node, base);
    if (node->kind != DB_YAML_LIST || !takes_as_many(key, node->count))
        return db_config_fail_expected(reader, node, section, key->is->name, "%s",
                                       wanted(key, what));
    for (size_t i = 0; i < node->count; i++)
        DB_TRY(store_number(reader, section, key, node->items[i], (int)i, base));
    return DB_OK;
}

static db_status take_choice(const db_config_reader *reader, const char *section,
                             const db_config_key *key, const db_yaml_node *node, void *base) {
    char list[160] = "", text[64];
    int count = 0;
    for (; key->is->choices[count]; count++) {
        if (node->kind == DB_YAML_SCALAR && strcmp(node->text, key->is->choices[count]) == 0) {
            memcpy(db_config_field(key, base), &count, sizeof count);
            return DB_OK;
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "",
                 key->is->choices[count]);
    }
    if (node->kind != DB_YAML_SCALAR || *node->text == '\0')
        return db_config_fail_expected(reader, node, section, key->is->name, "one of %s", list);
    return db_config_fail(reader, node, section, key->is->name, "expected one of %s, found %s%s",
                          list, found(node, text),
                          db_hint_at_names(node->text, key->is->choices, (size_t)count, NULL).text);
}

/* Takes a file name: of the YAML file relative to its folder, of the command line to the working directory. */
static db_status take_file(const db_config_reader *reader, const char *section,
                           const db_config_key *key, const db_yaml_node *node, void *base) {
    if (node->kind != DB_YAML_SCALAR || *node->text == '\0')
        return db_config_fail_expected(reader, node, section, key->is->name, "a file name");
    const int relative = node->text[0] != '/' && !node->argument;
    const int folder = relative ? (int)db_folder_length(reader->path) : 0;
    const int length = snprintf(db_config_field(key, base), DB_FIT_PATH_SIZE, "%.*s%s", folder,
                                reader->path, node->text);
    if (length >= DB_FIT_PATH_SIZE)
        return db_config_fail(reader, node, section, key->is->name,
                              "the file name is longer than %d characters", DB_FIT_PATH_SIZE - 1);
    return DB_OK;
}

typedef struct site_files {
    const db_config_reader *reader;
    const db_yaml_node *node;
} site_files;

/* Finds a file of a curve in the folder of the configuration, as take_file does. */
static db_status find_curve_file(void *user, db_context *context, char name[DB_FIT_PATH_SIZE]) {
    const site_files *const of = user;
    if (name[0] == '/' || of->node->argument) return DB_OK;
    char whole[DB_FIT_PATH_SIZE];
    const int length = snprintf(whole, sizeof whole, "%.*s%s",
                                (int)db_folder_length(of->reader->path), of->reader->path, name);
    if (length >= DB_FIT_PATH_SIZE)
        return db_fail(context, DB_ERROR_USAGE, "%s: the file name is too long", name);
    memcpy(name, whole, sizeof whole);
    return DB_OK;
}

static db_status take_sites(const db_config_reader *reader, const char *section,
                            const db_config_key *key, const db_yaml_node *node, void *base) {
    site_files of = { reader, node };
    if (node->kind != DB_YAML_SCALAR || *node->text == '\0' ||
        strlen(node->text) >= DB_FIT_PATH_SIZE)
        return db_config_fail_expected(reader, node, section, key->is->name,
                                       "kinds of sites such as FES:FE1=curve.tsv,FES:FE2=table:1");
    char *const to = db_config_field(key, base);
    snprintf(to, DB_FIT_PATH_SIZE, "%s", node->text);
    return db_fit_each_curve_file(reader->context, to, find_curve_file, &of);
}

static db_status take_name(const db_config_reader *reader, const char *section,
                           const db_config_key *key, const db_yaml_node *node, void *base) {
    if (node->kind != DB_YAML_SCALAR || *node->text == '\0' ||
        strlen(node->text) >= DB_FIT_NAME_SIZE)
        return db_config_fail_expected(reader, node, section, key->is->name,
                                       "a name of at most %d characters", DB_FIT_NAME_SIZE - 1);
    snprintf(db_config_field(key, base), DB_FIT_NAME_SIZE, "%s", node->text);
    return DB_OK;
}

static db_status take_algorithm(const db_config_reader *reader, const char *section,
                                const db_config_key *key, const db_yaml_node *node, void *base) {
    const char *known[DB_ALGORITHMS_MOST];
    char text[64];
    if (node->kind == DB_YAML_SCALAR &&
        db_stage_take_algorithm(db_config_field(key, base), node->text))
        return DB_OK;
    const size_t count = db_algorithm_names(known);
    return db_config_fail(reader, node, section, key->is->name, "unknown algorithm %s%s",
                          found(node, text),
                          db_hint_at_names(node->kind == DB_YAML_SCALAR ? node->text : "", known,
                                           count, "docs/reference/configuration.md lists them")
                              .text);
}

/* no, yes, or {lattices: N}. */
static db_status take_lattices(const db_config_reader *reader, const char *section,
                               const db_config_key *key, const db_yaml_node *node, void *base) {
    const db_setup_field number = { .name = "lattices",
                                    .kind = DB_FIELD_INTEGER,
                                    .count = 1,
                                    .offset = key->is->offset,
                                    .factor = 1,
                                    .least = 1,
                                    .most = DB_FIT_MOST_LATTICES,
                                    .unit = "" };
    const db_config_key lattices = { .is = &number, .base = key->base };
    const db_config_section map = { "", "", &lattices, 1 };
    char name[DB_FIT_NAME_SIZE];
    const int yes = node->kind == DB_YAML_SCALAR && strcmp(node->text, "yes") == 0;
    if (yes || (node->kind == DB_YAML_SCALAR && strcmp(node->text, "no") == 0)) {
        memcpy(db_config_field(key, base), &yes, sizeof yes);
        return DB_OK;
    }
    if (node->kind != DB_YAML_MAP)
        return db_config_fail_expected(reader, node, section, key->is->name,
                                       "one of no, yes, {lattices: N}");
    snprintf(name, sizeof name, "%s.%s", section, key->is->name);
    return db_config_take_section(reader, name, &map, node, base);
}

/* Refuses parameters that a configuration cannot refine (db_config_takes_parameter), at the node. */
static db_status check_parameter(const db_config_reader *reader, const db_yaml_node *node,
                                 const char *section, const char *key, const char *name,
                                 db_parameter parameter) {
    if (db_config_takes_parameter(parameter)) return DB_OK;
    return db_config_fail(
        reader, node, section, key,
        "%s cannot be refined: the sensor stays as it is given, f' and f'' are refined by "
        "curves.energies, and a configuration has no water or amorphous matter, no list of "
        "sources and no single structure factors",
        name);
}

static const char every_group[] = "panel_groups";

/* Does a name have the form of a motion? Other names with a colon end with numbers, such as "F:1:2:3". */
static int names_motion(const char *name) {
    const char *const colon = strrchr(name, ':');
    return colon && isalpha((unsigned char)colon[1]);
}

/* Name of a motion: "shift_fast" for the parameter "panel_shift_fast". */
static const char *motion_name(int kind) {
    return db_parameter_describe((db_parameter)((int)DB_PANEL_SHIFT_FAST + kind))->name +
           strlen("panel_");
}

static db_status find_motion(const db_config_reader *reader, const char *section, const char *key,
                             const db_yaml_node *node, const char *name, int *kind) {
    const char *known[DB_FIT_GROUP_MOTIONS];
    for (*kind = 0; *kind < DB_FIT_GROUP_MOTIONS; (*kind)++) {
        known[*kind] = motion_name(*kind);
        if (strcmp(known[*kind], name) == 0) return DB_OK;
    }
    return db_config_fail(reader, node, section, key, "groups have no motion '%s'%s", name,
                          db_hint_at_names(name, known, DB_FIT_GROUP_MOTIONS,
                                           "dualbragg grad --list-params lists them as panel_*")
                              .text);
}

static db_status find_group(const db_config_reader *reader, const char *section, const char *key,
                            const db_yaml_node *node, const char *name, int *group) {
    const db_fit_panel_groups *const groups = reader->groups;
    const char *known[DB_FIT_MOST_GROUPS + 1];
    for (size_t g = 0; g < groups->count; g++) {
        known[g] = groups->name[g];
        *group = (int)g;
        if (strcmp(known[g], name) == 0) return DB_OK;
    }
    known[groups->count] = every_group;
    *group = -1;
    if (strcmp(every_group, name) == 0) return DB_OK;
    return db_config_fail(reader, node, section, key, "there is no group '%s'%s", name,
                          db_hint_at_names(name, known, groups->count + 1, NULL).text);
}

static db_status motion_of_group(const db_config_reader *reader, const char *section,
                                 const char *key, const db_yaml_node *node, const char *name,
                                 db_fit_quantity *quantity) {
    const char *const colon = strrchr(name, ':');
    char group_name[DB_FIT_NAME_SIZE];
    int kind, group;
    if (reader->groups->count == 0)
        return db_config_fail(reader, node, section, key,
                              "'%s' is the motion of a group of panels; the section panel_groups "
                              "with groups is missing",
                              name);
    const int length =
        (int)(colon - name) < DB_FIT_NAME_SIZE - 1 ? (int)(colon - name) : DB_FIT_NAME_SIZE - 1;
    memcpy(group_name, name, (size_t)length);
    group_name[length] = '\0';
    DB_TRY(find_group(reader, section, key, node, group_name, &group));
    DB_TRY(find_motion(reader, section, key, node, colon + 1, &kind));
    *quantity = group < 0
                    ? (db_fit_quantity){ DB_CONFIG_EVERY_GROUP + kind }
                    : db_fit_quantity_make((db_parameter)((int)DB_PANEL_SHIFT_FAST + kind), group);
    return DB_OK;
}

db_status db_config_quantity(const db_config_reader *reader, const char *section, const char *key,
                             const db_yaml_node *node, const char *name,
                             db_fit_quantity *quantity) {
    db_parameter parameter;
    if (names_motion(name)) return motion_of_group(reader, section, key, node, name, quantity);
    if (db_parameter_find(reader->context, name, &parameter) == DB_OK) {
        *quantity = db_fit_quantity_make(parameter, -1);
        return check_parameter(reader, node, section, key, name, parameter);
    }
    char message[DB_MESSAGE_SIZE];
    snprintf(message, sizeof message, "%s", db_context_message(reader->context));
    return (name == node->text ? db_config_fail : fail_at_key)(reader, node, section, key, "%s",
                                                               message);
}

static db_status quantity_of(const db_config_reader *reader, const char *section,
                             const db_config_key *key, const db_yaml_node *node,
                             db_fit_quantity *quantity) {
    if (node->kind == DB_YAML_SCALAR && *node->text)
        return db_config_quantity(reader, section, key->is->name, node, node->text, quantity);
    return db_config_fail_expected(reader, node, section, key->is->name, "the name of a parameter");
}

/* Marks a quantity of a list: 1 if it is named, 2 if a name includes all groups. */
static db_status mark_quantity(const db_config_reader *reader, const char *section,
                               const db_config_key *key, const db_yaml_node *node,
                               unsigned char *set) {
    db_fit_quantity quantity = { 0 };
    if (node->kind == DB_YAML_SCALAR && strcmp(node->text, db_curves_name) == 0) {
        memset(set + DB_FIT_FIRST_CURVE, 2, DB_FIT_MOST_QUANTITIES - DB_FIT_FIRST_CURVE);
        return DB_OK;
    }
    DB_TRY(quantity_of(reader, section, key, node, &quantity));
    if (quantity.number >= DB_CONFIG_EVERY_GROUP) {
        const int kind = quantity.number - DB_CONFIG_EVERY_GROUP;
        for (int g = 0; g < (int)reader->groups->count; g++) {
            unsigned char *const one =
                &set[db_fit_quantity_make((db_parameter)((int)DB_PANEL_SHIFT_FAST + kind), g)
                         .number];
            if (*one == 0) *one = 2;
        }
        return DB_OK;
    }
    if (set[quantity.number] == 1)
        return db_config_fail(reader, node, section, key->is->name, "'%s' is named twice",
                              node->text);
    set[quantity.number] = 1;
    return DB_OK;
}

static db_status take_quantities(const db_config_reader *reader, const char *section,
                                 const db_config_key *key, const db_yaml_node *node, void *base) {
    unsigned char *const set = db_config_field(key, base);
    if (key->is->kind == DB_KEY_PARAMETER) {
        db_fit_quantity quantity = { 0 };
        DB_TRY(quantity_of(reader, section, key, node, &quantity));
        if (quantity.number >= DB_CONFIG_EVERY_GROUP)
            return db_config_fail(reader, node, section, key->is->name,
                                  "expected one quantity, found '%s', a name of several",
                                  node->text);
        memcpy(set, &quantity, sizeof quantity);
        return DB_OK;
    }
    if (node->kind == DB_YAML_SCALAR && strcmp(node->text, "all") == 0) {
        memset(set, 2, DB_FIT_MOST_QUANTITIES);
        return DB_OK;
    }
    if (node->kind != DB_YAML_LIST || node->count == 0)
        return db_config_fail_expected(reader, node, section, key->is->name,
                                       "all or a list of parameters");
    memset(set, 0, DB_FIT_MOST_QUANTITIES);
    for (size_t i = 0; i < node->count; i++)
        DB_TRY(mark_quantity(reader, section, key, node->items[i], set));
    return DB_OK;
}

db_status db_config_take(const db_config_reader *reader, const char *section,
                         const db_config_key *key, const db_yaml_node *node, void *base) {
    switch (key->is->kind) {
    case DB_FIELD_NUMBER:
    case DB_FIELD_INTEGER:
    case DB_FIELD_SEED: return take_numbers(reader, section, key, node, base);
    case DB_FIELD_CHOICE: return take_choice(reader, section, key, node, base);
    case DB_KEY_FILE: return take_file(reader, section, key, node, base);
    case DB_KEY_NAME: return take_name(reader, section, key, node, base);
    case DB_KEY_SITES: return take_sites(reader, section, key, node, base);
    case DB_KEY_ALGORITHM: return take_algorithm(reader, section, key, node, base);
    case DB_KEY_LATTICES: return take_lattices(reader, section, key, node, base);
    case DB_KEY_PARAMETER:
    case DB_KEY_PARAMETER_SET: return take_quantities(reader, section, key, node, base);
    }
    return db_config_fail(reader, node, section, key->is->name, "has no reader");
}

db_status db_config_take_section(const db_config_reader *reader, const char *name,
                                 const db_config_section *section, const db_yaml_node *map,
                                 void *base) {
    if (map->kind != DB_YAML_MAP)
        return db_config_fail_expected(reader, map, name, "", "'key: value' lines");
    for (size_t i = 0; i < map->count; i++) {
        const db_config_key *const key = db_config_key_find(section, map->keys[i]);
        if (!key) {
            const char *known[MOST_NAMES];
            for (size_t k = 0; k < section->count; k++) known[k] = section->keys[k].is->name;
            return db_config_fail_unknown(reader, map->items[i], name, map->keys[i], known,
                                          section->count);
        }
        DB_TRY(db_config_take(reader, name, key, map->items[i], base));
    }
    return DB_OK;
}
