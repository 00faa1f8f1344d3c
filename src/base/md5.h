/* MD5 (RFC 1321): the checksum of the pixels in CBF files. */
#ifndef DB_BASE_MD5_H
#define DB_BASE_MD5_H

#include <dualbragg/status.h>
#include <stddef.h>

enum { DB_MD5_TEXT_SIZE = 25 };

/* The digest in base64, as in a Content-MD5 header (RFC 1864), with a zero behind it. */
DB_API void db_md5_base64(const void *bytes, size_t size, char text[DB_MD5_TEXT_SIZE]);

#endif
