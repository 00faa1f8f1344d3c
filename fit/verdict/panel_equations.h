/* Equations by which many shots ask where the panels of their detector stand (docs/theory/verdict.md, Rivals). */
#ifndef DB_FIT_VERDICT_PANEL_EQUATIONS_H
#define DB_FIT_VERDICT_PANEL_EQUATIONS_H

#include <dualbragg/fit_estimates.h>
#include <dualbragg/parameters.h>

#include <stddef.h>

enum {
    DB_ALWAYS_MOVING = 9,   /* quantities that the verdict always lets move */
    DB_FEWEST_ON_PANEL = 10 /* spots of a panel that may shift */
};

static inline int db_moves_beam(db_parameter p) { return p == DB_BEAM_FAST || p == DB_BEAM_SLOW; }

/* Equations by which many shots ask for shifts of panels of a detector that they share, as numbers to be added up: of shifts
 * (pixels) and of shared quantities, where each shot's own quantities are best for them. */
typedef struct db_panel_equations {
    size_t panels;     /* of the detector; 0: there are no equations */
    double pixel_size; /* mm, of its first panel */
    size_t parameters; /* of the settings */
    size_t size;       /* numbers */
} db_panel_equations;

db_panel_equations db_panel_equations_of(size_t panels, double pixel_size, size_t parameters);

/* What the numbers are. Unknowns are two shifts of each panel, then the quantities of the settings, and those that the verdict
 * adds to them. Matrices are lower triangles. */
typedef struct db_panel_sums {
    size_t unknowns;
    double *matrix, *slope; /* of half the square of the spots' distances from nodes, in widths */
    double *own;            /* matrix of the squares of moves of shots' own quantities, in errors */
    double *usual;          /* standard deviation of each unknown */
    double *on;             /* spots on each panel */
    double *spots, *shots;  /* numbers of them */
    double *squares;        /* of the spots' distances from nodes (pixels) */
    double *owned;          /* number of shots' own quantities with errors */
} db_panel_sums;

db_panel_sums db_panel_sums_of(const db_panel_equations *of, double *sum);

/* Panels that do not stand where the geometry says. */
typedef struct db_displaced_panel {
    double margin;    /* NAN: no two panels with enough spots */
    int panel;        /* the one that shifts farthest, */
    double shift[2];  /* pixels, fast and slow */
    double errors;    /* by which the model's refined parameters move at most, */
    const char *name; /* and the parameter; valid as long as the estimates */
} db_displaced_panel;

/* Does a panel stand elsewhere by more than twice the distance of spots from their places (pixels, root mean square), and does
 * this move the model by more than some errors? */
int db_panel_is_displaced(const db_displaced_panel *rival, double place, double most_errors);

/* Margin over shared models on panels that may shift. estimates: of the shared parameters; place: gets the distance of
 * spots from their places (pixels, root mean square). */
db_status db_panel_equations_solve(db_context *context, const db_panel_equations *equations,
                                   const double *sum, const db_fit_estimates *estimates,
                                   db_displaced_panel *rival, double *place);

#endif
