/* The check of HDF5 files: global heaps, which have no checksums, and what is in them: values
 * of variable length and the sources of virtual data sets. */
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

/* Boxes that are listed (version 1), or numbers of regular ones (version 2). */
static int check_boxes(db_hdf5_view *v, unsigned version, unsigned rank, int *endless) {
    if (version == 1) {
        const uint64_t count = db_hdf5_take(v, 4);
        for (uint64_t i = 0; i < count && !v->over; i++) {
            db_hdf5_view corners = db_hdf5_part(v, 8 * (uint64_t)rank), ends = corners;
            db_hdf5_skip(&ends, 4 * (uint64_t)rank);
            for (unsigned d = 0; d < rank && !v->over; d++)
                if (db_hdf5_take(&corners, 4) > db_hdf5_take(&ends, 4)) return 0;
        }
        return count > 0;
    }
    for (unsigned d = 0; d < rank; d++) {
        const uint64_t start = db_hdf5_take(v, 8), stride = db_hdf5_take(v, 8),
                       count = db_hdf5_take(v, 8), block = db_hdf5_take(v, 8);
        const int open = count == UINT64_MAX || block == UINT64_MAX;
        *endless = *endless || open;
        if (start >> 62 || stride == 0 || stride >> 62 || count == 0 || block == 0) return 0;
        if (!open && (block >> 62 || (count > 1 && count - 1 > (UINT64_MAX >> 2) / stride)))
            return 0;
        if (count != UINT64_MAX && count > 1 && block > stride) return 0;
    }
    return 1;
}

/* A selection of elements, as it is stored. */
static int check_selection(db_hdf5_parts *p, db_hdf5_view *v, int *endless) {
    enum { NONE, POINTS, BOXES, ALL };
    const uint64_t place = v->place + v->at;
    const unsigned kind = (unsigned)db_hdf5_take(v, 4), version = (unsigned)db_hdf5_take(v, 4);
    int good = version == 1 && (kind == NONE || kind == ALL);
    if (good) db_hdf5_skip(v, 8);
    if (kind == BOXES && (version == 1 || version == 2)) {
        const unsigned flags = version == 2 ? (unsigned)db_hdf5_take(v, 1) : 0;
        db_hdf5_skip(v, version == 1 ? 8 : 4);
        const unsigned rank = (unsigned)db_hdf5_take(v, 4);
        good = (version == 1 || flags == 1) && rank >= 1 && rank <= 32 &&
               check_boxes(v, version, rank, endless);
    }
    return (good && !v->over) ||
           db_hdf5_unsound(p, place,
                           "a selection of elements of kind %u, version %u that is damaged", kind,
                           version);
}

static int skip_name(db_hdf5_parts *p, db_hdf5_view *v) {
    const size_t rest = db_hdf5_rest(v);
    const unsigned char *const end = rest ? memchr(v->bytes + v->at, 0, rest) : NULL;
    if (!end)
        return db_hdf5_unsound(p, v->place + v->at,
                               "a source of a virtual data set without a name");
    db_hdf5_skip(v, (uint64_t)(end - (v->bytes + v->at)) + 1);
    return 1;
}

static int note_source(db_hdf5_parts *p, const unsigned char *names, size_t size) {
    char *const grown = realloc(p->sources, p->sources_size + size);
    if (!grown) return db_hdf5_unsound(p, 0, "no memory for the names of sources");
    memcpy(grown + p->sources_size, names, size);
    p->sources = grown;
    p->sources_size += size;
    return 1;
}

int db_hdf5_check_sources(db_hdf5_parts *p, uint64_t address, uint32_t index) {
    enum { CHECKSUM = 4 };
    db_hdf5_view v = { .bytes = NULL };
    if (!find_object(p, address, index, &v)) return 0;
    const unsigned version = (unsigned)db_hdf5_take(&v, 1);
    const uint64_t count = db_hdf5_take_length(p, &v);
    if (v.over || version != 0 || count > v.size)
        return db_hdf5_unsound(p, v.place, "sources of a virtual data set, version %u", version);
    for (uint64_t i = 0; i < count; i++) {
        const size_t names = v.at;
        int endless = 0;
        if (!skip_name(p, &v) || !skip_name(p, &v)) return 0;
        const size_t size = v.at - names;
        if (!check_selection(p, &v, &endless) || !check_selection(p, &v, &endless)) return 0;
        if (endless && !note_source(p, v.bytes + names, size)) return 0;
    }
    const size_t end = v.at;
    const uint32_t stored = (uint32_t)db_hdf5_take(&v, CHECKSUM);
    if (!v.over && stored == lookup3(v.bytes, end)) return 1;
    return db_hdf5_unsound(p, v.place, "sources of a virtual data set with a wrong checksum");
}
#else
typedef int db_without_hdf5_check_heaps;
#endif
