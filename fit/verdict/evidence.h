/* Likelihood of spots that were found without a model: a lattice has made them, at the places and excitations of
 * its nodes, or they are at random places between nodes (docs/theory/verdict.md, Likelihood of spots). */
#ifndef DB_FIT_VERDICT_EVIDENCE_H
#define DB_FIT_VERDICT_EVIDENCE_H

#include "fit/pixels/geometry.h"
#include "fit/pixels/observed_spots.h"
#include "fit/pixels/shoeboxes.h"

enum {
    DB_MOST_JUDGED = 1000, /* strongest spots by which a model is judged */
    DB_SWEEPS = 2,         /* lines along which a node is recorded: rotation, spectrum */
    DB_HALVES = 2          /* widths are fitted to one half of the spots, and judge the other */
};

/* A spot, with coordinates for the distance of nodes: pixels along the panel's fast and slow axes, and degrees of
 * the rotation that would bring the node onto the Ewald sphere. */
typedef struct db_evidence_spot {
    double q[3];                /* scattering vector (1/angstrom), for the central wavelength */
    double offset[9];           /* coordinates of a difference of scattering vectors */
    double volume;              /* determinant of offset */
    double sweep[DB_SWEEPS][3]; /* recorded lines, in these coordinates */
    double shifted[3]; /* added to the coordinates of all nodes; 0 except for moved models */
} db_evidence_spot;

/* Standard deviations of spots around their nodes, and the fraction of spots that the lattice has made. */
typedef struct db_evidence_width {
    double place; /* pixels */
    double turn;  /* degree */
    double part;
} db_evidence_width;

typedef struct db_evidence {
    size_t count, judged;   /* all spots, the strongest first; spots that judge */
    db_evidence_spot *spot; /* owned, as the following */
    double *
        density[DB_HALVES]; /* of the lattice at each spot, by widths of a half; 1: random places */
    db_evidence_width width[DB_HALVES];
    double lattice[9]; /* columns a*, b*, c* */
    double node_turn;  /* degree: standard deviation of the model's nodes at a typical spot */
    /* of the model: rotation about an axis by half of its range either way (degree), wave numbers */
    double axis[3], half_rotation, s0[3], wave_number[2];
} db_evidence;

/* Takes all spots and fits the widths. To be cleared, unless it fails. */
db_status db_evidence_make(db_context *context, const db_experiment *model,
                           const db_observed_spots *spots, db_evidence *evidence);
void db_evidence_clear(db_evidence *evidence);

/* A lattice (columns), what its nodes move by as the crystal turns about the axis, by their indices, the way back to
 * these, and the volume of its cell. 0: it is none. */
typedef struct db_evidence_nodes {
    double lattice[9], turned[9], to_index[9], cell;
} db_evidence_nodes;
int db_evidence_nodes_of(const db_evidence *e, const double lattice[9], db_evidence_nodes *nodes);

/* Weight of a spot in a fit to spots of the lattice. at: its node (widths); part: probability that the lattice has
 * made the spot. nodes: of the lattice. */
double db_evidence_weight(const db_evidence *e, const db_evidence_spot *spot,
                          const db_evidence_nodes *nodes, const db_evidence_width *width,
                          double at[3], double *part);

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

/* The half of a spot. */
static inline int db_evidence_half(size_t spot) { return (int)(spot % DB_HALVES); }

/* The fraction of one kind of spots that makes the spots of a half most likely. beside: density of another kind,
 * whose fraction becomes *other; NULL: there is none. */
double db_evidence_part(const db_evidence *e, int half, const double *density, const double *beside,
                        double *other);

/* ln of the likelihood of a spot minus ln of the likelihood at random places, with the widths of the other half. */
double db_evidence_of_spot(const db_evidence *e, size_t spot);

/* Is a spot likelier at a node of the lattice than at a random place, with these widths? */
int db_evidence_is_at(const db_evidence *e, size_t spot);

/* The spots that judge a model: spots of the image in the resolution range, the strongest first. To be cleared,
 * unless it fails. */
db_status db_judged_spots_find(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_observed_spots *spots);

#endif
