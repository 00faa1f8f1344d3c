/* Where spots lie relative to the reflections of a lattice: at them, or beside them. */
#ifndef DB_FIT_VERDICT_SPOT_PATTERN_H
#define DB_FIT_VERDICT_SPOT_PATTERN_H

#include "fit/pixels/reflection_grid.h"
#include "fit/pixels/observed_spots.h"
#include "fit/pixels/shoeboxes.h"

/* The reflections of a model, and the rings around them. */
typedef struct db_spot_pattern {
    db_prediction prediction;
    db_reflection_grid grid;
    double *reach; /* pixels: outer end of the outer ring */
} db_spot_pattern;

/* Makes the pattern of reflections that turns of so many degrees excite. To be cleared, unless it
 * fails. */
db_status db_spot_pattern_make(db_context *context, const db_experiment *model,
                               const db_fit_data *data, double excitation, db_spot_pattern *p);
void db_spot_pattern_clear(db_spot_pattern *p);

/* The reflection in whose rings a spot is; count: none. */
size_t db_spot_pattern_around(const db_spot_pattern *p, const db_observed_spot *spot,
                              double *distance);

enum { DB_SPOT_MULTIPLES = 2 };

/* Where spots lie: in the inner and in the outer rings. */
typedef struct db_spot_places {
    size_t inner, outer;
    double square;     /* sum of squared distances of those in the inner (pixels^2) */
    double log_chance; /* of as many in the inner ones, were both alike */
    size_t multiple[3][DB_SPOT_MULTIPLES]; /* of those in the inner ones, with an index h, k, l
                                              that 2, 3 divide */
} db_spot_places;

/* Spots in the inner rings for each in the outer ones. */
double db_spot_places_contrast(const db_spot_places *found);

/* Which spots and which reflections are looked at. */
typedef struct db_spot_choice {
    const db_observed_spot *spot;
    size_t count;
    double part; /* of reach: end of the outer rings */
    int axis; /* only reflections count whose index along it `divisor` does not divide; -1: all */
    int divisor;
} db_spot_choice;

db_spot_places db_spot_places_look(const db_spot_pattern *p, const db_spot_choice *choice);

/* The same with the most significant rings: the widest, or narrower ones, each half as wide. */
db_spot_places db_spot_places_best(const db_spot_pattern *p, const db_spot_choice *choice);

enum { DB_QUARTERS = 4 };

/* The same in the quarter of the spots, all neighbours, where they lie worst: fewest in the inner rings
 * for each in the outer ones. *made: 0 if there are too few spots in rings. */
db_status db_spot_places_worst(db_context *context, const db_experiment *model,
                               const db_spot_pattern *p, const db_spot_choice *choice,
                               db_spot_places *worst, int *made);

#endif
