/* Help of the commands: for terminals, as manual pages, and for the completion of shells.
 *
 * A text (help/NAME.txt) begins "dualbragg NAME: what it does", then "usage: ...". Blank lines
 * separate paragraphs; lines that begin with blanks are examples. "{flags}" stands for the table of
 * flags, "{commands}" for the list of commands. */
#ifndef DB_CLI_HELP_H
#define DB_CLI_HELP_H

#include "cli/command.h"

#include <stdio.h>

/* Made of the files help/NAME.txt by the build. */
extern const char db_sim_help[], db_grad_help[], db_check_help[], db_amorphous_help[],
    db_orient_help[], db_add_help[], db_compare_help[], db_noise_help[], db_import_help[],
    db_help_help[];

/* Help of a command with all its flags. */
void db_print_help(FILE *out, const db_command *command);

/* The same without the flags, but for a table that has groups: of them the names. */
void db_print_short_help(FILE *out, const db_command *command);

/* The flags of a table, by group, for terminals. */
void db_print_flags(FILE *out, const db_flag_table *table);

/* Those of one group, called by its title or the beginning of it, in letters of any case. 0: there is none of that name
 * with flags that the command takes. */
int db_print_flag_group(FILE *out, const db_flag_table *table, const char *name);

/* The titles of groups in which the command takes flags: "crystal, beam, ...". */
enum { DB_GROUP_NAMES_SIZE = 400 };
void db_flag_group_names(const db_flag_table *table, char names[DB_GROUP_NAMES_SIZE]);

/* Prints the flags of a table that have an effect, by group. title: of the group, before its first
 * flag; else NULL. */
typedef void db_flag_printer(FILE *out, const db_flag_table *table, const db_flag *flag,
                             const char *title);
void db_for_listed_flags(FILE *out, const db_flag_table *table, db_flag_printer *print);

/* All flags of a table that commands share, as a Markdown document. */
void db_print_flags_markdown(FILE *out, const db_flag_table *table);

/* The manual page of a command, for man; "help" is the page of the program. */
void db_print_man(FILE *out, const db_command *command);

/* A script that lets bash or zsh complete commands, flags and their values. */
void db_print_bash_completion(FILE *out);
void db_print_zsh_completion(FILE *out);

/* Copies what a command does, from the first line of its help. */
enum { DB_SUMMARY_SIZE = 128 };
void db_command_summary(const db_command *command, char summary[DB_SUMMARY_SIZE]);

/* What a flag means; of those that set a field of the set-up with what holds without them. */
enum { DB_FLAG_HELP_SIZE = 512 };
void db_flag_describe(const db_flag *flag, char text[DB_FLAG_HELP_SIZE]);

/* The words that the argument of a flag may be, blank-separated: those of auto|double|mixed. Empty
 * for other arguments. */
enum { DB_WORDS_SIZE = 128 };
void db_flag_argument_words(const db_flag *flag, char words[DB_WORDS_SIZE]);

#endif
