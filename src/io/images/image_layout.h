/* The layout of an image: the rectangles of the file's arrays that are its panels, and the pixels that do not
 * count. */
#ifndef DB_IO_IMAGE_LAYOUT_H
#define DB_IO_IMAGE_LAYOUT_H

#include <dualbragg/io.h>
#include <stdint.h>

/* The meaning of an array's dimension; a number from 0 on is a fixed index. */
enum { DB_DIM_FAST = -1, DB_DIM_SLOW = -2, DB_DIM_IMAGE = -3, DB_DIM_NONE = -4 };

enum { DB_LAYOUT_DIMS = 8, DB_LAYOUT_MASKS = 8, DB_LAYOUT_FLAGS = 8 };

/* An array of bits: a pixel is bad unless it has all of `good`, and if it has one of `bad`. */
typedef struct db_layout_mask {
    const char *data; /* path in the file; NULL: there is none */
    const char *file; /* NULL: that of the image */
    uint32_t good, bad;
} db_layout_mask;

/* A panel is a rectangle of an array. Texts are parts of the layout's. */
typedef struct db_layout_panel {
    char name[64];
    int first[2];     /* fast, slow of its first pixel in the array */
    int size[2];      /* pixels along fast, slow */
    const char *data; /* path in an HDF5 file, % for parts of the image's name; NULL: none */
    long dim[DB_LAYOUT_DIMS]; /* index or DB_DIM_... of each dimension */
    db_layout_mask mask[DB_LAYOUT_MASKS];
    db_layout_mask saturation; /* values above which pixels are too bright; bits have no meaning */
    double marked[DB_LAYOUT_FLAGS]; /* values of bad pixels */
    int marked_count;
    double corner[2], fast[2], slow[2]; /* x, y in the laboratory (pixels), for regions there */
} db_layout_panel;

typedef struct db_layout_region {
    double x[2], y[2]; /* pixels between these are bad */
} db_layout_region;

typedef struct db_image_layout {
    char *path; /* of the file with the layout; owned */
    char *text; /* owned; may be NULL */
    size_t panel_count;
    db_layout_panel *panel; /* owned */
    size_t region_count;
    db_layout_region *region; /* owned */
} db_image_layout;

/* NULL without memory. */
db_image_layout *db_image_layout_create(const char *path, size_t panel_count);
void db_image_layout_destroy(db_image_layout *layout);

/* The name of an image of CrystFEL: FILE, FILE#N or FILE#EVENT, where an event is PATH//INDICES. */
typedef struct db_event_name {
    char file[4096];
    char path[256];  /* parts for the % of paths, with slashes between; "" */
    long number;     /* N; 0: none */
    int index_count; /* given by an event, for the % of dimensions; -1: no event */
    long index[DB_LAYOUT_DIMS];
} db_event_name;

/* 0: it is no such name. */
int db_event_name_read(const char *image, db_event_name *name);

/* A number that a path leads to in the image's file: one for all images, or one for each. */
db_status db_layout_header(db_context *context, const char *image, const char *path, double *value);

/* Fills value and mask of an HDF5 image, whose panels are allocated as gaps. */
db_status db_layout_read_arrays(db_context *context, const char *path,
                                const db_image_layout *layout, db_measured_image *image);

/* Room for the panels, one below the other, all gap; image->value, mask and panels are replaced. */
db_status db_layout_allocate(db_context *context, const char *path, const db_image_layout *layout,
                             db_measured_image *image);

/* The path of a file that the layout names: beside the layout's file or, if it exists only there, in the current
 * folder. Owned by the caller; NULL without memory. */
char *db_layout_file(const db_image_layout *layout, const char *name);

/* Copies a panel out of the array of all panels. */
db_status db_layout_cut(db_context *context, const char *path, const db_image_layout *layout,
                        size_t panel, const db_measured_image *sheet, db_measured_image *image);

#endif
