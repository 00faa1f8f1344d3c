/* Crystals of few cells: their interference function is a polynomial (kernel/lattice.h). */
#ifndef DB_KERNEL_FEW_CELLS_H
#define DB_KERNEL_FEW_CELLS_H

/* The largest number of cells along an axis (even). Up to it the polynomial's rounding errors, which grow with
 * N^2, are no larger than those of the quotient of sines. */
#define DB_FEW_CELLS 6

/* Polynomials of the three axes in one precision, as the kernels read them. */
typedef struct db_few_cells_double {
    double power[DB_FEW_CELLS / 2]; /* coefficients of powers of w */
    int even;                       /* 1: the square is multiplied by 2 + w */
} db_few_cells_double;
typedef struct db_few_cells_float {
    float power[DB_FEW_CELLS / 2];
    int even;
} db_few_cells_float;
typedef struct db_few_cells_longdouble {
    long double power[DB_FEW_CELLS / 2];
    int even;
} db_few_cells_longdouble;

#endif
