/* Numbers with their standard errors as crystallographers write them: 58.412(3). */
#ifndef DB_FIT_REPORT_VALUE_WITH_ERROR_H
#define DB_FIT_REPORT_VALUE_WITH_ERROR_H

#include <dualbragg/status.h>

enum { DB_VALUE_TEXT_SIZE = 64 };

/* The error is given in units of the last digit, with two digits up to 19 and one above. An
 * infinite one, of a value that the data do not determine, is written (?); any other that is no
 * positive number is left out. The value has seven significant digits then. Returns text. */
const char *db_value_with_error(char text[DB_VALUE_TEXT_SIZE], double value, double error);

#endif
