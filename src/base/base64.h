/* Bytes as text (RFC 4648, base64). */
#ifndef DB_BASE_BASE64_H
#define DB_BASE_BASE64_H

#include <stddef.h>

/* Four characters for the next three bytes, or for fewer at the end, with '=' for missing ones. */
static inline void db_base64_group(const unsigned char *bytes, size_t left, char text[4]) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned triple = (unsigned)bytes[0] << 16 | (left > 1 ? (unsigned)bytes[1] << 8 : 0) |
                            (left > 2 ? bytes[2] : 0);
    text[0] = digits[triple >> 18];
    text[1] = digits[triple >> 12 & 63];
    text[2] = left > 1 ? digits[triple >> 6 & 63] : '=';
    text[3] = left > 2 ? digits[triple & 63] : '=';
}

#endif
