/* The arguments of the device's kernels, and their table. */
#ifndef DB_CUDA_ARGUMENTS_H
#define DB_CUDA_ARGUMENTS_H

#include "kernel/job.h"
#include "noise/noise_work.h"

#include <dualbragg/expert/boxes.h>
#include <stdint.h>

/* Pixels that a block of threads works on at a time: one per thread. In double precision rows of
 * the normal equations take twice the room. */
enum { DB_CUDA_BLOCK = 128, DB_CUDA_DOUBLE_BLOCK = 64, DB_CUDA_WARP = 32 };

/* Shared memory of a block that every GPU grants by default. */
enum { DB_CUDA_MOST_BLOCK_BYTES = 48 << 10 };

/* Kernels along rows: pixels of a row per block (many if a row has few terms, so that pixels are soon done), and
 * the largest memory of its terms. */
enum {
    DB_CUDA_SHORT_CHUNK = 256,
    DB_CUDA_LONG_CHUNK = 2048,
    DB_CUDA_MANY_TERMS = 16,
    DB_CUDA_MOST_TERM_BYTES = 40 << 10,
    DB_CUDA_PIECE_BYTES = 32 << 10, /* if that is too little for all terms */
    DB_CUDA_TERM_BYTES = 80,        /* nine doubles, read 16 bytes at a time */
    DB_CUDA_MOST_SUB_ROWS = 4       /* those of kernel/row.h */
};

/* A parameter's derivative, or an image of the basis: coefficients of all columns that have a place
 * of their own, and of one loose column (db_kernel_contraction, laid out for the device). */
typedef struct __attribute__((aligned(16))) db_cuda_row_double {
    double coefficient[DB_COLUMN_AMPLITUDE], loose_coefficient;
    int32_t windows, loose; /* bits: DB_CUDA_WINDOW_*; number of the loose column */
} db_cuda_row_double;
typedef struct __attribute__((aligned(16))) db_cuda_row_float {
    float coefficient[DB_COLUMN_AMPLITUDE], loose_coefficient;
    int32_t windows, loose;
} db_cuda_row_float;

/* Runs of columns between which a coefficient's row is mostly empty. */
enum {
    DB_CUDA_WINDOW_LATTICE = 1, /* from DB_COLUMN_LATTICE on */
    DB_CUDA_WINDOW_PANEL = 2,   /* from DB_COLUMN_ORIGIN on, intensity included */
    DB_CUDA_WINDOW_GENERAL = 4, /* from DB_COLUMN_Z on */
    DB_CUDA_WINDOW_DEBYE_WALLER = 8,
    DB_CUDA_WINDOW_CELLS = 16, /* from DB_COLUMN_CELLS on */
    DB_CUDA_WINDOW_LOOSE = 32
};

/* Derivative images along rows: the most pixels that a thread renders at a time. */
enum {
    DB_CUDA_STAGED = 4,
    DB_CUDA_DOUBLE_STAGED = 2,
    DB_CUDA_STAGED_GENERAL = 1,
    /* plain jobs have no columns between the panel's and the Debye-Waller factor's */
    DB_CUDA_PLAIN_COLUMNS = DB_COLUMN_AMPLITUDE - (DB_COLUMN_DEBYE_WALLER - DB_COLUMN_Z)
};

enum { DB_CUDA_MOST_IMAGES = DB_NORMAL_MOST_SPOTS };

/* A derivative image's part in a variable of boxes, and the links of a list of such. */
typedef struct db_cuda_box_link {
    uint32_t column, variable; /* column: number of the derivative image */
    double slope;
} db_cuda_box_link;
typedef struct db_cuda_box_list {
    uint32_t first, end, variables;
} db_cuda_box_list;

