/* The check of HDF5 files: messages of object headers. Each is gone through as libhdf5 does;
 * numbers that it uses as sizes, counts or places must fit. */
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DIMENSIONS = 32, DEEPEST_TYPE = 16 };
enum { SHARED = 2 }; /* flag of a message that is elsewhere */

#define UNSOUND(...) db_hdf5_unsound(p, v->place, __VA_ARGS__)

/* A reference to a message that is shared: where an object's header has it. */
static int check_shared(db_hdf5_parts *p, db_hdf5_view *v, int depth) {
    enum { IN_HEAP = 1, HEAP_ID = 8 };
    const unsigned version = (unsigned)db_hdf5_take(v, 1), kind = (unsigned)db_hdf5_take(v, 1);
    if (version < 1 || version > 3) return UNSOUND("a shared message of version %u", version);
    if (version == 1) db_hdf5_skip(v, 6);
    if (version == 3 && kind == IN_HEAP) {
        db_hdf5_skip(v, HEAP_ID);
        return !v->over || UNSOUND("a shared message that ends early");
    }
    const uint64_t address = db_hdf5_take_address(p, v);
    if (v->over || address == DB_HDF5_NOWHERE) return UNSOUND("a shared message that is nowhere");
    return p->check_header(p, address, depth + 1);
}

static int check_space(db_hdf5_parts *p, db_hdf5_view *v, db_hdf5_facts *f) {
    const unsigned version = (unsigned)db_hdf5_take(v, 1);
    const unsigned rank = (unsigned)db_hdf5_take(v, 1), flags = (unsigned)db_hdf5_take(v, 1);
    if (version < 1 || version > 2 || rank > MOST_DIMENSIONS)
        return UNSOUND("a data space of version %u with %u dimensions", version, rank);
    const unsigned kind = (unsigned)db_hdf5_take(v, 1); /* version 2: 2 is no space at all */
    if (version == 1) db_hdf5_skip(v, 4);
    f->rank = (int)rank;
    f->elements = version == 2 && kind == 2 ? 0 : 1;
    for (unsigned d = 0; d < rank; d++) {
        const uint64_t extent = db_hdf5_take_length(p, v);
        if (extent && f->elements > (UINT64_MAX >> 8) / extent)
            return UNSOUND("a data space with too many elements");
        f->elements *= extent;
    }
    if (flags & 1) db_hdf5_skip(v, (uint64_t)rank * p->length_size);
    return !v->over || UNSOUND("a data space that ends early");
}

/* A name with its end; padded: to a multiple of 8 bytes. */
static int skip_text(db_hdf5_view *v, int padded) {
    const size_t rest = db_hdf5_rest(v);
    const unsigned char *const end = rest ? memchr(v->bytes + v->at, 0, rest) : NULL;
    if (!end) return 0;
    const uint64_t size = (uint64_t)(end - (v->bytes + v->at)) + 1;
    db_hdf5_skip(v, padded ? (size + 7) / 8 * 8 : size);
    return !v->over;
}

/* Bits of numbers are within them. */
static int check_bits(db_hdf5_parts *p, db_hdf5_view *v, unsigned class_bits, uint64_t size,
                      int is_float) {
    const uint64_t offset = db_hdf5_take(v, 2), precision = db_hdf5_take(v, 2);
    int good = precision > 0 && offset + precision <= 8 * size;
    if (is_float) {
        const uint64_t exponent_at = db_hdf5_take(v, 1), exponent = db_hdf5_take(v, 1),
                       mantissa_at = db_hdf5_take(v, 1), mantissa = db_hdf5_take(v, 1);
        db_hdf5_skip(v, 4);
        good = good && exponent > 0 && mantissa > 0 && exponent_at + exponent <= 8 * size &&
               mantissa_at + mantissa <= 8 * size && (class_bits >> 8 & 0xff) < 8 * size;
    }
    return (good && !v->over) || UNSOUND("a number whose bits do not fit into its bytes");
}

static int check_type(db_hdf5_parts *p, db_hdf5_view *v, int depth, db_hdf5_facts *f);

