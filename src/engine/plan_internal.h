/* The inside of a plan. */
#ifndef DB_ENGINE_PLAN_INTERNAL_H
#define DB_ENGINE_PLAN_INTERNAL_H

#include "base/context_internal.h"
#include "engine/amorphous_curve.h"
#include "kernel/instances.h"
#include "kernel/job.h"
#include "kernel/reference_order.h"
#include "model/model.h"

#include <dualbragg/device.h>

struct db_plan {
    db_context *context;
    db_experiment experiment; /* own copy */
    db_precision precision;
    double tolerance, largest_intensity; /* photons; squared amplitude of the list */
    db_parameter *parameters;
    size_t parameter_count;
    size_t beyond_table; /* so many of them are not in the table */
    db_region *regions;
    size_t region_count, pixels;
    db_region *given; /* regions as they were given; those above may be cut into tiles */
    size_t given_count;
    int (*reflection)
        [3]; /* [region_count]: the only one that a region shows; NULL: all (plan_shown.c) */
    double *region_node; /* the same, as the kernels of samples read it */
    db_tile *tiles;
    size_t tile_count;

    db_mosaic_direction *directions;
    db_interface plain;
    db_dual_interface dual; /* arrays are NULL until the first gradient */
    int slopes_current;     /* 1: dual and what follows from it belong to the experiment's present
                               values */

    /* what the job points to */
    db_kernel_panel *panel;
    db_kernel_source_double *source_double;
    db_kernel_source_double *source_slope_double;
    db_kernel_source_float *source_float;
    db_kernel_source_float *source_slope_float;
    db_kernel_sample_double *sample_double;
    db_kernel_sample_float *sample_float;
    double *lattice_slope_double;
    double *intensity_double;
    double *amplitude_table;
    float *lattice_slope_float;
    float *intensity_float;
    db_amorphous_curve curve;
    db_kernel_reference reference; /* in use if experiment.reference.on */
    int *reference_phi_step;
    db_kernel_contraction *contraction; /* [panel][parameter_count], in the order of the job */
    size_t *position;                 /* [parameter_count]: each parameter's place in that order */
    void **derivative;                /* [parameter_count]: the caller's images in that order */
    size_t sample_count, table_count, /* entries of the box, without the one for outside */
        margin_count;                 /* entries of the box with margin, for interpolation */
    db_kernel_job job;
    char *room; /* [room_threads][room_size]: of the kernels (kernel/row_room.h) */
    size_t room_size;
    int room_threads;
    struct db_normal *normal;              /* NULL until the first normal equations */
    struct db_spots *spots;                /* in closed form; else NULL */
    struct db_plan_background *background; /* NULL until one is set */
    struct db_plan_amplitudes *amplitudes; /* NULL until the first gradient by them */

    db_device device;                   /* chosen by the context at creation */
    struct db_device_plan *device_part; /* NULL: the processor does it */
    void **ordinary; /* pieces of memory that were handed out after the device was left */
    size_t ordinary_count, ordinary_room;
    db_stream_use stream_use;
    unsigned long updates;              /* counts those of the values */
    unsigned long box_data, box_images; /* count what boxes were given, and rendered */
    unsigned long table_version;        /* counts the fillings of the table */
    /* and those of the spots and their slopes */
    unsigned long spots_version, spot_slopes_version;
    unsigned long background_version, passing_version; /* passing: of what no plan keeps */
    const char *device_note; /* what of the last call the processor did for a device, or "" */
};

/* db_plan_create for the processor, whatever the context's device. */
/* DB_ERROR_USAGE for options that no plan has. */
db_status db_plan_options_check(db_context *context, const db_plan_options *options);
db_status db_plan_create_on_processor(db_context *context, const db_experiment *experiment,
                                      const db_plan_options *options, db_plan **plan);

/* All pixels of all panels, panel after panel; the caller frees them. NULL without memory. */
db_region *db_whole_panels(const db_detector *detector);

/* DB_OK if there is a region, and all lie on panels of the experiment. */
db_status db_regions_check(db_context *context, const db_experiment *experiment,
                           const db_region *regions, size_t count);

/* Fills the job's values from the experiment (plan_values.c). Allocates nothing. */
void db_plan_fill_values(db_plan *plan);

/* What a pixel would show at most (plan_cut.c). */

/* Largest squared amplitude of the list (or default_F). */
double db_largest_intensity(const db_structure_factors *f);

