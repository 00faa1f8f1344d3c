/* Replaces gemmi_files.cpp in builds without gemmi. */
#include "io/reflections/gemmi_files.h"

#include "base/context_internal.h"

#ifndef DB_HAVE_GEMMI

#include <dualbragg/expert/reflection_tables.h>
#include <dualbragg/expert/symmetry.h>
#include <string.h>

#define WITHOUT "was made without the library gemmi (Debian: gemmi-dev) or without a C++ compiler"

static db_status without(db_context *context, const char *path, const char *what) {
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build of dualbragg cannot read %s: it " WITHOUT
                   "; lists of h k l F as text can be read",
                   path, what);
}

db_status db_gemmi_find_group(db_context *context, const char *name, const double cell[6],
                              db_space_group *group) {
    (void)cell;
    memset(group, 0, sizeof *group);
    return without(context, name, "space groups");
}

db_status db_space_group_of_list(db_context *context, const char *stated, db_space_group *group) {
    memset(group, 0, sizeof *group);
    return without(context, stated, "space groups");
}

db_status db_lattice_two_folds(db_context *context, const double cell[6], double most_obliquity,
                               int basis[9], db_two_fold list[DB_MOST_TWO_FOLDS], int *count) {
    (void)cell;
    (void)most_obliquity;
    (void)list;
    for (int i = 0; i < 9; i++) basis[i] = i % 4 == 0;
    *count = 0;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "symmetries of a lattice: this build of dualbragg " WITHOUT);
}

db_status db_gemmi_add_operator(db_context *context, const char *path, db_word text,
                                db_space_group *group) {
    (void)text;
    (void)group;
    return without(context, path, "operators of space groups");
}

db_status db_gemmi_read_mtz(db_context *context, const char *path, const db_file_content *content,
                            db_reflection_columns *columns) {
    (void)content;
    (void)columns;
    return without(context, path, "MTZ files");
}

db_status db_mtz_write(db_context *context, const char *path, const db_mtz_content *content) {
    (void)content;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build of dualbragg cannot write MTZ files: it was made without the "
                   "library gemmi (Debian: gemmi-dev) or without a C++ compiler",
                   path);
}

db_status db_gemmi_dispersion(db_context *context, const char *element, double shift, size_t count,
                              const double *energy, double *f_prime, double *f_second) {
    (void)shift, (void)count, (void)energy, (void)f_prime, (void)f_second;
    return without(context, element, "tables of f' and f''");
}

db_status db_gemmi_read_model(db_context *context, const char *path, const db_file_content *content,
                              int is_cif, const db_structure_factor_options *options,
                              db_structure_factors *factors, char *told, size_t told_size) {
    (void)content;
    (void)is_cif;
    (void)options;
    (void)factors;
    (void)told;
    (void)told_size;
    return without(context, path, "coordinates");
}

#endif
