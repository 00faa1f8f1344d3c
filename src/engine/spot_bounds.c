/* Bounds of a plan's spots: their photons and extents. */

#include "engine/spot_bounds.h"

#include "engine/plan_cut.h"
#include "base/degree.h"
#include "base/vector.h"

/* Bound of a symmetric tensor's largest eigenvalue: the largest sum of a row. */
static double largest_variance(const db_number t[6]) {
    const double xy = fabs(t[3].v), xz = fabs(t[4].v), yz = fabs(t[5].v);
    return fmax(0, fmax(t[0].v + xy + xz, fmax(t[1].v + xy + yz, t[2].v + xz + yz)));
}

static double square_sum(const db_matrix *m) {
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += v3_square_double_0(m->r[i]).v;
    return sum;
}

/* The variance of the widest class of blocks. */
static double widest_tail(const db_spread_interface *s) {
    double widest = 1;
    for (int i = 1; i <= DB_SPREAD_TAILS; i++)
        if (s->tail_fraction[i].v != 0) widest = fmax(widest, s->tail_variance[i].v);
    return widest;
}

/* Variance of a node's shift along any line, per |r|^2, by all but rotations: a strain of one
 * component, and a mode E, shift it by at most |E||r|. */
static double strain_variance(const db_spread_interface *s) {
    double sum = s->strain.v;
    for (int i = 0; i < 3; i++) sum += fabs(s->strain_direct[i].v) + fabs(s->strain_shear[i].v);
    for (int k = 0; k < DB_SPREAD_MODES; k++) sum += square_sum(&s->mode[k]);
    return fmax(0, sum) * widest_tail(s) + fmax(0, s->bandwidth.v);
}

/* A rotation w shifts it by w.(r x t) along t. */
static double rotation_variance(const db_spread_interface *s) {
    return largest_variance(s->rotation) * widest_tail(s);
}

/* |q| at a panel's corners, at most (1/angstrom); a cone about the beam of less than a quarter turn
 * is convex, so that no other point of a panel has a larger one. */
static double finest(const db_plan *plan) {
    double largest = 0;
    for (size_t j = 0; j < plan->experiment.beam.source_count; j++) {
        const db_kernel_source_double *s = &plan->values.source_double[j];
        for (size_t p = 0; p < plan->experiment.detector.panel_count; p++) {
            const db_panel *own = &plan->experiment.detector.panels[p];
            const db_kernel_panel *k = &plan->values.panel[p];
            for (int corner = 0; corner < 4; corner++) {
                double x[3];
                for (int c = 0; c < 3; c++)
                    x[c] = k->origin[c] +
                           (corner & 1 ? own->fast_pixels * k->pixel_size[0] * k->fast[c] : 0) +
                           (corner & 2 ? own->slow_pixels * k->pixel_size[1] * k->slow[c] : 0);
                const double along = db_dot(x, s->s0) / db_length(x);
                const double square =
                    along > 0 ? s->kappa * s->kappa + db_dot(s->s0, s->s0) - 2 * s->kappa * along
                              : 4 * s->kappa * s->kappa;
                largest = fmax(largest, sqrt(fmax(0, square)));
            }
        }
    }
    return largest;
}

/* The largest sum of exp(-x^2/2) over x at steps t, for any start. It is at a start of 0, since all Fourier
 * coefficients of the sum as a function of the start are positive; they also compute it if steps are short. */
static double largest_sum(double t) {
    const double pi = 3.141592653589793, length = t < 2.5 ? 2 * pi / t : t;
    double sum = 1;
    for (int n = 1; n <= 4; n++) sum += 2 * exp(-0.5 * n * n * length * length);
    return t < 2.5 ? sqrt(2 * pi) / t * sum : sum;
}

/* Upper bound of the sum of exp(-share |x|^2/(2 s^2)) over the reciprocal lattice, wherever its
 * origin: along each vector of Gram and Schmidt's basis at most the largest sum. */
static double lattice_sum(const db_matrix *reciprocal, double s, double share) {
    double product = 1, basis[3][3];
    for (int i = 0; i < 3; i++) {
        db_vector_out(reciprocal->r[i], basis[i]);
        for (int j = 0; j < i; j++) {
            const double part = db_dot(basis[i], basis[j]) / db_dot(basis[j], basis[j]);
            for (int c = 0; c < 3; c++) basis[i][c] -= part * basis[j][c];
        }
        product *= largest_sum(db_length(basis[i]) * sqrt(share) / s);
    }
    return product;
}

