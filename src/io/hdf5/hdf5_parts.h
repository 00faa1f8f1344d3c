/* Parts of the check of HDF5 files (hdf5_check.h). All functions return 1 if what they check is sound, else 0 and
 * set a reason. Structures have the names of the HDF5 File Format Specification. */
#ifndef DB_IO_HDF5_PARTS_H
#define DB_IO_HDF5_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Bytes of the file in memory, that are gone through from the front. */
typedef struct db_hdf5_view {
    const unsigned char *bytes;
    size_t size, at;
    uint64_t place; /* of the first byte in the file */
    int over;       /* 1: more was asked for than there is; that is 0 */
} db_hdf5_view;

/* Most entries of nodes of the first kind of B-trees, and of symbol table nodes. */
typedef struct db_hdf5_ranks {
    unsigned group, chunks, leaf;
} db_hdf5_ranks;
/* The global heap that was looked at last. */
typedef struct db_hdf5_heap {
    db_hdf5_view view;
    uint32_t *at; /* of each object, by its index; 0: there is none */
} db_hdf5_heap;
enum { DB_HDF5_PAGES = 32 }; /* held of a file */

/* A file that is looked at, or was. */
typedef struct db_hdf5_parts db_hdf5_parts;
struct db_hdf5_parts {
    char *path; /* NULL: unused */
    int descriptor;
    dev_t device;
    ino_t inode;
    struct timespec changed;
    uint64_t size;
    unsigned address_size, length_size;
    uint64_t base; /* bytes of the user's in front; addresses count from there */
    uint64_t root;
    db_hdf5_ranks ranks;
    uint64_t used; /* time of last use: the oldest is forgotten first */
    /* Addresses that were looked at: a table with open places; 0 is none. */
    uint64_t *seen;
    size_t seen_count, seen_room;
    unsigned char *pages;
    uint64_t page[DB_HDF5_PAGES]; /* which, from 1 */
    db_hdf5_heap heap;
    uint64_t loaded; /* bytes since the file was opened */
    /* Sources of virtual data sets without end, which libhdf5 opens by itself: names of a file and
     * a data set each, with their ends. */
    char *sources;
    size_t sources_size;
    char reason[200];
    /* Of an object that a message leads to: db_hdf5_check_header. */
    int (*check_header)(db_hdf5_parts *parts, uint64_t address, int depth);
};

#define DB_HDF5_NOWHERE UINT64_MAX

/* Numbers of `width` bytes, little-endian. */
uint64_t db_hdf5_take(db_hdf5_view *view, unsigned width);
void db_hdf5_skip(db_hdf5_view *view, uint64_t count);
/* A part of it, at its place, as a view of its own. */
db_hdf5_view db_hdf5_part(db_hdf5_view *view, uint64_t size);
/* Does it have these bytes at its front? */
int db_hdf5_begins(const db_hdf5_view *view, const char *bytes, size_t size);
static inline size_t db_hdf5_rest(const db_hdf5_view *v) { return v->size - v->at; }

/* Addresses and lengths; the address that is none is DB_HDF5_NOWHERE. */
uint64_t db_hdf5_take_address(const db_hdf5_parts *parts, db_hdf5_view *view);
uint64_t db_hdf5_take_length(const db_hdf5_parts *parts, db_hdf5_view *view);

/* Reads a block of the file; to be freed by free((void *)view.bytes). */
int db_hdf5_load(db_hdf5_parts *parts, const char *what, uint64_t address, uint64_t size,
                 db_hdf5_view *view);

/* Records why something at a place is not sound. 0. */
int db_hdf5_unsound(db_hdf5_parts *parts, uint64_t place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* 1: an address is looked at for the first time. */
int db_hdf5_is_new(db_hdf5_parts *parts, uint64_t address);

/* The first block, and the root. */
int db_hdf5_check_start(db_hdf5_parts *parts);

/* Checks an object header; depth: of headers that lead to one another. */
int db_hdf5_check_header(db_hdf5_parts *parts, uint64_t address, int depth);

/* What the messages of a header tell. */
typedef struct db_hdf5_facts {
    int type_class;         /* -1: no data type */
    uint32_t type_size;     /* bytes */
    uint64_t elements;      /* of the data space */
    int rank;               /* -1: no data space */
    uint64_t address, size; /* of contiguous values; DB_HDF5_NOWHERE */
    unsigned base_size;     /* bytes of an element of a variable-length sequence */
} db_hdf5_facts;

/* A message, by its type; flags are the message's. */
int db_hdf5_check_message(db_hdf5_parts *parts, unsigned type, unsigned flags, db_hdf5_view message,
                          int depth, db_hdf5_facts *facts);

/* The oldest kind of groups, and of lists of chunks. */
int db_hdf5_check_group(db_hdf5_parts *parts, uint64_t tree, uint64_t heap);
int db_hdf5_check_chunks(db_hdf5_parts *parts, uint64_t tree, unsigned dimensions);
/* Names of files with values: at these offsets of a local heap. */
int db_hdf5_check_local_heap(db_hdf5_parts *parts, uint64_t address, db_hdf5_view *data);
int db_hdf5_check_name(db_hdf5_parts *parts, const db_hdf5_view *heap, uint64_t offset);

/* Checks `count` sequences or texts of variable length; the view holds references to them. */
int db_hdf5_check_sequences(db_hdf5_parts *parts, db_hdf5_view references, uint64_t count,
                            unsigned element);
/* Sources of a virtual data set. */
int db_hdf5_check_sources(db_hdf5_parts *parts, uint64_t heap, uint32_t index);

#endif
