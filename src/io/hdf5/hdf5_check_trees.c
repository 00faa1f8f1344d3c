/* The check of HDF5 files: groups and lists of chunks of the oldest kind, in trees without
 * checksums. */
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_parts.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = 0, CHUNKS = 1 };

/* A tree that is gone through. */
typedef struct tree {
    db_hdf5_parts *parts;
    unsigned kind, most; /* entries of a node */
    unsigned key;        /* bytes of a key */
    const db_hdf5_view *heap;
    uint64_t before[256], right[256]; /* of each level: the node passed last, and its neighbour */
} tree;

int db_hdf5_check_local_heap(db_hdf5_parts *p, uint64_t address, db_hdf5_view *data) {
    enum { NO_MORE = 1 };
    db_hdf5_view v = { .bytes = NULL };
    const unsigned length = p->length_size;
    *data = (db_hdf5_view){ .place = address };
    if (!db_hdf5_load(p, "a local heap", address, 8 + 2 * length + p->address_size, &v)) return 0;
    const int named = db_hdf5_begins(&v, "HEAP\0", 5);
    db_hdf5_skip(&v, 8);
    const uint64_t size = db_hdf5_take_length(p, &v);
    uint64_t free_block = db_hdf5_take_length(p, &v);
    const uint64_t place = db_hdf5_take_address(p, &v);
    free((void *)v.bytes);
    if (!named) return db_hdf5_unsound(p, address, "expected a local heap, found something else");
    if (!db_hdf5_load(p, "names of a local heap", place, size, data)) return 0;
    for (uint64_t steps = 0; free_block != NO_MORE; steps++) {
        if (steps > size / (2 * length) || free_block > size || size - free_block < 2 * length) {
            free((void *)data->bytes);
            *data = (db_hdf5_view){ .place = address };
            return db_hdf5_unsound(p, address,
                                   "free places of a local heap lead in a circle or out");
        }
        data->at = (size_t)free_block;
        free_block = db_hdf5_take_length(p, data);
    }
    data->at = 0;
    return 1;
}

int db_hdf5_check_name(db_hdf5_parts *p, const db_hdf5_view *heap, uint64_t offset) {
    if (offset < heap->size && memchr(heap->bytes + offset, 0, heap->size - (size_t)offset))
        return 1;
    return db_hdf5_unsound(p, heap->place, "a name that is not within its local heap");
}

/* Checks the names of a group and the objects that they lead to. */
static int check_symbols(const tree *t, uint64_t address) {
    enum { SOFT_LINK = 2 };
    db_hdf5_parts *const p = t->parts;
    db_hdf5_view start = { .bytes = NULL }, v = start;
    const unsigned width = p->address_size, entry = 2 * width + 24;
    if (!db_hdf5_is_new(p, address))
        return db_hdf5_unsound(p, address, "names of a group that are reached twice");
    if (!db_hdf5_load(p, "names of a group", address, 8, &start)) return 0;
    const int named = db_hdf5_begins(&start, "SNOD\1", 5);
    db_hdf5_skip(&start, 6);
    const unsigned count = (unsigned)db_hdf5_take(&start, 2);
    free((void *)start.bytes);
    if (!named || count > 2 * p->ranks.leaf)
        return db_hdf5_unsound(p, address, "expected names of a group, found something else");
    if (!db_hdf5_load(p, "names of a group", address + 8, (uint64_t)count * entry, &v)) return 0;
    int good = 1;
    for (unsigned i = 0; i < count && good; i++) {
        good = db_hdf5_check_name(p, t->heap, db_hdf5_take(&v, width));
        db_hdf5_skip(&v, width);
        const unsigned cached = (unsigned)db_hdf5_take(&v, 4);
        db_hdf5_skip(&v, 4);
        const uint64_t offset = db_hdf5_take(&v, 4);
        db_hdf5_skip(&v, 12);
        if (cached == SOFT_LINK) good = good && db_hdf5_check_name(p, t->heap, offset);
    }
    free((void *)v.bytes);
    return good;
}

static int check_node(tree *t, uint64_t address, int expected);

