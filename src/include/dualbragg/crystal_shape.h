/** @file
 * Shapes of crystals. */
#ifndef DUALBRAGG_CRYSTAL_SHAPE_H
#define DUALBRAGG_CRYSTAL_SHAPE_H

/** Shape of the crystal. It determines the interference function
 * F_latt^2 around every node of the reciprocal lattice. */
typedef enum db_crystal_shape {
    /** parallelepiped of N_a x N_b x N_c cells: product of sin(N pi h)/sin(pi h) */
    DB_SHAPE_SQUARE,
    DB_SHAPE_ROUND, /**< ellipsoid */
    DB_SHAPE_GAUSS, /**< Gaussian spots */
    DB_SHAPE_TOPHAT /**< flat spots; its derivative with respect to position is zero */
} db_crystal_shape;

#endif
