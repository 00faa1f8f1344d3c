/* The check of HDF5 files: global heaps, which have no checksums, and their contents: values of variable length
 * and the sources of virtual data sets. */
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_parts.h"

#include <stdlib.h>
#include <string.h>

enum { INDICES = 1 << 16 };

/* Bytes in front of a heap and of each object: 8, and a length, up to a multiple of 8. */
static unsigned head_size(const db_hdf5_parts *p) { return (8 + p->length_size + 7) / 8 * 8; }

/* Goes through the objects; notes where each is. Behind the last there may be less than a head. */
static int check_objects(db_hdf5_parts *p, db_hdf5_heap *heap) {
    db_hdf5_view *const v = &heap->view;
    const unsigned head = head_size(p);
    memset(heap->at, 0, INDICES * sizeof *heap->at);
    v->at = head;
    while (db_hdf5_rest(v) >= head) {
        const size_t at = v->at;
        const unsigned index = (unsigned)db_hdf5_take(v, 2);
        db_hdf5_skip(v, 6);
        const uint64_t size = db_hdf5_take_length(p, v);
        v->at = at;
        if (size > v->size || (index == 0 && size < head))
            return db_hdf5_unsound(p, v->place + at, "an object of a global heap of %llu bytes",
                                   (unsigned long long)size);
        db_hdf5_skip(v, index == 0 ? size : head + (size + 7) / 8 * 8);
        if (v->over)
            return db_hdf5_unsound(p, v->place + at, "an object that ends behind its global heap");
        if (index) heap->at[index] = (uint32_t)at;
    }
    return 1;
}

/* The global heap at an address; the one looked at last is held. */
static int hold_heap(db_hdf5_parts *p, uint64_t address, db_hdf5_heap **found) {
    db_hdf5_heap *const heap = &p->heap;
    db_hdf5_view start = { .bytes = NULL };
    const unsigned head = head_size(p);
    *found = heap;
    if (heap->view.bytes && heap->view.place == address) return 1;
    free((void *)heap->view.bytes);
    heap->view = (db_hdf5_view){ .place = address };
    if (!heap->at && !(heap->at = malloc(INDICES * sizeof *heap->at)))
        return db_hdf5_unsound(p, address, "no memory for a global heap");
    if (!db_hdf5_load(p, "a global heap", address, head, &start)) return 0;
    const int named = db_hdf5_begins(&start, "GCOL\1", 5);
    db_hdf5_skip(&start, 8);
    const uint64_t size = db_hdf5_take_length(p, &start);
    free((void *)start.bytes);
    if (!named || size < 4096)
        return db_hdf5_unsound(p, address, "expected a global heap, found something else");
    if (!db_hdf5_load(p, "a global heap", address, size, &heap->view)) return 0;
    if (check_objects(p, heap)) return 1;
    free((void *)heap->view.bytes);
    heap->view = (db_hdf5_view){ .place = address };
    return 0;
}

static int find_object(db_hdf5_parts *p, uint64_t address, uint32_t index, db_hdf5_view *object) {
    db_hdf5_heap *heap;
    if (!hold_heap(p, address, &heap)) return 0;
    if (index >= INDICES || !heap->at[index])
        return db_hdf5_unsound(p, address, "expected object %lu in a global heap, found none",
                               (unsigned long)index);
    heap->view.at = heap->at[index] + 8;
    const uint64_t size = db_hdf5_take_length(p, &heap->view);
    heap->view.at = heap->at[index] + head_size(p);
    *object = db_hdf5_part(&heap->view, size);
    return 1;
}

int db_hdf5_check_sequences(db_hdf5_parts *p, db_hdf5_view v, uint64_t count, unsigned element) {
    for (uint64_t i = 0; i < count; i++) {
        db_hdf5_view object = { .bytes = NULL };
        const uint64_t place = v.place + v.at, length = db_hdf5_take(&v, 4);
        const uint64_t address = db_hdf5_take_address(p, &v);
        const uint32_t index = (uint32_t)db_hdf5_take(&v, 4);
        if (v.over) return db_hdf5_unsound(p, place, "values of variable length that end early");
        if (address == 0 || address == DB_HDF5_NOWHERE || length == 0) continue;
        if (!find_object(p, address, index, &object)) return 0;
        if (object.size / (element ? element : 1) < length)
            return db_hdf5_unsound(p, place,
                                   "a value of %llu elements, of which the heap has %zu bytes",
                                   (unsigned long long)length, object.size);
    }
    return 1;
}

static uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

/* Bob Jenkins' hash lookup3 (2006, in the public domain), as HDF5 uses it for checksums. */
static uint32_t lookup3(const unsigned char *bytes, size_t size) {
    static const unsigned char mix[6] = { 4, 6, 8, 16, 19, 4 };
    static const unsigned char end[7] = { 14, 11, 25, 16, 4, 14, 24 };
    uint32_t s[3];
    s[0] = s[1] = s[2] = 0xdeadbeefU + (uint32_t)size;
    for (; size > 0;) {
        const size_t n = size < 12 ? size : 12;
        const int last = size <= 12;
        for (size_t i = 0; i < n; i++) s[i / 4] += (uint32_t)bytes[i] << (8 * (i % 4));
        bytes += n;
        size -= n;
        for (int i = 0; i < 6 && !last; i++) { /* a -= c, a ^= rot c, c += b; then b, c, a ... */
            uint32_t *const a = &s[i % 3];
            uint32_t *const b = &s[(i + 1) % 3];
            uint32_t *const c = &s[(i + 2) % 3];
            *a -= *c;
            *a ^= rotate(*c, mix[i]);
            *c += *b;
        }
        for (int i = 0; i < 7 && last; i++) { /* c ^= b, c -= rot b; then a, b, c ... */
            uint32_t *const to = &s[(i + 2) % 3];
            const uint32_t from = s[(i + 1) % 3];
            *to ^= from;
            *to -= rotate(from, end[i]);
        }
    }
    return s[2];
}

/* Boxes that are listed. width: bytes of a number. */
static int check_listed(db_hdf5_view *v, unsigned width, unsigned rank) {
    const uint64_t count = db_hdf5_take(v, width);
    for (uint64_t i = 0; i < count && !v->over; i++) {
        db_hdf5_view corners = db_hdf5_part(v, 2 * (uint64_t)width * rank), ends = corners;
        db_hdf5_skip(&ends, (uint64_t)width * rank);
        for (unsigned d = 0; d < rank && !v->over; d++)
            if (db_hdf5_take(&corners, width) > db_hdf5_take(&ends, width)) return 0;
    }
    return count > 0;
}

/* Checks a regular selection of boxes; the largest number of a width means "without end". */
static int check_regular(db_hdf5_view *v, unsigned width, unsigned rank, int *endless) {
    const uint64_t ever = width < 8 ? ((uint64_t)1 << 8 * width) - 1 : UINT64_MAX;
    for (unsigned d = 0; d < rank; d++) {
        const uint64_t start = db_hdf5_take(v, width), stride = db_hdf5_take(v, width),
                       count = db_hdf5_take(v, width), block = db_hdf5_take(v, width);
        const int open = count == ever || block == ever;
        *endless = *endless || open;
        if (start >> 62 || stride == 0 || stride >> 62 || count == 0 || block == 0) return 0;
        if (!open && (block >> 62 || (count > 1 && count - 1 > (UINT64_MAX >> 2) / stride)))
            return 0;
        if (count != ever && count > 1 && block > stride) return 0;
    }
    return 1;
}

/* Version 1 lists boxes, version 2 (libhdf5 1.10) has regular ones, version 3 (1.12) both, in numbers of 2, 4
 * or 8 bytes. */
static int check_boxes(db_hdf5_view *v, unsigned version, int *endless) {
    const unsigned flags = version > 1 ? (unsigned)db_hdf5_take(v, 1) : 0;
    unsigned width = version == 1 ? 4 : 8;
    if (version == 3)
        width = (unsigned)db_hdf5_take(v, 1);
    else
        db_hdf5_skip(v, version == 1 ? 8 : 4);
    const unsigned rank = (unsigned)db_hdf5_take(v, 4);
    if (rank < 1 || rank > 32 || (width != 2 && width != 4 && width != 8)) return 0;
    if (flags == 1) return check_regular(v, width, rank, endless);
    return flags == 0 && version != 2 && check_listed(v, width, rank);
}

