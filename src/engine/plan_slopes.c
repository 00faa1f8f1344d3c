/* From wide duals of the interface to what gradient kernels need: slopes of sources and
 * sample rotations, and for each parameter the coefficients that contract the kernel's columns with
 * dz/dparameter. */
#include "engine/spots.h"

#include <stdlib.h>

static int moves(const db_plan *plan, size_t k, unsigned what) {
    return (db_parameter_moves(&plan->experiment, plan->parameters[k]) & what) != 0;
}

int db_plan_moves(const db_plan *plan, unsigned what) {
    int count = 0;
    for (size_t k = 0; k < plan->parameter_count; k++) count += moves(plan, k, what);
    return count;
}

static int closed(const db_plan *plan) { return plan->experiment.spread.spots == DB_SPOTS_CLOSED; }

/* In closed form the first kind is of parameters that move spots, and there is no second one. */
db_wanted_kind db_plan_wanted_kind(const db_plan *plan, size_t k) {
    const unsigned elsewhere = DB_MOVES_SCALE | DB_MOVES_BACKGROUND | DB_MOVES_DEBYE_WALLER;
    if (closed(plan)) return moves(plan, k, elsewhere) ? DB_WANTED_OTHER : DB_WANTED_LATTICE;
    const unsigned single = DB_MOVES_CELLS | DB_MOVES_ROTATIONS | DB_MOVES_SOURCES |
                            DB_MOVES_SCALE | DB_MOVES_AMPLITUDE | DB_MOVES_DEBYE_WALLER;
    return moves(plan, k, DB_MOVES_LATTICE) ? DB_WANTED_LATTICE
           : moves(plan, k, single)         ? DB_WANTED_SINGLE
                                            : DB_WANTED_OTHER;
}

static void order_parameters(db_plan *plan) {
    size_t place = 0, end[3];
    for (int kind = DB_WANTED_LATTICE; kind <= DB_WANTED_OTHER; kind++) {
        for (size_t k = 0; k < plan->parameter_count; k++)
            if ((int)db_plan_wanted_kind(plan, k) == kind) plan->position[k] = place++;
        end[kind] = place;
    }
    if (closed(plan)) {
        plan->job.spots.parameters = end[DB_WANTED_LATTICE];
        return;
    }
    plan->job.lattice_wanted = end[DB_WANTED_LATTICE];
    plan->job.single_wanted = end[DB_WANTED_SINGLE] - end[DB_WANTED_LATTICE];
}

db_kernel_kind db_plan_gradient_kind(const db_plan *plan) {
    if (closed(plan)) return DB_KERNEL_SPOTS_GRADIENT;
    if (plan->job.general) return DB_KERNEL_GENERAL_GRADIENT;
    return db_plan_moves(plan, DB_MOVES_CELLS) ? DB_KERNEL_GRADIENT_CELLS : DB_KERNEL_GRADIENT;
}

