/* Finds the chunks that hold a rectangle of pixels, through virtual data sets, and reads their stored bytes. */
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_chunks.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/large_memory.h"
#include "io/hdf5/hdf5_selection.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST_VIRTUAL = 4, MOST_PIECES = 1 << 20, MOST_ASKED = 4096 };

/* Elements of a chunk: a chunk that is not bitshuffled is unpacked as a whole. */
static const hsize_t LARGEST_CHUNK = (hsize_t)1 << 28;

typedef struct gathering {
    const db_hdf5_object *data;
    int rank;
    int before; /* axes of extent 1 that the data set does not have, in front of its own: 1 of lists */
    hsize_t start[DB_HDF5_RANK], extent[DB_HDF5_RANK];
    hsize_t whole[DB_HDF5_RANK]; /* extents of the data set */
    size_t to, to_row;
    int depth;
    db_hdf5_format format;
    db_hdf5_pieces *pieces;
} gathering;

static db_status gather_chunks(const gathering *g);

void db_hdf5_pieces_clear(db_hdf5_pieces *pieces) {
    for (size_t i = 0; i < pieces->count; i++) free(pieces->piece[i].bytes);
    free(pieces->piece);
    *pieces = (db_hdf5_pieces){ 0 };
}

#define FAIL(g, status, ...) fail_at((g)->data, status, __VA_ARGS__)
#define fail_at(data, status, format, ...)                                                         \
    db_fail((data)->context, status, "%s: %s: " format, (data)->file, (data)->name, __VA_ARGS__)

static db_status read_type(gathering *g) {
    const hid_t own = H5Dget_type(g->data->id);
    /* Truth values of h5py are an enumeration of integers. */
    const hid_t type = H5Tget_class(own) == H5T_ENUM ? H5Tget_super(own) : H5Tcopy(own);
    const H5T_class_t kind = H5Tget_class(type);
    const int big = H5Tget_order(type) == H5T_ORDER_BE;
    db_hdf5_format *const f = &g->format;
    f->width = H5Tget_size(type);
    f->swapped = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) && f->width > 1;
    int good = f->width == 1 || f->width == 2 || f->width == 4 || f->width == 8;
    if (kind == H5T_INTEGER) {
        f->kind = H5Tget_sign(type) == H5T_SGN_NONE ? DB_PIXELS_UNSIGNED : DB_PIXELS_SIGNED;
        good = good && H5Tget_precision(type) == 8 * f->width;
    } else {
        f->kind = DB_PIXELS_FLOAT;
        good = good && kind == H5T_FLOAT && f->width >= 4;
    }
    H5Tclose(type);
    H5Tclose(own);
    if (good) return DB_OK;
    return FAIL(g, DB_ERROR_UNSUPPORTED, "%s",
                "expected integers of 1, 2, 4 or 8 bytes or floats, found another type");
}

/* *all_known 0: only libhdf5 can undo one of the filters. */
static db_status read_filters(gathering *g, hid_t creation, int *all_known) {
    const int count = H5Pget_nfilters(creation);
    *all_known = 1;
    g->format.filters = 0;
    if (count > DB_HDF5_FILTERS)
        return FAIL(g, DB_ERROR_UNSUPPORTED, "%d filters, expected at most %d", count,
                    DB_HDF5_FILTERS);
    for (int i = 0; i < count; i++) {
        db_hdf5_filter *const f = &g->format.filter[g->format.filters++];
        char name[64] = "";
        unsigned flags;
        memset(f, 0, sizeof *f);
        f->values = DB_HDF5_FILTER_VALUES;
        f->id = H5Pget_filter2(creation, (unsigned)i, &flags, &f->values, f->value, sizeof name,
                               name, NULL);
        if (f->id < 0) return FAIL(g, DB_ERROR_INPUT, "%s", "damaged: its filters cannot be read");
        if (f->values > DB_HDF5_FILTER_VALUES) f->values = DB_HDF5_FILTER_VALUES;
        if (db_hdf5_filter_is_known(f)) continue;
        *all_known = 0;
        if (H5Zfilter_avail(f->id) <= 0)
            return FAIL(g, DB_ERROR_UNSUPPORTED,
                        "compressed by the HDF5 filter %d (%.63s), for which no plugin is "
                        "installed where HDF5_PLUGIN_PATH says",
                        (int)f->id, name);
    }
    return DB_OK;
}

static hsize_t size_of_file(const gathering *g) {
    hsize_t size = 0;
    const hid_t file = H5Iget_file_id(g->data->id);
    H5Fget_filesize(file, &size);
    H5Fclose(file);
    return size;
}