static int check_members(db_hdf5_parts *p, db_hdf5_view *v, unsigned version, unsigned count,
                         uint64_t size, int depth) {
    unsigned width = 4;
    for (width = 1; version == 3 && width < 4 && size >> (8 * width);) width++;
    for (unsigned i = 0; i < count; i++) {
        db_hdf5_facts member = { .type_class = -1 };
        if (!skip_text(v, version < 3)) return UNSOUND("a member of a type without a name");
        const uint64_t offset = db_hdf5_take(v, version < 3 ? 4 : width);
        if (version == 1) {
            if (db_hdf5_take(v, 1) > 4) return UNSOUND("a member of a type with many dimensions");
            db_hdf5_skip(v, 11 + 16);
        }
        if (!check_type(p, v, depth + 1, &member)) return 0;
        if (offset > size || member.type_size > size - offset)
            return UNSOUND("a member of a type that is not within it");
    }
    return 1;
}

static int check_values(db_hdf5_parts *p, db_hdf5_view *v, unsigned version, unsigned count,
                        int depth) {
    db_hdf5_facts base = { .type_class = -1 };
    if (!check_type(p, v, depth + 1, &base)) return 0;
    for (unsigned i = 0; i < count; i++)
        if (!skip_text(v, version < 3)) return UNSOUND("a value of a type without a name");
    db_hdf5_skip(v, (uint64_t)count * base.type_size);
    return 1;
}

static int check_array(db_hdf5_parts *p, db_hdf5_view *v, unsigned version, uint64_t size,
                       int depth) {
    db_hdf5_facts base = { .type_class = -1 };
    const unsigned rank = (unsigned)db_hdf5_take(v, 1);
    uint64_t elements = 1;
    if (rank == 0 || rank > MOST_DIMENSIONS) return UNSOUND("an array of %u dimensions", rank);
    if (version < 3) db_hdf5_skip(v, 3);
    for (unsigned d = 0; d < rank; d++) {
        const uint64_t extent = db_hdf5_take(v, 4);
        if (extent == 0 || elements > UINT32_MAX / extent)
            return UNSOUND("an array of too many elements, or none");
        elements *= extent;
    }
    if (version < 3) db_hdf5_skip(v, 4 * (uint64_t)rank);
    if (!check_type(p, v, depth + 1, &base)) return 0;
    return elements * base.type_size == size ||
           UNSOUND("an array of another size than its elements");
}

static int check_type(db_hdf5_parts *p, db_hdf5_view *v, int depth, db_hdf5_facts *f) {
    enum { FIXED, FLOAT, TIME, TEXT, BITS, OPAQUE, COMPOUND, REFERENCE, VALUES, VARIABLE, ARRAY };
    db_hdf5_facts base = { .type_class = -1 };
    const unsigned start = (unsigned)db_hdf5_take(v, 4), version = start >> 4 & 15,
                   bits = start >> 8;
    const uint32_t size = (uint32_t)db_hdf5_take(v, 4);
    f->type_class = (int)(start & 15);
    f->type_size = size;
    if (version < 1 || version > 4 || size == 0 || depth > DEEPEST_TYPE)
        return UNSOUND("a data type of version %u with %u bytes", version, (unsigned)size);
    int good = 1;
    switch (f->type_class) {
    case FIXED:
    case BITS: good = check_bits(p, v, bits, size, 0); break;
    case FLOAT: good = check_bits(p, v, bits, size, 1); break;
    case TIME: db_hdf5_skip(v, 2); break;
    case TEXT:
    case REFERENCE: break;
    case OPAQUE: db_hdf5_skip(v, bits & 0xff); break;
    case COMPOUND: good = check_members(p, v, version, bits & 0xffff, size, depth); break;
    case VALUES: good = check_values(p, v, version, bits & 0xffff, depth); break;
    case VARIABLE:
        good = check_type(p, v, depth + 1, &base);
        f->base_size = base.type_size;
        if (good && size != 8 + p->address_size)
            good = UNSOUND("a type of variable length with %u bytes", (unsigned)size);
        break;
    case ARRAY: good = check_array(p, v, version, size, depth); break;
    default: return UNSOUND("a data type of class %d", f->type_class);
    }
    if (!good) return 0;
    return !v->over || UNSOUND("a data type that ends early");
}