db_status db_plan_allocate_dual(db_plan *plan) {
    const db_experiment *e = &plan->experiment;
    const size_t panels = e->detector.panel_count, sources = e->beam.source_count;
    const int rotations = db_plan_moves(plan, DB_MOVES_ROTATIONS),
              moving = db_plan_moves(plan, DB_MOVES_SOURCES);
    if (rotations > DB_MAX_ROTATION_SLOPES || moving > DB_MAX_SOURCE_SLOPES)
        return db_fail(
            plan->context, DB_ERROR_USAGE,
            "at most %d parameters of the sample rotations and %d of the sources fit one plan",
            DB_MAX_ROTATION_SLOPES, DB_MAX_SOURCE_SLOPES);
    for (size_t k = 0; k < plan->parameter_count; k++) {
        const unsigned groups = db_parameter_moves(&plan->experiment, plan->parameters[k]);
        if (groups & (groups - 1)) /* its columns would not be neighbours */
            return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                           "parameter %s moves more than one group of values",
                           db_parameter_describe(plan->parameters[k])->name);
    }
    const size_t rotation_count = (size_t)rotations * plan->sample_count * 9;
    plan->dual.rotation = malloc(plan->sample_count * sizeof *plan->dual.rotation);
    plan->dual.panel = malloc(panels * sizeof *plan->dual.panel);
    plan->dual.source = malloc(sources * sizeof *plan->dual.source);
    plan->lattice_slope_double = malloc((rotation_count + 1) * sizeof *plan->lattice_slope_double);
    plan->lattice_slope_float = malloc((rotation_count + 1) * sizeof *plan->lattice_slope_float);
    const size_t slope_count = (size_t)moving * sources + 1;
    plan->source_slope_double = malloc(slope_count * sizeof *plan->source_slope_double);
    plan->source_slope_float = malloc(slope_count * sizeof *plan->source_slope_float);
    plan->contraction = malloc(panels * plan->parameter_count * sizeof *plan->contraction);
    plan->position = malloc(plan->parameter_count * sizeof *plan->position);
    plan->derivative = malloc(plan->parameter_count * sizeof *plan->derivative);
    if (!plan->dual.rotation || !plan->dual.panel || !plan->dual.source ||
        !plan->lattice_slope_double || !plan->lattice_slope_float || !plan->source_slope_double ||
        !plan->source_slope_float || !plan->contraction || !plan->position || !plan->derivative)
        return db_fail_memory(plan->context, "the gradient part of a plan");
    order_parameters(plan);
    plan->job.rotation_slopes = closed(plan) ? 0 : rotations;
    plan->job.source_slopes = moving;
    plan->job.amplitude_slopes = closed(plan) ? 0 : db_plan_moves(plan, DB_MOVES_AMPLITUDE);
    return DB_OK;
}

db_parameter_slots db_plan_slots(const db_plan *plan, size_t first) {
    db_parameter_slots slots = { 0 };
    for (size_t k = first; k < plan->parameter_count && slots.count < DB_SLOPES_AT_ONCE; k++)
        slots.parameter[slots.count++] = plan->parameters[k];
    return slots;
}

/* Number of parameter k's slope in the duals that hold it. */
static int slope_number(size_t k) { return (int)(k % DB_SLOPES_AT_ONCE); }

static void vector_slope(db_dual_vector v, int p, double out[3]) {
    out[0] = v.x.d[p];
    out[1] = v.y.d[p];
    out[2] = v.z.d[p];
}

static void matrix_slope(const db_dual_matrix *m, int p, double out[9]) {
    for (int r = 0; r < 3; r++) vector_slope(m->r[r], p, out + 3 * r);
}

static void matrix_value(const db_dual_matrix *m, double out[9]) {
    for (int r = 0; r < 3; r++) {
        out[3 * r] = m->r[r].x.v;
        out[3 * r + 1] = m->r[r].y.v;
        out[3 * r + 2] = m->r[r].z.v;
    }
}

/* d(lattice . rotation)/dparameter of every sample. */
static void fill_rotation_slopes(db_plan *plan, int p, size_t number) {
    double lattice[9], lattice_slope[9], rotation[9], slope[9];
    matrix_value(&plan->dual.lattice, lattice);
    matrix_slope(&plan->dual.lattice, p, lattice_slope);
    for (size_t s = 0; s < plan->sample_count; s++) {
        matrix_value(&plan->dual.rotation[s], rotation);
        matrix_slope(&plan->dual.rotation[s], p, slope);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                double sum = 0;
                for (int k = 0; k < 3; k++)
                    sum += lattice[3 * r + k] * slope[3 * k + c] +
                           lattice_slope[3 * r + k] * rotation[3 * k + c];
                const size_t i = (number * plan->sample_count + s) * 9 + (size_t)(3 * r + c);
                plan->lattice_slope_double[i] = sum;
                plan->lattice_slope_float[i] = (float)sum;
            }
    }
}

