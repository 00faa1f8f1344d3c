/* Rivals of a model: other explanations of its spots (docs/theory/verdict.md, Rivals). A margin is ln of the
 * likelihood of the model minus ln of the likelihood of a rival. */
#ifndef DB_FIT_VERDICT_RIVALS_H
#define DB_FIT_VERDICT_RIVALS_H

#include "fit/verdict/evidence.h"

enum { DB_ROW_DIRECTIONS = 3, DB_QUARTERS = 4 };

/* How model and rival are compared. */
typedef enum db_rivalry {
    DB_RIVAL_INSTEAD, /* the model has made all spots, or the rival has */
    DB_RIVAL_ALONE    /* does the model explain any spots that the rival alone does not? */
} db_rivalry;

/* A cell that is smaller or larger by a whole number. */
typedef struct db_other_cell {
    double margin;
    double cell[6]; /* angstrom, degree */
} db_other_cell;

/* A model whose spots are all moved by more than twice their widths. */
typedef struct db_moved_model {
    int times;       /* it has this fraction of the model's nodes: 1, or 1/2, 1/3, 1/4 */
    double margin;   /* NAN: the spots do not ask for a move */
    double turn;     /* degree */
    double shift[2]; /* pixels, fast and slow */
    double edge[3];  /* factors on the model's edges; 1 except for a stretched model */
} db_moved_model;

/* Margin over spots at random places (db_margin_over_none), of the spots of an image. */
db_status db_margin_of_spots(db_context *context, const db_experiment *model,
                             const db_fit_data *data, double *margin);

/* Margin over random places in the quarter of neighbouring spots where it is least. */
db_status db_margin_in_quarters(db_context *context, const db_evidence *e, double *least);

/* Margin over random places of the spots in one half of the detector, by the model moved, with another cell, as the spots of
 * the other half ask for; both halves together, for the division into neighbouring or opposite quarters where it is least. */
db_status db_margin_in_halves(db_context *context, const db_evidence *e, double *least);

/* Margins over spots at random places in the rows of the lattice along each direction. */
db_status db_margins_over_rows(db_context *context, const db_evidence *e, db_rivalry how,
                               double margins[DB_ROW_DIRECTIONS]);

/* The least margin over all lattices with a half, a third or a quarter of the nodes, or with 2, 3 or 4 times as
 * many. Lattices that the model's cell has if it is centred are no rivals: centrings that its edges and angles
 * allow, or the given one (A, B, C, I or F). */
db_status db_margin_over_smaller(db_context *context, const db_evidence *e, const double cell[6],
                                 int centring, db_other_cell *other);
db_status db_margin_over_larger(db_context *context, const db_evidence *e, db_other_cell *other);

/* Margin of the nodes that a named centring leaves (A, B, C, I, F; R in hexagonal axes, obverse) over all nodes of the cell.
 * INFINITY: it leaves all. */
db_status db_margin_of_centring(db_context *context, const db_evidence *e, const double cell[6],
                                int centring, double *margin);

/* What spots say of centrings A, B, C, I, F, R, as far as the cell's edges and angles allow these, and of a named one. Margins
 * of several images add up. */
enum { DB_CENTRINGS = 6 };
typedef struct db_centrings {
    int named; /* letter; 0: none */
    double
        gain[DB_CENTRINGS]; /* margins of their nodes over all nodes of the cell; 0: not allowed */
    double beside[DB_CENTRINGS]; /* margins of both kinds of nodes over their nodes alone */
} db_centrings;

db_status db_centrings_of_spots(db_context *context, const db_evidence *e, const double cell[6],
                                int named, db_centrings *centrings);

/* The letter of the likeliest centring and its gain, if it is not the named one, and spots are at its nodes only; else 0. */
int db_unnamed_centring(const db_centrings *centrings, double *gain);

/* Margin over the same lattice turned about its rows: wrong orientations that meet spots by chance share a row
 * with the crystal, and other orientations meet as many. */
db_status db_margin_over_turned(db_context *context, const db_evidence *e, double *least);

/* Flags spots that are likelier at a random place than at a node. Flags stay as they are, unless the image's spots make the
 * lattice certain, by the test `halves`, too: a wrong lattice, refined against the spots that it meets by chance, would meet
 * these ever better. */
db_status db_foreign_spots_find(db_context *context, const db_experiment *model,
                                const db_fit_data *data, const db_observed_spots *spots,
                                unsigned char *is_foreign);

/* Margin over the model, turned and its image shifted as the spots ask for; or over a lattice with 1/2, 1/3 or 1/4 of its
 * nodes so moved, with other edges. */
db_status db_margin_over_moved(db_context *context, const db_evidence *e, db_moved_model *moved);

/* Margin over the model with other edges as well, which move its spots by more than twice their widths. */
db_status db_margin_over_stretched(db_context *context, const db_evidence *e,
                                   db_moved_model *moved);

#endif
