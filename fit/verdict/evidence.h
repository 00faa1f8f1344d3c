/* How likely spots are that were found without a model, if a lattice made them: each lies at the place
 * and excitation of a node, or anywhere between nodes (docs/theory/verdict.md, Likelihood of spots). */
#ifndef DB_FIT_VERDICT_EVIDENCE_H
#define DB_FIT_VERDICT_EVIDENCE_H

#include "fit/pixels/geometry.h"
#include "fit/pixels/observed_spots.h"
#include "fit/pixels/shoeboxes.h"

enum {
    DB_MOST_JUDGED = 1000, /* strongest spots by which a model is judged */
    DB_SWEEPS = 2,         /* along which a node is recorded: rotation, spectrum */
    DB_HALVES = 2          /* widths are fitted to one half of them, and the other is judged */
};

/* A spot, and the coordinates in which nodes are near it or far: pixels along the panel's fast and slow
 * axes, and by how many degrees a turn would bring the node onto the Ewald sphere. */
typedef struct db_evidence_spot {
    double q[3];      /* its scattering vector, if the central wavelength made it (1/angstrom) */
    double offset[9]; /* coordinates of a difference of scattering vectors */
    double volume;    /* determinant of that */
    double sweep[DB_SWEEPS][3]; /* what the rotation and the spectrum record of a node, in these */
    double shifted[3]; /* added to the coordinates of all nodes: 0, but for models that are moved */
} db_evidence_spot;

/* Standard deviations of spots about their nodes, and their part of all. */
typedef struct db_evidence_width {
    double place; /* pixels */
    double turn;  /* degree */
    double part;
} db_evidence_width;

typedef struct db_evidence {
    size_t count, judged;   /* all spots, the strongest first; those that judge */
    db_evidence_spot *spot; /* owned, as the following */
    double *
        density[DB_HALVES]; /* at each spot: of the lattice with the widths of a half, for a density
                                      of 1 of spots that lie anywhere */
    db_evidence_width width[DB_HALVES];
    double lattice[9]; /* columns a*, b*, c* */
    double node_turn;  /* degree: standard deviation of the model's nodes at a typical spot */
    /* of the model: rotation about an axis by half of its range either way (degree), wave numbers */
    double axis[3], half_rotation, s0[3], wave_number[2];
} db_evidence;

/* Takes all spots, and fits the widths. To be cleared, unless it fails. */
db_status db_evidence_make(db_context *context, const db_experiment *model,
                           const db_observed_spots *spots, db_evidence *evidence);
void db_evidence_clear(db_evidence *evidence);

/* By how much a spot counts in a fit to those of the lattice, and where its node is (widths). part: how likely it is
 * to be of the lattice. to_index: inverse of the lattice. */
double db_evidence_weight(const db_evidence *e, const db_evidence_spot *spot,
                          const double to_index[9], const db_evidence_width *width, double at[3],
                          double *part);

/* Densities at the first `count` spots, with the widths of a half, for a density of 1 of spots that lie anywhere: of a
 * lattice; of spots anywhere along the rows of the model's in a direction (0 to 2: a*, b*, c*). */
void db_evidence_lattice(const db_evidence *e, const double lattice[9], int half, size_t count,
                         double *density);
void db_evidence_rows(const db_evidence *e, int direction, int half, size_t count, double *density);

/* Fits the widths of a half again, as after shifted[] has changed, from those it has. */
void db_evidence_fit(db_evidence *e, int half);

/* Which half a spot belongs to. */
static inline int db_evidence_half(size_t spot) { return (int)(spot % DB_HALVES); }

/* The part of a kind of spots that makes those of a half most likely; `beside`: of another kind that may
 * be there, too, whose part becomes *other; NULL: none. */
double db_evidence_part(const db_evidence *e, int half, const double *density, const double *beside,
                        double *other);

/* ln of the likelihood of a spot, above that of spots anywhere, by the widths of the other half. */
double db_evidence_of_spot(const db_evidence *e, size_t spot);

/* Whether it is more likely to be of the lattice, by those widths, than to lie anywhere. */
int db_evidence_is_at(const db_evidence *e, size_t spot);

/* The spots of an image by which a model is judged: in the resolution range, the strongest first. To be cleared, unless
 * it fails. */
db_status db_judged_spots_find(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_observed_spots *spots);

#endif
