/* The refined quantities of a stage, and what they do to an experiment. A quantity moves one or
 * several parameters of the table linearly:
 *
 *     parameter = start + sum over links of slope x (quantity - its start)
 *
 * Most move one with slope 1; a quantity that others follow moves them all. Or it is a motion of
 * groups of panels, whose value it is. Knows no optimizer and no data. */
#ifndef DB_FIT_OBJECTIVE_VARIABLES_H
#define DB_FIT_OBJECTIVE_VARIABLES_H

#include "fit/objective/loss.h"
#include "fit/objective/panel_placement.h"
#include "fit/config/quantity.h"
#include "loss/block.h"

typedef struct db_variables {
    size_t count; /* quantities */
    /* the first table_count quantities move parameters of the table, quantity k column k; the others move groups of panels */
    size_t table_count;
    size_t *index; /* number among the settings' parameters; owned, as start, parameter, links */
    double *start; /* owns the memory of the numbers to come, and of origin */
    double *lower; /* user's and physical bounds */
    double *upper;
    double *centre; /* priors */
    double *sigma;  /* INFINITY: none */

    /* Parameters of the table with derivatives: those that move, then own motions of panels, which make up those
     * of groups. */
    size_t columns;
    db_parameter *parameter; /* parameter of each column */
    double *origin;          /* its value at the start */
    db_link *links;          /* links of the table */
    size_t link_count;
    int own_motion[DB_FIT_GROUP_MOTIONS]; /* column of each own motion of panels; -1: none */
    /* quantity of each motion; -1: it rests */
    short motion[DB_FIT_MOST_GROUPS][DB_FIT_GROUP_MOTIONS];
    int turns; /* 1: the crystal keeps a rotation, see fit/config/orientation.h */
} db_variables;

/* Quantities that are refined in one of some stages (bits as in db_fit_parameter; 0: none; DB_FIT_ALL_STAGES: all
 * parameters), with the followers of each, starting at the values of experiment and placement. given: the crystal
 * to which bounds and priors refer, if the experiment's crystal keeps its rotation (fit/config/orientation.h);
 * NULL: the experiment's. The caller clears the variables; after a failure they need not be. */
db_status db_variables_make(db_context *context, const db_fit_settings *settings, unsigned stages,
                            const db_crystal *given, const db_experiment *experiment,
                            const db_panel_placement *placement, db_variables *variables);
void db_variables_clear(db_variables *variables);

/* Sets the parameters of an experiment to values of the quantities. */
void db_variables_set(const db_variables *variables, const double *values,
                      db_experiment *experiment);

/* As db_variables_set, for a model that is kept: small rotations become part of its orientation. */
void db_variables_store(const db_variables *variables, const double *values,
                        db_experiment *experiment);

/* Sets the motions of a placement to values of the quantities. */
void db_variables_place(const db_variables *variables, const double *values,
                        db_panel_placement *placement);

/* Lists quantities that move pixels of a group's panels (-1: of panels in no group), ascending: all of the table,
 * and the group's own motions. Room: DB_BLOCK_MOST. */
enum { DB_BLOCK_MOST = (int)DB_FIT_MOST_COLUMNS + DB_FIT_GROUP_MOTIONS };
_Static_assert((int)DB_BLOCK_MOST <= (int)DB_BOXES_MOST_VARIABLES, "what the boxes have room for");
size_t db_variables_of_group(const db_variables *variables, int group, size_t *list);

/* Links of derivative images with these quantities, numbered as in the list, for a panel at its place. table: the
 * links of the table. Returns their number. Room: DB_BLOCK_MOST_LINKS. */
enum {
    DB_BLOCK_MOST_LINKS = (int)DB_FIT_MOST_COLUMNS + DB_FIT_GROUP_MOTIONS * DB_FIT_GROUP_MOTIONS
};
size_t db_variables_links(const db_variables *variables, const db_link *table,
                          const db_panel_placement *placement, size_t panel, const size_t *list,
                          size_t list_count, db_link *links);

/* Contribution of a prior to the loss, its slope and half its second derivative; sigma INFINITY: 0. */
typedef struct db_prior_pull {
    double loss; /* ((value - centre) / sigma)^2 */
    double slope, curvature;
} db_prior_pull;
db_prior_pull db_prior_at(double value, double centre, double sigma);

/* Adds the priors of all values to a loss, its gradient and its normal matrix ([count][count]; half
 * second derivatives). gradient and normal may be NULL. */
void db_add_priors(size_t count, const double *centre, const double *sigma, const double *values,
                   double *loss, double *gradient, double *normal);
void db_variables_add_priors(const db_variables *variables, const double *values, double *loss,
                             double *gradient, double *normal);

#endif
