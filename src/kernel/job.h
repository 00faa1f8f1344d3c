/* The input of a kernel instance: plain arrays of interface values, their slopes, and where the
 * pixels go. The engine fills it; every instance (of any instruction set, precision or device)
 * reads it. */
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
 * kernel accumulates them (docs/theory/derivatives.md, Columns). The columns that one parameter
 * needs are neighbours (db_kernel_contraction). */
enum {
    /* anisotropic mosaic spread, misset, phi, tilts of the spindle. With a halo also cell, numbers of
     * cells, and six parameters of the halo */
    DB_MAX_ROTATION_SLOPES = 21,
    DB_MAX_ROTATION_SLOPES_WITHOUT_HALO = 9,
    DB_MAX_SOURCE_SLOPES = 16,
    DB_MAX_AMPLITUDE_SLOPES = 8, /* DB_PARAMETER_SLOTS */
    DB_COLUMN_LATTICE = 0,       /* 9: d/d lattice, row-major, in the frame of the first phi step */
    DB_COLUMN_ORIGIN = 9,        /* 3: d/d panel origin */
    DB_COLUMN_FAST = 12,         /* 3: d/d panel fast axis */
    DB_COLUMN_SLOW = 15,         /* 3: d/d panel slow axis */
    DB_COLUMN_INTENSITY = 18,    /* 1: the pixel itself, for values it is proportional to */
    /* From here on: general jobs only. In a job with a curved panel the three columns of the origin
     * hold the slopes by radius, beam_fast and beam_slow */
    DB_COLUMN_Z = 19,            /* 1: d/d panel z */
    DB_COLUMN_NORMAL = 20,       /* 3: d/d panel normal */
    DB_COLUMN_LAYER_STEP = 23,   /* 1 */
    DB_COLUMN_ATTENUATION = 24,  /* 1 */
    DB_COLUMN_WATER = 25,        /* 1 */
    DB_COLUMN_MOLECULES = 26,    /* 1 */
    DB_COLUMN_DEBYE_WALLER = 27, /* 1: d/dB, in jobs with a Debye-Waller factor */
    DB_COLUMN_CELLS = 28,        /* 3: d/dN (instances of kind gradient_cells) */
    DB_COLUMN_AMPLITUDE = 31,    /* one per structure factor among the parameters */
    /* one per parameter that moves the sources */
    DB_COLUMN_SOURCE = DB_COLUMN_AMPLITUDE + DB_MAX_AMPLITUDE_SLOPES,
    /* one per parameter that moves the sample rotations or the halo */
    DB_COLUMN_ROTATION = DB_COLUMN_SOURCE + DB_MAX_SOURCE_SLOPES,
    DB_COLUMN_COUNT = DB_COLUMN_ROTATION + DB_MAX_ROTATION_SLOPES
};