static int check_fill(db_hdf5_parts *p, db_hdf5_view *v, int old) {
    if (!old) {
        const unsigned version = (unsigned)db_hdf5_take(v, 1);
        if (version < 1 || version > 3) return UNSOUND("a fill value of version %u", version);
        unsigned has_size;
        if (version == 3) {
            has_size = (unsigned)db_hdf5_take(v, 1) & 0x20;
        } else {
            db_hdf5_skip(v, 2);
            has_size = db_hdf5_take(v, 1) || version == 1;
        }
        if (!has_size) return !v->over || UNSOUND("a fill value that ends early");
    }
    const uint64_t size = db_hdf5_take(v, 4);
    if (size < INT32_MAX) db_hdf5_skip(v, size); /* else negative: none */
    return !v->over || UNSOUND("a fill value that ends early");
}

static int check_link(db_hdf5_parts *p, db_hdf5_view *v) {
    const unsigned version = (unsigned)db_hdf5_take(v, 1), flags = (unsigned)db_hdf5_take(v, 1);
    const unsigned kind = flags & 8 ? (unsigned)db_hdf5_take(v, 1) : 0;
    if (version != 1) return UNSOUND("a link of version %u", version);
    db_hdf5_skip(v, (flags & 4 ? 8U : 0U) + (flags & 16 ? 1U : 0U));
    const uint64_t length = db_hdf5_take(v, 1U << (flags & 3));
    if (length == 0) return UNSOUND("a link without a name");
    db_hdf5_skip(v, length);
    if (kind == 0) {
        db_hdf5_skip(v, p->address_size);
    } else {
        const uint64_t size = db_hdf5_take(v, 2);
        if (size == 0) return UNSOUND("a link that leads nowhere");
        db_hdf5_view to = db_hdf5_part(v, size);
        if (kind == 64) { /* to a file: a byte, and two names */
            db_hdf5_skip(&to, 1);
            if (to.over || !skip_text(&to, 0) || !skip_text(&to, 0))
                return UNSOUND("a link to a file without two names");
        }
    }
    return !v->over || UNSOUND("a link that ends early");
}

static int check_files(db_hdf5_parts *p, db_hdf5_view *v) {
    db_hdf5_view heap = { .bytes = NULL };
    db_hdf5_skip(v, 4);
    const unsigned room = (unsigned)db_hdf5_take(v, 2), used = (unsigned)db_hdf5_take(v, 2);
    const uint64_t address = db_hdf5_take_address(p, v);
    if (used > room || !db_hdf5_check_local_heap(p, address, &heap))
        return UNSOUND("a list of files that is damaged");
    int good = 1;
    for (unsigned i = 0; i < used && good; i++) {
        good = db_hdf5_check_name(p, &heap, db_hdf5_take_length(p, v));
        db_hdf5_skip(v, 2 * (uint64_t)p->length_size);
    }
    free((void *)heap.bytes);
    return good && (!v->over || UNSOUND("a list of files that ends early"));
}

static int check_chunk_shape(db_hdf5_parts *p, const db_hdf5_view *v, const uint64_t *extent,
                             unsigned dimensions) {
    uint64_t size = 1;
    for (unsigned d = 0; d < dimensions; d++) {
        if (extent[d] == 0 || size > UINT32_MAX / extent[d])
            return UNSOUND("chunks without size, or of 2^32 bytes and more");
        size *= extent[d];
    }
    return 1;
}

/* Version 4. */
static int check_new_chunks(db_hdf5_parts *p, db_hdf5_view *v) {
    static const unsigned char rest[6] = { 0, 0, 0, 1, 5, 6 }; /* bytes of the kinds of lists */
    uint64_t extent[MOST_DIMENSIONS + 1];
    const unsigned flags = (unsigned)db_hdf5_take(v, 1), dimensions = (unsigned)db_hdf5_take(v, 1),
                   width = (unsigned)db_hdf5_take(v, 1);
    if (dimensions < 2 || dimensions > MOST_DIMENSIONS + 1 || width < 1 || width > 8)
        return UNSOUND("chunks of %u dimensions in %u bytes each", dimensions, width);
    for (unsigned d = 0; d < dimensions; d++) extent[d] = db_hdf5_take(v, width);
    const unsigned kind = (unsigned)db_hdf5_take(v, 1);
    if (kind < 1 || kind > 5) return UNSOUND("a list of chunks of kind %u", kind);
    db_hdf5_skip(v, kind == 1 ? (flags & 2 ? p->length_size + 4U : 0U) : rest[kind]);
    db_hdf5_skip(v, p->address_size);
    if (v->over) return UNSOUND("a list of chunks that ends early");
    return check_chunk_shape(p, v, extent, dimensions);
}