/* A selection of elements, as it is stored. */
static int check_selection(db_hdf5_parts *p, db_hdf5_view *v, int *endless) {
    enum { NONE, POINTS, BOXES, ALL };
    const uint64_t place = v->place + v->at;
    const unsigned kind = (unsigned)db_hdf5_take(v, 4), version = (unsigned)db_hdf5_take(v, 4);
    int good = version == 1 && (kind == NONE || kind == ALL);
    if (good) db_hdf5_skip(v, 8);
    if (kind == BOXES && version >= 1 && version <= 3) good = check_boxes(v, version, endless);
    return (good && !v->over) ||
           db_hdf5_unsound(p, place,
                           "a selection of elements of kind %u, version %u that is damaged", kind,
                           version);
}

static int note_name(db_hdf5_parts *p, const char *name) {
    const size_t size = strlen(name) + 1;
    char *const grown = realloc(p->sources, p->sources_size + size);
    if (!grown) return db_hdf5_unsound(p, 0, "no memory for the names of sources");
    memcpy(grown + p->sources_size, name, size);
    p->sources = grown;
    p->sources_size += size;
    return 1;
}

/* Names of a source: of its file, and of the data set there. */
typedef struct source_names {
    const char *name[2];
} source_names;

/* Reads the names of a source. Version 1 (libhdf5 2.0) may refer to those of an earlier source by its number. */
static int take_names(db_hdf5_parts *p, db_hdf5_view *v, unsigned version, uint64_t number,
                      source_names *all) {
    enum { SHARED_FILE = 1, SHARED_DATA = 2, SAME_FILE = 4 };
    const unsigned flags = version ? (unsigned)db_hdf5_take(v, 1) : 0;
    for (int i = 0; i < 2; i++) {
        const size_t rest = db_hdf5_rest(v);
        if (i == 0 && flags & SAME_FILE) {
            all[number].name[i] = ".";
        } else if (flags & (i ? SHARED_DATA : SHARED_FILE)) {
            const uint64_t other = db_hdf5_take_length(p, v);
            if (v->over || other >= number) break;
            all[number].name[i] = all[other].name[i];
        } else if (rest && memchr(v->bytes + v->at, 0, rest)) {
            all[number].name[i] = (const char *)v->bytes + v->at;
            db_hdf5_skip(v, strlen(all[number].name[i]) + 1);
        }
        if (!all[number].name[i]) break;
    }
    return (all[number].name[1] && !(flags >> 3)) ||
           db_hdf5_unsound(p, v->place + v->at, "a source of a virtual data set without a name");
}

static int check_listed_sources(db_hdf5_parts *p, db_hdf5_view *v, unsigned version, uint64_t count,
                                source_names *all) {
    for (uint64_t i = 0; i < count; i++) {
        int endless = 0;
        if (!take_names(p, v, version, i, all)) return 0;
        if (!check_selection(p, v, &endless) || !check_selection(p, v, &endless)) return 0;
        if (endless && (!note_name(p, all[i].name[0]) || !note_name(p, all[i].name[1]))) return 0;
    }
    return 1;
}

int db_hdf5_check_sources(db_hdf5_parts *p, uint64_t address, uint32_t index) {
    enum { CHECKSUM = 4 };
    db_hdf5_view v = { .bytes = NULL };
    if (!find_object(p, address, index, &v)) return 0;
    const unsigned version = (unsigned)db_hdf5_take(&v, 1);
    const uint64_t count = db_hdf5_take_length(p, &v);
    if (v.over || version > 1 || count > v.size)
        return db_hdf5_unsound(p, v.place, "sources of a virtual data set, version %u", version);
    source_names *const all = calloc((size_t)count + 1, sizeof *all);
    if (!all) return db_hdf5_unsound(p, v.place, "no memory for the names of sources");
    const int good = check_listed_sources(p, &v, version, count, all);
    free(all);
    if (!good) return 0;
    const size_t end = v.at;
    const uint32_t stored = (uint32_t)db_hdf5_take(&v, CHECKSUM);
    if (!v.over && stored == lookup3(v.bytes, end)) return 1;
    return db_hdf5_unsound(p, v.place, "sources of a virtual data set with a wrong checksum");
}
#else
typedef int db_without_hdf5_check_heaps;
#endif
