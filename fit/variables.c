#include "fit/variables.h"

#include "fit/physical_range.h"

#include <math.h>
#include <string.h>

static void add_column(db_variables *v, db_parameter parameter, size_t variable, double value) {
    v->links[v->link_count++] = (db_link){ v->columns, variable, 1 };
    v->parameter[v->columns] = parameter;
    v->origin[v->columns++] = value;
}

/* How far bounds and priors of a parameter have moved with its reference. */
static double moved(db_parameter p, const double *turned) {
    return turned && p >= DB_MISSET_X && p <= DB_MISSET_Z ? turned[p - DB_MISSET_X] : 0;
}

static void add_variable(const db_fit_settings *settings, size_t i, const double *turned,
                         const db_experiment *experiment, db_variables *v) {
    const db_fit_parameter *const p = &settings->parameters[i];
    const size_t k = v->count++;
    const double shift = moved(p->parameter, turned);
    v->index[k] = i;
    db_physical_range(p->parameter, &v->lower[k], &v->upper[k]);
    v->lower[k] = fmax(v->lower[k], p->lower - shift);
    v->upper[k] = fmin(v->upper[k], p->upper - shift);
    const double value = db_parameter_get(experiment, p->parameter);
    v->start[k] = fmin(fmax(value, v->lower[k]), v->upper[k]);
    v->centre[k] = p->prior[0] - shift;
    v->sigma[k] = p->prior[1];
    add_column(v, p->parameter, k, v->start[k]);
}

void db_variables_make(const db_fit_settings *settings, const unsigned char *active,
                       const double *turned, const db_experiment *experiment,
                       db_variables *variables) {
    db_variables *const v = variables;
    memset(v, 0, sizeof *v);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (p->follows < 0 && active[p->parameter])
            add_variable(settings, i, turned, experiment, v);
    }
    const size_t count = v->count;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        for (size_t k = 0; k < count && p->follows >= 0; k++)
            if (settings->parameters[v->index[k]].parameter == (db_parameter)p->follows)
                add_column(v, p->parameter, k, v->start[k]);
    }
}

void db_variables_set(const db_variables *variables, const double *values,
                      db_experiment *experiment) {
    double value[DB_PARAMETER_COUNT];
    memcpy(value, variables->origin, variables->columns * sizeof *value);
    for (size_t l = 0; l < variables->link_count; l++) {
        const db_link *const link = &variables->links[l];
        value[link->column] +=
            link->slope * (values[link->variable] - variables->start[link->variable]);
    }
    for (size_t c = 0; c < variables->columns; c++)
        db_parameter_set(experiment, variables->parameter[c], value[c]);
}

void db_variables_add_priors(const db_variables *variables, const double *values, double *loss,
                             double *gradient, double *normal) {
    const size_t n = variables->count;
    for (size_t k = 0; k < n; k++) {
        const double sigma = variables->sigma[k];
        if (!(sigma < INFINITY)) continue;
        const double pull = (values[k] - variables->centre[k]) / sigma;
        *loss += pull * pull;
        if (gradient) gradient[k] += 2 * pull / sigma;
        if (normal) normal[k * n + k] += 1 / (sigma * sigma);
    }
}