static int check_old_chunks(db_hdf5_parts *p, db_hdf5_view *v, uint64_t tree, unsigned dimensions) {
    uint64_t extent[MOST_DIMENSIONS + 1];
    if (dimensions < 2 || dimensions > MOST_DIMENSIONS + 1)
        return UNSOUND("chunks of %u dimensions", dimensions);
    for (unsigned d = 0; d < dimensions; d++) extent[d] = db_hdf5_take(v, 4);
    if (v->over) return UNSOUND("chunks whose size ends early");
    if (!check_chunk_shape(p, v, extent, dimensions)) return 0;
    return tree == DB_HDF5_NOWHERE || db_hdf5_check_chunks(p, tree, dimensions);
}

enum { COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL };

/* Versions 1 and 2. */
static int check_oldest_layout(db_hdf5_parts *p, db_hdf5_view *v, db_hdf5_facts *f) {
    const unsigned dimensions = (unsigned)db_hdf5_take(v, 1), kind = (unsigned)db_hdf5_take(v, 1);
    db_hdf5_skip(v, 5);
    const uint64_t address = kind != COMPACT ? db_hdf5_take_address(p, v) : DB_HDF5_NOWHERE;
    if (dimensions > MOST_DIMENSIONS + 1) return UNSOUND("a layout of %u dimensions", dimensions);
    if (kind == CHUNKED) return check_old_chunks(p, v, address, dimensions);
    db_hdf5_skip(v, 4 * (uint64_t)dimensions);
    if (kind == COMPACT) {
        const uint64_t size = db_hdf5_take(v, 4);
        f->address = v->place + v->at;
        db_hdf5_skip(v, size);
    } else if (kind == CONTIGUOUS) {
        f->address = address;
    }
    return (kind <= CONTIGUOUS && !v->over) ||
           UNSOUND("a layout of class %u that ends early", kind);
}

static int check_layout(db_hdf5_parts *p, db_hdf5_view *v, db_hdf5_facts *f) {
    const unsigned version = (unsigned)db_hdf5_take(v, 1);
    if (version == 0) return UNSOUND("a layout of version 0");
    if (version < 3) return check_oldest_layout(p, v, f);
    const unsigned kind = (unsigned)db_hdf5_take(v, 1);
    if (version > 4 || kind > VIRTUAL || (kind == VIRTUAL && version == 3))
        return UNSOUND("a layout of version %u, class %u", version, kind);
    if (kind == COMPACT) {
        const uint64_t size = db_hdf5_take(v, 2);
        f->address = v->place + v->at;
        db_hdf5_skip(v, size);
    } else if (kind == CONTIGUOUS) {
        f->address = db_hdf5_take_address(p, v);
        f->size = db_hdf5_take_length(p, v);
    } else if (kind == CHUNKED && version == 4) {
        return check_new_chunks(p, v);
    } else if (kind == CHUNKED) {
        const unsigned dimensions = (unsigned)db_hdf5_take(v, 1);
        const uint64_t tree = db_hdf5_take_address(p, v);
        return check_old_chunks(p, v, tree, dimensions);
    } else {
        const uint64_t heap = db_hdf5_take_address(p, v);
        const uint32_t index = (uint32_t)db_hdf5_take(v, 4);
        if (!v->over && heap != DB_HDF5_NOWHERE) return db_hdf5_check_sources(p, heap, index);
    }
    return !v->over || UNSOUND("a layout that ends early");
}

static int check_filters(db_hdf5_parts *p, db_hdf5_view *v) {
    enum { MOST_FILTERS = 32, FIRST_NAMED = 256 };
    const unsigned version = (unsigned)db_hdf5_take(v, 1), count = (unsigned)db_hdf5_take(v, 1);
    if (version < 1 || version > 2 || count > MOST_FILTERS)
        return UNSOUND("%u filters, version %u", count, version);
    if (version == 1) db_hdf5_skip(v, 6);
    for (unsigned i = 0; i < count; i++) {
        const unsigned id = (unsigned)db_hdf5_take(v, 2);
        const unsigned name = version == 1 || id >= FIRST_NAMED ? (unsigned)db_hdf5_take(v, 2) : 0;
        db_hdf5_skip(v, 2);
        const unsigned values = (unsigned)db_hdf5_take(v, 2);
        const db_hdf5_view text = db_hdf5_part(v, version == 1 ? (name + 7U) / 8 * 8 : name);
        db_hdf5_skip(v, 4 * (uint64_t)values + (version == 1 && values % 2 ? 4 : 0));
        if (v->over) return UNSOUND("filters that end early");
        if (text.size && !memchr(text.bytes, 0, text.size))
            return UNSOUND("a filter whose name has no end");
    }
    return 1;
}

