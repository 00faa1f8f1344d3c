#define _POSIX_C_SOURCE 200809L /* access */
/* Panels out of the arrays of HDF5 files, found by paths and indices. */
#include "io/images/image_layout.h"

#include "base/context_internal.h"
#include "base/frame_name.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The parts of each are between slashes. */
static int read_event(const char *text, db_event_name *name) {
    const char *const slashes = strstr(text, "//");
    if (!slashes || (size_t)(slashes - text) >= sizeof name->path) return 0;
    memcpy(name->path, text, (size_t)(slashes - text));
    name->path[slashes - text] = '\0';
    name->index_count = 0;
    for (const char *at = slashes + 2; *at;) {
        char *end;
        if (*at < '0' || *at > '9' || name->index_count == DB_LAYOUT_DIMS) return 0;
        name->index[name->index_count] = strtol(at, &end, 10);
        if (name->index[name->index_count++] == LONG_MAX) return 0; /* or larger */
        if (*end && *end != '/') return 0;
        at = *end ? end + 1 : end;
    }
    return 1;
}

int db_event_name_read(const char *image, db_event_name *name) {
    memset(name, 0, sizeof *name);
    name->index_count = -1;
    if (strlen(image) >= sizeof name->file) return 0;
    name->number = db_frame_split(image, name->file, sizeof name->file);
    if (name->number) return name->number > 0;
    char *const sign = strrchr(name->file, '#');
    if (!sign || !strstr(sign, "//") || access(image, F_OK) == 0) return 1;
    *sign = '\0';
    return read_event(image + (sign - name->file) + 1, name);
}

#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_chunks.h"
#include "io/nexus/nexus_counts.h"

#include <math.h>

/* Pixels of one array, or claims of it. */
static const hsize_t MOST_PIXELS = (hsize_t)1 << 28;

/* Puts the parts of an event's path in place of the % of a pattern. 0: it has another number of
 * parts, or there is no room. */
static int fill_pattern(const char *pattern, const char *parts, char out[DB_HDF5_PATH]) {
    size_t length = 0;
    for (; *pattern; pattern++) {
        const size_t part = *pattern == '%' ? strcspn(parts, "/") : 1;
        if (*pattern == '%' && part == 0) return 0;
        if (length + part >= DB_HDF5_PATH) return 0;
        memcpy(out + length, *pattern == '%' ? parts : pattern, part);
        length += part;
        if (*pattern == '%') parts += part + (parts[part] == '/');
    }
    out[length] = '\0';
    return !*parts;
}

/* An image's file, open, and which of its images it is. */
typedef struct opened {
    db_context *context;
    const char *image;
    db_event_name name;
    db_hdf5_object root;
} opened;

static db_status open_image(db_context *context, const char *image, opened *o) {
    *o = (opened){ .context = context, .image = image, .root = { .id = -1 } };
    if (!db_event_name_read(image, &o->name))
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected FILE, FILE#N or FILE#PATH//INDEX as the name of an image",
                       image);
    return db_hdf5_open(context, o->name.file, &o->root);
}

/* Images in an array of these dimensions; 0: it has other ones. */
static hsize_t images_in(const db_hdf5_object *data, const long *dim, int rank, hsize_t *extent) {
    hsize_t images = 1;
    if (db_hdf5_extents(data, extent, DB_HDF5_RANK) != rank) return 0;
    for (int i = 0; i < rank; i++)
        if (dim[i] == DB_DIM_IMAGE) images *= extent[i] < MOST_PIXELS ? extent[i] : MOST_PIXELS;
    return images;
}

static int rank_of(const long *dim) {
    int rank = 0;
    while (rank < DB_LAYOUT_DIMS && dim[rank] != DB_DIM_NONE) rank++;
    return rank;
}

/* The array of a pattern with one % that has image `number`: it looks in each member of the group before the %.
 * *left: the image's number in the array, from 0. */