typedef struct AD_DEVICE_ALIGNED db_kernel_panel {
    double origin[3], fast[3], slow[3], z; /* m */
    double pixel_size[2];                  /* m */
    double normal[3];
    double radius, beam_fast, beam_slow; /* curved panels (m) */
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

/* The diffuse halo of a job. */
typedef struct db_kernel_halo {
    const double *number; /* [DB_HALO_NUMBERS], model/halo.h; NULL: the crystal has none */
    const double *slope;  /* [rotation_slopes][DB_HALO_SLOPES] */
} db_kernel_halo;

/* A parameter's derivative: coefficients times a run of neighbouring columns. The overall scale is
 * in the coefficients. */
enum { DB_LATTICE_COLUMNS = 9, DB_LONGEST_RUN = 14 };
typedef struct db_kernel_contraction {
    int32_t first_column, columns; /* columns <= DB_LONGEST_RUN */
    double coefficient_double[DB_LONGEST_RUN];
    float coefficient_float[DB_LONGEST_RUN];
} db_kernel_contraction;

/* A spot in closed form on one panel (kernel/spot.h), as the pixel loop reads it. A point in
 * direction d (a unit vector) has z = white d + offset, computed in double because the difference of
 * d and the spot's middle c is small. */
enum {
    DB_SPOT_AMPLITUDE,
    DB_SPOT_CUT, /* the spot ends where z^2 (its smallest value while the spot moves) reaches this */
    DB_SPOT_FROM, /* range of a moving spot */
    DB_SPOT_TO,
    DB_SPOT_AT_REST, /* 1: z_3 counts as z_1 and z_2 do; 0: the spot moves along z_3 */
    /* 3 values: z, rounded to float, of a place inside a spot at rest (kernel/spot_lanes.h) */
    DB_SPOT_INSIDE,
    DB_SPOT_VALUES = DB_SPOT_INSIDE + 3
};
typedef struct db_kernel_spot {
    double white[9], offset[3];
    float value_float[DB_SPOT_VALUES];
    double value_double[DB_SPOT_VALUES];
    int32_t fast[2], slow[2]; /* pixels of the panel that it reaches: first, one past the last */
    uint32_t source;
} db_kernel_spot;

/* Columns of a spot: a slope by a parameter is a sum of coefficients times columns (kernel/spot_pixels.h). */
enum { DB_SPOT_COLUMNS = 10, DB_SPOT_COLUMNS_MOVING = 14 };

/* Pixels that a spot reaches, counted from the region's corner: first, and one past the last. */
typedef struct {
    uint8_t fast[2], slow[2];
} db_spot_part;

/* Cells: rectangles of a panel's pixels. Spots find by them which tiles they reach. */
enum { DB_SPOT_TILE_FAST = 64, DB_SPOT_TILE_SLOW = 16 };
enum { DB_SPOT_CELL_FAST = DB_SPOT_TILE_FAST, DB_SPOT_CELL_SLOW = DB_SPOT_TILE_SLOW };
typedef struct db_spot_cells {
    int columns, rows;
    uint32_t first;  /* number of the panel's first cell */
    uint32_t before; /* index in db_spot_tiles.before where the panel's sums begin */
} db_spot_cells;

/* The tiles of a plan, listed by cells. */
typedef struct db_spot_tiles {
    const db_spot_cells *cells; /* [panels] */
    const uint32_t *first;      /* [cells + 1]: where a cell's tiles begin in the list */
    const uint32_t *tile;
    /* panel after panel, [rows + 1][columns + 1]: how many cells in earlier rows and columns have
     * tiles */
    const uint32_t *before;
    const int *reflection;   /* [tiles][3]: the only reflection that a tile shows; NULL: all */
    size_t cell_count, sums; /* sums: length of before */
    int everywhere;          /* 1: all cells have tiles */
    int cells_are_tiles;     /* 1: each cell is one tile, and tiles show all reflections */
} db_spot_tiles;

/* Spots of a job, in the order of sources, and the numbers of the spots that reach each region. */
typedef struct db_kernel_spots {
    const db_kernel_spot *spot;
    const db_spot_entry *entry; /* [count]: reflection, source ... of each spot */
    /* the experiment of all spots; its pointers lead to memory of the host */
    const struct db_experiment *experiment;
    /* input of the search for spots (kernel/spot_find.h); interface values are plain doubles */
    const struct db_spot_search *search;
    const struct db_spot_window *window; /* [panels] */
    const struct db_spot_group *group;
    const uint32_t *group_of; /* [sources] */
    const double *spread, *panel,
        *source;             /* spread_interface, panel_ [panels], source_ [sources] */
    const double *amplitude; /* db_structure_factors.amplitude; NULL: there is no list */
    db_spot_tiles tiles;
    size_t count;
    const uint32_t *first;    /* [regions + 1]: where a region's numbers begin in the list */
    const uint32_t *number;   /* numbers of spots, ascending in each region */
    const db_spot_part *part; /* pixels of the region that spot `number` reaches */
    int moving;               /* 1: the crystal turns */
    int one_beam;             /* 1: the factors of a pixel are equal in all sources' beams */
    uint32_t groups;
    uint32_t most;       /* largest number of spots in a region */
    uint32_t parameters; /* how many parameters move spots; they are the first of the job */
    uint32_t each;       /* how many of these parameters each spot has slopes by */
    const double *step;  /* normal equations: a typical step of each parameter, a power of two */
    /* [sources][each]: parameters by which spots of a source have slopes. A curve's points that are not
     * next to the source's energy are left out. NULL: all parameters, in their order. Host only */
    const uint16_t *which;
    /* [count][each][columns]: slopes; moving spots have more columns. NULL in plans on a device, which
     * computes slopes itself, laid out for its threads (cuda/spot_slopes.cu) */
    const double *slope_double;
    const float *slope_float;
    /* input of the slopes (kernel/spot_slopes.h) */
    const struct db_spot_pass *pass; /* [passes] */
    const double *dual;              /* [passes][dual_length] */
    size_t passes, dual_length;
    const double *direction; /* [parameters]: NULL, or only slopes along it are wanted */
    /* with a cotangent: NULL, or [first[regions]]: receives the product of cotangent and each spot of
     * each region, without the spot's amplitude and the overall scale */
    double *by_amplitude;
} db_kernel_spots;

typedef struct db_kernel_job {
    db_crystal_shape shape;
    double fudge;
    double cells[3];
    double largest_index; /* bound of the Miller indices of all pixels */
    int cuts;             /* 1: samples beyond the cut are left out (kernel/spot_cut.h) */
    double cut;
    /* 1: all three numbers of cells are whole and at most DB_FEW_CELLS. Then their polynomials follow */
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

    /* squared structure factors on the box; the last entry is for all nodes outside */
    const double *intensity_double;
    const float *intensity_float;
    double table_min[3], table_extent[3];
    int table_used;   /* 0: default_F everywhere */
    int debye_waller; /* 0: its factor is 1 everywhere, and its slope is not wanted */
    double default_intensity;
    /* general jobs: number of kinds of sites whose scattering depends on the photon energy. If there are
     * any, squared structure factors come from site_part, [box and one more][2 + 2 kinds] as
     * db_site_kinds.part, and site_curve, [sources][kinds][2]: f' and f'' at the source's energy */
    int site_kinds;
    const double *site_part;
    const double *site_curve;
    db_kernel_halo halo; /* of general jobs */
    double b_factor;     /* angstrom^2 */

    /* 1: a general job, which uses members from here to amplitude_direction; 0: a plain job without */
    int general;
    double dmin; /* angstrom; 0: no limit */
    double water, molecules;
    db_kernel_amorphous amorphous;
    int layers, sensor;  /* sensor 0: nothing is absorbed, all photons count */
    int layers_at_front; /* 1: each layer lies at its front instead of at its mean depth */
    int curved;
    double layer_step, attenuation;
    double beam_direction[3]; /* curved detectors */
    /* tricubic interpolation: amplitudes on the box with DB_TABLE_MARGIN entries of default_F on
     * all sides */
    int interpolate;
    const double *amplitude_table;
    double margin_min[3], margin_extent[3];
    /* kind DB_KERNEL_AMPLITUDES: NULL, or a table like amplitude_table: the direction along which the
     * derivative of the image is wanted */
    const double *amplitude_direction;

    /* slopes */
    int rotation_slopes; /* parameters that move the rotations */
    /* [rotation_slopes][sample_count][9]: d(sample lattice)/dparameter */
    const double *lattice_slope_double;
    const float *lattice_slope_float;
    int source_slopes; /* parameters that move the sources */
    /* [source_slopes][source_count]: d(source)/dparameter. kappa and s0 are such that kappa q - s0 is
     * d(q)/dparameter: this form keeps its digits near the direct beam */
    const db_kernel_source_double *source_slope_double;
    const db_kernel_source_float *source_slope_float;
    const double *site_curve_slope; /* [source_slopes][sources][kinds][2] */
    int amplitude_slopes;
    db_kernel_amplitude amplitude[DB_MAX_AMPLITUDE_SLOPES];
    const struct db_kernel_reference *reference; /* only for the reference's order of summation */
    size_t parameter_count; /* number of images wanted: of parameters, or of the basis */
    /* [panel][parameter_count]: first the contractions of the lattice's nine columns, then the
     * contractions of one column, then the others */
    const db_kernel_contraction *contraction;
    size_t lattice_wanted, single_wanted; /* numbers of the first and of the second kind */
    db_kernel_spots spots; /* closed form; jobs with spots have none of these two kinds */

    const db_region *region;
    /* sampled spots: NULL, or [regions][3]: the only node that each region shows. General instances on
     * devices read it; on the processor each region has a table of its own instead */
    const double *region_node;
    db_pixel_type pixel_type;
    int streaming; /* 1: results are larger than the caches and are written past them */
    void *image;
    void *const *derivative; /* [parameter_count], in the order of the contraction */
    /* input of sums over pixels, laid out as the image */
    const void *data;   /* numbers of data_type */
    const void *weight; /* numbers of data_type; may be NULL */
    db_pixel_type data_type;
    const void *background; /* of pixel_type: measured light that is not in the model, or NULL */
    double residual_scale;  /* factor of the image in the residual; 0: the residual is -data */
    /* of pixel_type; NULL, or derivatives times the cotangent are summed, and the image is stored if
     * there is one (kernel/cotangent.h) */
    const void *cotangent;
    int tangent; /* 1: the contraction's images are added up and stored as derivative[0] */
} db_kernel_job;

/* Normal equations: a list of images, the job.parameter_count wanted columns and last the residual,
 * each times the square root of the weight. The sums over pixels of the products of all pairs are
 * stored as the lower triangle of a matrix in square blocks, row after row of blocks; inside a block
 * column after column. */
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

/* Parameters by which a spot has slopes; NULL: all that move spots. */
static inline const uint16_t *spot_parameters(const db_kernel_spots *spots, size_t number) {
    return spots->which ? spots->which + (size_t)spots->spot[number].source * spots->each : NULL;
}

/* Bytes of room for the kernels of spots in closed form: numbers and groups of a tile's spots, a fixed
 * part and slopes for a band's pixels (kernel/spot_pixels.h), and products (kernel/spot_products.h). */
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

/* In mixed precision, offsets along rows (kernel/row.h) have 32 binary places. Their error of 2e-10
 * becomes 2 pi N times as large in F_latt^2. Indices may be as large as a third of the shift. */
#define DB_OFFSET_SHIFT 1572864.0 /* 1.5 * 2^20 */
static inline int db_offsets_suffice(const db_kernel_job *job) {
    const double most = 256;
    return job->cells[0] <= most && job->cells[1] <= most && job->cells[2] <= most &&
           job->largest_index < DB_OFFSET_SHIFT / 3;
}

/* Margin of the table for interpolation: wide enough for a window of four nodes outside the box. */
enum { DB_TABLE_MARGIN = 4 };

/* Rows [row_begin, row_end) of a region. */
typedef struct db_tile {
    size_t region;
    int row_begin, row_end;
} db_tile;

/* Renders tiles into the job's images; a gradient instance with sums that are not NULL adds to the sums
 * instead. room: db_row_room bytes (kernel/row_room.h), aligned for doubles, which nobody else uses
 * during the call. For kind DB_KERNEL_AMPLITUDES room is the list to add to (kernel/amplitude_sums.h),
 * or NULL for the image along the job's amplitude_direction. */
typedef void (*db_kernel_function)(const db_kernel_job *job, const db_tile *tile, size_t tiles,
                                   double *sums, void *room);

#endif