/* A part of an attribute: sizes of old ones are padded. */
static db_hdf5_view attribute_part(db_hdf5_view *v, unsigned version, unsigned size) {
    return db_hdf5_part(v, version == 1 ? (size + 7U) / 8 * 8 : size);
}

static int check_attribute(db_hdf5_parts *p, db_hdf5_view *v, int depth) {
    enum { VARIABLE = 9 };
    db_hdf5_facts f = { .type_class = -1, .rank = -1 };
    const unsigned version = (unsigned)db_hdf5_take(v, 1), flags = (unsigned)db_hdf5_take(v, 1);
    const unsigned name = (unsigned)db_hdf5_take(v, 2), type = (unsigned)db_hdf5_take(v, 2),
                   space = (unsigned)db_hdf5_take(v, 2);
    if (version < 1 || version > 3) return UNSOUND("an attribute of version %u", version);
    if (version == 3) db_hdf5_skip(v, 1);
    db_hdf5_view text = attribute_part(v, version, name);
    db_hdf5_view types = attribute_part(v, version, type);
    db_hdf5_view spaces = attribute_part(v, version, space);
    if (v->over || !name || !memchr(text.bytes, 0, text.size))
        return UNSOUND("an attribute that ends early, or has no name");
    const int shared_type = version > 1 && flags & 1, shared_space = version > 1 && flags & 2;
    if (shared_type ? !check_shared(p, &types, depth) : !check_type(p, &types, 0, &f)) return 0;
    if (shared_space ? !check_shared(p, &spaces, depth) : !check_space(p, &spaces, &f)) return 0;
    if (shared_type || shared_space) return 1;
    if (f.elements > db_hdf5_rest(v) / f.type_size)
        return UNSOUND("an attribute of %llu values that ends early",
                       (unsigned long long)f.elements);
    return f.type_class != VARIABLE ||
           db_hdf5_check_sequences(p, db_hdf5_part(v, f.elements * f.type_size), f.elements,
                                   f.base_size);
}

static int check_ranks(db_hdf5_parts *p, db_hdf5_view *v) {
    db_hdf5_ranks *const r = &p->ranks;
    db_hdf5_skip(v, 1);
    r->chunks = (unsigned)db_hdf5_take(v, 2);
    r->group = (unsigned)db_hdf5_take(v, 2);
    r->leaf = (unsigned)db_hdf5_take(v, 2);
    return (!v->over && r->chunks && r->group && r->leaf) || UNSOUND("sizes of trees that are 0");
}

int db_hdf5_check_message(db_hdf5_parts *p, unsigned type, unsigned flags, db_hdf5_view message,
                          int depth, db_hdf5_facts *facts) {
    enum {
        SPACE = 1,
        TYPE = 3,
        OLD_FILL,
        FILL,
        LINK,
        FILES,
        LAYOUT,
        FILTERS = 11,
        ATTRIBUTE,
        SYMBOL_TABLE = 17,
        RANKS = 19
    };
    db_hdf5_view *const v = &message;
    if (flags & SHARED) return check_shared(p, v, depth);
    switch (type) {
    case SPACE: return check_space(p, v, facts);
    case TYPE: return check_type(p, v, 0, facts);
    case OLD_FILL: return check_fill(p, v, 1);
    case FILL: return check_fill(p, v, 0);
    case LINK: return check_link(p, v);
    case FILES: return check_files(p, v);
    case LAYOUT: return check_layout(p, v, facts);
    case FILTERS: return check_filters(p, v);
    case ATTRIBUTE: return check_attribute(p, v, depth);
    case SYMBOL_TABLE: {
        const uint64_t tree = db_hdf5_take_address(p, v), heap = db_hdf5_take_address(p, v);
        return v->over ? UNSOUND("a group that ends early") : db_hdf5_check_group(p, tree, heap);
    }
    case RANKS: return check_ranks(p, v);
    default: return 1;
    }
}
#else
typedef int db_without_hdf5_check_messages;
#endif
