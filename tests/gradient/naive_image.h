/* Pixels from first principles: a second implementation of the physics, of numbers and libm alone.
 * It shares no code with the project, follows the formulas one by one in their textbook form
 * (rotations of vectors about axes, sums over unit cells, Kahn's polarization by an angle), and
 * knows no derivative. What it agrees with may still be slow, but hardly wrong. */
#ifndef DB_TESTS_GRADIENT_NAIVE_IMAGE_H
#define DB_TESTS_GRADIENT_NAIVE_IMAGE_H

#include <dualbragg/experiment.h>

/* Expected photons in a pixel of a panel. Amorphous matter: only where the pixel's
 * sin(theta)/lambda has two points of the curve on each side. */
double naive_pixel(const db_experiment *e, size_t panel, int fast, int slow);

#endif
