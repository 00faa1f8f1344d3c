/* Experiments on which every parameter's derivative is checked. Small images, all features of the
 * model in some combination, values without symmetry so that no derivative vanishes by accident. */
#ifndef DB_TESTS_GRADIENT_CONFIGURATIONS_H
#define DB_TESTS_GRADIENT_CONFIGURATIONS_H

#include <dualbragg/dualbragg.h>

typedef struct configuration {
    const char *name;
    void (*arrange)(db_context *context,
                    db_experiment *experiment); /* on top of the common start */
    double step;      /* of finite differences, in the parameters' typical steps */
    const char *more; /* parameters beyond the table, separated by blanks; or NULL */
} configuration;

extern const configuration configurations[];
extern const size_t configuration_count;

/* Those of spots in closed form, and both together. */
extern const configuration closed_configurations[];
extern const size_t closed_configuration_count;
const configuration *configuration_or_closed(size_t number);
size_t configurations_and_closed(void);

/* The experiment of a configuration; the caller clears it. */
db_experiment configured(db_context *context, const configuration *which);

/* All parameters of the table that the experiment has, in its order, and those beyond it that the
 * configuration names. Returns their number. */
size_t parameters_of(const configuration *which, const db_experiment *experiment,
                     db_parameter parameters[]);

#endif
