/* Parser of command lines: lists the given flags of a table. --flag=value is --flag value; blanks or commas
 * separate several numbers. */
#ifndef DB_CLI_ARGUMENTS_H
#define DB_CLI_ARGUMENTS_H

#include <dualbragg/expert/setup_fields.h>
#include <dualbragg/status.h>

#include <stddef.h>

typedef enum db_flag_kind {
    DB_FLAG_SWITCH,  /* no value */
    DB_FLAG_NUMBER,  /* double */
    DB_FLAG_INTEGER, /* int */
    DB_FLAG_SEED,    /* long; the sign is ignored */
    DB_FLAG_TEXT,    /* const char *: a file or a name */
    DB_FLAG_CHOICE   /* int: index of one of `choices` */
} db_flag_kind;

typedef enum db_flag_status {
    DB_FLAG_AVAILABLE,
    DB_FLAG_COMPAT,   /* without effect unless -compat is given; `remark` says why */
    DB_FLAG_ACCEPTED, /* read without effect; `remark` says why, NULL: no remark */
    DB_FLAG_REFUSED   /* known from other programs, but refused; `remark` says why */
} db_flag_status;

/* Pivot of a CUSTOM detector that a flag implies. */
enum { DB_IMPLIES_NOTHING, DB_IMPLIES_BEAM, DB_IMPLIES_SAMPLE };

enum { DB_MOST_VALUES = 9 };

typedef struct db_flag {
    const char *name;
    const char *aliases;   /* blank-separated, or NULL */
    const char *arguments; /* names of the arguments in the help, or NULL; FILE names a file */
    const char *unit;      /* or NULL */
    const char *help;
    int group;
    db_flag_status status;
    const char *remark;
    const char *needs; /* flags, blank-separated, without one of which it has no effect; NULL */
    unsigned commands; /* bits of its commands; 0: commands of its group */
    unsigned also;     /* further commands */

    const db_setup_field *field; /* field of db_setup that it sets: db_flag_complete; NULL */
    int element;                 /* number of the field's value that it sets, from 1; 0: all */

    db_flag_kind kind;
    int least, most; /* least and most number of values */
    int by_command;  /* 1: the command reads the values itself; nothing is stored */
    size_t member;   /* offset in the command's struct */
    /* number of consecutive elements that get one value; 0 and 1: one */
    int fill;
    double factor;              /* stored = factor x value; 0 is 1 */
    int reciprocal;             /* stored = factor / value, which is above 0 */
    int infinite;               /* 1: inf is allowed */
    int ranged;                 /* 1: numbers must be in range; whole ones always must */
    double minimum, maximum;    /* maximum 0: none; for whole numbers the largest int */
    int open_below;             /* 1: with -compat smaller numbers mean that none is given */
    const char *const *choices; /* of a choice, NULL-terminated */
    const char *words;          /* words instead of numbers, blank-separated; the int ... */
    size_t word_member;         /* ... at this offset: 0 numbers, 1 a word */
    const char *expected;       /* expected content in a message, instead of kind and range */
    int numbered;               /* 1: the name is followed by a whole number from 1, as -scale3 */

    /* Texts with the argument FILE are names of files. */
    unsigned writes;  /* bits of the commands that write the file; others read it */
    size_t with;      /* offset of a file without which this file is read; 0: none */
    int for_terminal; /* 1: the file is text, which a terminal may show */
    /* For outputs: endings of names for its format, blank-separated; endings of other formats are refused. NULL:
     * any name. */
    const char *endings;

    int sets; /* 1: stores `constant` in the int at `switch_member` */
    size_t switch_member;
    int constant;
    int ends;   /* 1: later arguments are not read (--help) */
    int pivot;  /* DB_IMPLIES_* */
    int vector; /* 1: makes the convention CUSTOM */
} db_flag;

/* Rows of a table that fills a struct of type FLAGS_FILL. */
#define DB_TO(m) .member = offsetof(FLAGS_FILL, m)

/* Devices of --device. */
#define DB_DEVICE_NAMES "cpu|cuda|cuda:N|cuda:local|auto"
#define DB_ONE(what) .kind = DB_FLAG_##what, .least = 1, .most = 1
#define DB_SETS(m, value) .sets = 1, .switch_member = offsetof(FLAGS_FILL, m), .constant = (value)

/* Grammar of a command line. Commands may share the flags of a table, each with a bit. */
typedef struct db_flag_table {
    const char *command; /* name of the command in messages */
    const db_flag *flags;
    size_t count;
    unsigned bit;                   /* bit of the command; 0: all flags are its own */
    const char *const *commands;    /* commands that share the flags, by bit; NULL at the end */
    const char *const *groups;      /* titles; NULL: no groups */
    const unsigned *group_commands; /* bits of the commands that take a group's flags */
    int takes_words;                /* 1: words without a flag are allowed */
} db_flag_table;

/* A flag with its values, or a word. */
typedef struct db_argument {
    const db_flag *flag;           /* NULL: a word */
    const char *text;              /* the word, or the value of a text; else NULL */
    double number[DB_MOST_VALUES]; /* values as written; the index of a choice */
    int count;                     /* number of values */
    int by_word;                   /* 1: one of `words` instead of numbers */
    size_t index;                  /* 3 of -scale3 */
    char *const *after;            /* arguments after the flag's name */
    int after_count;
} db_argument;

typedef struct db_arguments {
    db_argument *argument;
    size_t count;
} db_arguments;

/* Reads the arguments (argv[0] is the command). Reports the first error and returns its status. Clear them
 * after a failure, too. */
db_status db_arguments_read(db_arguments *arguments, const db_flag_table *table, int argc,
                            char **argv);
void db_arguments_clear(db_arguments *arguments);

/* Value i of a number in the stored unit; NAN: not given. */
double db_argument_value(const db_argument *argument, int i);

/* Stores the values at the flag's member. */
void db_argument_store(const db_argument *argument, void *target);

/* Completes a flag from its field of the set-up. setup: offset of the db_setup in the struct of the flags. */
void db_flag_complete(db_flag *flag, size_t setup);

/* Flag with a name or alias, with one dash, two or none; NULL if there is none. */
const db_flag *db_flag_named(const db_flag_table *table, const char *name);

/* Does the command of the table take the flag? */
int db_flag_is_taken(const db_flag_table *table, const db_flag *flag);

/* "sim or grad" */
enum { DB_FLAG_NAME_SIZE = 64 };
void db_flag_command_names(const db_flag_table *table, const db_flag *flag, const char *between,
                           char text[DB_FLAG_NAME_SIZE]);

/* Copies the next blank-separated word of a list; returns the rest, NULL at the end. */
const char *db_next_flag_word(const char *list, char word[DB_FLAG_NAME_SIZE]);

#endif
