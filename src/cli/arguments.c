#include "cli/arguments.h"

#include "cli/complaint.h"
#include "base/nearest_name.h"

#include <dualbragg/expert/setup_fields.h>

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = DB_FLAG_NAME_SIZE, TEXT_SIZE = 128, MOST_NAMES = 512, LARGEST_INDEX = 1000000 };

static const long LARGEST_SEED = 2147483646;

typedef struct reader {
    const db_flag_table *table;
    char **argv;
    int argc, next;
    const char *name;   /* of the flag that is read */
    const char *joined; /* value of --flag=value, if it is next; else NULL */
    int compat;         /* 1: -compat is among the arguments */
} reader;

const char *db_next_flag_word(const char *list, char word[NAME_SIZE]) {
    if (!list) return NULL;
    while (*list == ' ') list++;
    if (!*list) return NULL;
    const size_t length = strcspn(list, " ");
    snprintf(word, NAME_SIZE, "%.*s", (int)length, list);
    return list + length;
}

/* A name without its one or two dashes, both of which are accepted. */
static const char *without_dashes(const char *name) {
    if (name[0] != '-') return name;
    return name + (name[1] == '-' ? 2 : 1);
}

/* The 12 of "scale12" for "scale"; 0 if the name is no numbered flag. */
static size_t index_of(const char *name, const char *bare) {
    const size_t length = strlen(name);
    char *end;
    if (strncmp(name, bare, length) != 0 || bare[length] < '1' || bare[length] > '9') return 0;
    const long number = strtol(bare + length, &end, 10);
    return *end || number > LARGEST_INDEX ? 0 : (size_t)number;
}

static int has_name(const db_flag *flag, const char *bare) {
    char alias[NAME_SIZE];
    const char *const name = without_dashes(flag->name);
    if (flag->numbered ? index_of(name, bare) > 0 : strcmp(name, bare) == 0) return 1;
    for (const char *rest = flag->aliases; (rest = db_next_flag_word(rest, alias));)
        if (strcmp(without_dashes(alias), bare) == 0) return 1;
    return 0;
}

void db_flag_complete(db_flag *flag, size_t setup) {
    static const db_flag_kind kinds[] = { [DB_FIELD_NUMBER] = DB_FLAG_NUMBER,
                                          [DB_FIELD_INTEGER] = DB_FLAG_INTEGER,
                                          [DB_FIELD_SEED] = DB_FLAG_SEED,
                                          [DB_FIELD_CHOICE] = DB_FLAG_CHOICE };
    const db_setup_field *const field = flag->field;
    if (!field) return;
    const size_t size = field->kind == DB_FIELD_NUMBER ? sizeof(double) : sizeof(int);
    const int one = flag->element || flag->fill > 1;
    flag->kind = kinds[field->kind];
    flag->most = one ? 1 : field->count;
    if (!flag->least) flag->least = flag->most;
    flag->member = setup + field->offset + (flag->element ? (size_t)flag->element - 1 : 0) * size;
    flag->factor = field->factor;
    flag->minimum = field->open == 0 ? 0 : field->least;
    flag->choices = field->choices;
    if (!flag->unit && *field->unit) flag->unit = field->unit;
    if (!flag->help) flag->help = field->help;
}

const db_flag *db_flag_named(const db_flag_table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++)
        if (has_name(&table->flags[i], without_dashes(name))) return &table->flags[i];
    return NULL;
}

/* Bits of the commands that take a flag. */
static unsigned flag_commands(const db_flag_table *table, const db_flag *flag) {
    if (!table->bit) return 0;
    return (flag->commands ? flag->commands : table->group_commands[flag->group]) | flag->also;
}

int db_flag_is_taken(const db_flag_table *table, const db_flag *flag) {
    return !table->bit || (flag_commands(table, flag) & table->bit);
}

void db_flag_command_names(const db_flag_table *table, const db_flag *flag, const char *between,
                           char text[NAME_SIZE]) {
    const unsigned bits = flag_commands(table, flag);
    size_t length = 0;
    text[0] = 0;
    for (unsigned i = 0; bits && table->commands[i]; i++)
        if (bits & 1u << i && length < NAME_SIZE)
            length += (size_t)snprintf(text + length, NAME_SIZE - length, "%s%s",
                                       length ? between : "", table->commands[i]);
}