/* Boxes (cuda/box_sums.cu); images as the caller has them. */
typedef struct db_cuda_boxes {
    const db_region *region; /* [boxes] */
    const db_box_rule *rule;
    db_box_solution *solution;
    const float *value;
    const float *weight;
    const float *shape_variance;
    const float *shape;
    const float *offset; /* NULL: none */
    const db_cuda_box_list *list;
    const db_cuda_box_link *link;
    double *result;  /* [boxes][result_size] */
    double *outside; /* [boxes][sum_size]: sums, where a block's memory is too small; else NULL */
    db_loss loss;
    uint32_t result_size, sum_size, kept;
    uint32_t rows;       /* pixels whose rows fit in a block's memory */
    int32_t solve, sums; /* sums: db_boxes_sums */
} db_cuda_boxes;

/* The results of a search for spots in closed form (cuda/spot_search.cu). */
typedef struct db_cuda_found {
    uint64_t candidates, spots, numbers; /* numbers: of spots in the lists of all tiles */
    uint64_t wrong;                      /* smallest key of spots whose spread is no covariance */
} db_cuda_found;

/* A node, at one of its passages, that may have a spot on a panel. */
typedef struct db_cuda_candidate {
    db_spot_name name;
    double square; /* of the structure factor */
    uint64_t key;  /* of its spots; lists of tiles are sorted by it */
} db_cuda_candidate;

/* Lists of spots that are being made; rooms: the most that they can hold. */
typedef struct db_cuda_list {
    db_cuda_found *found;
    db_cuda_candidate *candidate;
    db_spot_entry *entry;
    db_kernel_spot *spot;
    uint64_t *key;
    uint32_t *first;          /* [tiles + 1] as in db_kernel_spots */
    uint32_t *at;             /* [tiles]: where the next one goes */
    uint32_t *loose, *number; /* of spots, tile after tile: as they came, and sorted */
    uint64_t candidate_room, spot_room, number_room;
    uint32_t panels;
} db_cuda_list;

/* The only source and sample of a still, which the kernels read as constants. */
typedef struct db_cuda_still {
    db_kernel_source_double source_double;
    db_kernel_sample_double sample_double;
    db_kernel_source_float source_float;
    db_kernel_sample_float sample_float;
} db_cuda_still;

typedef struct db_cuda_arguments {
    db_kernel_job job; /* its pointers point to the device; region: the layout of the results */
    /* [region_count + 1] pixels of all regions before each */
    const uint32_t *region_start;
    /* [region_count + 1] blocks of the kernel along rows before each */
    const uint32_t *row_start;
    uint32_t region_count, pixels; /* of all regions */
    uint32_t row_chunk;            /* of the kernel along rows, ... */
    /* ... which holds the terms of row_samples samples at a time, and from place kept_pixels on (in
     * reals) the pixels' sums from earlier pieces */
    uint32_t row_samples, kept_pixels;
    int32_t along_rows; /* 1: images with derivatives are made along rows */
    int32_t unlisted;   /* 1: no table of structure factors, and offsets of indices suffice */
    const void *row;    /* [panel][parameter_count] db_cuda_row_* */
    void *derivative[DB_CUDA_MOST_IMAGES];
    /* normal equations */
    double *sums;                             /* [slots][db_normal_size(parameter_count + 1)] */
    uint32_t slots, size, groups, row_length; /* of a pixel's row, in blocks of columns */
    int32_t lattice_first; /* 1: images number 0 to 8 are the columns of the lattice */
    int32_t sums_outside;  /* 1: a block's own memory is too small for them; then one group */
    uint32_t rows;         /* of pixels, in a block's memory */
    /* spots in closed form */
    uint32_t tile_blocks;  /* that render a tile */
    uint32_t residual_sum; /* number of the residual's square among the sums */
    uint32_t *cells;       /* [tiles]: a bit for each cell that has products */
    double *squares;       /* [tiles]: of residuals in the others */
    void *slopes;          /* of spots, to be made */
    /* images that are added up: derivative[parameter_count], job.data, job.background */
    int32_t dense;     /* 1: a pixel's place in packed images is that in the caller's */
    int32_t to_packed; /* 1: the sum is packed */
    union {
        db_cuda_still still; /* of a still's kernels with derivatives */
        noise_work noise;    /* of the kernel of noise, which reads nothing else */
        db_cuda_list list;   /* of the kernels that make lists of spots */
    };
    db_cuda_boxes boxes; /* of the kernel of boxes, which also reads derivative[] */
} db_cuda_arguments;

