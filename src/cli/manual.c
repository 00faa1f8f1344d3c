/* Manual pages, in the language of man. */
#include "cli/help.h"

#include <dualbragg/version.h>

#include <ctype.h>
#include <string.h>

/* Prints a text of `length` bytes unchanged. */
static void print_text(FILE *out, const char *text, size_t length) {
    if (length && (*text == '.' || *text == '\'')) fputs("\\&", out);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else
            fputc(text[i], out);
}

static void print_whole(FILE *out, const char *text) { print_text(out, text, strlen(text)); }

static void print_flag(FILE *out, const db_flag_table *table, const db_flag *flag,
                       const char *title) {
    char alias[DB_FLAG_NAME_SIZE], help[DB_FLAG_HELP_SIZE];
    (void)table;
    if (title) fprintf(out, ".SS %s\n", title);
    fputs(".TP\n\\fB", out);
    print_whole(out, flag->name);
    if (flag->numbered) fputc('N', out);
    for (const char *rest = flag->aliases; (rest = db_next_flag_word(rest, alias));) {
        fputs("\\fR, \\fB", out);
        print_whole(out, alias);
    }
    fputs("\\fR", out);
    if (flag->arguments) {
        fputs(" \\fI", out);
        print_whole(out, flag->arguments);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    if (flag->unit) fprintf(out, "[%s] ", flag->unit);
    db_flag_describe(flag, help);
    print_whole(out, help);
    if (flag->status == DB_FLAG_COMPAT) fputs(" (with \\-compat; without it always so)", out);
    fputc('\n', out);
}

static void print_commands(FILE *out) {
    fputs(".SH COMMANDS\n", out);
    for (const db_command *const *c = db_commands; *c; c++) {
        char summary[DB_SUMMARY_SIZE];
        if (!(*c)->flags) continue;
        db_command_summary(*c, summary);
        fprintf(out, ".TP\n\\fBdualbragg\\-%s\\fR(1)\n", (*c)->name);
        print_whole(out, summary);
        fputc('\n', out);
    }
}

/* Prints paragraphs of a help text; lines that begin with blanks keep their form. */
static void print_line(FILE *out, const char *line, size_t length, int *example) {
    const int indented = length > 0 && isspace((unsigned char)*line);
    if (indented != *example) fputs(indented ? ".PP\n.nf\n" : ".fi\n", out);
    *example = indented;
    if (length == 0) {
        fputs(".PP\n", out);
        return;
    }
    print_text(out, line, length);
    fputc('\n', out);
}

static const char exit_status[] = "Exit status";

static int begins_with(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

/* Is it a blank line before a heading? */
static int is_before_heading(const char *line) {
    return *line == '\n' && (line[1] == '{' || line[1] == 0 || begins_with(line + 1, exit_status));
}

static void print_text_of(FILE *out, const db_command *command) {
    static const char usage[] = "usage: ";
    int example = 0, described = 0;
    size_t length;
    for (const char *line = strchr(command->help, '\n') + 1; *line; line += length + 1) {
        length = strcspn(line, "\n");
        if (begins_with(line, usage)) {
            fputs("\n.SH SYNOPSIS\n", out);
            print_text(out, line + strlen(usage), length - strlen(usage));
            fputs("\n.SH DESCRIPTION\n", out);
            described = 1;
        } else if (begins_with(line, "{flags}")) {
            fputs(".SH FLAGS\nWrite a flag with one dash or two, its value after a blank or =, and "
                  "several numbers with\nblanks or commas between them.\n",
                  out);
            db_for_listed_flags(out, command->flags, print_flag);
        } else if (begins_with(line, "{commands}")) {
            print_commands(out);
            fputs(".SH EXAMPLES\n", out);
        } else if (described && !is_before_heading(line)) {
            if (begins_with(line, exit_status)) fputs(".SH EXIT STATUS\n", out);
            print_line(out, line, length, &example);
        }
    }
    if (example) fputs(".fi\n", out);
}

void db_print_man(FILE *out, const db_command *command) {
    char name[DB_FLAG_NAME_SIZE], summary[DB_SUMMARY_SIZE];
    snprintf(name, sizeof name, command->flags ? "dualbragg\\-%s" : "dualbragg", command->name);
    db_command_summary(command, summary);
    fprintf(out, ".TH %s 1 \"\" \"dualbragg %s\" \"dualbragg manual\"\n.SH NAME\n%s \\- ", name,
            DB_VERSION_STRING, name);
    print_whole(out, summary);
    print_text_of(out, command);
    fputs(".SH SEE ALSO\n", out);
    if (command->flags) fputs("\\fBdualbragg\\fR(1), ", out);
    fputs("the documentation that is installed with the program.\n", out);
}
