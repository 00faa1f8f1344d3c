/* Limits of shells of resolution. */
#include "fit/merge/shells.h"

#include <math.h>

double db_shell_limit(const db_shells *shells, int shell) {
    const double first = db_shells_cube(shells->low), last = db_shells_cube(shells->high);
    return 1 / cbrt(first + (last - first) * shell / shells->count);
}