/* Specializations by the crystal's shape: KERNEL_SQUARE, KERNEL_FEW_CELLS, and one for the compact shapes. */
enum {
    DB_CUDA_SHAPE_SQUARE,
    DB_CUDA_SHAPE_FEW_CELLS,
    DB_CUDA_SHAPE_COMPACT,
    DB_CUDA_SHAPES,
    DB_CUDA_SHAPE_ANY = 0, /* of general jobs */
    DB_CUDA_SHAPE_FLAT,    /* those without curved panels, interpolation, sites, halo */
    /* of spots in closed form: the crystal is at rest, or turns */
    DB_CUDA_SPOTS_REST = 0,
    DB_CUDA_SPOTS_MOVE = 1
};

enum { DB_CUDA_KINDS = 7 }; /* db_kernel_kind */

typedef struct db_cuda_kernels {
    const void *image[DB_CUDA_SHAPES];  /* image, and derivatives of gradient kinds */
    const void *rows[DB_CUDA_SHAPES];   /* image along rows; forward kind only */
    const void *normal[DB_CUDA_SHAPES]; /* gradient kinds only */
    /* for one source, sub-pixel and sample without a Debye-Waller factor, if there are such kernels: image
     * (forward kind: along rows), normal equations */
    const void *still[DB_CUDA_SHAPES];
    const void *still_normal[DB_CUDA_SHAPES];
    /* of spots in closed form, before normal equations: which cells have products */
    const void *cells;
} db_cuda_kernels;

/* The kernels of a db_kernel_kind; mixed: 0 or 1. */
const db_cuda_kernels *db_cuda_kernels_of(int kind, int mixed);

/* Adds the slots of db_cuda_arguments.sums into the first one. */
extern const void *const db_cuda_add_slots;

/* Adds up images, one pixel a thread of blocks of DB_CUDA_BLOCK (cuda/add_images.cu). */
extern const void *const db_cuda_add_images;

/* Threads of each block of db_cuda_add_slots, and the sums that it adds. */
enum { DB_CUDA_ADD_LANES = 32, DB_CUDA_ADD_SUMS = 8 };

/* Computes coefficients and sums of boxes, one box per block of DB_CUDA_BOX_BLOCK threads; a block's memory begins
 * with DB_CUDA_BOX_STATE doubles that its threads share. */
extern const void *const db_cuda_box_sums;
enum { DB_CUDA_BOX_BLOCK = 128, DB_CUDA_BOX_STATE = 12 };

/* Kernels that make lists of spots, in the order in which they run. spots: for crystals at rest, and for crystals
 * that turn. */
typedef struct db_cuda_search_kernels {
    const void *clear, *nodes, *spots[2], *begin, *put, *sort;
} db_cuda_search_kernels;
extern const db_cuda_search_kernels db_cuda_search;
enum {
    DB_CUDA_SPOT_BLOCK = 128,
    DB_CUDA_BEGIN_BLOCK = 512,
    DB_CUDA_SORT_BLOCK = 64,
    DB_CUDA_ROW_THREADS = 4, /* that share a row of nodes */
    DB_CUDA_PUT_THREADS = 4  /* that share a spot */
};

/* Makes an image with noise, one row of the panel per block; only in builds with Random123. */
extern const void *const db_cuda_noise;
enum { DB_CUDA_NOISE_BLOCK = 128 };

