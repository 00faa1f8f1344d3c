/* Words of a command line as a shell reads them. */
#ifndef DB_CLI_SHELL_WORD_H
#define DB_CLI_SHELL_WORD_H

#include "base/shown_text.h"

#include <stdio.h>
#include <string.h>

/* May all of a word reach a terminal? */
static inline int db_is_shown_as_it_is(const char *word) {
    int plain = 1;
    for (const char *c = word; *c && plain;) c += db_shown_character(c, &plain);
    return plain;
}

/* As $'...', which bash, zsh and POSIX 2024 know: with \x1b and the like. */
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

/* Prints a blank and a word, in quotes where a shell would need them. */
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
