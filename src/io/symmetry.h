/* Rotations of a space group, for Miller indices. */
#ifndef DB_IO_SYMMETRY_H
#define DB_IO_SYMMETRY_H

#include "base/text_reader.h"

enum { DB_MOST_OPERATORS = 192 };

typedef struct db_symmetry {
    int count;
    int rotation[DB_MOST_OPERATORS][9]; /* row-major; acts on coordinates from the left */
} db_symmetry;

/* Adds the rotation of an operator such as "x-y,-y,-z+1/3"; the same one twice is kept once. 0 if
 * the text is no operator, or there are too many. */
int db_symmetry_add(db_symmetry *symmetry, db_word text);

/* The index equivalent to hkl by an operator: hkl times the rotation. */
void db_symmetry_turn(const db_symmetry *symmetry, int operator_index, const int hkl[3],
                      int turned[3]);

/* The operators of a space group by its number or Hermann-Mauguin symbol ("178", "P 61 2 2",
 * "P6122"; the first setting that fits), from CCP4's table: the file named by SYMINFO, else
 * syminfo.lib in the folder CLIBD, else in /usr/share/ccp4. */
db_status db_symmetry_of_group(db_context *context, const char *group, db_symmetry *symmetry);

#endif