/* Bytes of a block's own memory that a kernel needs. */
static inline size_t db_cuda_noise_bytes(void) {
    return DB_CUDA_NOISE_BLOCK * (sizeof(double) + sizeof(noise_row));
}
static inline size_t db_cuda_term_bytes(const db_kernel_job *job, size_t samples, int mixed) {
    const size_t real = mixed ? sizeof(float) : sizeof(double), sub_rows = (size_t)job->oversample,
                 terms = job->source_count * samples;
    return sub_rows *
           (DB_CUDA_TERM_BYTES * terms + (2 * sizeof(double) + 3 * real) * job->source_count);
}
/* The samples whose terms a block holds at a time: all, or (one source) pieces of about equal size; 0: none. */
static inline size_t db_cuda_row_samples(const db_kernel_job *job, int mixed) {
    const size_t all = job->sample_count, partial = 16, /* whole partial sums */
        most = DB_CUDA_PIECE_BYTES / DB_CUDA_TERM_BYTES / (size_t)job->oversample,
                 pieces = (all + most - 1) / most;
    if (db_cuda_term_bytes(job, all, mixed) <= DB_CUDA_MOST_TERM_BYTES) return all;
    return job->source_count > 1 ? 0 : ((all - 1) / (pieces * partial) + 1) * partial;
}
static inline size_t db_cuda_staged_bytes(int general, int mixed) {
    const size_t of_mixed = DB_CUDA_STAGED * DB_CUDA_BLOCK * sizeof(float),
                 of_double = DB_CUDA_DOUBLE_STAGED * DB_CUDA_DOUBLE_BLOCK * sizeof(double),
                 of_general = DB_CUDA_STAGED_GENERAL * DB_CUDA_BLOCK * sizeof(float);
    if (general) return DB_COLUMN_AMPLITUDE * of_general; /* as many in double precision */
    return DB_CUDA_PLAIN_COLUMNS * (mixed ? of_mixed : of_double);
}
static inline uint32_t db_cuda_block(int mixed) {
    return mixed ? DB_CUDA_BLOCK : DB_CUDA_DOUBLE_BLOCK;
}
/* The number of square blocks of products of this many images. */
static inline uint32_t db_cuda_products(size_t images) {
    return (uint32_t)(db_normal_size(images) / (DB_NORMAL_BLOCK * DB_NORMAL_BLOCK));
}
/* The length of a row in blocks of columns; odd, so that neighbouring rows lie in different memory banks. */
static inline uint32_t db_cuda_row_length(size_t images) {
    return (uint32_t)((images + DB_NORMAL_BLOCK - 1) / DB_NORMAL_BLOCK) | 1;
}

/* For normal equations with this many rows in a block's memory; groups 0: the sums are outside. */
static inline size_t db_cuda_normal_bytes(size_t images, uint32_t groups, uint32_t rows,
                                          int mixed) {
    const size_t real = mixed ? sizeof(float) : sizeof(double);
    return groups * db_normal_size(images) * sizeof(double) +
           rows * db_cuda_row_length(images) * DB_NORMAL_BLOCK * real;
}

/* Spots in closed form: a warp of 32 threads renders a cell of a tile, with a list of DB_CUDA_CELL_SPOTS spots; in
 * a pass each thread sums DB_CUDA_SPOT_SLOPES derivatives of a pixel in registers (more would spill). */
enum {
    DB_CUDA_TILE_CELLS = 32,
    DB_CUDA_TILE_PARTS = 8,
    DB_CUDA_CELL_SPOTS = 64,
    DB_CUDA_SPOT_SLOPES = 16,
    DB_CUDA_DOUBLE_SPOT_SLOPES = 8,
    DB_CUDA_MOST_INNER_SUMS = 20 << 10 /* bytes of the sums of normal equations */
};
#define DB_CUDA_SPOT_PASSES(parameters, slopes) (((parameters) + (slopes)-1) / (slopes))
static inline size_t db_cuda_list_bytes(uint32_t warps) {
    return warps * DB_CUDA_CELL_SPOTS * sizeof(uint32_t);
}

/* Slopes of spots, [spots][passes][columns][derivatives of a pass]: a thread computes one spot and DB_SPOT_PASS
 * parameters, with the model's values in the block's memory. db_cuda_spot_tangent: derivatives along a direction,
 * one spot and column per thread, [spots][columns][derivatives of a pass]; only the first of a pass is used. */
extern const void *const db_cuda_spot_slopes;
extern const void *const db_cuda_spot_tangent;
enum { DB_CUDA_SLOPES_BLOCK = 128, DB_CUDA_MODEL_BYTES = 4 << 10 };

#endif
