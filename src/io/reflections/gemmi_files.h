/* Readers that use the library gemmi (https://gemmi.readthedocs.io, header-only C++): symmetry, reflection files,
 * coordinates. Only gemmi_files.cpp includes gemmi; builds without gemmi use without_gemmi.c, where each function
 * fails and names what is missing. */
#ifndef DB_IO_GEMMI_FILES_H
#define DB_IO_GEMMI_FILES_H

#include "base/file_content.h"
#include "io/reflections/reflection_list.h"
#include <dualbragg/expert/amplitude_files.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DB_COLUMN_LABEL = 64 };

typedef struct db_reflection_column {
    char label[DB_COLUMN_LABEL];
    char type;         /* as MTZ has it: H index, F and G amplitude, J and K intensity, Q, L, M
                          standard deviations, Y M/ISYM */
    double wavelength; /* A, of its data set; NAN: not said */
} db_reflection_column;

/* The columns of a reflection file that are indices, amplitudes, intensities, or belong to those: h, k,
 * l first, wherever the file has them, then the others in the order of the file. */
typedef struct db_reflection_columns {
    size_t count, rows;
    db_reflection_column *column; /* [count]; owned */
    double *value;                /* [rows * count], row by row; NAN: none; owned */
    db_space_group group;
    double cell[6]; /* A, degree; NAN: not said */
} db_reflection_columns;

/* Finds a space group by name. cell (may be NULL) chooses between settings that the name leaves open (axes of R 3,
 * unique axis of P 21), if one of them fits. */
db_status db_gemmi_find_group(db_context *context, const char *name, const double cell[6],
                              db_space_group *group);

/* Adds an operator such as "x-y,-y,-z+1/3". */
db_status db_gemmi_add_operator(db_context *context, const char *path, db_word text,
                                db_space_group *group);

/* Fills columns, which the caller clears in any case. */
db_status db_gemmi_read_mtz(db_context *context, const char *path, const db_file_content *content,
                            db_reflection_columns *columns);

/* f' and f'' of a free atom at `count` energies (eV), less `shift`. */
db_status db_gemmi_dispersion(db_context *context, const char *element, double shift, size_t count,
                              const double *energy, double *f_prime, double *f_second);

/* A model's structure factors: see db_structure_factor_options. is_cif: mmCIF, else PDB. */
db_status db_gemmi_read_model(db_context *context, const char *path, const db_file_content *content,
                              int is_cif, const db_structure_factor_options *options,
                              db_structure_factors *factors, char *told, size_t told_size);

#ifdef __cplusplus
}
#endif
#endif
