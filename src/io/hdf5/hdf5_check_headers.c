/* The check of HDF5 files: the first block, and object headers. */
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_parts.h"

#include <stdlib.h>

enum {
    MOST_BLOCKS = 4096, /* of one header */
    DEEPEST = 16        /* headers that lead to one another */
};

/* Blocks of messages that one header still leads to. */
typedef struct blocks {
    uint64_t address[MOST_BLOCKS], size[MOST_BLOCKS];
    size_t count;
} blocks;

static int add_block(db_hdf5_parts *p, blocks *b, uint64_t address, uint64_t size, uint64_t place) {
    for (size_t i = 0; i < b->count; i++)
        if (b->address[i] == address)
            return db_hdf5_unsound(p, place, "blocks of an object header lead in a circle");
    if (b->count == MOST_BLOCKS)
        return db_hdf5_unsound(p, place, "an object header of more than 4096 blocks");
    b->address[b->count] = address;
    b->size[b->count++] = size;
    return 1;
}

/* How a header stores its messages. */
typedef struct storage {
    int old;      /* version 1 */
    int creation; /* an order of creation is stored */
    int depth;
    db_hdf5_facts *facts;
    blocks *more;
} storage;

static int check_messages(db_hdf5_parts *p, const storage *s, db_hdf5_view *v) {
    enum { NIL = 0, CONTINUATION = 16 };
    const size_t head = s->old ? 8 : s->creation ? 6 : 4;
    while (db_hdf5_rest(v) >= head) {
        const uint64_t place = v->place + v->at;
        const unsigned type = (unsigned)db_hdf5_take(v, s->old ? 2 : 1);
        const uint64_t size = db_hdf5_take(v, 2);
        const unsigned flags = (unsigned)db_hdf5_take(v, 1);
        db_hdf5_skip(v, s->old ? 3 : s->creation ? 2 : 0);
        db_hdf5_view message = db_hdf5_part(v, size);
        if (v->over)
            return db_hdf5_unsound(p, place, "a message of %llu bytes is larger than its block",
                                   (unsigned long long)size);
        if (type == NIL) continue;
        if (type == CONTINUATION) {
            const uint64_t address = db_hdf5_take_address(p, &message),
                           length = db_hdf5_take_length(p, &message);
            if (message.over || address == DB_HDF5_NOWHERE)
                return db_hdf5_unsound(p, place, "a continuation that leads nowhere");
            if (!add_block(p, s->more, address, length, place)) return 0;
        } else if (!db_hdf5_check_message(p, type, flags, message, s->depth, s->facts)) {
            return 0;
        }
    }
    return 1;
}

/* Reads the start of the first block; *v: the part with messages. */
static int open_header(db_hdf5_parts *p, uint64_t address, storage *s, db_hdf5_view *v) {
    db_hdf5_view start = { .bytes = NULL };
    uint64_t size = 0, head = 16;
    const uint64_t whole = p->size - p->base, room = whole > address ? whole - address : 0;
    if (!db_hdf5_load(p, "an object header", address, room < 48 ? room : 48, &start)) return 0;
    s->old = start.size > 0 && start.bytes[0] == 1;
    if (s->old) {
        db_hdf5_skip(&start, 8);
        size = db_hdf5_take(&start, 4);
    } else if (start.size >= 6 && db_hdf5_begins(&start, "OHDR\2", 5)) {
        const unsigned flags = start.bytes[5];
        s->creation = (flags & 4) != 0;
        db_hdf5_skip(&start, 6U + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0));
        size = db_hdf5_take(&start, 1U << (flags & 3));
        head = start.at;
    } else {
        start.over = 1;
    }
    const int bad = start.over;
    free((void *)start.bytes);
    if (bad) return db_hdf5_unsound(p, address, "expected an object header, found something else");
    return db_hdf5_load(p, "an object header's messages", address + head, size, v);
}

