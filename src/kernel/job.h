/* The input of a kernel instance: plain arrays of interface values, their slopes, and where the
 * pixels go. Filled by the engine, read by every instance (any instruction set, precision,
 * device). */
#ifndef DB_KERNEL_JOB_H
#define DB_KERNEL_JOB_H

#include "ad/device_language.h"
#include "kernel/few_cells.h"
#include "kernel/spot_entry.h"
#include "model/halo_numbers.h"

#include <dualbragg/crystal_shape.h>
#include <dualbragg/region.h>
#include <stdint.h>

/* Columns: the derivatives of a pixel with respect to interface values, in the order in which the
 * kernel accumulates them (docs/theory/derivatives.md, Columns). Those of one parameter are
 * neighbours (db_kernel_contraction). */
enum {
    /* anisotropic mosaic spread, misset, phi, tilts of the spindle; of a crystal with a halo cell and
     * numbers of cells, too, and six of the halo. Devices refuse jobs with a halo */
    DB_MAX_ROTATION_SLOPES = 21,
    DB_MAX_DEVICE_ROTATION_SLOPES = 9,
    DB_MAX_SOURCE_SLOPES = 16,
    DB_MAX_AMPLITUDE_SLOPES = 8, /* DB_PARAMETER_SLOTS */
    DB_COLUMN_LATTICE = 0,       /* 9: d/d lattice, row-major, in the frame of the first phi step */
    DB_COLUMN_ORIGIN = 9,        /* 3: d/d panel origin */
    DB_COLUMN_FAST = 12,         /* 3: d/d panel fast axis */
    DB_COLUMN_SLOW = 15,         /* 3: d/d panel slow axis */
    DB_COLUMN_INTENSITY = 18,    /* 1: the pixel itself, for values it is proportional to */
    /* of general jobs only; in one with a curved panel the three of the origin stand for radius,
     * beam_fast and beam_slow */
    DB_COLUMN_Z = 19,            /* 1: d/d panel z */
    DB_COLUMN_NORMAL = 20,       /* 3: d/d panel normal */
    DB_COLUMN_LAYER_STEP = 23,   /* 1 */
    DB_COLUMN_ATTENUATION = 24,  /* 1 */
    DB_COLUMN_WATER = 25,        /* 1 */
    DB_COLUMN_MOLECULES = 26,    /* 1 */
    DB_COLUMN_DEBYE_WALLER = 27, /* 1: d/dB; of jobs with a Debye-Waller factor */
    DB_COLUMN_CELLS = 28,        /* 3: d/dN (instances of kind gradient_cells) */
    DB_COLUMN_AMPLITUDE = 31,    /* one per structure factor among the parameters */
    /* one per parameter that moves the sources */
    DB_COLUMN_SOURCE = DB_COLUMN_AMPLITUDE + DB_MAX_AMPLITUDE_SLOPES,
    /* one per parameter that moves the sample rotations or the halo */
    DB_COLUMN_ROTATION = DB_COLUMN_SOURCE + DB_MAX_SOURCE_SLOPES,
    DB_COLUMN_COUNT = DB_COLUMN_ROTATION + DB_MAX_ROTATION_SLOPES,
    DB_LOOSE_COLUMNS = /* on devices */
    DB_COLUMN_ROTATION + DB_MAX_DEVICE_ROTATION_SLOPES - DB_COLUMN_AMPLITUDE
};

typedef struct AD_DEVICE_ALIGNED db_kernel_panel {
    double origin[3], fast[3], slow[3], z; /* m */
    double pixel_size[2];                  /* m */
    double normal[3];
    double radius, beam_fast, beam_slow; /* of a curved panel (m) */
} db_kernel_panel;

