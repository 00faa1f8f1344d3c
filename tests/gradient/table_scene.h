/* An experiment of which derivatives by all structure factors are asked, with a cotangent and a
 * direction. */
#ifndef DB_TESTS_GRADIENT_TABLE_SCENE_H
#define DB_TESTS_GRADIENT_TABLE_SCENE_H

#include "configurations.h"

#include <dualbragg/dualbragg.h>

typedef struct {
    db_context *context;
    db_experiment e;
    size_t entries;    /* of the box */
    double *amplitude; /* [entries + 1]: the experiment's, default_F behind them */
    double *direction; /* [entries + 1] */
    double *cotangent; /* [pixels] */
    double *image, *tangent, *above, *below;
    double *gradient; /* [entries + 1] */
    size_t pixels;
} table_scene;

/* Zeros, one more than asked for; to be freed. */
double *scene_numbers(size_t count);

/* A cotangent of both signs, 0 in some pixels and in whole runs of them; a direction in all entries.
 * To be cleared. */
void scene_arrange(const configuration *which, table_scene *s);
void scene_clear(table_scene *s);

/* The experiment's amplitudes: the scene's, changed by a number of steps. */
void scene_put_amplitudes(table_scene *s, const double *step, double factor);

/* Of doubles; to be destroyed. */
db_plan *scene_plan(table_scene *s, const db_parameter *parameters, size_t count,
                    db_precision precision);

/* Of amplitudes and, behind them, default_F; borrows them. */
db_plan_vector scene_vector(table_scene *s, double *numbers);

/* A call has failed with this status, and with that part in its message. */
void scene_refuses(const table_scene *s, db_status found, db_status expected, const char *part);

/* Of those in this folder, with sampled spots or in closed form. */
const configuration *configuration_named(const char *name);

#endif
