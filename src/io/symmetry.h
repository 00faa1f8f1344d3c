/* Rotations of a space group, for Miller indices. */
#ifndef DB_IO_SYMMETRY_H
#define DB_IO_SYMMETRY_H

#include "base/text_reader.h"

#include <dualbragg/reflections.h>

/* Adds the rotation of an operator such as "x-y,-y,-z+1/3"; the same one twice is kept once. 0 if
 * the text is no operator, or there are too many. */
int db_symmetry_add(db_symmetry *symmetry, db_word text);

#endif
