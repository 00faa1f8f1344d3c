/* Reading the command line along the table of flags. */
#include "cli/flags.h"

#include "cli/amorphous.h"
#include "cli/compat_flags.h"
#include "cli/complaint.h"
#include "cli/flag_files.h"
#include "cli/noise_settings.h"
#include "base/nearest_name.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 9, NAME_SIZE = 64, MOST_NAMES = 512 };

/* The arguments still to be read. They are read twice, so that a flag for one axis wins over the
 * one for all axes in whatever order they come: the second time only the former store anything. */
typedef struct reader {
    db_settings *settings;
    db_settings *target; /* where values go */
    int argc, next, second_time;
    int in_order; /* 1: flags count in the order in which they come, as in the reference */
    char **argv;
} reader;

void db_settings_init(db_settings *settings, const char *command) {
    memset(settings, 0, sizeof *settings);
    settings->command = command;
    db_setup_init(&settings->setup);
    settings->roi[0] = -1;
    settings->adc = 40;
    settings->pgm = -1;
    settings->prefix = "grad";
    settings->output_directory = ".";
    settings->printout_pixel[0] = settings->trace_pixel[0] = -1;
    settings->progress = -1;
    settings->digits = 6;
    settings->difference_tolerance = 1e-7;
    settings->contraction_tolerance = 1e-11;
    db_amorphous_leave_open(settings);
    db_noise_leave_open(settings);
}

unsigned db_command_bit(const char *command) {
    const char *name;
    for (unsigned i = 0; (name = db_flag_command_name(i)); i++)
        if (strcmp(name, command) == 0) return 1u << i;
    return DB_FOR_SIM;
}

/* A name without its one or two dashes: both ways of writing are understood. */
static const char *without_dashes(const char *name) {
    if (name[0] != '-') return name;
    return name + (name[1] == '-' ? 2 : 1);
}

/* Copies the next blank-separated word of a list; returns what follows, NULL at the end. */
static const char *next_word(const char *list, char word[NAME_SIZE]) {
    if (!list) return NULL;
    while (*list == ' ') list++;
    if (!*list) return NULL;
    size_t length = strcspn(list, " ");
    const char *const rest = list + length;
    if (length >= NAME_SIZE) length = NAME_SIZE - 1;
    memcpy(word, list, length);
    word[length] = 0;
    return rest;
}

static int has_name(const db_flag *flag, const char *bare) {
    char alias[NAME_SIZE];
    if (strcmp(without_dashes(flag->name), bare) == 0) return 1;
    for (const char *rest = flag->aliases; (rest = next_word(rest, alias));)
        if (strcmp(without_dashes(alias), bare) == 0) return 1;
    return 0;
}

const db_flag *db_flag_named(const char *bare) {
    for (size_t i = 0; i < db_flag_count; i++)
        if (has_name(&db_flags[i], bare)) return &db_flags[i];
    return NULL;
}

static const db_flag *find_flag(const char *token) {
    return token[0] == '-' && token[1] ? db_flag_named(without_dashes(token)) : NULL;
}

static int is_number(const char *token) {
    char *end;
    (void)strtod(token, &end);
    return end != token && !*end;
}

/* A token where a flag should stand. */
static db_status not_a_flag(const reader *in, const char *token, const db_flag *before) {
    const char *command = in->settings->command;
    if (token[0] != '-' || is_number(token)) {
        if (!before)
            return db_complain(command, DB_ERROR_USAGE, "expected a flag, found '%s'", token);
        return db_complain(command, DB_ERROR_USAGE,
                           "%s takes %s%s; expected a flag after it, found '%s'", before->name,
                           before->arguments ? "only " : "no value",
                           before->arguments ? before->arguments : "", token);
    }
    const size_t length = strcspn(token, "=");
    char front[NAME_SIZE];
    snprintf(front, sizeof front, "%.*s", (int)(length < NAME_SIZE ? length : 0), token);
    if (token[length] && find_flag(front))
        return db_complain(command, DB_ERROR_USAGE,
                           "'%s': expected a blank between flag and value: %s %s", token, front,
                           token + length + 1);
    static char names[MOST_NAMES][NAME_SIZE];
    const char *list[MOST_NAMES];
    size_t count = 0;
    const unsigned bit = db_command_bit(command);
    for (size_t i = 0; i < db_flag_count && count < MOST_NAMES; i++) {
        if (!(db_flag_commands(&db_flags[i]) & bit)) continue;
        const char *rest = db_flags[i].aliases;
        next_word(db_flags[i].name, names[count]);
        do list[count] = names[count];
        while (++count < MOST_NAMES && (rest = next_word(rest, names[count])));
    }
    char otherwise[NAME_SIZE];
    snprintf(otherwise, sizeof otherwise, "dualbragg help %s lists all", command);
    return db_complain(command, DB_ERROR_USAGE, "unknown flag '%s'%s", token,
                       db_hint_at_names(front, list, count, otherwise).text);
}

