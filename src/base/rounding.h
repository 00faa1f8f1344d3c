/* Whole numbers next to doubles in the range of int, in line: floor and ceil are calls on the usual target. */
#ifndef DB_BASE_ROUNDING_H
#define DB_BASE_ROUNDING_H

static inline int db_floor(double x) {
    const int whole = (int)x;
    return whole - (whole > x);
}

static inline int db_ceiling(double x) {
    const int whole = (int)x;
    return whole + (whole < x);
}

#endif
