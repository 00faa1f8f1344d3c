/* Crystals, beams and detectors for the truth about spots in closed form. */
#ifndef DB_TESTS_SPOTS_SCENES_H
#define DB_TESTS_SPOTS_SCENES_H

#include "naive_spots.h"

/* Turns the crystal so that a node diffracts in the direction `azimuth` (degree, from the
 * polarization axis towards axis x beam), the lattice being turned about the node's own direction by
 * `roll` and then out of the diffracting position by `off` (degree). */
typedef struct aim {
    int node[3];
    double azimuth, roll, off;
} aim;
void aim_crystal(db_experiment *e, aim at);

/* The region of a panel, `size` pixels wide and high, about the direction aimed at. */
naive_region region_aimed_at(const db_experiment *e, aim at, int size);

typedef struct spot_scene {
    const char *name;
    void (*arrange)(db_experiment *e); /* after scene_start; spreads, counts, detector */
    aim at;
    int size;    /* pixels */
    double bias; /* what first order may leave out, in parts of the peak */
} spot_scene;

extern const spot_scene spot_scenes[];
extern const size_t spot_scene_count;

/* The experiment of a scene, and its region; the caller clears it. */
db_experiment scene_experiment(db_context *context, const spot_scene *scene, naive_region *region);

/* What the program makes of a region, in double precision, with nothing left out. Overwrites image. */
void rendered(db_context *context, const db_experiment *e, naive_region region, double *image);

/* A cell of 60 x 70 x 90 angstrom, blocks of 12 x 11 x 9 cells of shape GAUSS, 1 angstrom, a panel
 * of 0.1 mm pixels at 200 mm; no spreads. */
db_experiment scene_start(db_context *context);

#endif
