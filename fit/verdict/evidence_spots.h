/* Spots that judge a lattice, with the likelihood of each (fit/verdict/evidence.h has what is done with them). */
#ifndef DB_FIT_VERDICT_EVIDENCE_SPOTS_H
#define DB_FIT_VERDICT_EVIDENCE_SPOTS_H

#include "base/context_internal.h"

#include <stddef.h>

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
    int is_thick;      /* nodes may be thick (db_evidence_thicken) */
    db_isa isa;
    /* of the model: rotation about an axis by half of its range either way (degree), wave numbers */
    double axis[3], half_rotation, s0[3], wave_number[2];
} db_evidence;

/* The half of a spot. */
static inline int db_evidence_half(size_t spot) { return (int)(spot % DB_HALVES); }

/* A lattice (columns), what its nodes move by as the crystal turns about the axis, by their indices, the way back to
 * these, and the volume of its cell. */
typedef struct db_evidence_nodes {
    double lattice[9], turned[9], to_index[9], cell;
} db_evidence_nodes;

#endif