static int check_entries(tree *t, db_hdf5_view *v, unsigned count, unsigned level) {
    const unsigned width = t->parts->address_size;
    for (unsigned i = 0; i <= count; i++) {
        db_hdf5_view key = db_hdf5_part(v, t->key);
        if (t->kind == GROUP && !db_hdf5_check_name(t->parts, t->heap, db_hdf5_take(&key, t->key)))
            return 0;
        if (i == count) break;
        const uint64_t child = db_hdf5_take(v, width);
        if (level > 0 ? !check_node(t, child, (int)level - 1)
                      : t->kind == GROUP && !check_symbols(t, child))
            return 0;
    }
    return 1;
}

/* Nodes of a level are neighbours from left to right. */
static int check_neighbours(tree *t, uint64_t address, unsigned level, uint64_t left,
                            uint64_t right) {
    const int fits = left == t->before[level] &&
                     (t->before[level] == DB_HDF5_NOWHERE || t->right[level] == address);
    t->before[level] = address;
    t->right[level] = right;
    return fits || db_hdf5_unsound(t->parts, address, "a node of a tree with other neighbours");
}

/* expected: its level; -1: any. */
static int check_node(tree *t, uint64_t address, int expected) {
    db_hdf5_parts *const p = t->parts;
    db_hdf5_view start = { .bytes = NULL }, v = start;
    const unsigned width = p->address_size, head = 8 + 2 * width;
    if (!db_hdf5_load(p, "a node of a tree", address, head, &start)) return 0;
    const int named = db_hdf5_begins(&start, "TREE", 4);
    db_hdf5_skip(&start, 4);
    const unsigned kind = (unsigned)db_hdf5_take(&start, 1),
                   level = (unsigned)db_hdf5_take(&start, 1),
                   count = (unsigned)db_hdf5_take(&start, 2);
    const uint64_t left = db_hdf5_take_address(p, &start), right = db_hdf5_take_address(p, &start);
    free((void *)start.bytes);
    if (!named || kind != t->kind || count > t->most ||
        (expected >= 0 && level != (unsigned)expected))
        return db_hdf5_unsound(p, address, "expected a node of a tree, found something else");
    if (expected >= 0 && !db_hdf5_is_new(p, address))
        return db_hdf5_unsound(p, address, "a node of a tree that is reached twice");
    if (!check_neighbours(t, address, level, left, right)) return 0;
    if (!db_hdf5_load(p, "entries of a tree", address + head,
                      (uint64_t)count * (t->key + width) + t->key, &v))
        return 0;
    const int good = check_entries(t, &v, count, level);
    free((void *)v.bytes);
    return good;
}

static int check_tree(tree *t, uint64_t address) {
    for (int i = 0; i < 256; i++) t->before[i] = t->right[i] = DB_HDF5_NOWHERE;
    if (!db_hdf5_is_new(t->parts, address)) return 1; /* of a group that has two headers */
    if (!check_node(t, address, -1)) return 0;
    for (int i = 0; i < 256; i++)
        if (t->right[i] != DB_HDF5_NOWHERE)
            return db_hdf5_unsound(t->parts, t->before[i],
                                   "a node of a tree with other neighbours");
    return 1;
}

int db_hdf5_check_group(db_hdf5_parts *p, uint64_t address, uint64_t heap) {
    db_hdf5_view names = { .bytes = NULL };
    if (!db_hdf5_check_local_heap(p, heap, &names)) return 0;
    tree t = {
        .parts = p, .kind = GROUP, .most = 2 * p->ranks.group, .key = p->length_size, .heap = &names
    };
    const int good = check_tree(&t, address);
    free((void *)names.bytes);
    return good;
}

int db_hdf5_check_chunks(db_hdf5_parts *p, uint64_t address, unsigned dimensions) {
    tree t = { .parts = p, .kind = CHUNKS, .most = 2 * p->ranks.chunks, .key = 8 + 8 * dimensions };
    return check_tree(&t, address);
}
#else
typedef int db_without_hdf5_check_trees;
#endif