static const db_flag *flag_at(const db_flag_table *table, const char *token) {
    return token[0] == '-' && token[1] ? db_flag_named(table, token) : NULL;
}

static int is_number(const char *token) {
    char *end;
    (void)strtod(token, &end);
    return end != token && !*end;
}

static db_status unknown_flag(const db_flag_table *table, const char *token, const char *front) {
    static char names[MOST_NAMES][NAME_SIZE];
    const char *list[MOST_NAMES];
    size_t count = 0;
    assert(table->flags);
    for (size_t i = 0; i < table->count && count < MOST_NAMES; i++) {
        if (!db_flag_is_taken(table, &table->flags[i])) continue;
        const char *rest = table->flags[i].aliases;
        db_next_flag_word(table->flags[i].name, names[count]);
        do list[count] = names[count];
        while (++count < MOST_NAMES && (rest = db_next_flag_word(rest, names[count])));
    }
    char otherwise[NAME_SIZE];
    snprintf(otherwise, sizeof otherwise, "dualbragg help %s lists all", table->command);
    return db_complain(table->command, DB_ERROR_USAGE, "unknown flag '%s'%s", token,
                       db_hint_at_names(front, list, count, otherwise).text);
}

/* Fails at a token that should be a flag. */
static db_status not_a_flag(const db_flag_table *table, const char *token, const db_flag *before) {
    if (token[0] != '-' || is_number(token)) {
        if (!before)
            return db_complain(table->command, DB_ERROR_USAGE, "expected a flag, found '%s'",
                               token);
        return db_complain(table->command, DB_ERROR_USAGE,
                           "%s takes %s%s; expected a flag after it, found '%s'", before->name,
                           before->arguments ? "only " : "no value",
                           before->arguments ? before->arguments : "", token);
    }
    const size_t length = strcspn(token, "=");
    char front[NAME_SIZE];
    snprintf(front, sizeof front, "%.*s", (int)(length < NAME_SIZE ? length : 0), token);
    return unknown_flag(table, length < NAME_SIZE ? front : token, front);
}

static db_status bad_value(const reader *in, const db_flag *flag, const char *expected,
                           const char *found) {
    const char *const command = in->table->command;
    char unit[NAME_SIZE + 3] = "";
    if (flag->unit) snprintf(unit, sizeof unit, " (%s)", flag->unit);
    if (found)
        return db_complain(command, DB_ERROR_USAGE, "%s: expected %s%s, found '%s'", in->name,
                           expected, unit, found);
    return db_complain(command, DB_ERROR_USAGE,
                       "%s: expected %s%s, found the end of the command line", in->name, expected,
                       unit);
}

static const char *peek(const reader *in) {
    if (in->joined) return in->joined;
    return in->next < in->argc ? in->argv[in->next] : NULL;
}

static void next_argument(reader *in) {
    if (!in->joined) in->next++;
    in->joined = NULL;
}

/* "a finite number", "a number from 0 to 1" */
static void describe_number(const db_flag *flag, char text[TEXT_SIZE]) {
    char most[32] = "";
    if (flag->maximum > 0) snprintf(most, sizeof most, " to %.10g", flag->maximum);
    if (flag->expected && !flag->words)
        snprintf(text, TEXT_SIZE, "%s", flag->expected);
    else if (flag->reciprocal)
        snprintf(text, TEXT_SIZE, "a positive number");
    else if (flag->ranged)
        snprintf(text, TEXT_SIZE, "a number from %.10g%s", flag->minimum, most);
    else
        snprintf(text, TEXT_SIZE, "%s", flag->infinite ? "a number or inf" : "a finite number");
}

/* Is a number below a flag's range an open one, as for the reference? Then it becomes the field's open value, or
 * one that any number below the range stands for. */
static int is_open(const reader *in, const db_flag *flag, double *value) {
    if (!in->compat || !flag->open_below || !(*value < flag->minimum)) return 0;
    *value = flag->field ? flag->field->open : flag->minimum - 1;
    return 1;
}