/* Amplitude of an amorphous molecule as cubics of sin(theta)/lambda. */
typedef struct db_kernel_amorphous {
    const double *knot;  /* [intervals + 1] interval i ends at knot[i + 1], the last at infinity */
    const double *cubic; /* [intervals][4]: coefficients of powers of stol - knot[i] */
    const int32_t *bin;  /* [bins]: the interval at the lower end of each bin */
    double first, per_bin; /* lower end of the first bin (1/angstrom), 1/width of a bin */
    int32_t bins;          /* 0: no amorphous matter */
} db_kernel_amorphous;

/* A structure factor among the parameters. */
typedef struct db_kernel_amplitude {
    double node[3];
    double twice; /* 2 F */
} db_kernel_amplitude;

typedef struct AD_DEVICE_ALIGNED db_kernel_source_double {
    double kappa, s0[3];    /* 1/angstrom */
    double polarization[6]; /* tensor W */
    double weight, unused;
} db_kernel_source_double;
typedef struct AD_DEVICE_ALIGNED db_kernel_source_float {
    float kappa, s0[3], polarization[6], weight, unused;
} db_kernel_source_float;

/* One combination of phi step and mosaic domain. */
typedef struct AD_DEVICE_ALIGNED db_kernel_sample_double {
    double lattice[9];  /* rotated lattice vectors, rows a, b, c (angstrom) */
    double rotation[9]; /* laboratory -> frame of the first phi step */
} db_kernel_sample_double;
typedef struct AD_DEVICE_ALIGNED db_kernel_sample_float {
    float lattice[9];
    float rotation[9], unused[2];
} db_kernel_sample_float;

/* The diffuse halo of a job: its numbers (model/halo.h), and their slopes by the parameters that have
 * rotation columns, [rotation_slopes][DB_HALO_NUMBERS]. */
typedef struct db_kernel_halo {
    double number[DB_HALO_NUMBERS];
    const double *slope;
} db_kernel_halo;

/* A parameter's derivative: coefficients times a run of neighbouring columns. The overall scale is
 * in the coefficients. */
enum { DB_LATTICE_COLUMNS = 9, DB_LONGEST_RUN = 14 };
typedef struct db_kernel_contraction {
    int32_t first_column, columns; /* columns <= DB_LONGEST_RUN */
    double coefficient_double[DB_LONGEST_RUN];
    float coefficient_float[DB_LONGEST_RUN];
} db_kernel_contraction;

/* A spot in closed form on one panel (kernel/spot.h), as the pixel loop reads it: with d the unit
 * vector to a point, z = white d + offset, in double since d - c is a small difference. */
enum {
    DB_SPOT_AMPLITUDE,
    DB_SPOT_CUT,  /* of z^2 (of a spot that moves: of its first two components), from which on it
                        does not count */
    DB_SPOT_FROM, /* of a spot that moves */
    DB_SPOT_TO,
    DB_SPOT_AT_REST, /* 1: z_3 counts as z_1 and z_2 do; 0: the spot moves along z_3 */
    /* 3: z at a place inside a spot at rest, as a float has it; see kernel/spot_lanes.h */
    DB_SPOT_INSIDE,
    DB_SPOT_VALUES = DB_SPOT_INSIDE + 3
};
typedef struct db_kernel_spot {
    double white[9], offset[3];
    float value_float[DB_SPOT_VALUES];
    double value_double[DB_SPOT_VALUES];
    int32_t fast[2], slow[2]; /* pixels of the panel that it reaches: from, and to without that */
    uint32_t source;
} db_kernel_spot;

/* Columns of a spot: what its slopes by a parameter multiply (kernel/spot_pixels.h). */
enum { DB_SPOT_COLUMNS = 10, DB_SPOT_COLUMNS_MOVING = 14 };

/* Pixels of a region that a spot reaches, counted from its corner: from, and to without that. */
typedef struct {
    uint8_t fast[2], slow[2];
} db_spot_part;