/* A pixel (photons) of that solid angle (sr) in which all domains, at all spindle angles and for
 * all sources, had a reflection of that squared amplitude exactly there, unpolarized light being
 * scattered forwards and all of it absorbed. */
double db_perfect_peak(const db_kernel_job *job, double solid_angle, double intensity);

/* What a pixel's factors (solid angle, polarization, Debye-Waller, overall scale) are together, at
 * most; for spots in closed form. */
double db_plan_pixel_factor(const db_plan *plan);

/* Variance (radian^2) of a direction by what spreads places on the panels, at most; likewise. */
double db_plan_place_variance(const db_plan *plan);

/* Fills what the job leaves out, from its other values and the tolerance (plan_cut.c). */
void db_plan_fill_cut(db_plan *plan);

/* Allocates and fills the structure factors as the kernels read them (plan_table.c). */
db_status db_plan_allocate_table(db_plan *plan);
void db_plan_fill_table(db_plan *plan);

/* How far a mixed image is from the double one, by trial on some of its pixels (precision.c). */

/* Advises as db_precision_recommend does, whatever the job's size: renders trial pixels in both
 * precisions. */
db_status db_precision_by_trial(db_context *context, const db_experiment *experiment,
                                const db_plan_options *options, db_precision_advice *advice);

/* Has the plan work in another precision from now on; buffers of both stay. */
db_status db_plan_change_precision(db_plan *plan, db_precision precision);

/* A source in float, as the mixed kernels read it. */
static inline db_kernel_source_float db_source_to_float(const db_kernel_source_double *s) {
    db_kernel_source_float f;
    f.kappa = (float)s->kappa;
    f.weight = (float)s->weight;
    for (int i = 0; i < 3; i++) f.s0[i] = (float)s->s0[i];
    for (int i = 0; i < 6; i++) f.polarization[i] = (float)s->polarization[i];
    return f;
}

/* Allocates what the reference's order of summation needs; nothing without it (plan_values.c). */
db_status db_plan_allocate_reference(db_plan *plan);

/* Those of the plan's parameters, from number `first` on, that get slopes at once. */
db_parameter_slots db_plan_slots(const db_plan *plan, size_t first);

/* How kernels form a parameter's image of the columns, in the order in which they want them. */
typedef enum db_wanted_kind { DB_WANTED_LATTICE, DB_WANTED_SINGLE, DB_WANTED_OTHER } db_wanted_kind;
db_wanted_kind db_plan_wanted_kind(const db_plan *plan, size_t parameter);

/* Parameter k's coefficients on a panel. */
static inline const db_kernel_contraction *db_plan_contraction(const db_plan *plan, size_t panel,
                                                               size_t k) {
    return &plan->contraction[panel * plan->parameter_count + plan->position[k]];
}

/* Runs the dual model and fills slopes and contraction coefficients, unless they are current
 * (plan_slopes.c). */
void db_plan_fill_slopes(db_plan *plan);

/* Regions that show one reflection each (plan_shown.c). */

/* Takes over which, for the plan's regions as they were given; nothing where all are shown. */
db_status db_plan_take_reflections(db_plan *plan, const db_plan_options *options);

/* DB_ERROR_UNSUPPORTED for plans whose regions do; what: that cannot be had of them. */
db_status db_plan_need_all_reflections(const db_plan *plan, const char *what);

/* A tile's own job: a table with its region's reflection alone. */
typedef struct db_shown_job {
    db_kernel_job job;
    double intensity_double[2];
    float intensity_float[2];
} db_shown_job;
void db_plan_show_reflection(const db_plan *plan, const db_kernel_job *job, size_t region,
                             db_shown_job *own);

/* Allocates what only gradients need (plan_slopes.c). */
db_status db_plan_allocate_dual(db_plan *plan);

/* Frees what normal equations need (plan_normal.c); NULL is ignored. */
void db_normal_destroy(struct db_normal *normal);

/* Number of the plan's parameters that move any of these groups of values (DB_MOVES_*). */
int db_plan_moves(const db_plan *plan, unsigned what);

/* Kernel kind for this plan's image, and for its parameters. */
static inline db_kernel_kind db_plan_forward_kind(const db_plan *plan) {
    return plan->spots         ? DB_KERNEL_SPOTS_FORWARD
           : plan->job.general ? DB_KERNEL_GENERAL_FORWARD
                               : DB_KERNEL_FORWARD;
}
db_kernel_kind db_plan_gradient_kind(const db_plan *plan);

#endif
