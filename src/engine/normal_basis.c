/* The basis images whose products make the normal equations. */
#include "engine/plan_normal.h"

#include <math.h>
#include <stdlib.h>

static int moves_lattice(const db_plan *plan, size_t k) {
    return db_parameter_wanted_kind(&plan->parameters, k) == DB_WANTED_LATTICE;
}

static size_t pairs(size_t images) { return images * (images + 1) / 2; }

/* The nine columns of the lattice make more products than few parameters, but spare the sums that
 * form their images of the columns: whichever costs less multiplications per pixel. */
static int prefer_lattice_columns(size_t parameters, size_t others) {
    return DB_LATTICE_COLUMNS + pairs(others + DB_LATTICE_COLUMNS) <
           DB_LATTICE_COLUMNS * parameters + pairs(others + parameters);
}

/* Spots in closed form have no columns in common: each parameter is an image of its own. */
static db_status check_count(const db_plan *plan, size_t count) {
    const size_t most = plan->spots ? DB_NORMAL_MOST_SPOTS : DB_NORMAL_MOST;
    if (count <= most) return DB_OK;
    return db_fail(plan->context, DB_ERROR_USAGE,
                   "normal equations: at most %zu parameters fit one plan, found %zu", most,
                   plan->parameters.count);
}

db_status db_normal_basis_create(const db_plan *plan, db_normal_basis *basis) {
    const size_t panels = plan->experiment.detector.panel_count;
    size_t lattice = 0;
    for (size_t k = 0; k < plan->parameters.count && !plan->spots; k++)
        lattice += (size_t)moves_lattice(plan, k);
    const size_t others = plan->parameters.count - lattice;
    basis->lattice_columns = lattice > 0 && prefer_lattice_columns(lattice, others + 1);
    basis->count = others + (basis->lattice_columns ? DB_LATTICE_COLUMNS : lattice);
    DB_TRY(check_count(plan, basis->count));
    basis->image = calloc(panels * basis->count, sizeof *basis->image);
    basis->combination = calloc(plan->parameters.count * basis->count, sizeof *basis->combination);
    basis->step = calloc(basis->count, sizeof *basis->step);
    if (!basis->image || !basis->combination || !basis->step)
        return db_fail_memory(plan->context, "normal equations");
    return DB_OK;
}

void db_normal_basis_clear(db_normal_basis *basis) {
    free(basis->image);
    free(basis->combination);
    free(basis->step);
}

/* A power of two near x > 0: a factor that changes no digits. */
static double power_of_two(double x) {
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent);
}

/* The typical step of a parameter. An image of the basis is the change by this step, in photons: within the range
 * of float for any unit of the parameter. */
static double step_of(const db_plan *plan, size_t k) {
    return power_of_two(db_parameter_describe(plan->parameters.list[k])->scale);
}

static void scale_contraction(const db_kernel_contraction *from, double factor,
                              db_kernel_contraction *to) {
    *to = (db_kernel_contraction){ 0 }; /* one column is there to read even if none counts */
    to->first_column = from->first_column;
    to->columns = from->columns;
    for (int c = 0; c < from->columns; c++) {
        to->coefficient_double[c] = from->coefficient_double[c] * factor;
        to->coefficient_float[c] = (float)to->coefficient_double[c];
    }
}

/* A parameter that is an image of its own. */
static void fill_own(const db_plan *plan, size_t k, size_t image, db_normal_basis *basis) {
    const double step = step_of(plan, k);
    for (size_t panel = 0; panel < plan->experiment.detector.panel_count; panel++)
        scale_contraction(db_slopes_contraction(&plan->slopes, panel, k), step,
                          &basis->image[panel * basis->count + image]);
    basis->combination[k * basis->count + image] = 1 / step;
}

/* The coefficient of a lattice column for parameter k, which is the same on all panels. */
static double lattice_coefficient(const db_plan *plan, size_t k, int column) {
    return db_slopes_contraction(&plan->slopes, 0, k)->coefficient_double[column];
}

static void fill_lattice_column(const db_plan *plan, int column, size_t image,
                                db_normal_basis *basis) {
    double largest = 0;
    for (size_t k = 0; k < plan->parameters.count; k++)
        if (moves_lattice(plan, k))
            largest = fmax(largest, step_of(plan, k) * fabs(lattice_coefficient(plan, k, column)));
    const double factor = largest > 0 ? power_of_two(largest) : 0;
    for (size_t k = 0; k < plan->parameters.count; k++)
        if (moves_lattice(plan, k))
            basis->combination[k * basis->count + image] =
                largest > 0 ? lattice_coefficient(plan, k, column) / factor : 0;
    for (size_t panel = 0; panel < plan->experiment.detector.panel_count; panel++) {
        db_kernel_contraction *own = &basis->image[panel * basis->count + image];
        own->first_column = DB_COLUMN_LATTICE + column;
        own->columns = 1;
        own->coefficient_double[0] = factor;
        own->coefficient_float[0] = (float)factor;
    }
}

static size_t fill_kind(const db_plan *plan, db_wanted_kind kind, size_t image,
                        db_normal_basis *basis) {
    for (size_t k = 0; k < plan->parameters.count; k++)
        if (db_parameter_wanted_kind(&plan->parameters, k) == kind)
            fill_own(plan, k, image++, basis);
    return image;
}

/* Images as the plan orders its parameters; kernels multiply them by a typical step. */
static void fill_parameters(const db_plan *plan, db_normal_basis *basis) {
    for (size_t k = 0; k < plan->parameters.count; k++) {
        basis->step[plan->slopes.position[k]] = step_of(plan, k);
        basis->combination[k * basis->count + plan->slopes.position[k]] = 1 / step_of(plan, k);
    }
}

void db_normal_basis_fill(const db_plan *plan, db_normal_basis *basis) {
    if (plan->spots) {
        fill_parameters(plan, basis);
        return;
    }
    size_t image = 0;
    if (basis->lattice_columns)
        for (int column = 0; column < DB_LATTICE_COLUMNS; column++)
            fill_lattice_column(plan, column, image++, basis);
    else
        image = fill_kind(plan, DB_WANTED_LATTICE, image, basis);
    basis->lattice_wanted = basis->lattice_columns ? 0 : image;
    image = fill_kind(plan, DB_WANTED_SINGLE, image, basis);
    basis->single_wanted = image - basis->lattice_wanted;
    fill_kind(plan, DB_WANTED_OTHER, image, basis);
}