static db_status bad_value(const reader *in, const db_flag *flag, const char *expected,
                           const char *found) {
    char unit[NAME_SIZE + 3] = "";
    if (flag->unit) snprintf(unit, sizeof unit, " (%s)", flag->unit);
    if (found)
        return db_complain(in->settings->command, DB_ERROR_USAGE, "%s: expected %s%s, found '%s'",
                           flag->name, expected, unit, found);
    return db_complain(in->settings->command, DB_ERROR_USAGE,
                       "%s: expected %s%s, found the end of the command line", flag->name, expected,
                       unit);
}

static const char *peek(const reader *in) {
    return in->next < in->argc ? in->argv[in->next] : NULL;
}

static db_status read_number(reader *in, const db_flag *flag, double *value) {
    const char *token = peek(in);
    char *end;
    if (!token) return bad_value(in, flag, "a number", NULL);
    *value = strtod(token, &end);
    if (end == token || *end || isnan(*value) || (isinf(*value) && !flag->infinite))
        return bad_value(in, flag, flag->infinite ? "a number or inf" : "a finite number", token);
    in->next++;
    return DB_OK;
}

static db_status read_integer(reader *in, const db_flag *flag, long minimum, long maximum,
                              long *value) {
    const char *token = peek(in);
    char *end;
    if (!token) return bad_value(in, flag, "a whole number", NULL);
    errno = 0;
    *value = strtol(token, &end, 10);
    if (end == token || *end || errno) return bad_value(in, flag, "a whole number", token);
    if (*value < minimum || *value > maximum)
        return db_complain(in->settings->command, DB_ERROR_INPUT,
                           "%s: expected a whole number from %ld to %ld, found %s", flag->name,
                           minimum, maximum, token);
    in->next++;
    return DB_OK;
}

static void *member(const reader *in, size_t offset) { return (char *)in->target + offset; }

static db_status take_numbers(reader *in, const db_flag *flag) {
    double values[MOST_VALUES], *const target = member(in, flag->member);
    int count = 0;
    while (count < flag->most) {
        const char *token = peek(in);
        /* optional values end at the next flag */
        if (count >= flag->least && (!token || token[0] == '-')) break;
        const db_status status = read_number(in, flag, &values[count]);
        if (status != DB_OK) return status;
        count++;
    }
    for (int i = 0; i < flag->most; i++)
        target[i] = i >= count         ? NAN
                    : flag->reciprocal ? flag->factor / values[i]
                                       : flag->factor * values[i];
    for (int i = 1; i < flag->fill; i++) target[i] = target[0];
    return DB_OK;
}

static db_status take_integers(reader *in, const db_flag *flag) {
    int *const target = member(in, flag->member);
    for (int i = 0; i < flag->most; i++) {
        long value;
        const db_status status = read_integer(in, flag, flag->minimum, INT_MAX, &value);
        if (status != DB_OK) return status;
        target[i] = (int)value;
    }
    for (int i = 1; i < flag->fill; i++) target[i] = target[0];
    return DB_OK;
}

/* nanoBragg stores its seeds negated, so that they are written with either sign: the sign does not
 * count. In nanoBragg a negative argument starts the stream of seed 1. */
static db_status take_seed(reader *in, const db_flag *flag) {
    const long largest = 2147483646;
    const char *const token = peek(in);
    long value;
    const db_status status = read_integer(in, flag, -largest, largest, &value);
    if (status != DB_OK) return status;
    if (value == 0)
        return db_complain(in->settings->command, DB_ERROR_INPUT,
                           "%s: expected a whole number from 1 to %ld (the sign does not count), "
                           "found %s",
                           flag->name, largest, token);
    const long seed = value > 0 ? value : in->in_order ? 1 : -value;
    memcpy(member(in, flag->member), &seed, sizeof seed);
    return DB_OK;
}

static db_status take_text(reader *in, const db_flag *flag) {
    const char *token = peek(in);
    if (!token || !*token || find_flag(token)) return bad_value(in, flag, flag->arguments, token);
    memcpy(member(in, flag->member), &token, sizeof token);
    in->next++;
    return DB_OK;
}

static db_status take_choice(reader *in, const db_flag *flag) {
    const char *token = peek(in);
    char word[NAME_SIZE];
    int index = 0;
    for (const char *rest = flag->words; token && (rest = next_word(rest, word)); index++)
        if (strcmp(word, token) == 0) {
            memcpy(member(in, flag->member), &index, sizeof index);
            in->next++;
            return DB_OK;
        }
    return bad_value(in, flag, flag->arguments, token);
}

static db_status take_misset(reader *in, const db_flag *flag) {
    const char *token = peek(in);
    db_setup *const setup = &in->target->setup;
    setup->misset_random = token && (strcmp(token, "random") == 0 || strcmp(token, "rand") == 0);
    if (setup->misset_random) {
        in->next++;
        return DB_OK;
    }
    if (!token || !is_number(token))
        return bad_value(in, flag, "three angles or the word random", token);
    for (int i = 0; i < 3; i++) {
        const db_status status = read_number(in, flag, &setup->misset[i]);
        if (status != DB_OK) return status;
    }
    return DB_OK;
}

