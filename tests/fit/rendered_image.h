/* Images with a known answer: rendered crystals with photon noise. */
#ifndef TESTS_FIT_RENDERED_IMAGE_H
#define TESTS_FIT_RENDERED_IMAGE_H

#include <dualbragg/fit.h>
#include <gsl/gsl_rng.h>

/* A thaumatin-like crystal (GAUSS spots, mosaic spread 0.05 degree rms) on a detector of pixels x
 * pixels. Spots are in closed form; sampled, they have twenty domains of the same spread. Amplitudes are made up (Wilson statistics), so that the strongest spots have about `peak`
 * photons. Clear it with db_experiment_clear. */
db_status rendered_experiment(db_context *context, int pixels, double peak, db_experiment *e);

/* Gives the beam a spectrum: two humps of unequal height across three percent, as of a
 * self-amplified beam. */
db_status rendered_pink_beam(db_context *context, db_experiment *e);

/* Renders an experiment on a smooth background of a few photons, with photon noise (seed; 0:
 * without, the expected counts themselves). A cross of pixels is masked as a gap. Clear it with
 * db_measured_image_clear. */
db_status rendered_image(db_context *context, const db_experiment *e, unsigned long seed,
                         db_measured_image *image);

/* What tests of one image begin with: a context, that experiment, its image; and how they end. 0: done, as setups of
 * tests return it. */
int rendered_begin(int pixels, double peak, unsigned long seed, db_context **context,
                   db_experiment *e, db_measured_image *image);
int rendered_end(db_context **context, db_experiment *e, db_measured_image *image);

/* The same with several crystals, in place of the experiment's own. */
db_status rendered_lattices(db_context *context, const db_experiment *e, const db_crystal *crystals,
                            size_t count, unsigned long seed, db_measured_image *image);

/* Adds the light of a crystal, in place of the experiment's own, to an image (photons). */
db_status rendered_light(db_context *context, const db_experiment *e, const db_crystal *crystal,
                         float *image);

/* Turns a crystal; any orientation is as likely as any other. */
void turn_at_random(gsl_rng *chance, db_crystal *crystal);

/* Copies of a crystal, any orientation as likely as any other. */
void random_crystals(const db_crystal *like, unsigned long seed, size_t count,
                     db_crystal *crystals);

/* A number of a shot, from -0.5 to 0.5, the same whenever it is asked for. */
double rendered_draw(size_t shot, int number);

/* A copy of the experiment whose crystal stands in an orientation of the shot's own. */
db_status rendered_shot(db_context *context, const db_experiment *e, size_t shot,
                        db_experiment *own);

/* Adds a refined parameter without bounds; follows: -1 or the parameter it is tied to. */
void refine_parameter(db_fit_settings *settings, db_parameter parameter, int follows);

/* Copies stage number `from` to number `to`, with its parameters; stage_count stays. */
void copy_stage(db_fit_settings *settings, size_t from, size_t to);

/* Angle (degree) between the orientations of two crystals with the same right-angled cell shape. */
double misorientation(const db_crystal *a, const db_crystal *b);

/* The same where each may be turned by the symmetry of a tetragonal lattice: the smallest. The cell
 * does not matter. */
double tetragonal_misorientation(const db_crystal *a, const db_crystal *b);

#endif
