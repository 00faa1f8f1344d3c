/* Text files of numbers: lines with comments removed, words, strict numbers. */
#ifndef DB_BASE_TEXT_READER_H
#define DB_BASE_TEXT_READER_H

#include "base/file_content.h"

typedef struct db_text {
    const char *path; /* borrowed */
    db_file_content content;
    char *next;         /* start of the next line */
    char *line;         /* the current line, ended by a zero, without line end and '#' comment */
    size_t line_number; /* of the current line, from 1 */
    int signs_in_words; /* 1: comments begin with a word; # may be inside one, and in quotes */
} db_text;

/* Reads a text file; refuses binary ones. */
DB_API db_status db_text_open(db_context *context, const char *path, db_text *text);
DB_API void db_text_close(db_text *text);

/* Moves to the next line with more than white space and comments; 0 at the end. */
DB_API int db_text_next_line(db_text *text);

/* A word of a line. */
typedef struct db_word {
    const char *start;
    size_t length; /* 0: none left */
} db_word;

/* Takes the next word, separated by any of the characters in `separators`, from *cursor. */
DB_API db_word db_next_word(const char **cursor, const char *separators);
#define DB_WHITE_SPACE " \t\v\f"

/* Number of a word, decimal and independent of the locale. 0 if it is no number or not finite. */
DB_API int db_word_number(db_word word, double *value);

/* Reads numbers of the current line, at most `count`; names[] for messages. *found: their number. */
DB_API db_status db_text_columns(db_context *context, const db_text *text, const char *separators,
                                 const char *const *names, int count, double *column, int *found);

/* Words of the current line one after the other, each ended by a zero, and a zero at the end; to be freed. White
 * space in brackets and quotes does not end a word. */
DB_API db_status db_text_words(db_context *context, const db_text *text, char **words);

/* Removes the quotes around a word; 0: it has none. */
DB_API int db_unquote(char *word);

/* For messages: length and start of at most 40 characters of a word, as %.*s wants them. */
#define DB_WORD_ARGUMENTS(word) (int)((word).length < 40 ? (word).length : 40), (word).start

#endif
