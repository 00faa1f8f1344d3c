/* Angles. Users see degrees; formulas take radians. Macros, so that tables and code for devices may have them. */
#ifndef DB_BASE_DEGREE_H
#define DB_BASE_DEGREE_H

#define DB_DEGREE 0.017453292519943295769 /* in radian */
#define DB_RADIAN 57.295779513082320877   /* in degree */

#endif
