/* Help of commands, and the document of flags. */
#include "cli/help.h"

#include <string.h>

enum { LINE_SIZE = 512 };

void db_command_summary(const db_command *command, char summary[DB_SUMMARY_SIZE]) {
    const char *const start = strstr(command->help, ": ") + 2;
    snprintf(summary, DB_SUMMARY_SIZE, "%.*s", (int)strcspn(start, "\n"), start);
}

static void print_commands(FILE *out) {
    for (const db_command *const *c = db_commands; *c; c++) {
        char summary[DB_SUMMARY_SIZE] = "dualbragg help COMMAND is dualbragg COMMAND --help";
        if (*c != &db_help_command) db_command_summary(*c, summary);
        fprintf(out, "  %-10s %s\n", (*c)->name, summary);
    }
}

static void print_sections(FILE *out, const db_command *command) {
    char names[DB_GROUP_NAMES_SIZE];
    db_flag_group_names(command->flags, names);
    fprintf(
        out,
        "Flags, by section (%s):\n  dualbragg help %s SECTION\nAll flags:\n  dualbragg help %s\n",
        names, command->name, command->name);
}

/* sections: their names instead of the flags. */
static void print_text(FILE *out, const db_command *command, int sections) {
    for (const char *line = command->help; *line; line += strcspn(line, "\n") + 1) {
        const int length = (int)strcspn(line, "\n");
        if (strncmp(line, "{flags}", (size_t)length) == 0 && length)
            (sections ? print_sections(out, command) : db_print_flags(out, command->flags));
        else if (strncmp(line, "{commands}", (size_t)length) == 0 && length)
            print_commands(out);
        else
            fprintf(out, "%.*s\n", length, line);
    }
}

void db_print_help(FILE *out, const db_command *command) { print_text(out, command, 0); }

void db_print_short_help(FILE *out, const db_command *command) {
    print_text(out, command, command->flags && command->flags->groups);
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

static void print_row(FILE *out, const db_flag_table *table, const db_flag *flag) {
    char text[LINE_SIZE], help[DB_FLAG_HELP_SIZE];
    db_flag_describe(flag, help);
    snprintf(text, sizeof text, "`%s%s%s`", flag->name, flag->arguments ? " " : "",
             flag->arguments ? flag->arguments : "");
    fputs("|", out);
    print_cell(out, text);
    print_cell(out, flag->aliases);
    print_cell(out, flag->unit);
    print_cell(out, help);
    if (flag->status == DB_FLAG_ACCEPTED)
        snprintf(text, sizeof text, "no effect%s%s", flag->remark ? ": " : "",
                 flag->remark ? flag->remark : "");
    else if (flag->status == DB_FLAG_COMPAT)
        snprintf(text, sizeof text, "with -compat; else no effect: %s", flag->remark);
    else
        db_flag_command_names(table, flag, " ", text);
    print_cell(out, text);
    fputc('\n', out);
}

void db_print_flags_markdown(FILE *out, const db_flag_table *table) {
    fputs("# Flags of dualbragg sim, grad, check, amorphous, orient, noise and view\n\nThis page "
          "is printed by `dualbragg help --markdown`; a test keeps the two equal.\n\nWrite a flag "
          "with one dash or two, its value after a blank or =, and several numbers with\nblanks or "
          "commas between them. If two flags contradict one another, the last one wins;\notherwise "
          "their order has no effect. A flag for one axis, like -Na, takes precedence over\nthe "
          "flag for all, like -N. With -compat the order of all flags has an effect, as in "
          "nanoBragg.\nThe file name - is standard output, or standard input. The sign of a seed "
          "has no effect.\nUnknown flags and missing or malformed values end the program with exit "
          "status 2.\nFor users of nanoBragg: [from-nanobragg.md](../howto/from-nanobragg.md).\n",
          out);
    for (int group = 0; table->groups[group]; group++) {
        fprintf(out,
                "\n## %s\n\n| flag | also written | unit | effect | taken by "
                "|\n|---|---|---|---|---|\n",
                table->groups[group]);
        for (size_t i = 0; i < table->count; i++)
            if (table->flags[i].group == group) print_row(out, table, &table->flags[i]);
    }
}