/* q = kappa d - s0 moves by kappa' d - s0' = (kappa'/kappa) q - (s0' - (kappa'/kappa) s0). */
static void fill_source_slopes(db_plan *plan, int p, size_t number) {
    const size_t count = plan->experiment.beam.source_count;
    for (size_t j = 0; j < count; j++) {
        const db_dual_source_interface *z = &plan->dual.source[j];
        db_kernel_source_double *slope = &plan->source_slope_double[number * count + j];
        slope->kappa = z->kappa.d[p] / z->kappa.v;
        vector_slope(z->s0, p, slope->s0);
        const double s0[3] = { z->s0.x.v, z->s0.y.v, z->s0.z.v };
        for (int c = 0; c < 3; c++) slope->s0[c] -= slope->kappa * s0[c];
        for (int n = 0; n < 6; n++) slope->polarization[n] = z->polarization[n].d[p];
        slope->weight = z->weight.d[p];
        plan->source_slope_float[number * count + j] = db_source_to_float(slope);
    }
}

/* Columns of a parameter that have one of their own each. */
typedef struct own_columns {
    int rotation, source, amplitude;
} own_columns;

static void panel_coefficients(const db_plan *plan, size_t panel, int p,
                               double coefficient[DB_COLUMN_COUNT]) {
    const db_dual_panel_interface *placed = &plan->dual.panel[panel];
    if (plan->job.curved) {
        coefficient[DB_COLUMN_ORIGIN] = placed->radius.d[p];
        coefficient[DB_COLUMN_ORIGIN + 1] = placed->beam_fast.d[p];
        coefficient[DB_COLUMN_ORIGIN + 2] = placed->beam_slow.d[p];
    } else {
        vector_slope(placed->origin, p, coefficient + DB_COLUMN_ORIGIN);
    }
    vector_slope(placed->fast, p, coefficient + DB_COLUMN_FAST);
    vector_slope(placed->slow, p, coefficient + DB_COLUMN_SLOW);
    if (plan->job.general) {
        vector_slope(placed->normal, p, coefficient + DB_COLUMN_NORMAL);
        coefficient[DB_COLUMN_Z] = placed->z.d[p];
    } else if (!plan->experiment.point_pixel) {
        /* the solid angle of a flat pixel is proportional to z */
        coefficient[DB_COLUMN_INTENSITY] = placed->z.d[p] / placed->z.v;
    }
}

/* Coefficients of all columns for one parameter on one panel. */
static void column_coefficients(const db_plan *plan, size_t panel, size_t k, own_columns own,
                                double coefficient[DB_COLUMN_COUNT]) {
    const int p = slope_number(k);
    const db_dual_interface *z = &plan->dual;
    const double scale = z->scale.v;
    for (int c = 0; c < DB_COLUMN_COUNT; c++) coefficient[c] = 0;
    if (!closed(plan)) {
        if (moves(plan, k, DB_MOVES_LATTICE))
            matrix_slope(&z->lattice, p, coefficient + DB_COLUMN_LATTICE);
        if (moves(plan, k, DB_MOVES_ROTATIONS)) coefficient[DB_COLUMN_ROTATION + own.rotation] = 1;
        if (moves(plan, k, DB_MOVES_CELLS))
            for (int i = 0; i < 3; i++) coefficient[DB_COLUMN_CELLS + i] = z->cells[i].d[p];
        if (moves(plan, k, DB_MOVES_AMPLITUDE))
            coefficient[DB_COLUMN_AMPLITUDE + own.amplitude] = 1;
    }
    if (moves(plan, k, DB_MOVES_SOURCES)) coefficient[DB_COLUMN_SOURCE + own.source] = 1;
    if (moves(plan, k, DB_MOVES_DEBYE_WALLER))
        coefficient[DB_COLUMN_DEBYE_WALLER] = z->b_factor.d[p];
    if (moves(plan, k, DB_MOVES_PANELS)) panel_coefficients(plan, panel, p, coefficient);
    if (moves(plan, k, DB_MOVES_SENSOR) && plan->job.sensor) {
        coefficient[DB_COLUMN_LAYER_STEP] = z->layer_step.d[p];
        coefficient[DB_COLUMN_ATTENUATION] = z->attenuation.d[p];
    }
    if (moves(plan, k, DB_MOVES_BACKGROUND)) {
        coefficient[DB_COLUMN_WATER] = z->water.d[p];
        coefficient[DB_COLUMN_MOLECULES] = z->molecules.d[p];
    }
    for (int c = 0; c < DB_COLUMN_COUNT; c++) coefficient[c] *= scale;
    coefficient[DB_COLUMN_INTENSITY] += z->scale.d[p];
}