/* A new piece with room for `size` bytes. */
static db_status add_piece(const gathering *g, size_t size, db_hdf5_piece **piece) {
    db_hdf5_pieces *const all = g->pieces;
    if (all->count >= MOST_PIECES)
        return FAIL(g, DB_ERROR_UNSUPPORTED, "%s", "more than a million chunks in an image");
    DB_GROW(g->data->context, all->piece, all->capacity, all->count + 1, g->data->file);
    *piece = &all->piece[all->count];
    **piece = (db_hdf5_piece){ .format = g->format, .size = size, .to_row = g->to_row };
    (*piece)->bytes = db_allocate_large(size + 1);
    if (!(*piece)->bytes) return db_fail_memory(g->data->context, g->data->file);
    all->count++;
    return DB_OK;
}

/* The place in the image of an element of the data set. */
static size_t place_of(const gathering *g, const hsize_t at[DB_HDF5_RANK]) {
    const int r = g->rank;
    return g->to + (size_t)(at[r - 2] - g->start[r - 2]) * g->to_row +
           (size_t)(at[r - 1] - g->start[r - 1]);
}

/* Lets libhdf5 read the rectangle without change of type: for data sets without chunks or with unknown filters. */
static db_status read_plain(const gathering *g) {
    const int r = g->rank;
    const hid_t space = H5Dget_space(g->data->id), type = H5Dget_type(g->data->id);
    const hid_t memory = H5Screate_simple(r - g->before, g->extent + g->before, NULL);
    const size_t count = (size_t)(g->extent[r - 2] * g->extent[r - 1]);
    gathering plain = *g;
    db_hdf5_piece *piece = NULL;
    plain.format.filters = 0;
    db_status status = add_piece(&plain, count * g->format.width, &piece);
    if (status == DB_OK) {
        piece->elements = count;
        piece->row = piece->columns = (size_t)g->extent[r - 1];
        piece->rows = (size_t)g->extent[r - 2];
        piece->to = g->to;
        g->pieces->covered += count;
        if (H5Sselect_hyperslab(space, H5S_SELECT_SET, g->start + g->before, NULL,
                                g->extent + g->before, NULL) < 0 ||
            H5Dread(g->data->id, type, memory, space, H5P_DEFAULT, piece->bytes) < 0)
            status = FAIL(g, DB_ERROR_INPUT, "%s", "damaged: its values cannot be read");
    }
    H5Sclose(memory);
    H5Tclose(type);
    H5Sclose(space);
    return status;
}

/* Adds the rectangle's part of the chunk at `corner`. */
static db_status take_chunk(const gathering *g, const hsize_t *corner, const hsize_t *chunk,
                            hsize_t limit) {
    const int r = g->rank;
    hsize_t size = 0, at[DB_HDF5_RANK], end[2];
    haddr_t address = HADDR_UNDEF;
    unsigned skipped = 0;
    uint32_t mask = 0;
    db_hdf5_piece *piece;
    if (H5Dget_chunk_info_by_coord(g->data->id, corner + g->before, &skipped, &address, &size) < 0)
        return FAIL(g, DB_ERROR_INPUT, "%s", "damaged: its list of chunks cannot be read");
    if (address == HADDR_UNDEF || size == 0)
        return FAIL(g, DB_ERROR_INPUT, "image %llu (from 1) was never written",
                    (unsigned long long)(r > 2 ? g->start[0] + 1 : 1));
    if (size > limit)
        return FAIL(g, DB_ERROR_INPUT, "damaged: a chunk of %llu bytes in a file of %llu",
                    (unsigned long long)size, (unsigned long long)limit);
    DB_TRY(add_piece(g, (size_t)size, &piece));
    if (H5Dread_chunk(g->data->id, H5P_DEFAULT, corner + g->before, &mask, piece->bytes) < 0)
        return FAIL(g, DB_ERROR_INPUT, "%s", "damaged: a chunk cannot be read (file cut short?)");
    piece->skipped = skipped | mask;
    piece->elements = 1;
    piece->from = 0;
    for (int d = 0; d < r; d++) {
        at[d] = g->start[d] > corner[d] ? g->start[d] : corner[d];
        piece->elements *= (size_t)chunk[d];
        piece->from = piece->from * (size_t)chunk[d] + (size_t)(at[d] - corner[d]);
    }
    for (int i = 0; i < 2; i++) {
        const int d = r - 2 + i;
        const hsize_t stop = g->start[d] + g->extent[d], own = corner[d] + chunk[d];
        end[i] = stop < own ? stop : own;
    }
    piece->row = (size_t)chunk[r - 1];
    piece->rows = (size_t)(end[0] - at[r - 2]);
    piece->columns = (size_t)(end[1] - at[r - 1]);
    piece->to = place_of(g, at);
    g->pieces->covered += piece->rows * piece->columns;
    return DB_OK;
}

