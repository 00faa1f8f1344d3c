/* The oracle: the same physics in dual numbers as wide as those of the model, one pixel at a time,
 * without interface contraction. Tests compare every faster path with it
 * (docs/theory/derivatives.md, How derivatives are checked). */
#ifndef DB_KERNEL_ORACLE_H
#define DB_KERNEL_ORACLE_H

#include "kernel/job.h"
#include "model/model.h"

/* The oracle's input; all borrowed. */
typedef struct db_oracle {
    const db_experiment *experiment;
    const db_dual_interface *interface;
    const db_parameter_slots *slots; /* the slots with which the interface was made */
    const db_kernel_amorphous *curve;
    /* in closed form, else NULL: the job's spots, and their names */
    const db_kernel_spots *spots;
    const db_spot_entry *entry;
} db_oracle;

/* Renders all regions. derivative[k] belongs to slot k; buffers as described for db_plan_oracle. */
void db_oracle_render(const db_oracle *oracle, const db_region *regions, size_t region_count,
                      double *image, double *const *derivative);

/* As db_oracle_render, for one region of spots in closed form; 0 without memory. */
int db_oracle_render_spots(const db_oracle *oracle, const db_region *regions, size_t index,
                           double *image, double *const *derivative);

#endif