/* Rectangles of a panel's pixels, by which spots find the tiles that they reach. */
enum { DB_SPOT_TILE_FAST = 64, DB_SPOT_TILE_SLOW = 16 };
enum { DB_SPOT_CELL_FAST = DB_SPOT_TILE_FAST, DB_SPOT_CELL_SLOW = DB_SPOT_TILE_SLOW };
typedef struct db_spot_cells {
    int columns, rows;
    uint32_t first;  /* number of the panel's first cell */
    uint32_t before; /* where the panel's part of db_spot_tiles.before begins */
} db_spot_cells;

/* Tiles of a plan. */
typedef struct db_spot_tiles {
    const db_spot_cells *cells; /* [panels] */
    const uint32_t *first;      /* [cells + 1]: where a cell's tiles begin in the list */
    const uint32_t *tile;
    /* of each panel [rows + 1][columns + 1]: cells in the rows and columns before that have tiles */
    const uint32_t *before;
    const int *reflection;   /* [tiles][3]: the only one that a tile shows; NULL: all */
    size_t cell_count, sums; /* sums: length of before */
    int everywhere;          /* 1: all cells have tiles */
    int cells_are_tiles;     /* 1: each is a tile of its own, which shows all reflections */
} db_spot_tiles;

/* Spots of a job, in the order of sources, and which of them reach each region. */
typedef struct db_kernel_spots {
    const db_kernel_spot *spot;
    const db_spot_entry *entry; /* [count]: which they are */
    /* what all spots are worked out for; what it points to is the host's */
    const struct db_experiment *experiment;
    /* what lists are made of (kernel/spot_find.h); interface values are plain doubles */
    const struct db_spot_search *search;
    const struct db_spot_window *window; /* [panels] */
    const struct db_spot_group *group;
    const uint32_t *group_of; /* [sources] */
    const double *spread, *panel,
        *source;             /* spread_interface, panel_ [panels], source_ [sources] */
    const double *amplitude; /* as of db_structure_factors; NULL: none are listed */
    db_spot_tiles tiles;
    size_t count;
    const uint32_t *first;    /* [regions + 1]: where a region's numbers begin in the list */
    const uint32_t *number;   /* of spots, ascending for each region */
    const db_spot_part *part; /* likewise */
    int moving;               /* 1: the crystal turns */
    int one_beam;             /* 1: all sources have the same factors of a pixel */
    uint32_t groups;
    uint32_t most;       /* of a region */
    uint32_t parameters; /* the first so many of the job's parameters move spots */
    uint32_t each;       /* of them, a spot has slopes by so many */
    const double *step;  /* normal equations: a typical step of each parameter, a power of two */
    /* [sources][each]: the parameters that a spot of the source has slopes by: of the points of curves
     * only those next to its energy; NULL: all of them, in their order. Not of a device's */
    const uint16_t *which;
    /* [count][each][columns]: slopes, those of moving spots with more columns; of a plan on a
     * device NULL, which makes them itself, laid out for its threads (cuda/spot_slopes.cu) */
    const double *slope_double;
    const float *slope_float;
    /* what slopes are made from (kernel/spot_slopes.h) */
    const struct db_spot_pass *pass; /* [passes] */
    const double *dual;              /* [passes][dual_length] */
    size_t passes, dual_length;
    const double *direction; /* [parameters]: NULL, or slopes are wanted along it alone */
    /* with a cotangent, NULL or [first[regions]]: gets the product with each spot of each region,
     * without its amplitude and the overall scale */
    double *by_amplitude;
} db_kernel_spots;