/* Keeps the run from the first to the last column that counts; of the lattice all nine. */
static void fill_contraction(db_wanted_kind kind, const double coefficient[DB_COLUMN_COUNT],
                             db_kernel_contraction *out) {
    int first = 0, end = DB_COLUMN_COUNT;
    while (end > 0 && coefficient[end - 1] == 0) end--;
    while (first < end && coefficient[first] == 0) first++;
    if (kind == DB_WANTED_LATTICE) {
        first = DB_COLUMN_LATTICE;
        end = DB_COLUMN_LATTICE + DB_LATTICE_COLUMNS;
    } else if (kind == DB_WANTED_SINGLE && first == end) {
        first = 0; /* any column, with coefficient 0 */
        end = 1;
    }
    out->first_column = first;
    out->columns = end - first;
    for (int c = first; c < end; c++) {
        out->coefficient_double[c - first] = coefficient[c];
        out->coefficient_float[c - first] = (float)coefficient[c];
    }
}

static void fill_amplitude(const db_plan *plan, size_t k, db_kernel_amplitude *out) {
    int node[3];
    db_parameter_node(plan->parameters[k], node);
    for (int j = 0; j < 3; j++) out->node[j] = node[j];
    out->twice = 2 * db_parameter_get(&plan->experiment, plan->parameters[k]);
}

void db_plan_fill_slopes(db_plan *plan) {
    if (plan->slopes_current) return;
    db_kernel_job *job = &plan->job;
    db_enter_stage(plan->context, "slopes");
    own_columns own = { 0, 0, 0 };
    for (size_t k = 0; k < plan->parameter_count; k++) {
        if (slope_number(k) == 0) {
            const db_parameter_slots slots = db_plan_slots(plan, k);
            db_model_dual(&plan->experiment, plan->directions, &slots, &plan->dual);
        }
        for (size_t panel = 0; panel < plan->experiment.detector.panel_count; panel++) {
            double coefficient[DB_COLUMN_COUNT];
            column_coefficients(plan, panel, k, own, coefficient);
            fill_contraction(closed(plan) ? DB_WANTED_OTHER : db_plan_wanted_kind(plan, k),
                             coefficient,
                             &plan->contraction[panel * plan->parameter_count + plan->position[k]]);
        }
        if (!closed(plan) && moves(plan, k, DB_MOVES_ROTATIONS))
            fill_rotation_slopes(plan, slope_number(k), (size_t)own.rotation++);
        if (moves(plan, k, DB_MOVES_SOURCES))
            fill_source_slopes(plan, slope_number(k), (size_t)own.source++);
        if (!closed(plan) && moves(plan, k, DB_MOVES_AMPLITUDE))
            fill_amplitude(plan, k, &job->amplitude[own.amplitude++]);
    }
    job->lattice_slope_double = plan->lattice_slope_double;
    job->lattice_slope_float = plan->lattice_slope_float;
    job->source_slope_double = plan->source_slope_double;
    job->source_slope_float = plan->source_slope_float;
    job->contraction = plan->contraction;
    job->parameter_count = plan->parameter_count;
    plan->slopes_current = 1;
    db_leave_stage(plan->context, "slopes");
}