static db_status fail_unnamed(const opened *o, const char *data, hsize_t images) {
    return db_fail(o->context, DB_ERROR_INPUT,
                   "%s: %s has %llu images; name one of them, the first as %s#1", o->name.file,
                   data, (unsigned long long)images, o->name.file);
}

static db_status find_numbered(const opened *o, const char *pattern, const long *dim, hsize_t *left,
                               db_hdf5_object *found) {
    const char *const sign = strchr(pattern, '%');
    char group[DB_HDF5_PATH], path[2 * DB_HDF5_PATH];
    const size_t length = (size_t)(sign - pattern);
    hsize_t passed = 0, extent[DB_HDF5_RANK];
    db_hdf5_object parent;
    if (strchr(sign + 1, '%') || length >= sizeof group)
        return db_fail(o->context, DB_ERROR_USAGE,
                       "%s: %s has several %%: expected FILE#PATH//INDEX as the name of an image",
                       o->image, pattern);
    memcpy(group, pattern, length);
    group[length > 1 ? length - 1 : length] = '\0';
    DB_TRY(db_hdf5_need(&o->root, group, &parent));
    db_hdf5_names names;
    db_status status = db_hdf5_names_of(&parent, 0, &names);
    found->id = -1;
    const int unnamed = o->name.number == 0; /* then there must be one image only */
    for (size_t n = 0; status == DB_OK && (found->id < 0 || unnamed) && n < names.count; n++) {
        db_hdf5_object one = { .id = -1 };
        snprintf(path, sizeof path, "%.*s%s%s", (int)length, pattern, names.name[n], sign + 1);
        status = strlen(path) < DB_HDF5_PATH ? db_hdf5_find(&o->root, path, &one) : DB_OK;
        if (status != DB_OK) break;
        const hsize_t images = images_in(&one, dim, rank_of(dim), extent),
                      before = (hsize_t)(unnamed ? 1 : o->name.number) - 1;
        if (found->id < 0 && before - passed < images) {
            *left = before - passed;
            *found = one;
        } else
            db_hdf5_close(&one);
        passed += images;
    }
    db_hdf5_names_clear(&names);
    db_hdf5_close(&parent);
    if (status == DB_OK && unnamed && passed > 1) status = fail_unnamed(o, pattern, passed);
    if (status != DB_OK && found->id >= 0) db_hdf5_close(found);
    if (status != DB_OK || found->id >= 0) return status;
    return db_fail(o->context, DB_ERROR_INPUT, "%s: expected image %ld at %s, found %llu images",
                   o->name.file, o->name.number, pattern, (unsigned long long)passed);
}

static db_status find_array(const opened *o, const char *pattern, const long *dim, hsize_t *left,
                            db_hdf5_object *found) {
    char path[DB_HDF5_PATH];
    *left = o->name.number > 0 ? (hsize_t)o->name.number - 1 : 0;
    if (strchr(pattern, '%') && o->name.index_count < 0)
        return find_numbered(o, pattern, dim, left, found);
    const char *const parts = strchr(pattern, '%') ? o->name.path : "";
    if (!fill_pattern(pattern, parts, path))
        return db_fail(o->context, DB_ERROR_INPUT,
                       "%s: %s: expected one name for each %%, found '%s'", o->image, pattern,
                       o->name.path);
    return db_hdf5_need(&o->root, path, found);
}

/* The indices at which the image's plane begins in an array. `left`: its number there, unless its name gives the
 * indices. */
