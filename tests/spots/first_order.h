/* The draws of a sampler to first order: each moves the Gaussian of a single block along a straight
 * line, or along the cap that rotations keep to. The mean of these images is the closed form
 * for any spreads. So the mean of their differences from exact images is the error of the closed
 * form, with little noise. */
#ifndef DB_TESTS_SPOTS_FIRST_ORDER_H
#define DB_TESTS_SPOTS_FIRST_ORDER_H

#include "sampler.h"

typedef struct first_order first_order;

/* cap: 0 for straight lines. */
first_order *first_order_of(const sampler *s, int cap);
void first_order_destroy(first_order *f);

/* Images of draws to first order, and exact ones less those; own: a first_order. */
sampler_function first_order_image;
sampler_function first_order_missing;

#endif
