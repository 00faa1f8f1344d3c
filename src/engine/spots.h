/* The spots of a plan in closed form (kernel/spot.h): which there are, what the pixel loop reads of
 * them, and which regions they reach. Lists are made anew when the experiment's values change. */
#ifndef DB_ENGINE_SPOTS_H
#define DB_ENGINE_SPOTS_H

#include "engine/plan_internal.h"

#define REAL double
#define DIRS 0
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"
#include "kernel/spot.h"
#include "kernel/spot_box.h"
typedef spot_values db_spot_values;
#undef DIRS
#undef REAL

/* Spots that a search found, in the order of sources, h, k, l, passages, tails, panels. */
typedef struct db_spot_list {
    db_spot_entry *entry;
    db_spot_values *value; /* [count] */
    size_t count, room;
    struct db_spot_list
        *part; /* of the search's pieces of work: their room stays for the next one */
    size_t parts;
} db_spot_list;

void db_spot_list_clear(db_spot_list *list);

/* What bounds the spots of an experiment. */
typedef struct db_spot_bounds {
    double photons;  /* of a pixel, at most, per unit of a spot's amplitude */
    double per_spot; /* photons of a pixel that each spot may lack, to the power (1 - share); 0 */
    double share;    /* see db_spot_cut */
    double largest;  /* no spot's cut is larger */
    /* variance of directions along any line, at most: constant + growing |r|^2; along r: constant +
     * lengthening |r|^2 */
    double constant, growing, lengthening;
    double place;   /* the same of what spreads places on the panels */
    double longest; /* no node that counts has a longer r (1/angstrom) */
} db_spot_bounds;

db_spot_bounds db_spot_bounds_of(const db_plan *plan);

/* Of z^2, from which on a spot of that amplitude does not count; <= 0: it does not anywhere. */
double db_spot_cut(const db_spot_bounds *bounds, double amplitude);

/* Where a node's spot can be: its directions on the sphere are within `across` of c = (s0 +
 * r)/kappa, and (|c|^2 - 1)/2 is from -inwards to outwards |c|. Beyond bounds where nothing can
 * be said. */
typedef struct db_spot_reach {
    double across, inwards, outwards;
} db_spot_reach;

/* rho: |r|/kappa; way: how far c moves while the crystal turns. */
db_spot_reach db_spot_reach_of(const db_spot_bounds *bounds, double rho, double wavelength,
                               double way);

/* Bounds of those of all nodes; outwards: of |c| - 1. */
db_spot_reach db_spot_largest_reach(const db_spot_bounds *bounds, double wavelength);

/* Passages of a node through the rotation range, for one source: at most `most` of them. */
enum { DB_SPOT_MOST_PASSAGES = 8 };
int db_spot_passages(const db_experiment *e, const db_interface *z, size_t source, const int hkl[3],
                     db_spot_passage passage[DB_SPOT_MOST_PASSAGES]);

/* Pixels of a panel that a spot reaches, as far as they are on the panel; 0: none. */
int db_spot_box(const db_experiment *e, const db_interface *z, const db_spot_name *name,
                const db_spot_values *value, double cut, db_spot_entry *entry);

/* All spots of an experiment's panels. wanted: (may be NULL) 0 for entries to be left out. */
db_status db_spots_search(const db_plan *plan, const db_spot_bounds *bounds,
                          int (*wanted)(const db_plan *plan, const db_spot_entry *entry),
                          db_spot_list *list);

/* What a plan keeps for spots in closed form. */
typedef struct db_spots db_spots;

/* Turns an experiment into one whose numbers of domains, phi steps and sensor layers are 1, the
 * range being the phi step's. */
void db_spots_one_of_each(db_experiment *experiment);

/* Cuts the plan's regions into tiles, each a region of its own (before db_plan's tiles are cut). */
db_status db_spots_cut_regions(db_plan *plan);

db_status db_spots_create(db_plan *plan);
void db_spots_destroy(db_spots *spots);

/* The experiment has new values. */
void db_spots_outdate(db_plan *plan);

/* Makes the job's spots current. */
db_status db_spots_fill(db_plan *plan);

/* Their slopes by the plan's parameters, too (spot_slopes.c). */
db_status db_spots_fill_slopes(db_plan *plan);

/* Room for the slopes of all spots, [spots][parameters][columns]; NULL without memory. */
double *db_spots_slope_room(db_plan *plan, size_t size, float **narrow);

/* Names of the job's spots. */
const db_spot_entry *db_spots_entries(const db_plan *plan);

#endif
