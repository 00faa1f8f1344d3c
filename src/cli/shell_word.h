/* Words of a command line, for a shell. */
#ifndef DB_CLI_SHELL_WORD_H
#define DB_CLI_SHELL_WORD_H

#include "base/shown_text.h"

#include <stdio.h>
#include <string.h>

/* Can a word be shown unchanged on a terminal? */
static inline int db_is_shown_as_it_is(const char *word) {
    int plain = 1;
    for (const char *c = word; *c && plain;) c += db_shown_character(c, &plain);
    return plain;
}

/* Prints a word as $'...', for bash, zsh and POSIX 2024, with \x1b and the like. */
static inline void db_print_escaped_word(FILE *stream, const char *word) {
    fputs(" $'", stream);
    for (const char *c = word; *c;) {
        int plain;
        const size_t bytes = db_shown_character(c, &plain);
        if (*c == '\'' || *c == '\\') fputc('\\', stream);
        for (size_t i = 0; i < bytes; i++, c++)
            plain ? (void)fputc(*c, stream)
                  : (void)fprintf(stream, "\\x%02x", (unsigned)(unsigned char)*c);
    }
    fputc('\'', stream);
}

/* Prints a blank and a word, in quotes if a shell needs them. */
static inline void db_print_shell_word(FILE *stream, const char *word) {
    const int plain = *word && !word[strcspn(word, " \t\n'\"\\$*?[](){}<>|&;#~!`")];
    if (!db_is_shown_as_it_is(word)) {
        db_print_escaped_word(stream, word);
        return;
    }
    if (plain) {
        fprintf(stream, " %s", word);
        return;
    }
    fputs(" '", stream);
    for (const char *c = word; *c; c++)
        *c == '\'' ? (void)fputs("'\\''", stream) : (void)fputc(*c, stream);
    fputc('\'', stream);
}

#endif
