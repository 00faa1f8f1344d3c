/* Places of reflections: reciprocal lattice, incident beam and detector of an experiment. */
#ifndef DB_FIT_PIXELS_GEOMETRY_H
#define DB_FIT_PIXELS_GEOMETRY_H

#include <dualbragg/fit.h>

/* Front of a panel as the crystal sees it; rays are recorded at the sensor's mean depth behind it. */
typedef struct db_panel_geometry {
    double
        position[9]; /* mm from the crystal; columns: step of one pixel fast, slow; outer corner of
                            the first pixel */
    double to_pixels[9]; /* inverse of position */
    double normal[3];    /* unit vector, away from the sample */
    int pixels[2];
} db_panel_geometry;

/* Geometry in the laboratory frame, in the middle of the goniometer's rotation. */
typedef struct db_fit_geometry {
    double a_star[9]; /* columns a*, b*, c* (1/angstrom) */
    double s0[3];     /* central incident wave vector: beam direction / wavelength (1/angstrom) */
    double direction[3];   /* unit vector along s0 */
    double wave_number[2]; /* 1/wavelength of the sources: the least, the largest (1/angstrom) */
    double half_rotation;  /* degree: half of the goniometer's range */
    double node_width;     /* 1/angstrom: standard deviation of a node's intensity in GAUSS shape */
    double mosaic_angle;   /* degree: standard deviation of the domains' rotations about an axis */
    size_t panel_count;
    db_panel_geometry *panel; /* owned */
    db_detector sensor;       /* of all panels; only members that db_sensor_depth uses */
} db_fit_geometry;

/* Spreads of spots in closed form that equal the caps of sampled domains. */
db_spread db_spread_of_domains(const db_crystal *crystal);

/* Outer corner of a panel's first pixel and steps of one pixel (mm; laboratory frame). */
db_status db_panel_axes(const db_experiment *experiment, size_t panel, double corner[3],
                        double fast[3], double slow[3]);

/* To be cleared, unless it fails. */
db_status db_fit_geometry_of(db_context *context, const db_experiment *experiment,
                             db_fit_geometry *geometry);
void db_fit_geometry_clear(db_fit_geometry *geometry);

/* Place (pixels) where a ray of direction s1 meets the plane of a panel; 0 if it does not. */
int db_fit_geometry_on_panel(const db_fit_geometry *geometry, size_t panel, const double s1[3],
                             double pixel[2]);

/* Place (pixels) and panel where a ray of direction s1 meets the detector (the first panel of several). 0 if it
 * meets none. */
int db_fit_geometry_meets(const db_fit_geometry *geometry, const double s1[3], size_t *panel,
                          double pixel[2]);

/* Scattering vector s1 - s0 (1/angstrom) at a point of a panel (pixels), onto the Ewald sphere. */
void db_fit_geometry_scattering(const db_fit_geometry *geometry, size_t panel,
                                const double position[2], double q[3]);

/* Resolution (d-spacing, angstrom) at a point of a panel given in pixels. */
double db_fit_geometry_resolution(const db_fit_geometry *geometry, size_t panel, double fast,
                                  double slow);

/* Is a resolution (angstrom) in the range of the settings? */
static inline int db_fit_is_in_range(const db_fit_settings *settings, double d) {
    return d >= settings->dmin && !(settings->dmax > 0 && d > settings->dmax);
}

/* Is a point of a panel (pixels) in the range of the settings, and for known intensities in the region of
 * interest? */
int db_fit_geometry_is_wanted(const db_fit_geometry *geometry, const db_fit_settings *settings,
                              size_t panel, const double at[2]);

/* The finest resolution anywhere on the panels. */
double db_fit_geometry_finest(const db_fit_geometry *geometry);

/* Places on the detector, for regions of neighbours with equal numbers of them. */

typedef struct db_place {
    double q[3]; /* scattering vector (db_fit_geometry_scattering) */
    double key;
    size_t number; /* number of the object at the place */
} db_place;

/* Orders places by regions, a power of 2 of them: halves the list across its longest extent, then its halves. */
void db_regions_cut(db_place *list, size_t count, int regions);

/* First of `count` places in a region; for the region after the last: count. */
static inline size_t db_region_start(size_t count, int regions, int region) {
    return count * (size_t)region / (size_t)regions;
}

#endif
