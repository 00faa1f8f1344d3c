/* Images to refine against: rendered, with photon noise, of a known crystal. */
#ifndef DB_BENCH_FIT_SCENE_H
#define DB_BENCH_FIT_SCENE_H

#include <dualbragg/fit.h>
#include <stdint.h>

typedef struct db_bench_scene {
    db_experiment truth;
    db_measured_image image;
    db_fit_settings settings; /* parameters refined; default stages */
} db_bench_scene;

/* 512 x 512 pixels, known structure factors, twelve parameters: misset, three cell edges, crystal
 * size, mosaic spread, distance, beam centre, scale. The brightest pixel has 1000 photons, the
 * background 10. */
db_status db_bench_still(db_context *context, uint32_t seed, db_bench_scene *scene);

/* 2048 x 2048 pixels, free intensities: at most 150 shoeboxes, ten parameters: misset, three cell
 * edges, crystal size, mosaic spread, beam centre. */
db_status db_bench_large_still(db_context *context, uint32_t seed, db_bench_scene *scene);

/* This scene on a square of given size, with brighter spots and a largest number of shoeboxes. */
db_status db_bench_crowded_still(db_context *context, uint32_t seed, int pixels, int boxes,
                                 db_bench_scene *scene);

/* One of many shots: 512 x 512 pixels, all structure factors alike, in an orientation that is a
 * function of the seed. No settings. */
db_status db_bench_shot(db_context *context, uint32_t seed, db_bench_scene *scene);

void db_bench_scene_clear(db_bench_scene *scene);

/* A number from 0 to 1 that is a function of two others. */
double db_bench_uniform(uint32_t seed, uint32_t number);

/* How far a start is off. */
typedef struct db_bench_error {
    double turn;     /* degree, about a random axis */
    double cell;     /* relative, of each edge, with a random sign */
    double scale;    /* factor, either way */
    double beam;     /* pixels, in a random direction */
    double size;     /* factor on the crystal size */
    double distance; /* mm, with a random sign */
} db_bench_error;

/* The truth changed by such an error; every number depends on the seed. */
db_status db_bench_spoil(db_context *context, const db_experiment *truth,
                         const db_bench_error *error, uint32_t seed, db_experiment *start);

/* The turn about the laboratory's axes that brings orientation a to b (degree), misset included,
 * and its angle. */
void db_bench_turn(const db_crystal *a, const db_crystal *b, double turn[3]);
double db_bench_angle(const db_crystal *a, const db_crystal *b);

#endif
