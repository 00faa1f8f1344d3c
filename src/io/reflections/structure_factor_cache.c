/* Structure factors in the binary layout of the reference's Fdump.bin: the
 * text "hmin hmax kmin kmax lmin lmax", a line end, one form feed; then doubles, h slowest, with
 * one entry of padding at the end of each axis. Little-endian here on every machine. */
#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>

#include "base/context_internal.h"
#include "base/atomic_file.h"
#include "base/file_content.h"
#include "model/amplitude_box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_SIZE = 128, LARGEST_INDEX = 1000000 };

static double swap_unless_little(double value) {
    if (!db_machine_is_big_endian()) return value;
    unsigned char bytes[sizeof value], swapped[sizeof value];
    memcpy(bytes, &value, sizeof value);
    for (size_t i = 0; i < sizeof value; i++) swapped[i] = bytes[sizeof value - 1 - i];
    memcpy(&value, swapped, sizeof value);
    return value;
}

/* Index of entry (h, k, 0) of the box among the padded entries. */
static size_t padded_row(const int extent[3], int h, int k) {
    return ((size_t)h * (size_t)(extent[1] + 1) + (size_t)k) * (size_t)(extent[2] + 1);
}

static size_t padded_entries(const int extent[3]) { return padded_row(extent, extent[0] + 1, 0); }

db_status db_write_structure_factor_cache(db_context *context, const char *path,
                                          const db_structure_factors *factors) {
    const int *low = factors->min;
    const int *extent = factors->extent;
    if (!factors->amplitude)
        return db_fail(context, DB_ERROR_USAGE,
                       "structure factor cache: expected a list to write, found none");
    size_t own;
    DB_TRY(db_amplitude_box_check(context, path, extent, db_physical_memory(), &own));
    char header[HEADER_SIZE];
    const int length =
        snprintf(header, sizeof header, "%d %d %d %d %d %d\n\f", low[0], low[0] + extent[0] - 1,
                 low[1], low[1] + extent[1] - 1, low[2], low[2] + extent[2] - 1);
    const size_t entries = padded_entries(extent);
    double *padded = calloc(entries, sizeof *padded);
    if (!padded) return db_fail_memory(context, "the structure factor cache");
    const double *amplitude = factors->amplitude;
    for (int h = 0; h < extent[0]; h++)
        for (int k = 0; k < extent[1]; k++) {
            double *row = padded + padded_row(extent, h, k);
            for (int l = 0; l < extent[2]; l++) row[l] = swap_unless_little(*amplitude++);
        }
    const db_file_part parts[] = { { header, (size_t)length },
                                   { padded, entries * sizeof *padded } };
    const db_status status = db_write_atomically(context, path, parts, 2);
    free(padded);
    return status;
}

/* Reads "hmin hmax kmin kmax lmin lmax", line end, form feed; *data: where the doubles begin. */
static db_status read_header(db_context *context, const char *path, const db_file_content *content,
                             int low[3], int extent[3], size_t *data) {
    long limit[6];
    const char *cursor = content->bytes; /* ends with a zero, where strtol stops */
    for (int i = 0; i < 6; i++) {
        char *end;
        limit[i] = strtol(cursor, &end, 10);
        if (end == cursor || *end != (i < 5 ? ' ' : '\n') || limit[i] < -LARGEST_INDEX ||
            limit[i] > LARGEST_INDEX)
            return db_fail(context, DB_ERROR_INPUT,
                           "%s: expected a structure factor cache, which begins with a line of six "
                           "limits hmin hmax kmin kmax lmin lmax; limit %d is not one",
                           path, i + 1);
        cursor = end + 1;
    }
    if (*cursor != '\f')
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a form feed behind the first line of a structure factor cache",
                       path);
    for (int axis = 0; axis < 3; axis++) {
        if (limit[2 * axis] > limit[2 * axis + 1])
            return db_fail(context, DB_ERROR_INPUT,
                           "%s: expected the smaller limit of %c first, found %ld %ld", path,
                           "hkl"[axis], limit[2 * axis], limit[2 * axis + 1]);
        low[axis] = (int)limit[2 * axis];
        extent[axis] = (int)(limit[2 * axis + 1] - limit[2 * axis]) + 1;
    }
    *data = (size_t)(cursor + 1 - content->bytes);
    return DB_OK;
}

static db_status check_size(db_context *context, const char *path, const db_file_content *content,
                            const int extent[3], size_t data) {
    size_t entries;
    DB_TRY(db_amplitude_box_check(context, path, extent, db_physical_memory(), &entries));
    const size_t expected = data + padded_entries(extent) * sizeof(double);
    if (content->size != expected)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected %zu bytes for %d x %d x %d structure factors, found %zu", path,
                       expected, extent[0], extent[1], extent[2], content->size);
    return DB_OK;
}

static db_status take_amplitudes(db_context *context, const char *path, const char *bytes,
                                 const int low[3], const int extent[3], double *amplitude) {
    for (int h = 0; h < extent[0]; h++)
        for (int k = 0; k < extent[1]; k++) {
            /* the bytes behind the header are not aligned */
            memcpy(amplitude, bytes + padded_row(extent, h, k) * sizeof(double),
                   (size_t)extent[2] * sizeof(double));
            for (int l = 0; l < extent[2]; l++) {
                amplitude[l] = swap_unless_little(amplitude[l]);
                if (!isfinite(amplitude[l]))
                    return db_fail(context, DB_ERROR_INPUT,
                                   "%s: expected a finite structure factor for %d %d %d, found %g",
                                   path, low[0] + h, low[1] + k, low[2] + l, amplitude[l]);
            }
            amplitude += extent[2];
        }
    return DB_OK;
}

static db_status read_content(db_context *context, const char *path, const db_file_content *content,
                              db_structure_factors *factors) {
    int low[3], extent[3];
    size_t data;
    DB_TRY(read_header(context, path, content, low, extent, &data));
    DB_TRY(check_size(context, path, content, extent, data));
    const size_t entries = (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2];
    double *amplitude = malloc(entries * sizeof *amplitude);
    if (!amplitude) return db_fail_memory(context, "the structure factors");
    const db_status status =
        take_amplitudes(context, path, content->bytes + data, low, extent, amplitude);
    if (status != DB_OK) {
        free(amplitude);
        return status;
    }
    free(factors->amplitude);
    factors->amplitude = amplitude;
    factors->listed = entries;
    memcpy(factors->min, low, sizeof low);
    memcpy(factors->extent, extent, sizeof extent);
    return DB_OK;
}

db_status db_read_structure_factor_cache(db_context *context, const char *path,
                                         db_structure_factors *factors) {
    db_file_content content;
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status = read_content(context, path, &content, factors);
    db_file_content_clear(&content);
    return status;
}
