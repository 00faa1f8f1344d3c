/* Words of a command line as a shell reads them. */
#ifndef DB_CLI_SHELL_WORD_H
#define DB_CLI_SHELL_WORD_H

#include <stdio.h>
#include <string.h>

/* Prints a blank and a word, in single quotes where a shell would need them. */
static inline void db_print_shell_word(FILE *stream, const char *word) {
    const int plain = *word && !word[strcspn(word, " \t\n'\"\\$*?[](){}<>|&;#~!`")];
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