static db_status take_chunks(const gathering *g, hid_t creation) {
    const int r = g->rank;
    hsize_t chunk[DB_HDF5_RANK], corner[DB_HDF5_RANK], elements = 1;
    const hsize_t limit = size_of_file(g);
    chunk[0] = 1;
    if (r < 2 || H5Pget_chunk(creation, r - g->before, chunk + g->before) != r - g->before)
        return FAIL(g, DB_ERROR_INPUT, "%s", "damaged: its chunks cannot be told");
    for (int d = 0; d < r; d++) {
        if (chunk[d] == 0 || chunk[d] > LARGEST_CHUNK) elements = LARGEST_CHUNK + 1;
        if (elements <= LARGEST_CHUNK) elements *= chunk[d];
        corner[d] = chunk[d] ? g->start[d] / chunk[d] * chunk[d] : 0;
    }
    if (elements > LARGEST_CHUNK)
        return FAIL(g, DB_ERROR_UNSUPPORTED, "%s", "chunks of more than 2^28 pixels");
    const hsize_t first = corner[r - 1];
    for (; corner[r - 2] < g->start[r - 2] + g->extent[r - 2]; corner[r - 2] += chunk[r - 2])
        for (corner[r - 1] = first; corner[r - 1] < g->start[r - 1] + g->extent[r - 1];
             corner[r - 1] += chunk[r - 1])
            DB_TRY(take_chunk(g, corner, chunk, limit));
    return DB_OK;
}

/* A source of a virtual data set: the part of the whole that is asked for of it, and the number of that part's
 * first element among all that the source fills. */
typedef struct source {
    db_hdf5_selection whole;
    hsize_t low[DB_HDF5_RANK], length[DB_HDF5_RANK], ordinal[DB_HDF5_RANK];
    hsize_t total[DB_HDF5_RANK]; /* that the source fills */
    char file[DB_HDF5_PATH], name[DB_HDF5_PATH];
} source;

/* Along the axis of sources that are numbered, a block each. */
static int asked_of_blocks(const gathering *g, source *s, int d, hsize_t *number) {
    const db_hdf5_selection *const w = &s->whole;
    if (g->start[d] < w->start[d]) return g->start[d] + g->extent[d] > w->start[d] ? -1 : 0;
    const hsize_t from = g->start[d] - w->start[d], within = from % w->stride[d];
    *number = from / w->stride[d];
    s->low[d] = g->start[d];
    s->length[d] = g->extent[d];
    s->ordinal[d] = within;
    s->total[d] = w->block[d];
    if (within >= w->block[d] && within + g->extent[d] <= w->stride[d]) return 0;
    return within + g->extent[d] <= w->block[d] ? 1 : -1;
}

/* 0: nothing of it is asked for; -1: it is no box. */
static int asked_of(const gathering *g, hid_t space, int numbered, source *s, hsize_t *number) {
    if (!db_hdf5_selection_of(space, g->whole, &s->whole) || s->whole.rank != g->rank ||
        (numbered && s->whole.unlimited < 0))
        return -1;
    int part = 1;
    for (int d = 0; d < g->rank && part > 0; d++) {
        s->total[d] = db_hdf5_selection_total(&s->whole, d);
        part = numbered && d == s->whole.unlimited
                   ? asked_of_blocks(g, s, d, number)
                   : db_hdf5_selection_meet(&s->whole, d, g->start[d], g->extent[d], &s->low[d],
                                            &s->ordinal[d], &s->length[d]);
    }
    return part;
}

/* 1 if an axis of the source has as many elements as one of the whole, or is unlimited. */
static int is_same_axis(const source *s, int d, const db_hdf5_selection *from, int k) {
    return s->total[d] == db_hdf5_selection_total(from, k) || from->unlimited == k;
}

/* The part along an axis. 0: it is not in a row; -1: the source has not come so far. */
static int along_axis(const source *s, int d, const db_hdf5_selection *from, int k,
                      gathering *own) {
    const hsize_t total = db_hdf5_selection_total(from, k);
    if (s->ordinal[d] >= total) return -1;
    const hsize_t rest = total - s->ordinal[d];
    own->extent[k] = s->length[d] < rest ? s->length[d] : rest;
    own->start[k] = db_hdf5_selection_place(from, k, s->ordinal[d]);
    return own->extent[k] == 1 || db_hdf5_selection_is_dense(from, k);
}