static db_status find_start(const opened *o, const db_hdf5_object *data, const long *dim, int rank,
                            const hsize_t *extent, hsize_t left, hsize_t *start) {
    hsize_t images = 1;
    int given = 0;
    for (int i = 0; i < rank; i++)
        if (dim[i] == DB_DIM_IMAGE) images *= extent[i];
    if (o->name.index_count < 0 && o->name.number == 0 && images != 1)
        return fail_unnamed(o, data->name, images);
    for (int i = rank - 3; i >= 0; i--) { /* the last index is the fastest */
        start[i] = (hsize_t)(dim[i] >= 0 ? dim[i] : 0);
        if (dim[i] != DB_DIM_IMAGE) continue;
        start[i] = extent[i] ? left % extent[i] : 0;
        left = extent[i] ? left / extent[i] : 0;
    }
    for (int i = 0; i < rank && o->name.index_count >= 0; i++)
        if (dim[i] == DB_DIM_IMAGE) {
            if (given == o->name.index_count)
                return db_fail(o->context, DB_ERROR_INPUT,
                               "%s: expected %d indices behind //, as %s has dimensions of images",
                               o->image, given + 1, data->name);
            start[i] = (hsize_t)o->name.index[given++];
            left = 0;
        }
    if (o->name.index_count > given)
        return db_fail(o->context, DB_ERROR_INPUT,
                       "%s: expected %d indices behind //, as %s has dimensions of images (dim ... "
                       "%%), found %d",
                       o->image, given, data->name, o->name.index_count);
    int within = left == 0 || o->name.number == 0;
    for (int i = 0; i < rank - 2; i++) within &= start[i] < extent[i];
    if (within) return DB_OK;
    return db_fail(o->context, DB_ERROR_INPUT,
                   "%s: %s has %llu image%s, this one is not among them", o->image, data->name,
                   (unsigned long long)images, images == 1 ? "" : "s");
}

/* An array that holds panels: its last two dimensions. */
typedef struct plane {
    const char *data; /* which one it is */
    const char *file;
    long dim[DB_LAYOUT_DIMS];
    size_t width, height;
    db_measured_image sheet; /* value and mask of it; owned */
    uint32_t *bits;          /* or those; owned */
} plane;

static void clear_plane(plane *p) {
    free(p->sheet.value);
    free(p->sheet.mask);
    free(p->bits);
    memset(p, 0, sizeof *p);
}

static int is_plane(const plane *p, const char *data, const char *file, const long *dim) {
    const int same_file = p->file == file || (p->file && file && strcmp(p->file, file) == 0);
    return p->data && same_file && strcmp(p->data, data) == 0 &&
           memcmp(p->dim, dim, sizeof p->dim) == 0;
}

/* Gathers a plane. Masks may be without the dimensions of images. */
static db_status gather_panels(const opened *o, const char *data, const long *dim, int is_mask,
                               plane *p, db_hdf5_pieces *pieces) {
    hsize_t extent[DB_HDF5_RANK], start[DB_HDF5_RANK] = { 0 }, size[DB_HDF5_RANK] = { 1, 1, 1, 1 },
                                  left = 0;
    long own[DB_LAYOUT_DIMS], fixed[DB_LAYOUT_DIMS];
    int rank = rank_of(dim), fewer = 0;
    db_hdf5_object array;
    memcpy(own, dim, sizeof own);
    for (int i = 0; i < DB_LAYOUT_DIMS; i++) fixed[i] = DB_DIM_NONE;
    for (int i = 0; i < rank; i++)
        if (dim[i] != DB_DIM_IMAGE) fixed[fewer++] = dim[i];
    if (!is_mask && o->name.index_count >= 0 && *o->name.path && !strchr(data, '%'))
        return db_fail(o->context, DB_ERROR_INPUT,
                       "%s: expected no path before //, since data = %s has no %% for it", o->image,
                       data);
    DB_TRY(find_array(o, data, dim, &left, &array));
    const int found = db_hdf5_extents(&array, extent, DB_HDF5_RANK);
    if (is_mask && found == fewer && fewer < rank) {
        memcpy(own, fixed, sizeof own);
        rank = fewer;
        left = 0;
    }
    db_status status = DB_OK;
    if (found != rank)
        status = db_fail(o->context, DB_ERROR_INPUT,
                         "%s: %s: expected an array of %d dimensions (dim0 ...), at most %d, found "
                         "%s of %d",
                         array.file, array.name, rank, DB_HDF5_RANK,
                         found < 0 ? "none, or one of more than 4, instead" : "one", found);
    else if (is_mask && rank == fewer)
        left = 0;
    if (status == DB_OK && !(is_mask && rank == fewer))
        status = find_start(o, &array, own, rank, extent, left, start);
    else if (status == DB_OK)
        for (int i = 0; i < rank - 2; i++) start[i] = own[i] > 0 ? (hsize_t)own[i] : 0;
    for (int i = 0; status == DB_OK && i < rank; i++)
        if (extent[i] == 0 || extent[i] > MOST_PIXELS || start[i] >= extent[i])
            status = db_fail(o->context, DB_ERROR_INPUT,
                             "%s: %s: expected index %llu in dimension %d, found an extent of %llu",
                             array.file, array.name, (unsigned long long)start[i], i,
                             (unsigned long long)extent[i]);
    if (status == DB_OK && extent[rank - 1] * extent[rank - 2] > MOST_PIXELS)
        status = db_fail(o->context, DB_ERROR_INPUT,
                         "%s: %s: expected at most 2^28 pixels in an image, found more", array.file,
                         array.name);
    if (status == DB_OK) {
        p->width = (size_t)(size[rank - 1] = extent[rank - 1]);
        p->height = (size_t)(size[rank - 2] = extent[rank - 2]);
        status = db_hdf5_gather(&array, rank, start, size, 0, p->width, pieces);
    }
    db_hdf5_close(&array);
    for (size_t i = 1; status == DB_OK && i < pieces->count; i++)
        if (pieces->piece[i].format.kind != pieces->piece[0].format.kind ||
            pieces->piece[i].format.width != pieces->piece[0].format.width)
            status = db_fail(o->context, DB_ERROR_UNSUPPORTED,
                             "%s: %s: expected pixels of one type, found several", o->image, data);
    return status;
}