/* The longest node that counts. Its r differs from the detector's scattering vectors q by the extent R of its spot
 * along r: |r|^2 - 2 |r| R <= |q|^2, R = a + b |r|, for spots stretched by the cap and for others; rotations are
 * no part of R. */
static double longest_node(const db_plan *plan, const db_spot_bounds *bounds, double kappa) {
    const double q = fmin(finest(plan), 2 * kappa), reach = kappa * sqrt(bounds->largest),
                 a = reach * sqrt(bounds->constant + bounds->place),
                 left = fmax(0.1, 1 - 2 * reach * sqrt(bounds->lengthening)),
                 longest = (a + sqrt(a * a + left * q * q)) / left;
    const double dmin = plan->experiment.dmin;
    return dmin > 0 ? fmin(longest, 1 / dmin) : longest;
}

db_spot_bounds db_spot_bounds_of(const db_plan *plan) {
    const db_experiment *e = &plan->experiment;
    const db_interface *z = &plan->values.interface;
    const db_spread_interface *spread = &z->spread;
    db_spot_bounds b = { 0 };
    double kappa = 0, weight = 0, least_kappa = 1e300;
    for (size_t j = 0; j < e->beam.source_count; j++) {
        kappa = fmax(kappa, plan->values.source_double[j].kappa);
        least_kappa = fmin(least_kappa, plan->values.source_double[j].kappa);
        weight = fmax(weight, plan->values.source_double[j].weight);
    }
    const double range = fabs(e->goniometer.phi_step) * DB_DEGREE;
    b.photons = db_plan_pixel_factor(plan);
    b.largest = 2 * log(1 / DB_SPOT_ALWAYS);
    b.place = db_plan_place_variance(plan);
    const double square = 1 / (least_kappa * least_kappa);
    b.constant = largest_variance(spread->size) * square + largest_variance(spread->divergence);
    b.lengthening = strain_variance(spread) * square;
    b.growing = b.lengthening + rotation_variance(spread) * square;
    b.longest = longest_node(plan, &b, kappa);
    if (plan->tolerance > 0) {
        /* spots of one pixel: each node in each passage, for each source and Gaussian of blocks */
        const double copies = (double)e->beam.source_count * (1 + e->spread.tails) *
                              (range > 0 ? 2 + range / 3.14 : 1);
        const double cells = z->cells[0].v * z->cells[1].v * z->cells[2].v;
        const double peak = b.photons * plan->table.largest_intensity * cells * cells * weight;
        const double widest =
            kappa * sqrt(b.constant + b.growing * b.longest * b.longest + b.place);
        static const double shares[] = { 0.02, 0.05, 0.07, 0.1, 0.14, 0.2, 0.5 };
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            const double per_spot =
                plan->tolerance / (copies * lattice_sum(&spread->reciprocal, widest, shares[i]));
            const double cut = 2 / (1 - shares[i]) * log(peak / per_spot);
            if (i > 0 && !(cut < b.largest)) continue;
            b.share = shares[i];
            b.per_spot = per_spot;
            b.largest = fmin(b.largest, fmax(cut, 0));
        }
    }
    b.longest = longest_node(plan, &b, kappa);
    return b;
}

db_spot_reach db_spot_largest_reach(const db_spot_bounds *b, double wavelength) {
    const double longest = b->longest * wavelength, step = 1.1;
    const double nearest = 1e-6 * longest; /* where spots have no reach, pieces would not end */
    db_spot_reach largest = { 0 };
    for (double rho = longest; rho > 0; rho /= step) {
        /* variances from the longer end of each piece, 1/rho from its shorter one */
        const double square =
            b->growing * (step * step - 1) * rho * rho / (wavelength * wavelength);
        db_spot_bounds wider = *b;
        wider.constant += square;
        wider.turn *= step;
        const db_spot_reach r = spot_reach_of_double_0(&wider, rho, wavelength, 0);
        if (r.across > 2 || rho < nearest) { /* |s0 + r| differs by |r| from |s0|, at most */
            const double most = fmin(longest, step * rho);
            largest.inwards = fmax(largest.inwards, most);
            largest.outwards = fmax(largest.outwards, most);
            break;
        }
        const double outwards = r.outwards < 0.5 ? r.outwards / (1 - r.outwards) : longest;
        largest.inwards = fmax(largest.inwards, r.inwards);
        largest.outwards = fmax(largest.outwards, outwards);
    }
    return largest;
}