static db_status read_number(reader *in, const db_flag *flag, double *value) {
    const char *const token = peek(in);
    char *end, expected[TEXT_SIZE];
    if (!token) return bad_value(in, flag, "a number", NULL);
    *value = strtod(token, &end);
    const int beyond = (flag->reciprocal && !(*value > 0)) ||
                       (flag->ranged && !is_open(in, flag, value) &&
                        (*value < flag->minimum || (flag->maximum > 0 && *value > flag->maximum)));
    if (end == token || *end || isnan(*value) || (isinf(*value) && !flag->infinite) || beyond) {
        describe_number(flag, expected);
        return bad_value(in, flag, expected, token);
    }
    next_argument(in);
    return DB_OK;
}

static db_status out_of_range(const reader *in, const db_flag *flag, const char *token) {
    const db_status status = DB_ERROR_USAGE;
    const char *const command = in->table->command;
    if (flag->expected)
        return db_complain(command, status, "%s: expected %s, found %s", flag->name, flag->expected,
                           token);
    if (flag->kind == DB_FLAG_SEED)
        return db_complain(command, status, "%s: expected a whole number from %ld to %ld, found %s",
                           flag->name, -LARGEST_SEED, LARGEST_SEED, token);
    if (flag->maximum > 0)
        return db_complain(command, status, "%s: expected a whole number from %g to %g, found %s",
                           flag->name, flag->minimum, flag->maximum, token);
    return db_complain(command, status, "%s: expected a whole number from %g, found '%s'",
                       flag->name, flag->minimum, token);
}

static db_status read_integer(reader *in, const db_flag *flag, double *value) {
    const char *const token = peek(in);
    char *end;
    if (!token) return bad_value(in, flag, "a whole number", NULL);
    errno = 0;
    const long number = strtol(token, &end, 10);
    if (end == token || *end || errno) return bad_value(in, flag, "a whole number", token);
    *value = (double)number;
    const int seed = flag->kind == DB_FLAG_SEED;
    const double least = seed ? -(double)LARGEST_SEED : flag->minimum;
    const double most = seed ? (double)LARGEST_SEED : flag->maximum > 0 ? flag->maximum : INT_MAX;
    if (!is_open(in, flag, value) && (*value < least || *value > most))
        return out_of_range(in, flag, token);
    if (seed && number == 0)
        return db_complain(in->table->command, DB_ERROR_USAGE,
                           "%s: expected a whole number from 1 to %ld (the sign does not count), "
                           "found %s",
                           flag->name, LARGEST_SEED, token);
    next_argument(in);
    return DB_OK;
}

static int is_one_of_words(const char *list, const char *token) {
    char word[NAME_SIZE];
    for (const char *rest = list; token && (rest = db_next_flag_word(rest, word));)
        if (strcmp(word, token) == 0) return 1;
    return 0;
}

static db_status take_number(reader *in, const db_flag *flag, db_argument *taken) {
    double *const value = &taken->number[taken->count];
    const db_status status =
        flag->kind == DB_FLAG_NUMBER ? read_number(in, flag, value) : read_integer(in, flag, value);
    if (status == DB_OK) taken->count++;
    return status;
}

static const char separators[] = ", ";

static int begins_as_number(const char *token) {
    char *end;
    (void)strtod(token, &end);
    return end != token && (!*end || strchr(separators, *end));
}

/* Do optional values end here? They end at the next flag; among words, at a word that does not begin like a
 * number. */
static int ends_values(const reader *in, const char *token) {
    if (!token || token[0] == '-') return 1;
    return in->table->takes_words && !begins_as_number(token);
}

/* The numbers of one argument, "78,78,38" or "78 78 38". */
static db_status take_list(reader *in, const db_flag *flag, db_argument *taken) {
    const char *const whole = peek(in);
    const int joined = in->joined != NULL;
    for (const char *rest = whole; *rest;) {
        char number[NAME_SIZE];
        const size_t length = strcspn(rest, separators);
        if (taken->count == flag->most) return bad_value(in, flag, flag->arguments, whole);
        snprintf(number, sizeof number, "%.*s", (int)length, rest);
        in->joined = number;
        const db_status status = take_number(in, flag, taken);
        in->joined = NULL;
        if (status != DB_OK) return status;
        rest += length + (rest[length] != 0);
        rest += strspn(rest, " ");
    }
    if (!joined) in->next++;
    return taken->count < flag->least && whole[strlen(whole) - 1] != ','
               ? bad_value(in, flag, flag->arguments, whole)
               : DB_OK;
}

