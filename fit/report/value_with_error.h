/* Numbers with their standard errors as crystallographers write them: 58.412(3). */
#ifndef DB_FIT_REPORT_VALUE_WITH_ERROR_H
#define DB_FIT_REPORT_VALUE_WITH_ERROR_H

#include <dualbragg/status.h>

enum { DB_VALUE_TEXT_SIZE = 64 };

/* Text with the error in units of the last digit, two digits up to 19 and one above; a value of 1 or more has one digit at
 * least, also beside a larger error. An infinite error, of a value that the data do not determine, is (?); another error that
 * is not positive is left out, and the value has seven significant digits. Returns text. */
const char *db_value_with_error(char text[DB_VALUE_TEXT_SIZE], double value, double error);

#endif