static void take_bits(void *user, const db_hdf5_format *format, const unsigned char *elements,
                      size_t count, size_t to) {
    uint32_t *const bits = (uint32_t *)user + to;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        uint32_t four;
        uint16_t two;
        switch (format->width) {
        case 1: value = elements[i]; break;
        case 2:
            memcpy(&two, elements + 2 * i, 2);
            value = two;
            break;
        case 4:
            memcpy(&four, elements + 4 * i, 4);
            value = four;
            break;
        default: memcpy(&value, elements + 8 * i, 8); break;
        }
        bits[i] = (uint32_t)value;
    }
}

static db_status unpack_pixels(const opened *o, plane *p, const db_hdf5_pieces *pieces) {
    static const db_nexus_limits limits = { -INFINITY, NAN, NAN, 1 };
    db_nexus_sink sink;
    DB_TRY(db_image_allocate(o->context, o->image, (long long)p->width, (long long)p->height,
                             &p->sheet));
    if (pieces->count == 0) {
        memset(p->sheet.mask, DB_MASK_GAP, p->width * p->height);
        memset(p->sheet.value, 0, p->width * p->height * sizeof *p->sheet.value);
        return DB_OK;
    }
    db_nexus_mark_gaps(pieces, &p->sheet);
    db_nexus_sink_init(&limits, &pieces->piece[0].format, &p->sheet, &sink);
    return db_hdf5_unpack(o->context, o->image, pieces, db_nexus_take_pixels, &sink);
}

static db_status unpack_bits(const opened *o, plane *p, const db_hdf5_pieces *pieces) {
    p->bits = calloc(p->width * p->height, sizeof *p->bits);
    if (!p->bits) return db_fail_memory(o->context, o->image);
    if (pieces->count && pieces->piece[0].format.kind == DB_PIXELS_FLOAT)
        return db_fail(o->context, DB_ERROR_INPUT,
                       "%s: %s: expected a mask of integers, found other numbers", o->image,
                       p->data);
    return db_hdf5_unpack(o->context, o->image, pieces, take_bits, p->bits);
}