/* 1: another number follows, as after "78," and "78". */
static int goes_on(const char *token) {
    const char *const separator = strpbrk(token, separators);
    return !separator || token[strlen(token) - 1] == ',';
}

static db_status take_numbers(reader *in, const db_flag *flag, db_argument *taken) {
    const char *const first = peek(in);
    if (is_one_of_words(flag->words, first)) {
        taken->by_word = 1;
        next_argument(in);
        return DB_OK;
    }
    if (flag->words && flag->expected && (!first || !begins_as_number(first)))
        return bad_value(in, flag, flag->expected, first);
    while (taken->count < flag->most) {
        const char *const token = peek(in);
        if (taken->count >= flag->least && ends_values(in, token)) break;
        const int is_list = flag->most > 1 && token && strpbrk(token, separators);
        const db_status status = (is_list ? take_list : take_number)(in, flag, taken);
        if (status != DB_OK) return status;
        if (is_list && !goes_on(token)) break;
    }
    return DB_OK;
}

static db_status take_text(reader *in, const db_flag *flag, db_argument *taken) {
    const char *const token = peek(in);
    if (!token || !*token || flag_at(in->table, token))
        return bad_value(in, flag, flag->arguments, token);
    taken->text = token;
    next_argument(in);
    return DB_OK;
}

static db_status take_choice(reader *in, const db_flag *flag, db_argument *taken) {
    const char *const token = peek(in);
    int number = 0;
    while (flag->choices[number] && (!token || strcmp(flag->choices[number], token) != 0)) number++;
    if (!flag->choices[number]) return bad_value(in, flag, flag->arguments, token);
    taken->number[taken->count++] = number;
    next_argument(in);
    return DB_OK;
}

static db_status take_values(reader *in, const db_flag *flag, db_argument *taken) {
    in->name = flag->numbered ? in->argv[in->next - 1] : flag->name;
    switch (flag->kind) {
    case DB_FLAG_NUMBER:
    case DB_FLAG_INTEGER:
    case DB_FLAG_SEED: return take_numbers(in, flag, taken);
    case DB_FLAG_TEXT: return take_text(in, flag, taken);
    case DB_FLAG_CHOICE: return take_choice(in, flag, taken);
    case DB_FLAG_SWITCH: break;
    }
    if (!in->joined) return DB_OK;
    return db_complain(in->table->command, DB_ERROR_USAGE, "%s takes no value, found '%s'",
                       flag->name, in->joined);
}

/* The flag of a token; for --flag=value the value is next. */
static const db_flag *take_name(reader *in, const char *token) {
    char front[NAME_SIZE];
    const size_t length = strcspn(token, "=");
    const db_flag *const flag = flag_at(in->table, token);
    if (flag || !token[length] || length >= NAME_SIZE) return flag;
    snprintf(front, sizeof front, "%.*s", (int)length, token);
    in->joined = token + length + 1;
    return flag_at(in->table, front);
}

static db_status take_flag(reader *in, const db_flag *before, db_argument *taken) {
    const char *const token = in->argv[in->next];
    const db_flag *const flag = take_name(in, token);
    const char *const command = in->table->command;
    if (!flag) return not_a_flag(in->table, token, before);
    in->next++;
    taken->flag = flag;
    taken->index = flag->numbered ? index_of(without_dashes(flag->name), without_dashes(token)) : 0;
    taken->after = in->argv + in->next;
    taken->after_count = in->argc - in->next;
    if (!db_flag_is_taken(in->table, flag)) {
        char names[NAME_SIZE];
        db_flag_command_names(in->table, flag, " or ", names);
        return db_complain(command, DB_ERROR_USAGE, "%s belongs to dualbragg %s", flag->name,
                           names);
    }
    if (flag->status == DB_FLAG_REFUSED)
        return db_complain(command, DB_ERROR_UNSUPPORTED, "%s %s", flag->name, flag->remark);
    return take_values(in, flag, taken);
}

