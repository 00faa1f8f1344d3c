/* The check of HDF5 files: bytes of a file, and numbers in them. */
#define _POSIX_C_SOURCE 200809L
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 1 << 14, PAGES = DB_HDF5_PAGES };
static const uint64_t LARGEST_BLOCK = (uint64_t)1 << 28, MOST_LOADED = (uint64_t)1 << 32;

int db_hdf5_unsound(db_hdf5_parts *parts, uint64_t place, const char *format, ...) {
    va_list values;
    if (*parts->reason) return 0;
    const int length =
        snprintf(parts->reason, sizeof parts->reason, "byte %llu: ", (unsigned long long)place);
    va_start(values, format);
    vsnprintf(parts->reason + length, sizeof parts->reason - (size_t)length, format, values);
    va_end(values);
    return 0;
}

uint64_t db_hdf5_take(db_hdf5_view *v, unsigned width) {
    uint64_t value = 0;
    if (!v->bytes || width > v->size - v->at) {
        v->over = 1;
        v->at = v->size;
        return 0;
    }
    for (unsigned i = 0; i < width && i < 8; i++) value |= (uint64_t)v->bytes[v->at + i] << (8 * i);
    v->at += width;
    return value;
}

int db_hdf5_begins(const db_hdf5_view *v, const char *bytes, size_t size) {
    return v->bytes && v->size >= size && memcmp(v->bytes, bytes, size) == 0;
}

void db_hdf5_skip(db_hdf5_view *v, uint64_t count) {
    if (count > v->size - v->at) {
        v->over = 1;
        count = v->size - v->at;
    }
    v->at += (size_t)count;
}

db_hdf5_view db_hdf5_part(db_hdf5_view *v, uint64_t size) {
    db_hdf5_view part = { .bytes = v->bytes + v->at, .place = v->place + v->at };
    if (size > v->size - v->at)
        v->over = part.over = 1;
    else
        part.size = (size_t)size;
    db_hdf5_skip(v, size);
    return part;
}

uint64_t db_hdf5_take_address(const db_hdf5_parts *parts, db_hdf5_view *v) {
    const unsigned width = parts->address_size;
    const uint64_t address = db_hdf5_take(v, width);
    const uint64_t none = width < 8 ? ((uint64_t)1 << (8 * width)) - 1 : UINT64_MAX;
    return address == none ? DB_HDF5_NOWHERE : address;
}

uint64_t db_hdf5_take_length(const db_hdf5_parts *parts, db_hdf5_view *v) {
    return db_hdf5_take(v, parts->length_size);
}

static int read_bytes(db_hdf5_parts *p, uint64_t from, unsigned char *to, size_t size) {
    while (size > 0) {
        const ssize_t got = pread(p->descriptor, to, size, (off_t)from);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        from += (uint64_t)got;
        to += got;
        size -= (size_t)got;
    }
    return 1;
}

/* Blocks lie close together: a few pages are held. */
static int read_page(db_hdf5_parts *p, uint64_t number, const unsigned char **bytes) {
    const size_t slot = (size_t)(number % PAGES);
    if (!p->pages && !(p->pages = malloc((size_t)PAGE * PAGES))) return 0;
    *bytes = p->pages + slot * PAGE;
    if (p->page[slot] == number + 1) return 1;
    const uint64_t from = number * PAGE, rest = p->size - from;
    p->page[slot] = 0;
    if (!read_bytes(p, from, p->pages + slot * PAGE, rest < PAGE ? (size_t)rest : PAGE)) return 0;
    p->page[slot] = number + 1;
    return 1;
}

static int read_paged(db_hdf5_parts *p, uint64_t from, unsigned char *to, size_t size) {
    while (size > 0) {
        const unsigned char *bytes;
        const size_t within = (size_t)(from % PAGE), left = PAGE - within;
        const size_t n = size < left ? size : left;
        if (!read_page(p, from / PAGE, &bytes)) return 0;
        memcpy(to, bytes + within, n);
        from += n;
        to += n;
        size -= n;
    }
    return 1;
}

int db_hdf5_load(db_hdf5_parts *p, const char *what, uint64_t address, uint64_t size,
                 db_hdf5_view *view) {
    *view = (db_hdf5_view){ .place = address };
    if (address <= UINT64_MAX - p->base) address += p->base;
    if (address > p->size || size > p->size - address)
        return db_hdf5_unsound(p, address, "expected %s of %llu bytes, found the end of the file",
                               what, (unsigned long long)size);
    if (size > LARGEST_BLOCK)
        return db_hdf5_unsound(p, address, "expected %s of at most 2^28 bytes, found %llu", what,
                               (unsigned long long)size);
    p->loaded += size;
    if (p->loaded > MOST_LOADED)
        return db_hdf5_unsound(p, address, "more than 2^32 bytes of structure");
    unsigned char *const bytes = malloc(size ? (size_t)size : 1);
    if (!bytes) return db_hdf5_unsound(p, address, "no memory for %s", what);
    view->bytes = bytes;
    view->size = (size_t)size;
    if (size <= (uint64_t)4 * PAGE ? read_paged(p, address, bytes, view->size)
                                   : read_bytes(p, address, bytes, view->size))
        return 1;
    free(bytes);
    *view = (db_hdf5_view){ .place = address };
    return db_hdf5_unsound(p, address, "%s cannot be read", what);
}

static size_t place_in(const uint64_t *table, size_t room, uint64_t address) {
    size_t at = (size_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (room - 1);
    while (table[at] && table[at] != address) at = (at + 1) & (room - 1);
    return at;
}

static int grow_parts(db_hdf5_parts *p) {
    const size_t room = p->seen_room ? 2 * p->seen_room : 256;
    uint64_t *const table = calloc(room, sizeof *table);
    if (!table) return 0;
    for (size_t i = 0; i < p->seen_room; i++)
        if (p->seen[i]) table[place_in(table, room, p->seen[i])] = p->seen[i];
    free(p->seen);
    p->seen = table;
    p->seen_room = room;
    return 1;
}

int db_hdf5_is_new(db_hdf5_parts *p, uint64_t address) {
    const uint64_t key = address + 1;
    if (2 * p->seen_count >= p->seen_room && !grow_parts(p)) return 1;
    const size_t at = place_in(p->seen, p->seen_room, key);
    if (p->seen[at] == key) return 0;
    p->seen[at] = key;
    p->seen_count++;
    return 1;
}
#else
typedef int db_without_hdf5_parts;
#endif
