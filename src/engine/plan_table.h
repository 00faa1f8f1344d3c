/* Table of structure factors for the kernels: squares on the box, or for interpolation the structure
 * factors themselves on the box with a margin. */
#ifndef DB_ENGINE_PLAN_TABLE_H
#define DB_ENGINE_PLAN_TABLE_H

#include <dualbragg/plan.h>

typedef struct db_plan_table {
    size_t count;        /* entries of the box, without the one for outside */
    size_t margin_count; /* entries of the box with margin, for interpolation */
    double *intensity_double;
    float *intensity_float;
    double *site_part; /* db_site_kinds.part, then the part of default_F; NULL without kinds */
    double *amplitude; /* structure factors on the box with margin */
    double largest_intensity; /* largest squared amplitude of the list, if there is a tolerance */
    unsigned long version;    /* counts how often the table was filled */
} db_plan_table;

/* Entries of a list's box; 0 without a list. */
size_t db_table_entries(const db_structure_factors *f);

/* Largest squared amplitude of the list (or default_F). */
double db_largest_intensity(const db_structure_factors *f);

/* Allocates the arrays that a precision needs and the table does not have yet. */
db_status db_plan_table_create(db_context *context, const db_structure_factors *f,
                               db_precision precision, db_plan_table *table);
void db_plan_table_fill(const db_structure_factors *f, double tolerance, db_plan_table *table);
/* 1 if any entries differ. Uses all threads: a list of a million takes a millisecond. */
int db_tables_differ(const db_context *context, const double *a, const double *b, size_t count);
void db_plan_table_clear(db_plan_table *table);

#endif
