/* Variance of an intensity that boxes of several shots share. */
#ifndef DB_FIT_INTENSITIES_VARIANCE_H
#define DB_FIT_INTENSITIES_VARIANCE_H

/* Square of a box's pull (half the slope of its loss by the intensity) where the intensity follows the box with its share of
 * the curvature: divided by 1 - share, it is the box's curvature on average. */
static inline double db_pull_square(double pull, double share) {
    const double alone = 1e-6; /* such a box has no pull, which rounding would amplify */
    return share < 1 - alone ? pull * pull / (1 - share) : 0;
}

/* The mean of two estimates. One is by the scatter between shots, weighted with as many degrees of freedom as equal boxes of
 * these shares would have (a single box has none); the other by the curvature times the mean misfit at this resolution,
 * which counts as `known` degrees. squares, shares, share_squares: sums over boxes of db_pull_square, the share and its
 * square. */
static inline double db_intensity_variance(double squares, double shares, double share_squares,
                                           double curvature, double misfit) {
    const double known = 8, usual = misfit / curvature, own = squares / (curvature * curvature),
                 degrees = share_squares > 0 ? shares * shares / share_squares - 1 : 0;
    return (degrees * own + known * usual) / (degrees + known);
}

#endif
