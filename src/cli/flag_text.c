/* A table of flags as text for terminals. */
#define _POSIX_C_SOURCE 200809L /* strncasecmp */
#include "cli/help.h"

#include <dualbragg/expert/setup_fields.h>

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { TEXT_COLUMN = 34, LINE_WIDTH = 100, LINE_SIZE = 512 };

/* Default value of a set-up's number. */
static double default_of(const db_setup_field *field) {
    db_setup setup;
    db_setup_init(&setup);
    const void *const value = (const char *)&setup + field->offset;
    return field->kind == DB_FIELD_SEED ? (double)*(const long *)value
                                        : *(const double *)value / field->factor;
}

void db_flag_describe(const db_flag *flag, char text[DB_FLAG_HELP_SIZE]) {
    const db_setup_field *const field = flag->field;
    char other[DB_FLAG_NAME_SIZE];
    int length = snprintf(text, DB_FLAG_HELP_SIZE, "%s", flag->help);
    int others = 0;
    for (const char *rest = flag->needs; (rest = db_next_flag_word(rest, other)); others++)
        length += snprintf(text + length, DB_FLAG_HELP_SIZE - (size_t)length, "%s%s",
                           others ? " or " : "; only with ", other);
    const size_t room = DB_FLAG_HELP_SIZE - (size_t)length;
    if (!field || flag->help != field->help) return;
    if (field->automatic)
        snprintf(text + length, room, "; default %s", field->automatic);
    else if (field->count == 1 && field->kind != DB_FIELD_CHOICE)
        snprintf(text + length, room, "; default %.9g", default_of(field));
}

void db_flag_argument_words(const db_flag *flag, char words[DB_WORDS_SIZE]) {
    const char *const list = flag->arguments;
    words[0] = 0;
    if (!list || !strchr(list, '|') || strchr(list, ' ')) return;
    snprintf(words, DB_WORDS_SIZE, "%s", list);
    for (char *c = words; *c; c++)
        if (*c == '|') *c = ' ';
}

/* Prints a text in the right-hand column, from a cursor at `column`. */
static void print_column(FILE *out, int column, const char *text) {
    if (column >= TEXT_COLUMN) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", TEXT_COLUMN - column, "");
    column = TEXT_COLUMN;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > TEXT_COLUMN && column + 1 + length > LINE_WIDTH) {
            fprintf(out, "\n%*s", TEXT_COLUMN, "");
            column = TEXT_COLUMN;
        } else if (column > TEXT_COLUMN) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, (size_t)length, out);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void print_flag(FILE *out, const db_flag_table *table, const db_flag *flag,
                       const char *title) {
    char text[2 * LINE_SIZE], help[DB_FLAG_HELP_SIZE], unit[DB_FLAG_NAME_SIZE] = "";
    if (title) fprintf(out, "%s%s\n", flag->group ? "\n" : "", title);
    const int column = fprintf(out, "  %s%s%s%s", flag->name, flag->numbered ? "N" : "",
                               flag->arguments ? " " : "", flag->arguments ? flag->arguments : "");
    if (flag->unit) snprintf(unit, sizeof unit, "[%s] ", flag->unit);
    db_flag_describe(flag, help);
    const int aliases = !table->groups && flag->aliases;
    snprintf(text, sizeof text, "%s%s%s%s%s", unit, help, aliases ? "; also " : "",
             aliases ? flag->aliases : "",
             flag->status == DB_FLAG_COMPAT ? " (with -compat; without it always so)" : "");
    print_column(out, column, text);
}

static void print_without_effect(FILE *out, const db_flag_table *table) {
    char names[4 * LINE_SIZE] = "";
    for (size_t i = 0; i < table->count; i++) {
        const db_flag *const flag = &table->flags[i];
        if (flag->status != DB_FLAG_ACCEPTED || !db_flag_is_taken(table, flag)) continue;
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", length ? " " : "", flag->name);
    }
    if (*names) print_column(out, fprintf(out, "\nRead without effect"), names);
}

/* Prints the effective flags of a group; returns their number. print may be NULL. */
static int for_group(FILE *out, const db_flag_table *table, int group, const char *title,
                     db_flag_printer *print) {
    int count = 0;
    for (const db_flag *flag = table->flags; flag < table->flags + table->count; flag++) {
        if (flag->group != group || flag->status > DB_FLAG_COMPAT || !db_flag_is_taken(table, flag))
            continue;
        if (print) print(out, table, flag, count ? NULL : title);
        count++;
    }
    return count;
}

void db_for_listed_flags(FILE *out, const db_flag_table *table, db_flag_printer *print) {
    for (int group = 0; table->groups ? table->groups[group] != NULL : group == 0; group++)
        for_group(out, table, group, table->groups ? table->groups[group] : NULL, print);
}

int db_print_flag_group(FILE *out, const db_flag_table *table, const char *name) {
    for (int group = 0; table->groups && table->groups[group]; group++)
        if (*name && strncasecmp(table->groups[group], name, strlen(name)) == 0 &&
            for_group(out, table, group, NULL, NULL)) {
            fprintf(out, "%s\n", table->groups[group]);
            return for_group(out, table, group, NULL, print_flag);
        }
    return 0;
}

void db_flag_group_names(const db_flag_table *table, char names[DB_GROUP_NAMES_SIZE]) {
    size_t length = 0;
    names[0] = 0;
    for (int group = 0; table->groups && table->groups[group]; group++) {
        if (!for_group(NULL, table, group, NULL, NULL)) continue;
        const size_t start = length ? length + 2 : 0;
        length += (size_t)snprintf(names + length, DB_GROUP_NAMES_SIZE - length, "%s%s",
                                   length ? ", " : "", table->groups[group]);
        names[start] = (char)tolower((unsigned char)names[start]);
    }
}

void db_print_flags(FILE *out, const db_flag_table *table) {
    db_for_listed_flags(out, table, print_flag);
    print_without_effect(out, table);
}
