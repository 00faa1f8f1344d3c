/* The rivals of a model: what else may have made its spots (docs/theory/verdict.md, Rivals). A margin is by how
 * much ln of the likelihood of the model is above that of a rival. */
#ifndef DB_FIT_VERDICT_RIVALS_H
#define DB_FIT_VERDICT_RIVALS_H

#include "fit/verdict/evidence.h"

enum { DB_ROW_DIRECTIONS = 3, DB_QUARTERS = 4 };

/* What model and rival are compared as. */
typedef enum db_rivalry {
    DB_RIVAL_INSTEAD, /* all spots are the one's, or all the other's */
    DB_RIVAL_ALONE    /* does the model explain any spots that the rival alone does not? */
} db_rivalry;

/* A cell that is smaller or larger by a whole number. */
typedef struct db_other_cell {
    double margin;
    double cell[6]; /* angstrom, degree */
} db_other_cell;

/* A model of which all spots are moved by more than twice their widths. */
typedef struct db_moved_model {
    double margin;   /* NAN: the spots ask for none */
    double turn;     /* degree */
    double shift[2]; /* pixels, fast and slow */
    double edge[3];  /* of the model's; 1, but for a stretched one */
} db_moved_model;

/* Over spots that lie anywhere. */
double db_margin_over_none(const db_evidence *e);

/* The same in the quarter of the spots, all neighbours, where it is least. */
db_status db_margin_in_quarters(db_context *context, const db_evidence *e, double *least);

/* Over spots that lie anywhere along the rows of the lattice in each direction. */
db_status db_margins_over_rows(db_context *context, const db_evidence *e, db_rivalry how,
                               double margins[DB_ROW_DIRECTIONS]);

/* Of all lattices that have a half, a third or a quarter of the nodes, or 2, 3 or 4 times as many, the one over which
 * the margin is least. Those that the model's cell has if it is centred are no rivals: as its edges and angles allow, or
 * as is said (A, B, C, I or F). */
db_status db_margin_over_smaller(db_context *context, const db_evidence *e, const double cell[6],
                                 int centring, db_other_cell *other);
db_status db_margin_over_larger(db_context *context, const db_evidence *e, db_other_cell *other);

/* Over the same lattice turned about its rows: where orientations meet spots by chance they share a row with the
 * crystal, and others meet as many. */
db_status db_margin_over_turned(db_context *context, const db_evidence *e, double *least);

/* Of the model turned and its image shifted, as spots ask for. */
db_status db_margin_over_moved(db_context *context, const db_evidence *e, db_moved_model *moved);

/* Over it with other edges of the cell as well, which move its spots by more than twice their widths. */
db_status db_margin_over_stretched(db_context *context, const db_evidence *e,
                                   db_moved_model *moved);

#endif