/* Translates the rectangle into the source's own data set. Axes are matched from the last one on; axes of extent 1
 * may be missing. 0: the two selections differ in shape; -1: empty. */
static int in_source(const gathering *g, const source *s, const db_hdf5_selection *from,
                     gathering *own) {
    int d = g->rank - 1, part = 1;
    for (int k = own->rank - 1; k >= 0 && part > 0; k--) {
        while (d >= 0 && d < g->rank - 2 && !is_same_axis(s, d, from, k) && s->total[d] == 1) d--;
        if (d >= 0 && is_same_axis(s, d, from, k)) {
            part = along_axis(s, d, from, k, own);
            d--;
        } else if (db_hdf5_selection_total(from, k) == 1 && k < own->rank - 2) {
            own->start[k] = from->start[k];
            own->extent[k] = 1;
        } else {
            return 0;
        }
    }
    for (; d >= 0 && part > 0; d--)
        if (s->total[d] != 1) return 0;
    own->to = place_of(g, s->low);
    return part;
}

static db_status fail_source(const gathering *g, size_t number) {
    return FAIL(g, DB_ERROR_UNSUPPORTED,
                "source %zu of the virtual data set: expected a block of pixels without holes that "
                "has the same shape in both",
                number + 1);
}

static int is_numbered(const char *name) {
    for (const char *c = strchr(name, '%'); c; c = strchr(c + 2, '%')) {
        if (c[1] == 'b') return 1;
        if (!c[1]) return 0;
    }
    return 0;
}

/* Names of sources have %b for the number of a block, and %% for a percent sign. */
static int put_number(char name[DB_HDF5_PATH], hsize_t number) {
    char put[DB_HDF5_PATH];
    size_t length = 0;
    for (const char *c = name; *c; c++) {
        int more = 1;
        const size_t room = sizeof put - length;
        if (c[0] == '%' && c[1] == 'b')
            more = snprintf(put + length, room, "%llu", (unsigned long long)number);
        else
            put[length] = *c;
        if (c[0] == '%' && (c[1] == 'b' || c[1] == '%')) c++;
        length += (size_t)more;
        if (length >= sizeof put) return 0;
    }
    put[length] = '\0';
    memcpy(name, put, length + 1);
    return 1;
}

static db_status name_source(const gathering *g, hid_t creation, size_t number, source *s) {
    if (H5Pget_virtual_filename(creation, number, s->file, sizeof s->file) >=
            (ssize_t)sizeof s->file ||
        H5Pget_virtual_dsetname(creation, number, s->name, sizeof s->name) >=
            (ssize_t)sizeof s->name)
        return FAIL(g, DB_ERROR_INPUT, "%s", "damaged: a source without a name");
    return DB_OK;
}

static db_status take_part(const gathering *g, hid_t creation, size_t number, const source *s) {
    gathering own = *g;
    hsize_t extent[DB_HDF5_RANK];
    db_hdf5_selection from;
    db_hdf5_object data;
    DB_TRY(db_hdf5_find_beside(g->data, s->file, s->name, &data));
    const hid_t selected = H5Pget_virtual_srcspace(creation, number);
    own.rank = db_hdf5_extents(&data, extent, DB_HDF5_RANK);
    own.data = &data;
    own.depth++;
    int part = 0;
    if (own.rank >= 2 && H5Sget_select_type(selected) == H5S_SEL_ALL) {
        from = (db_hdf5_selection){ .rank = own.rank, .unlimited = -1 };
        for (int d = 0; d < own.rank; d++) {
            from.count[d] = 1;
            from.block[d] = from.stride[d] = extent[d];
        }
        part = in_source(g, s, &from, &own);
    } else if (own.rank >= 2 && db_hdf5_selection_of(selected, extent, &from) &&
               from.rank == own.rank) {
        part = in_source(g, s, &from, &own);
    }
    H5Sclose(selected);
    db_status status = DB_OK;
    if (part > 0) status = gather_chunks(&own);
    if (part == 0) status = fail_source(g, number);
    db_hdf5_close(&data);
    return status;
}

static int overlap(int rank, const source *a, const source *b) {
    for (int d = 0; d < rank; d++)
        if (a->low[d] >= b->low[d] + b->length[d] || b->low[d] >= a->low[d] + a->length[d])
            return 0;
    return 1;
}

/* Adds a source's part of the rectangle; `taken` lists the sources before. Sources that overlap are refused: their
 * pixels would depend on the order. */
