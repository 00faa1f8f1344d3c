/* Rendered stills of one crystal with known amplitudes, for joint intensities: each with an orientation and a
 * scale of its own, and photon noise; on request some are bad, indexed another way or of the other hand. */
#ifndef DB_TESTS_FIT_STILLS_H
#define DB_TESTS_FIT_STILLS_H

#include "fit/intensities/joint_intensities.h"

#include <dualbragg/fit_shots.h>

enum { STILL_PIXELS = 200, STILLS = 24, FEW_STILLS = 8 };

/* Faults of the shots after the first good ones, in turn; none: 0. */
enum bad { OTHER_LATTICE, OTHER_CRYSTAL, OTHER_HAND, BLANK, SATURATED, KINDS, BAD = 2 * KINDS };

/* What is rendered and refined; tests leave it as it was. */
typedef struct still_setup {
    db_context *context;
    db_experiment truth;
    db_fit_settings settings;
    db_asu_list list;
    double brightness;  /* of amplitudes */
    double start_scale; /* that refinements begin with, where 1 is right */
    double start_size;  /* of sizes of blocks, as a factor */
    double anomalous;   /* largest difference of Bijvoet mates, of their mean */
    size_t turned; /* number of shots of each five, the first ones, that are indexed another way */
    size_t other_hand; /* number of a shot of the other hand; 0: there is none */
    size_t good;       /* shots that are as they should be; 0: all */
    int only;          /* all bad shots are of this kind; KINDS: of each in turn */
    int other_crystal; /* other amplitudes */
    size_t lattices;   /* of an image; 0: 1 */
    size_t images;     /* distance of their shots in the list; 0: they follow each other */
    double width;      /* of frames of a rotation series (degree); 0: they are stills */
} still_setup;
extern still_setup stills;

int stills_set_up(void **state);
int stills_tear_down(void **state);

/* A number of a shot, from 0 to 1, the same whenever it is asked for. */
double still_drawn(size_t shot, int number);

/* The amplitude of a reflection, by Wilson's statistics; Bijvoet mates differ. */
double still_amplitude(uint32_t number);

/* Gives an experiment such amplitudes. hand: 1, or -1 for the other one. */
db_status stills_fill_amplitudes(db_experiment *e, double factor, int hand);

/* Turns the crystal as that of the shot is. */
void still_place(size_t shot, db_experiment *e);

/* A db_fit_shot_source. */
db_status still_load(void *user, db_context *own, size_t shot, db_measured_image *image,
                     db_experiment *start, db_fit_settings *s);
const char *still_name(void *user, size_t shot);
size_t still_image(void *user, size_t shot);

/* The refinement of a number of shots, with the settings. */
db_fit_shots_result *stills_run(size_t shots);

/* Shots of P4, whose lattice can be indexed in two ways; one is of the other hand. And back. */
void stills_begin_other_indexing(void);
void stills_end_other_indexing(void);

/* Amplitudes on another scale, with another temperature factor, of which each seventh is missing. */
db_structure_factors stills_known_amplitudes(double scale, double b);

/* R of intensities, with the scale that fits; pulls beside the truth (root mean square). */
double stills_off_truth(const db_merged *merged, double *pull);

#endif