static int is_given(const db_arguments *arguments, const db_flag *flag) {
    int given = 0;
    for (size_t i = 0; i < arguments->count; i++) given |= arguments->argument[i].flag == flag;
    return given;
}

/* Refuses flags without effect, because another one is missing. */
static db_status check_needs(const db_arguments *arguments, const db_flag_table *table) {
    for (size_t i = 0; i < arguments->count; i++) {
        const db_flag *const flag = arguments->argument[i].flag;
        char name[NAME_SIZE], text[4 * NAME_SIZE] = "";
        int met = !flag || !flag->needs;
        for (const char *rest = met ? NULL : flag->needs;
             rest && (rest = db_next_flag_word(rest, name));) {
            met |= is_given(arguments, db_flag_named(table, name));
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " or " : "",
                     name);
        }
        if (!met)
            return db_complain(table->command, DB_ERROR_USAGE,
                               "%s has no effect without %s; expected both", flag->name, text);
    }
    return DB_OK;
}

db_status db_arguments_read(db_arguments *arguments, const db_flag_table *table, int argc,
                            char **argv) {
    reader in = { .table = table, .argc = argc, .next = 1, .argv = argv };
    for (int i = 1; i < argc; i++)
        in.compat |= *argv[i] == '-' && strcmp(without_dashes(argv[i]), "compat") == 0;
    const db_flag *before = NULL;
    arguments->count = 0;
    arguments->argument = calloc((size_t)argc, sizeof *arguments->argument);
    if (!arguments->argument)
        return db_complain(table->command, DB_ERROR_MEMORY, "out of memory for the arguments");
    while (in.next < argc && !(before && before->ends)) {
        db_argument *const taken = &arguments->argument[arguments->count++];
        const char *const token = argv[in.next];
        if (table->takes_words && (token[0] != '-' || !token[1])) {
            taken->text = token;
            in.next++;
            continue;
        }
        const db_status status = take_flag(&in, before, taken);
        if (status != DB_OK) return status;
        before = taken->flag;
    }
    return before && before->ends ? DB_OK : check_needs(arguments, table);
}

void db_arguments_clear(db_arguments *arguments) {
    free(arguments->argument);
    *arguments = (db_arguments){ 0 };
}

double db_argument_value(const db_argument *given, int i) {
    const db_flag *const flag = given->flag;
    const double factor = flag->factor != 0 ? flag->factor : 1;
    return i >= given->count  ? NAN
           : flag->reciprocal ? factor / given->number[i]
                              : factor * given->number[i];
}

static void store_numbers(const db_argument *given, double *target) {
    const db_flag *const flag = given->flag;
    for (int i = 0; i < flag->most; i++) target[i] = db_argument_value(given, i);
    for (int i = 1; i < flag->fill; i++) target[i] = target[0];
}

static void store_integers(const db_argument *given, int *target) {
    for (int i = 0; i < given->count; i++) target[i] = (int)given->number[i];
    for (int i = 1; i < given->flag->fill; i++) target[i] = target[0];
}

/* nanoBragg stores seeds negated, so they may be written with either sign. */
static void store_seed(const db_argument *given, long *target) {
    *target = labs((long)given->number[0]);
}

void db_argument_store(const db_argument *given, void *target) {
    const db_flag *const flag = given->flag;
    void *const member = (char *)target + flag->member;
    if (flag->status == DB_FLAG_ACCEPTED || flag->by_command) return;
    if (flag->words && flag->kind == DB_FLAG_NUMBER)
        memcpy((char *)target + flag->word_member, &given->by_word, sizeof given->by_word);
    switch (flag->kind) {
    case DB_FLAG_NUMBER:
        if (!given->by_word) store_numbers(given, member);
        break;
    case DB_FLAG_INTEGER:
    case DB_FLAG_CHOICE: store_integers(given, member); break;
    case DB_FLAG_SEED: store_seed(given, member); break;
    case DB_FLAG_TEXT: memcpy(member, &given->text, sizeof given->text); break;
    case DB_FLAG_SWITCH: break;
    }
    if (flag->sets)
        memcpy((char *)target + flag->switch_member, &flag->constant, sizeof flag->constant);
}