/* Reads a plane, unless it was read last. */
static db_status read_plane(db_context *context, const char *image, const char *data,
                            const char *file, const long *dim, int is_mask, int has_bits,
                            plane *p) {
    db_hdf5_pieces pieces = { 0 };
    db_hdf5_guard guard;
    opened o;
    if (is_plane(p, data, file, dim)) return DB_OK;
    clear_plane(p);
    db_hdf5_enter(&guard);
    db_status status = open_image(context, image, &o);
    if (status == DB_OK && file) {
        db_hdf5_close(&o.root);
        status = db_hdf5_open(context, file, &o.root);
    }
    if (status == DB_OK) status = gather_panels(&o, data, dim, is_mask, p, &pieces);
    db_hdf5_close(&o.root);
    db_hdf5_leave(&guard);
    p->data = data;
    if (status == DB_OK)
        status = has_bits ? unpack_bits(&o, p, &pieces) : unpack_pixels(&o, p, &pieces);
    db_hdf5_pieces_clear(&pieces);
    p->sheet.fast_pixels = (int)p->width;
    p->sheet.slow_pixels = (int)p->height;
    p->file = file;
    memcpy(p->dim, dim, sizeof p->dim);
    if (status != DB_OK) clear_plane(p);
    return status;
}

/* Planes that were read for one panel are kept for the next. */
typedef struct planes {
    plane data, saturation, mask[DB_LAYOUT_MASKS];
    char *file[DB_LAYOUT_MASKS + 1]; /* of masks and of the map of saturation, as found; owned */
    const char *named[DB_LAYOUT_MASKS + 1];
} planes;

static db_status find_file(db_context *context, const db_image_layout *layout, const char *name,
                           size_t slot, planes *all) {
    if (!name || (all->named[slot] && strcmp(all->named[slot], name) == 0)) return DB_OK;
    free(all->file[slot]);
    all->file[slot] = db_layout_file(layout, name);
    all->named[slot] = all->file[slot] ? name : NULL;
    return all->file[slot] ? DB_OK : db_fail_memory(context, name);
}

/* Fails unless the plane covers the panel. */
static db_status check_cover(db_context *context, const db_image_layout *layout, size_t p,
                             const plane *from) {
    const db_layout_panel *const panel = &layout->panel[p];
    if (panel->first[0] + panel->size[0] <= from->sheet.fast_pixels &&
        panel->first[1] + panel->size[1] <= from->sheet.slow_pixels)
        return DB_OK;
    return db_fail(
        context, DB_ERROR_INPUT,
        "%s: panel %s: expected %s of at least %d x %d pixels (fast, slow), found %d x %d",
        layout->path, panel->name, from->data, panel->first[0] + panel->size[0],
        panel->first[1] + panel->size[1], from->sheet.fast_pixels, from->sheet.slow_pixels);
}

static void apply_bits(const db_layout_panel *panel, int first_row, const db_layout_mask *mask,
                       const plane *from, db_measured_image *image) {
    for (int s = 0; s < panel->size[1]; s++) {
        const uint32_t *const bits =
            from->bits + (size_t)(panel->first[1] + s) * from->width + (size_t)panel->first[0];
        uint8_t *const out = image->mask + (size_t)(first_row + s) * (size_t)image->fast_pixels;
        for (int f = 0; f < panel->size[0]; f++)
            if ((bits[f] & mask->good) != mask->good || (bits[f] & mask->bad)) out[f] = DB_MASK_BAD;
    }
}

static void apply_saturation(const db_layout_panel *panel, int first_row, const plane *from,
                             db_measured_image *image) {
    for (int s = 0; s < panel->size[1]; s++) {
        const float *const most = from->sheet.value + (size_t)(panel->first[1] + s) * from->width +
                                  (size_t)panel->first[0];
        const size_t row = (size_t)(first_row + s) * (size_t)image->fast_pixels;
        for (int f = 0; f < panel->size[0]; f++)
            if (image->mask[row + (size_t)f] == DB_MASK_TRUSTED &&
                image->value[row + (size_t)f] > most[f])
                image->mask[row + (size_t)f] = DB_MASK_OVERLOAD;
    }
}