/* Opens a later block; in version 2 it starts with a signature and ends with a checksum. */
static int open_block(db_hdf5_parts *p, const storage *s, size_t i, db_hdf5_view *v) {
    const uint64_t address = s->more->address[i], size = s->more->size[i];
    if (s->old) return db_hdf5_load(p, "a block of messages", address, size, v);
    if (size < 8 || !db_hdf5_load(p, "a block of messages", address, size, v))
        return db_hdf5_unsound(p, address, "a block of messages of %llu bytes",
                               (unsigned long long)size);
    const int named = db_hdf5_begins(v, "OCHK", 4);
    v->at = 4;
    v->size -= 4;
    if (named) return 1;
    free((void *)v->bytes);
    return db_hdf5_unsound(p, address, "expected a block of messages, found something else");
}

/* Checks the heaps with values of variable length; the data sets checked here have few. */
static int check_values(db_hdf5_parts *p, const db_hdf5_facts *f) {
    enum { VARIABLE = 9, MOST_VALUES = 4096 };
    db_hdf5_view references = { .bytes = NULL };
    const uint64_t size = f->elements * (8 + p->address_size);
    if (f->type_class != VARIABLE || f->address == DB_HDF5_NOWHERE || f->rank < 0 ||
        f->elements > MOST_VALUES || f->elements == 0)
        return 1;
    if (!db_hdf5_load(p, "values", f->address, size, &references)) return 0;
    const int good = db_hdf5_check_sequences(p, references, f->elements, f->base_size);
    free((void *)references.bytes);
    return good;
}

static int check_blocks(db_hdf5_parts *p, uint64_t address, storage *s) {
    db_hdf5_view v = { .bytes = NULL };
    if (!open_header(p, address, s, &v)) return 0;
    int good = check_messages(p, s, &v);
    free((void *)v.bytes);
    for (size_t i = 0; good && i < s->more->count; i++) {
        if (!open_block(p, s, i, &v)) return 0;
        good = check_messages(p, s, &v);
        free((void *)v.bytes);
    }
    return good && check_values(p, s->facts);
}

int db_hdf5_check_header(db_hdf5_parts *p, uint64_t address, int depth) {
    db_hdf5_facts facts = { .type_class = -1, .rank = -1, .address = DB_HDF5_NOWHERE };
    if (depth > DEEPEST)
        return db_hdf5_unsound(p, address, "more than 16 objects that lead to one another");
    if (!db_hdf5_is_new(p, address)) return 1;
    storage s = { .depth = depth, .facts = &facts, .more = malloc(sizeof *s.more) };
    if (!s.more) return db_hdf5_unsound(p, address, "no memory for its object header");
    s.more->count = 0;
    const int good = check_blocks(p, address, &s);
    free(s.more);
    return good;
}

/* Versions 0 and 1. */
static int check_old_start(db_hdf5_parts *p, db_hdf5_view *v, unsigned version) {
    enum { CACHED_GROUP = 1 };
    db_hdf5_skip(v, 4);
    p->address_size = (unsigned)db_hdf5_take(v, 1);
    p->length_size = (unsigned)db_hdf5_take(v, 1);
    db_hdf5_skip(v, 1);
    p->ranks.leaf = (unsigned)db_hdf5_take(v, 2);
    p->ranks.group = (unsigned)db_hdf5_take(v, 2);
    db_hdf5_skip(v, 4);
    if (version == 1) {
        p->ranks.chunks = (unsigned)db_hdf5_take(v, 2);
        db_hdf5_skip(v, 2);
    }
    if ((p->address_size != 4 && p->address_size != 8) ||
        (p->length_size != 4 && p->length_size != 8))
        return db_hdf5_unsound(p, 13,
                               "expected addresses and lengths of 4 or 8 bytes, found %u and %u",
                               p->address_size, p->length_size);
    const uint64_t base = db_hdf5_take_address(p, v);
    db_hdf5_skip(v, p->address_size); /* free space */
    const uint64_t end = db_hdf5_take_address(p, v), driver = db_hdf5_take_address(p, v);
    db_hdf5_skip(v, p->length_size);
    p->root = db_hdf5_take_address(p, v);
    const unsigned cached = (unsigned)db_hdf5_take(v, 4);
    db_hdf5_skip(v, 4);
    const uint64_t tree = db_hdf5_take_address(p, v), heap = db_hdf5_take_address(p, v);
    if (v->over || (base != 0 && base != p->base) || p->ranks.leaf == 0 || p->ranks.group == 0 ||
        p->ranks.chunks == 0)
        return db_hdf5_unsound(p, 0, "its first block is damaged");
    if (p->base == 0 && end > p->size)
        return db_hdf5_unsound(p, 0, "expected %llu bytes, found %llu (cut short?)",
                               (unsigned long long)end, (unsigned long long)p->size);
    if (driver != DB_HDF5_NOWHERE)
        return db_hdf5_unsound(p, 0, "it is a part of a file that is stored in several");
    return cached != CACHED_GROUP || db_hdf5_check_group(p, tree, heap);
}