typedef struct db_kernel_job {
    db_crystal_shape shape;
    double fudge;
    double cells[3];
    double largest_index; /* no Miller index of any pixel is larger */
    int cuts;             /* 1: samples beyond the cut are left out (kernel/spot_cut.h) */
    double cut;
    /* 1: all three are whole and at most DB_FEW_CELLS; then their polynomials */
    int few_cells;
    db_few_cells_double few_double[3];
    db_few_cells_float few_float[3];
    double scale;
    int oversample, point_pixel;
    double sub_pixel; /* 1/oversample */

    const db_kernel_panel *panel;
    const db_kernel_source_double *source_double;
    const db_kernel_source_float *source_float;
    size_t source_count;
    const db_kernel_sample_double *sample_double;
    const db_kernel_sample_float *sample_float;
    size_t sample_count;

    /* squared structure factors on the box, and one more entry at the end for everything outside */
    const double *intensity_double;
    const float *intensity_float;
    double table_min[3], table_extent[3];
    int table_used;   /* 0: default_F everywhere */
    int debye_waller; /* 0: its factor is 1 everywhere, and its slope is not wanted */
    double default_intensity;
    /* general jobs: kinds of sites whose scattering depends on the photon energy. With any, squared
     * structure factors come from these: [box and one more][2 + 2 kinds] as db_site_kinds.part, and
     * [sources][kinds][2], f' and f'' at the source's energy */
    int site_kinds;
    const double *site_part;
    const double *site_curve;
    const db_kernel_halo *halo; /* general jobs: of a crystal with one, or NULL; the host's */
    double b_factor;            /* angstrom^2 */

    /* 1: a general job, which uses some of what follows; 0: a plain job, which uses none of it */
    int general;
    double dmin; /* angstrom; 0: no limit */
    double water, molecules;
    db_kernel_amorphous amorphous;
    int layers, sensor;  /* sensor 0: nothing is absorbed, all photons count */
    int layers_at_front; /* 1: each layer lies at its front instead of at its mean depth */
    int curved;
    double layer_step, attenuation;
    double beam_direction[3]; /* of a curved detector */
    /* tricubic interpolation: amplitudes on the box with DB_TABLE_MARGIN entries of default_F on
     * all sides */
    int interpolate;
    const double *amplitude_table;
    double margin_min[3], margin_extent[3];
    /* kind DB_KERNEL_AMPLITUDES: NULL, or another such table, along which the derivative of the
     * image is wanted */
    const double *amplitude_direction;

    /* slopes */
    int rotation_slopes; /* parameters that move the rotations */
    /* [rotation_slopes][sample_count][9]: d(sample lattice)/dparameter */
    const double *lattice_slope_double;
    const float *lattice_slope_float;
    int source_slopes; /* parameters that move the sources */
    /* [source_slopes][source_count]: d(source)/dparameter, with kappa and s0 such that kappa q - s0
     * is d(q)/dparameter, which keeps its digits near the direct beam */
    const db_kernel_source_double *source_slope_double;
    const db_kernel_source_float *source_slope_float;
    const double *site_curve_slope; /* [source_slopes][sources][kinds][2] */
    int amplitude_slopes;
    db_kernel_amplitude amplitude[DB_MAX_AMPLITUDE_SLOPES];
    const struct db_kernel_reference *reference; /* of the reference's order of summation only */
    size_t parameter_count;                      /* of images wanted: parameters, or the basis */
    /* [panel][parameter_count]: first those by all nine columns of the lattice, then those by one
     * column each, then the others */
    const db_kernel_contraction *contraction;
    size_t lattice_wanted, single_wanted; /* so many of the first and of the second kind */
    db_kernel_spots spots;                /* in closed form; then none of the kinds above */

    const db_region *region;
    /* images of samples: NULL, or [regions][3] the only node that each region shows. General
     * instances on devices look at it; on the processor each region gets a table of its own */
    const double *region_node;
    db_pixel_type pixel_type;
    int streaming; /* 1: the results are larger than the caches: write past them */
    void *image;
    void *const *derivative; /* [parameter_count], in the order of the contraction */
    /* where sums are wanted */
    const void *data;   /* laid out as the image, of the data's type */
    const void *weight; /* likewise; may be NULL */
    db_pixel_type data_type;
    const void
        *background;       /* of the image's pixels: what the image has beside the model, or NULL */
    double residual_scale; /* of the image in the residual: the scale; 0: the residual is -data */
    /* of the image's pixels: not NULL where derivatives times it are to be summed, and the image
     * stored if there is one (kernel/cotangent.h) */
    const void *cotangent;
    int tangent; /* 1: images of the contraction are added up and stored as derivative[0] */
} db_kernel_job;