static db_status take_source(const gathering *g, hid_t creation, size_t number, source *taken,
                             size_t *count) {
    source *const s = &taken[*count];
    const hid_t whole = H5Pget_virtual_vspace(creation, number);
    hsize_t block = 0;
    db_status status = name_source(g, creation, number, s);
    const int numbered = is_numbered(s->file) || is_numbered(s->name);
    const int part = status == DB_OK ? asked_of(g, whole, numbered, s, &block) : 0;
    H5Sclose(whole);
    DB_TRY(status);
    if (part < 0) return fail_source(g, number);
    if (!part) return DB_OK;
    if (!put_number(s->file, block) || !put_number(s->name, block))
        return FAIL(g, DB_ERROR_INPUT, "%s", "damaged: a source with a name that is too long");
    for (size_t i = 0; i < *count; i++)
        if (overlap(g->rank, &taken[i], s))
            return FAIL(g, DB_ERROR_UNSUPPORTED,
                        "source %zu of the virtual data set: it overlaps another one", number + 1);
    if (++*count == MOST_ASKED)
        return FAIL(g, DB_ERROR_UNSUPPORTED, "expected fewer than %d sources of one image",
                    (int)MOST_ASKED);
    return take_part(g, creation, number, s);
}

static db_status take_sources(const gathering *g, hid_t creation) {
    size_t count = 0, taken_count = 0;
    if (g->depth >= DEEPEST_VIRTUAL)
        return FAIL(g, DB_ERROR_INPUT, "%s", "virtual data sets within one another (a circle?)");
    if (H5Pget_virtual_count(creation, &count) < 0)
        return FAIL(g, DB_ERROR_INPUT, "%s", "damaged: its sources cannot be read");
    source *const taken = malloc(MOST_ASKED * sizeof *taken);
    if (!taken) return db_fail_memory(g->data->context, g->data->file);
    db_status status = DB_OK;
    for (size_t i = 0; i < count && status == DB_OK; i++)
        status = take_source(g, creation, i, taken, &taken_count);
    free(taken);
    return status;
}

static db_status check_rectangle(gathering *g) {
    hsize_t *const extent = g->whole;
    extent[0] = 1;
    if (db_hdf5_extents(g->data, extent + g->before, DB_HDF5_RANK - g->before) !=
        g->rank - g->before)
        return FAIL(g, DB_ERROR_INPUT, "expected numbers in %d dimensions", g->rank - g->before);
    for (int d = 0; d < g->rank; d++)
        if (g->extent[d] > extent[d] || g->start[d] > extent[d] - g->extent[d])
            return FAIL(g, DB_ERROR_INPUT, "expected %llu elements along axis %d, found %llu",
                        (unsigned long long)(g->start[d] + g->extent[d]), d + 1,
                        (unsigned long long)extent[d]);
    return DB_OK;
}

static db_status take_stored(gathering *g, hid_t creation, H5D_layout_t layout) {
    int known = 1;
    DB_TRY(read_type(g));
    DB_TRY(read_filters(g, creation, &known));
    if (layout == H5D_CHUNKED && known) return take_chunks(g, creation);
    if (layout == H5D_CHUNKED) return read_plain(g);
    if (H5Pget_external_count(creation) != 0)
        return FAIL(g, DB_ERROR_UNSUPPORTED, "%s", "pixels in a file that is no HDF5 file");
    const hsize_t stored = H5Dget_storage_size(g->data->id), limit = size_of_file(g);
    if (stored == 0 || stored > limit)
        return FAIL(g, DB_ERROR_INPUT, "%s", "its values are not in the file");
    return read_plain(g);
}

static db_status gather_chunks(const gathering *asked) {
    gathering g = *asked;
    DB_TRY(check_rectangle(&g));
    const hid_t creation = H5Dget_create_plist(g.data->id);
    const H5D_layout_t layout = H5Pget_layout(creation);
    const db_status status =
        layout != H5D_VIRTUAL ? take_stored(&g, creation, layout)
        : g.before ? FAIL(&g, DB_ERROR_UNSUPPORTED, "%s", "a virtual data set, as a list")
                   : take_sources(&g, creation);
    H5Pclose(creation);
    return status;
}

db_status db_hdf5_gather(const db_hdf5_object *data, int rank, const hsize_t *start,
                         const hsize_t *extent, size_t to, size_t to_row, db_hdf5_pieces *pieces) {
    gathering g = { .data = data, .rank = rank, .to = to, .to_row = to_row, .pieces = pieces };
    if (rank == 1) {
        g.before = 1;
        g.rank = 2;
        g.extent[0] = 1;
    }
    for (int d = 0; d < rank; d++) {
        g.start[g.before + d] = start[d];
        g.extent[g.before + d] = extent[d];
    }
    return gather_chunks(&g);
}
#else
typedef int db_without_hdf5_gather;
#endif