/* Versions 2 and 3. */
static int check_new_start(db_hdf5_parts *p, db_hdf5_view *v) {
    p->address_size = (unsigned)db_hdf5_take(v, 1);
    p->length_size = (unsigned)db_hdf5_take(v, 1);
    db_hdf5_skip(v, 1);
    if ((p->address_size != 4 && p->address_size != 8) ||
        (p->length_size != 4 && p->length_size != 8))
        return db_hdf5_unsound(p, 9,
                               "expected addresses and lengths of 4 or 8 bytes, found %u and %u",
                               p->address_size, p->length_size);
    const uint64_t base = db_hdf5_take_address(p, v), extension = db_hdf5_take_address(p, v),
                   end = db_hdf5_take_address(p, v);
    p->root = db_hdf5_take_address(p, v);
    if (v->over || (base != 0 && base != p->base))
        return db_hdf5_unsound(p, 0, "its first block is damaged");
    if (p->base == 0 && end > p->size)
        return db_hdf5_unsound(p, 0, "expected %llu bytes, found %llu (cut short?)",
                               (unsigned long long)end, (unsigned long long)p->size);
    return extension == DB_HDF5_NOWHERE || db_hdf5_check_header(p, extension, 0);
}

/* Finds the signature: at the start, or after a user block of 512 bytes, 1024, 2048 ... */
static int find_start(db_hdf5_parts *p) {
    for (p->base = 0; p->base + 8 <= p->size; p->base = p->base ? 2 * p->base : 512) {
        db_hdf5_view v = { .bytes = NULL };
        if (!db_hdf5_load(p, "a signature", 0, 8, &v)) return 0;
        const int here = db_hdf5_begins(&v, "\x89HDF\r\n\x1a\n", 8);
        free((void *)v.bytes);
        if (here) return 1;
    }
    return db_hdf5_unsound(p, 0, "expected the signature of HDF5, found none");
}

int db_hdf5_check_start(db_hdf5_parts *p) {
    db_hdf5_view v = { .bytes = NULL };
    if (!find_start(p)) return 0;
    const uint64_t rest = p->size - p->base, size = rest < 128 ? rest : 128;
    if (!db_hdf5_load(p, "the first block", 0, size, &v)) return 0;
    p->ranks = (db_hdf5_ranks){ 16, 32, 4 };
    p->root = DB_HDF5_NOWHERE;
    db_hdf5_skip(&v, 8);
    const unsigned version = (unsigned)db_hdf5_take(&v, 1);
    const int good = v.over || version > 3
                         ? db_hdf5_unsound(p, 8, "expected version 0 to 3, found %u", version)
                     : version > 1 ? check_new_start(p, &v)
                                   : check_old_start(p, &v, version);
    free((void *)v.bytes);
    if (!good) return 0;
    if (p->root == DB_HDF5_NOWHERE) return db_hdf5_unsound(p, 0, "it has no root group");
    return db_hdf5_check_header(p, p->root, 0);
}
#else
typedef int db_without_hdf5_check_headers;
#endif