static db_status read_panel(db_context *context, const char *path, const db_image_layout *layout,
                            size_t p, planes *all, db_measured_image *image) {
    const db_layout_panel *const panel = &layout->panel[p];
    const int first = layout->panel_count > 1 ? image->panels[p].first_row : 0;
    const db_layout_mask *const top = &panel->saturation;
    DB_TRY(read_plane(context, path, panel->data, NULL, panel->dim, 0, 0, &all->data));
    DB_TRY(check_cover(context, layout, p, &all->data));
    DB_TRY(db_layout_cut(context, path, layout, p, &all->data.sheet, image));
    if (top->data) {
        DB_TRY(find_file(context, layout, top->file, DB_LAYOUT_MASKS, all));
        DB_TRY(read_plane(context, path, top->data, top->file ? all->file[DB_LAYOUT_MASKS] : NULL,
                          panel->dim, 1, 0, &all->saturation));
        DB_TRY(check_cover(context, layout, p, &all->saturation));
        apply_saturation(panel, first, &all->saturation, image);
    }
    for (size_t m = 0; m < DB_LAYOUT_MASKS; m++) {
        const db_layout_mask *const mask = &panel->mask[m];
        if (!mask->data) continue;
        DB_TRY(find_file(context, layout, mask->file, m, all));
        DB_TRY(read_plane(context, path, mask->data, mask->file ? all->file[m] : NULL, panel->dim,
                          1, 1, &all->mask[m]));
        DB_TRY(check_cover(context, layout, p, &all->mask[m]));
        apply_bits(panel, first, mask, &all->mask[m], image);
    }
    return DB_OK;
}

db_status db_layout_read_arrays(db_context *context, const char *path,
                                const db_image_layout *layout, db_measured_image *image) {
    planes *const all = calloc(1, sizeof *all);
    if (!all) return db_fail_memory(context, path);
    db_status status = DB_OK;
    for (size_t p = 0; p < layout->panel_count && status == DB_OK; p++)
        status = read_panel(context, path, layout, p, all, image);
    clear_plane(&all->data);
    clear_plane(&all->saturation);
    for (size_t m = 0; m < DB_LAYOUT_MASKS; m++) clear_plane(&all->mask[m]);
    for (size_t m = 0; m <= DB_LAYOUT_MASKS; m++) free(all->file[m]);
    free(all);
    return status;
}

static db_status read_header(const opened *o, const char *path, double *value) {
    static const long single[DB_LAYOUT_DIMS] = { DB_DIM_IMAGE, DB_DIM_NONE };
    db_hdf5_object object;
    hsize_t left = 0;
    size_t index = o->name.number > 0 ? (size_t)o->name.number - 1 : 0;
    if (o->name.index_count > 0) index = (size_t)o->name.index[0];
    DB_TRY(find_array(o, path, single, &left, &object));
    if (strchr(path, '%') && o->name.index_count < 0) index = (size_t)left;
    const int found = db_hdf5_number(&object, index, value);
    db_hdf5_close(&object);
    if (found) return DB_OK;
    return db_fail(o->context, DB_ERROR_INPUT,
                   "%s: %s: expected a number for this image (index %zu), found none", o->image,
                   path, index);
}

db_status db_layout_header(db_context *context, const char *image, const char *path,
                           double *value) {
    db_hdf5_guard guard;
    opened o;
    db_hdf5_enter(&guard);
    db_status status = open_image(context, image, &o);
    if (status == DB_OK) status = read_header(&o, path, value);
    db_hdf5_close(&o.root);
    db_hdf5_leave(&guard);
    return status;
}
#else
#include "io/hdf5/without_hdf5.h"

db_status db_layout_read_arrays(db_context *context, const char *path,
                                const db_image_layout *layout, db_measured_image *image) {
    (void)layout;
    (void)image;
    return db_fail_without_hdf5(context, path, "read");
}

db_status db_layout_header(db_context *context, const char *image, const char *path,
                           double *value) {
    (void)value;
    (void)path;
    return db_fail_without_hdf5(context, image, "read");
}
#endif
