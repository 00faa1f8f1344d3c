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

/* As db_print_help without the flags; for a table with groups it prints the groups' names. */
void db_print_short_help(FILE *out, const db_command *command);

/* Prints the flags of a table, by group, for terminals. */
void db_print_flags(FILE *out, const db_flag_table *table);

/* Prints the flags of one group, named by its title or the beginning of it, in any case. 0: there is no such group
 * with flags of the command. */
int db_print_flag_group(FILE *out, const db_flag_table *table, const char *name);

/* Titles of groups with flags of the command: "crystal, beam, ...". */
enum { DB_GROUP_NAMES_SIZE = 400 };
void db_flag_group_names(const db_flag_table *table, char names[DB_GROUP_NAMES_SIZE]);

/* Prints the effective flags of a table, by group. title: of the group, before its first flag; else NULL. */
typedef void db_flag_printer(FILE *out, const db_flag_table *table, const db_flag *flag,
                             const char *title);
void db_for_listed_flags(FILE *out, const db_flag_table *table, db_flag_printer *print);

/* Prints all flags of a shared table, as a Markdown document. */
void db_print_flags_markdown(FILE *out, const db_flag_table *table);

/* The manual page of a command, for man; "help" is the page of the program. */
void db_print_man(FILE *out, const db_command *command);

/* A script that lets bash or zsh complete commands, flags and their values. */
void db_print_bash_completion(FILE *out);
void db_print_zsh_completion(FILE *out);

/* Copies the summary of a command from the first line of its help. */
enum { DB_SUMMARY_SIZE = 128 };
void db_command_summary(const db_command *command, char summary[DB_SUMMARY_SIZE]);

/* Help of a flag; with the default, if it sets a field of the set-up. */
enum { DB_FLAG_HELP_SIZE = 512 };
void db_flag_describe(const db_flag *flag, char text[DB_FLAG_HELP_SIZE]);

/* Possible words of a flag's argument, blank-separated: those of auto|double|mixed. Empty for other arguments. */
enum { DB_WORDS_SIZE = 128 };
void db_flag_argument_words(const db_flag *flag, char words[DB_WORDS_SIZE]);

#endif
