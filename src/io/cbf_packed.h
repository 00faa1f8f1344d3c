/* Pixels packed as differences from the mean of their neighbours: x-CBF_PACKED of imgCIF files. */
#ifndef DB_IO_CBF_PACKED_H
#define DB_IO_CBF_PACKED_H

#include <stddef.h>
#include <stdint.h>

/* How each pixel is foretold: by its predecessor, or by the mean of the neighbours that came
 * before. */
enum { DB_PACKED_FLAT = 1, DB_PACKED_UNCORRELATED_SECTIONS = 2, DB_PACKED_VERSION_2 = 4 };

/* Unpacks fast x slow x sections 32-bit elements (as two's complement; the sum of an unsigned one
 * is the same bits) from size bytes. Returns the number of elements found: fewer where the data
 * end before, or where the packed data say that there are others. */
size_t db_cbf_unpack(const unsigned char *bytes, size_t size, size_t fast, size_t slow,
                     size_t sections, int flags, int32_t *element);

#endif