static db_status take_values(reader *in, const db_flag *flag) {
    switch (flag->kind) {
    case DB_FLAG_NUMBER: return take_numbers(in, flag);
    case DB_FLAG_INTEGER: return take_integers(in, flag);
    case DB_FLAG_SEED: return take_seed(in, flag);
    case DB_FLAG_TEXT: return take_text(in, flag);
    case DB_FLAG_CHOICE: return take_choice(in, flag);
    case DB_FLAG_MISSET: return take_misset(in, flag);
    case DB_FLAG_SWITCH: break;
    }
    return DB_OK;
}

/* Once: quiet may come later on the command line, compat too. */
static void remark_no_effect(const reader *in, const db_flag *flag, const char *condition) {
    if (flag->remark && in->second_time && !in->settings->quiet)
        db_remark(in->settings->command, "%s has no effect%s: %s", flag->name, condition,
                  flag->remark);
}

/* Flags without effect: their values are read all the same, so that what follows is understood. */
static db_status skip_values(reader *in, const db_flag *flag) {
    double ignored;
    if (flag->kind == DB_FLAG_TEXT) {
        const db_status status = take_text(in, flag);
        if (status != DB_OK) return status;
    } else
        for (int i = 0; i < flag->most; i++) {
            const db_status status = read_number(in, flag, &ignored);
            if (status != DB_OK) return status;
        }
    remark_no_effect(in, flag, "");
    return DB_OK;
}

/* "sim or grad" */
static void command_names(unsigned commands, char text[NAME_SIZE]) {
    const char *name;
    size_t length = 0;
    text[0] = 0;
    for (unsigned i = 0; (name = db_flag_command_name(i)); i++)
        if (commands & 1u << i && length < NAME_SIZE)
            length += (size_t)snprintf(text + length, NAME_SIZE - length, "%s%s",
                                       length ? " or " : "", name);
}

static db_status take_flag(reader *in, const db_flag *flag) {
    const char *command = in->settings->command;
    if (!(db_flag_commands(flag) & db_command_bit(command))) {
        char names[NAME_SIZE];
        command_names(db_flag_commands(flag), names);
        return db_complain(command, DB_ERROR_USAGE, "%s belongs to dualbragg %s", flag->name,
                           names);
    }
    if (flag->status == DB_FLAG_ACCEPTED) return skip_values(in, flag);
    const db_status status = take_values(in, flag);
    if (status != DB_OK) return status;
    if (flag->status == DB_FLAG_COMPAT && !in->settings->setup.compat)
        remark_no_effect(in, flag, " without -compat");
    if (flag->sets) memcpy(member(in, flag->switch_member), &flag->constant, sizeof flag->constant);
    if (in->in_order) return DB_OK;
    if (flag->vector) in->settings->vector_given = 1;
    /* in whatever order they come: one flag that speaks of the sample settles it */
    if (flag->pivot == DB_IMPLIES_SAMPLE) in->settings->setup.pivot_hint = DB_PIVOT_SAMPLE;
    if (flag->pivot == DB_IMPLIES_BEAM && in->settings->setup.pivot_hint < 0)
        in->settings->setup.pivot_hint = DB_PIVOT_BEAM;
    return DB_OK;
}

/* scratch: where values go that must not count a second time */
static db_status read_all(reader *in, db_settings *scratch) {
    *scratch = *in->settings;
    const db_flag *before = NULL;
    while (in->next < in->argc) {
        const db_flag *flag = find_flag(in->argv[in->next]);
        if (!flag) return not_a_flag(in, in->argv[in->next], before);
        const int value = ++in->next;
        in->target = in->second_time && !in->in_order && flag->fill > 1 ? scratch : in->settings;
        const db_status status = take_flag(in, flag);
        if (status != DB_OK || in->settings->help) return status;
        if (in->in_order)
            db_compat_after_flag(flag, in->argv + value, in->argc - value, in->settings);
        before = flag;
    }
    return DB_OK;
}

db_status db_flags_parse(db_settings *settings, int argc, char **argv) {
    db_settings scratch;
    const db_settings start = *settings;
    for (int second_time = 0; second_time < 2; second_time++) {
        /* orient does as UBtoA with it, which has other habits */
        const int compat =
            settings->setup.compat && db_command_bit(settings->command) != DB_FOR_ORIENT;
        if (compat) {
            *settings = start;
            settings->setup.compat = 1;
        }
        reader in = { .settings = settings,
                      .argc = argc,
                      .next = 1,
                      .second_time = second_time,
                      .in_order = compat,
                      .argv = argv };
        const db_status status = read_all(&in, &scratch);
        if (status != DB_OK || settings->help) return status;
    }
    if (settings->setup.compat && db_command_bit(settings->command) != DB_FOR_ORIENT)
        db_compat_settle(settings);
    else if (settings->seed > 0 && !settings->misset_seed_given)
        settings->setup.misset_seed = settings->seed;
    db_amorphous_settle(settings);
    if (settings->pgm == 0) settings->pgm_file = NULL;
    db_flag_files_settle(settings);
    return DB_OK;
}
