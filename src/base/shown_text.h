/* Printing foreign text: names, keys, units and header texts of files reach terminals and logs through here.
 *
 * The functions are printf's, but for the strings (%s): control characters, newlines among them, bytes that are no
 * UTF-8, and characters that turn the direction of writing come out as \x1b. Valid UTF-8 stays, and so does what the
 * format itself says. %n and wide characters are not known. */
#ifndef DB_BASE_SHOWN_TEXT_H
#define DB_BASE_SHOWN_TEXT_H

#include <dualbragg/status.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* As vsnprintf: returns the length of the whole text. */
DB_API size_t db_shown_vformat(char *out, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
DB_API size_t db_shown_format(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

DB_API void db_shown_vprint(FILE *stream, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
DB_API void db_shown_print(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Number of bytes of the first character of a text, and whether it may be shown unchanged. Neither looks beyond
 * the terminating 0. */
DB_API size_t db_shown_character(const char *text, int *plain);

#endif
