/* The table of flags as help text and as a document. */
#include "cli/flags.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_COLUMN = 34, LINE_WIDTH = 100, LINE_SIZE = 512 };

static int listed(const db_flag *flag, db_flag_group group, unsigned command) {
    return flag->group == group && flag->status <= DB_FLAG_COMPAT &&
           (db_flag_commands(flag) & command);
}

/* Prints a text in the right-hand column, the cursor standing at `column`. */
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

static void print_flag(FILE *out, const db_flag *flag) {
    char text[LINE_SIZE];
    const int column = fprintf(out, "  %s%s%s", flag->name, flag->arguments ? " " : "",
                               flag->arguments ? flag->arguments : "");
    if (flag->unit)
        snprintf(text, sizeof text, "[%s] %s", flag->unit, flag->help);
    else
        snprintf(text, sizeof text, "%s%s", flag->help,
                 flag->status == DB_FLAG_COMPAT ? " (with -compat; without it always so)" : "");
    print_column(out, column, text);
}

static void print_names(FILE *out, const char *title, db_flag_status status, unsigned command) {
    char names[4 * LINE_SIZE] = "";
    for (size_t i = 0; i < db_flag_count; i++) {
        if (db_flags[i].status != status || !(db_flag_commands(&db_flags[i]) & command)) continue;
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", length ? " " : "",
                 db_flags[i].name);
    }
    if (*names) print_column(out, fprintf(out, "\n%s", title), names);
}

void db_flags_print_help(FILE *out, unsigned command) {
    for (db_flag_group group = 0; group < DB_GROUP_COUNT; group++) {
        int any = 0;
        for (size_t i = 0; i < db_flag_count; i++) {
            if (!listed(&db_flags[i], group, command)) continue;
            if (!any++) fprintf(out, "\n%s\n", db_flag_group_title(group));
            print_flag(out, &db_flags[i]);
        }
    }
    print_names(out, "Read without effect", DB_FLAG_ACCEPTED, command);
}

/* A cell of a Markdown table. */
static void print_cell(FILE *out, const char *text) {
    fputs(" ", out);
    for (; text && *text; text++) {
        if (*text == '|') fputc('\\', out);
        fputc(*text, out);
    }
    fputs(" |", out);
}

/* "sim grad check" */
static void command_list(const db_flag *flag, char *text, size_t size) {
    const char *name;
    size_t length = 0;
    for (unsigned i = 0; (name = db_flag_command_name(i)); i++)
        if (db_flag_commands(flag) & 1u << i && length < size)
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s", length ? " " : "", name);
}

static void print_row(FILE *out, const db_flag *flag) {
    char text[LINE_SIZE];
    snprintf(text, sizeof text, "`%s%s%s`", flag->name, flag->arguments ? " " : "",
             flag->arguments ? flag->arguments : "");
    fputs("|", out);
    print_cell(out, text);
    print_cell(out, flag->aliases);
    print_cell(out, flag->unit);
    print_cell(out, flag->help);
    if (flag->status == DB_FLAG_ACCEPTED)
        snprintf(text, sizeof text, "no effect%s%s", flag->remark ? ": " : "",
                 flag->remark ? flag->remark : "");
    else if (flag->status == DB_FLAG_COMPAT)
        snprintf(text, sizeof text, "with -compat; else no effect: %s", flag->remark);
    else
        command_list(flag, text, sizeof text);
    print_cell(out, text);
    fputc('\n', out);
}

void db_flags_print_markdown(FILE *out) {
    fputs(
        "# Flags of dualbragg sim, grad, check, amorphous, orient and noise\n\n"
        "This page is printed by `dualbragg help --markdown`; a test keeps the two equal.\n\n"
        "Every flag may be written with one dash or two. Of flags that say the same thing the\n"
        "last one wins; otherwise their order does not matter (a flag for one axis, like -Na,\n"
        "wins over the one for all, like -N); with -compat they count in the order in which they\n"
        "come. - as the name of a file is standard output, or standard input. The sign of a\n"
        "seed does not count. Unknown flags, missing or malformed values end the program with exit "
        "status 2.\n"
        "For users of nanoBragg: [from-nanobragg.md](../howto/from-nanobragg.md).\n",
        out);
    for (db_flag_group group = 0; group < DB_GROUP_COUNT; group++) {
        fprintf(out,
                "\n## %s\n\n| flag | also written | unit | effect | taken by "
                "|\n|---|---|---|---|---|\n",
                db_flag_group_title(group));
        for (size_t i = 0; i < db_flag_count; i++)
            if (db_flags[i].group == group) print_row(out, &db_flags[i]);
    }
}
