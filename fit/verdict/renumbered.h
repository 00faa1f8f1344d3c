/* Rivals of a model: the same lattice, whose reflections all have other indices, or on panels that stand elsewhere
 * (docs/theory/verdict.md, Rivals). */
#ifndef DB_FIT_VERDICT_RENUMBERED_H
#define DB_FIT_VERDICT_RENUMBERED_H

#include "fit/verdict/evidence.h"
#include "fit/verdict/panel_equations.h"

#include "fit/search/refinement.h"

#include <dualbragg/fit_estimates.h>

typedef struct db_renumbered_model {
    int by[3];       /* added to indices h, k, l; 0, 0, 0: no other numbers fit the spots */
    double margin;   /* NAN: as before */
    double turn;     /* degree */
    double shift[2]; /* beam centre, pixels, fast and slow */
    db_other_indices likeliest; /* if the given beam centre counts, too; gain: NAN: as before */
} db_renumbered_model;

/* Margin over the likeliest model whose indices differ by one node. The orientation, the beam centre, distance and
 * tilts of the detector and all refined quantities that move spots are fitted to the spots for it, and for the present
 * indices. spots: those of the evidence. */
db_status db_margin_over_renumbered(db_context *context, const db_experiment *model,
                                    const db_fit_settings *settings, const db_observed_spots *spots,
                                    const db_evidence *e, db_renumbered_model *rival);

/* Margin over the model on panels that may shift, with its indices; the same quantities are fitted as for other indices. */
db_status db_margin_over_displaced(db_context *context, const db_experiment *model,
                                   const db_fit_settings *settings, const db_observed_spots *spots,
                                   const db_evidence *e, const db_fit_estimates *estimates,
                                   db_displaced_panel *rival);

/* Adds a shot's equations, unless it has another detector. shared, error: of the settings' parameters; errors: those of the
 * shot's own ones. */
typedef struct db_shot_panels {
    const db_panel_equations *equations;
    const unsigned char *shared;
    const double *error;
    double *sum;
} db_shot_panels;
db_status db_panel_equations_add(db_context *context, const db_experiment *model,
                                 const db_fit_settings *settings, const db_observed_spots *spots,
                                 const db_evidence *e, const db_shot_panels *shot);

#endif
