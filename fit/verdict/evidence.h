/* Likelihood of spots that were found without a model: a lattice has made them, at the places and excitations of
 * its nodes, or they are at random places between nodes (docs/theory/verdict.md, Likelihood of spots). */
#ifndef DB_FIT_VERDICT_EVIDENCE_H
#define DB_FIT_VERDICT_EVIDENCE_H

#include "fit/pixels/observed_spots.h"
#include "fit/pixels/shoeboxes.h"
#include "fit/verdict/evidence_spots.h"

/* Takes all spots and fits the widths. To be cleared, unless it fails. */
db_status db_evidence_make(db_context *context, const db_experiment *model,
                           const db_observed_spots *spots, db_evidence *evidence);
void db_evidence_clear(db_evidence *evidence);

/* Nodes of small blocks are thick, and a node near the beam stays on the Ewald sphere over a larger turn than a far one.
 * Evidence without this takes all turns for alike. */
db_status db_evidence_thicken(db_context *context, db_evidence *e);

/* 0: the lattice (columns) is none. */
int db_evidence_nodes_of(const db_evidence *e, const double lattice[9], db_evidence_nodes *nodes);

/* Indices of the node that is nearest to a spot, with the widths of the other half. */
void db_evidence_node(const db_evidence *e, const db_evidence_nodes *nodes, size_t spot,
                      int hkl[3]);

/* Densities at the first `count` spots with the widths of a half, relative to a density of 1 of spots at random
 * places. For spots at nodes of a lattice; and for spots at random places in rows of the model's lattice along
 * direction 0 to 2 (a*, b*, c*). */
void db_evidence_lattice(const db_evidence *e, const double lattice[9], int half, size_t count,
                         double *density);
void db_evidence_rows(const db_evidence *e, int direction, int half, size_t count, double *density);

/* Fits the widths of a half again, for example after shifted[] has changed. The present widths are the start. */
void db_evidence_fit(db_evidence *e, int half);

/* The same, but the densities are not those of the new widths; 0: there are no spots to fit to. */
int db_evidence_fit_widths(db_evidence *e, int half);

/* The fraction of one kind of spots that makes the spots of each half most likely. Densities are those of each of the
 * judged spots, and one of 0 behind an odd number of them. beside: densities of another kind, whose fractions become
 * other[]; NULL: there is none. */
void db_evidence_parts(size_t judged, const double *density, const double *beside,
                       double part[DB_HALVES], double other[DB_HALVES]);

/* ln of the likelihood of a spot minus ln of the likelihood at random places, with the widths of the other half. */
double db_evidence_of_spot(const db_evidence *e, size_t spot);

/* The sum of these over the judged spots: the margin of the lattice over spots at random places. */
double db_margin_over_none(const db_evidence *e);

/* Is a spot likelier at a node of the lattice than at a random place, with these widths? */
int db_evidence_is_at(const db_evidence *e, size_t spot);

/* The spots that judge a model: spots of the image in the resolution range, the strongest first. To be cleared,
 * unless it fails. */
db_status db_judged_spots_find(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_observed_spots *spots);

#endif
