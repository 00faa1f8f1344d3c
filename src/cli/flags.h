/* The flags of sim, grad, check, amorphous, orient and noise: one table, from which the parser, the
 * help, docs/reference/flags.md and the suggestions for misspelt flags come. */
#ifndef DB_CLI_FLAGS_H
#define DB_CLI_FLAGS_H

#include "cli/settings.h"

#include <stddef.h>
#include <stdio.h>

typedef enum db_flag_kind {
    DB_FLAG_SWITCH,  /* no value */
    DB_FLAG_NUMBER,  /* double */
    DB_FLAG_INTEGER, /* int */
    DB_FLAG_SEED,    /* long */
    DB_FLAG_TEXT,    /* const char *: a file or a name */
    DB_FLAG_CHOICE,  /* int: index of a word in `words` */
    DB_FLAG_MISSET   /* three numbers or the word random */
} db_flag_kind;

typedef enum db_flag_group {
    DB_GROUP_CRYSTAL,
    DB_GROUP_STRUCTURE_FACTORS,
    DB_GROUP_AMORPHOUS,
    DB_GROUP_BEAM,
    DB_GROUP_SPINDLE,
    DB_GROUP_DETECTOR,
    DB_GROUP_SAMPLING,
    DB_GROUP_OUTPUT,
    DB_GROUP_NOISE,
    DB_GROUP_DERIVATIVES,
    DB_GROUP_CONTROL,
    DB_GROUP_COUNT
} db_flag_group;

typedef enum db_flag_status {
    DB_FLAG_AVAILABLE,
    DB_FLAG_COMPAT,  /* available, but without effect unless -compat is given; `remark` says why */
    DB_FLAG_ACCEPTED /* read without effect; `remark` says why, NULL: nothing to say */
} db_flag_status;

/* Subcommands that take a flag. */
enum {
    DB_FOR_SIM = 1,
    DB_FOR_GRAD = 2,
    DB_FOR_CHECK = 4,
    DB_FOR_AMORPHOUS = 8,
    DB_FOR_ORIENT = 16,
    DB_FOR_NOISE = 32,
    DB_FOR_CRYSTALS = DB_FOR_SIM | DB_FOR_GRAD | DB_FOR_CHECK
};

/* What a flag says about the pivot of a CUSTOM detector. */
enum { DB_IMPLIES_NOTHING, DB_IMPLIES_BEAM, DB_IMPLIES_SAMPLE };

typedef struct db_flag {
    const char *name;
    const char *aliases;   /* blank-separated, or NULL */
    const char *arguments; /* their names in the help, or NULL */
    const char *unit;      /* or NULL */
    const char *help;
    db_flag_group group;
    db_flag_status status;
    const char *remark;
    unsigned commands; /* DB_FOR_*; 0: those of the group, see db_flag_commands */
    unsigned also;     /* DB_FOR_*: in addition to these */

    db_flag_kind kind;
    int least, most;   /* numbers of values */
    size_t member;     /* offset in db_settings */
    int fill;          /* one value goes to so many consecutive elements; 0 and 1: one */
    double factor;     /* value stored = factor x value given */
    int reciprocal;    /* value stored = factor / value given */
    int infinite;      /* 1: inf is a number here */
    int minimum;       /* of integers */
    const char *words; /* of a choice, blank-separated */

    /* Texts whose argument is FILE name files. */
    unsigned writes;  /* DB_FOR_*: subcommands that write the file; the others read it */
    size_t with;      /* offset of a file without which it is read, too; 0: none */
    int for_terminal; /* 1: the file is text, which a terminal may show */

    int sets; /* 1: also stores `constant` in the int at `switch_member` */
    size_t switch_member;
    int constant;
    int pivot;  /* DB_IMPLIES_* */
    int vector; /* makes the convention CUSTOM */
} db_flag;

extern const db_flag db_flags[];
extern const size_t db_flag_count;

/* The flag of a name or alias without its dashes; NULL if there is none. */
const db_flag *db_flag_named(const char *bare);

/* The subcommands that take a flag: DB_FOR_*. */
unsigned db_flag_commands(const db_flag *flag);

/* Name of the subcommand of one bit DB_FOR_*, lowest first; NULL behind the last. */
const char *db_flag_command_name(unsigned number);

/* The bit of a subcommand's name. */
unsigned db_command_bit(const char *command);

/* Title of a group. */
const char *db_flag_group_title(db_flag_group group);

/* Everything not asked for. */
void db_settings_init(db_settings *settings, const char *command);

/* Reads the arguments (argv[0] is the subcommand). Reports the first error and returns its status.
 */
db_status db_flags_parse(db_settings *settings, int argc, char **argv);

/* All flags of a subcommand (DB_FOR_*), by group. */
void db_flags_print_help(FILE *out, unsigned command);

/* All flags as a Markdown document. */
void db_flags_print_markdown(FILE *out);

#endif