/* Normal equations: sums over pixels of the products of all pairs from a list of images, which are
 * the job.parameter_count wanted columns and, last, the residual, each times the square root of the
 * weight. Stored is the lower triangle of the matrix in square blocks, row after row of blocks;
 * inside a block column after column. */
enum { DB_NORMAL_MOST = 64, DB_NORMAL_MOST_SPOTS = 256, DB_NORMAL_BLOCK = 4 };
static inline size_t db_normal_index(size_t row, size_t column) {
    const size_t i = row / DB_NORMAL_BLOCK, j = column / DB_NORMAL_BLOCK;
    return ((i * (i + 1) / 2 + j) * DB_NORMAL_BLOCK + column % DB_NORMAL_BLOCK) * DB_NORMAL_BLOCK +
           row % DB_NORMAL_BLOCK;
}
static inline size_t db_normal_size(size_t images) {
    const size_t blocks = (images + DB_NORMAL_BLOCK - 1) / DB_NORMAL_BLOCK;
    return db_normal_index(blocks * DB_NORMAL_BLOCK, 0);
}

/* The parameters that a spot has slopes by; NULL: all that move spots. */
static inline const uint16_t *spot_parameters(const db_kernel_spots *spots, size_t number) {
    return spots->which ? spots->which + (size_t)spots->spot[number].source * spots->each : NULL;
}

/* Room that the kernels of spots in closed form need: numbers and groups of a tile's spots, a fixed
 * part and slopes for a band's pixels (kernel/spot_pixels.h), and products
 * (kernel/spot_products.h); bytes. */
enum { DB_SPOT_FIXED_ROOM = 256 << 10, DB_SPOT_PRODUCT_ROOM = 1300 << 10 };
static inline size_t db_spot_numbers(const db_kernel_job *job) {
    return ((job->spots.most + 1) * (sizeof(uint32_t) + sizeof(unsigned long)) + 63) / 64 * 64;
}
static inline size_t db_spot_slope_room(const db_kernel_job *job) {
    /* at most two rows of doubles, where there are parameters */
    return (job->spots.parameters + 1) * 2 * DB_SPOT_TILE_FAST * sizeof(double);
}
static inline size_t db_spot_room(const db_kernel_job *job) {
    return db_spot_numbers(job) + DB_SPOT_FIXED_ROOM + db_spot_slope_room(job) +
           (job->parameter_count ? DB_SPOT_PRODUCT_ROOM : 0);
}

/* In mixed precision, offsets along rows (kernel/row.h) have 32 binary places: an error of 2e-10,
 * which becomes 2 pi N times as large in F_latt^2. That leaves room for indices below a third of
 * the shift. */
#define DB_OFFSET_SHIFT 1572864.0 /* 1.5 * 2^20 */
static inline int db_offsets_suffice(const db_kernel_job *job) {
    const double most = 256;
    return job->cells[0] <= most && job->cells[1] <= most && job->cells[2] <= most &&
           job->largest_index < DB_OFFSET_SHIFT / 3;
}

/* Margin of the table for interpolation: a window of four nodes that misses the box fits into
 * it. */
enum { DB_TABLE_MARGIN = 4 };

/* Rows [row_begin, row_end) of a region. */
typedef struct db_tile {
    size_t region;
    int row_begin, row_end;
} db_tile;

/* Renders tiles: into the job's images, or adds to sums where they are not NULL (gradient instances
 * only). room: db_row_room bytes (kernel/row_room.h), aligned for doubles, that nobody else uses
 * meanwhile; of kind DB_KERNEL_AMPLITUDES, the list to add to (kernel/amplitude_sums.h), or NULL for
 * the image along the job's amplitude_direction. */
typedef void (*db_kernel_function)(const db_kernel_job *job, const db_tile *tile, size_t tiles,
                                   double *sums, void *room);

#endif
