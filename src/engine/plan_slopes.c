/* Turns wide duals of the interface into the input of gradient kernels. */
#include "engine/plan_slopes.h"

#include "base/context_internal.h"
#include "model/halo_samples.h"
#include "model/site_kinds.h"

#include <stdlib.h>

static int is_closed(const db_plan_parameters *p) {
    return p->experiment->spread.spots == DB_SPOTS_CLOSED;
}

/* Do structure factors among the parameters need columns? Spots in closed form have slopes by them instead. */
static int has_amplitude_columns(const db_plan_parameters *p) {
    return !is_closed(p) || db_has_halo(&p->experiment->crystal);
}

static void order_parameters(const db_plan_parameters *p, size_t *position, db_kernel_job *job) {
    size_t place = 0, end[3];
    for (int kind = DB_WANTED_LATTICE; kind <= DB_WANTED_OTHER; kind++) {
        for (size_t k = 0; k < p->count; k++)
            if ((int)db_parameter_wanted_kind(p, k) == kind) position[k] = place++;
        end[kind] = place;
    }
    if (is_closed(p)) {
        job->spots.parameters = job->spots.each = (uint32_t)end[DB_WANTED_LATTICE];
        return;
    }
    job->lattice_wanted = end[DB_WANTED_LATTICE];
    job->single_wanted = end[DB_WANTED_SINGLE] - end[DB_WANTED_LATTICE];
}

db_status db_plan_slopes_create(db_context *context, const db_plan_parameters *p,
                                size_t sample_count, db_plan_slopes *slopes, db_kernel_job *job) {
    const db_experiment *e = p->experiment;
    const size_t panels = e->detector.panel_count, sources = e->beam.source_count,
                 curves = 2 * (size_t)db_site_count(&e->structure_factors);
    const int rotations = db_parameters_with_rotation_column(p),
              moving = db_parameters_with_source_column(p);
    if (rotations > DB_MAX_ROTATION_SLOPES || moving > DB_MAX_SOURCE_SLOPES)
        return db_fail(
            context, DB_ERROR_USAGE,
            "at most %d parameters of the sample rotations and %d of the sources fit one plan",
            DB_MAX_ROTATION_SLOPES, DB_MAX_SOURCE_SLOPES);
    for (size_t k = 0; k < p->count; k++) {
        /* spots in closed form have no columns of their lattice */
        const unsigned without =
            has_amplitude_columns(p) ? 0U : (unsigned)(DB_MOVES_LATTICE | DB_MOVES_ROTATIONS);
        const unsigned groups = db_parameter_moves(e, p->list[k]) & ~without;
        if (groups & (groups - 1)) /* columns of two groups are not neighbours */
            return db_fail(context, DB_ERROR_UNSUPPORTED,
                           "parameter %s moves more than one group of values",
                           db_parameter_describe(p->list[k])->name);
    }
    slopes->count = p->count;
    const size_t rotation_count = (size_t)rotations * sample_count * 9;
    slopes->interface.rotation = malloc(sample_count * sizeof *slopes->interface.rotation);
    slopes->interface.panel = malloc(panels * sizeof *slopes->interface.panel);
    slopes->interface.source = malloc(sources * sizeof *slopes->interface.source);
    slopes->interface.site_curve = malloc((sources * curves + 1) * sizeof(db_dual));
    slopes->lattice_double = malloc((rotation_count + 1) * sizeof *slopes->lattice_double);
    slopes->lattice_float = malloc((rotation_count + 1) * sizeof *slopes->lattice_float);
    const size_t slope_count = (size_t)moving * sources + 1;
    slopes->source_double = calloc(slope_count, sizeof *slopes->source_double);
    slopes->source_float = malloc(slope_count * sizeof *slopes->source_float);
    slopes->halo = calloc((size_t)rotations * DB_HALO_SLOPES + 1, sizeof *slopes->halo);
    slopes->contraction = malloc(panels * p->count * sizeof *slopes->contraction);
    slopes->position = malloc(p->count * sizeof *slopes->position);
    slopes->derivative = malloc(p->count * sizeof *slopes->derivative);
    slopes->site_curve = malloc((slope_count * curves + 1) * sizeof *slopes->site_curve);
    if (!slopes->interface.rotation || !slopes->interface.panel || !slopes->interface.source ||
        !slopes->lattice_double || !slopes->lattice_float || !slopes->source_double ||
        !slopes->interface.site_curve || !slopes->site_curve || !slopes->source_float ||
        !slopes->halo || !slopes->contraction || !slopes->position || !slopes->derivative)
        return db_fail_memory(context, "the gradient part of a plan");
    order_parameters(p, slopes->position, job);
    job->rotation_slopes = rotations;
    job->source_slopes = moving;
    job->amplitude_slopes =
        has_amplitude_columns(p) ? db_parameters_moving(p, DB_MOVES_AMPLITUDE) : 0;
    return is_closed(p) ? db_spot_passes_create(context, p, &slopes->passes) : DB_OK;
}

/* Index of parameter k's slope in the duals of its pass. */
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

/* Slopes of lattice . rotation of every sample, and of the halo's numbers, by a parameter. */
static void fill_rotation_slopes(size_t sample_count, int p, size_t number, int halo,
                                 db_plan_slopes *slopes) {
    double lattice[9], lattice_slope[9], rotation[9], slope[9];
    for (size_t i = 0; halo && i < DB_HALO_SLOPES; i++)
        slopes->halo[number * DB_HALO_SLOPES + i] = slopes->interface.halo[i].d[p];
    matrix_value(&slopes->interface.lattice, lattice);
    matrix_slope(&slopes->interface.lattice, p, lattice_slope);
    for (size_t s = 0; s < sample_count; s++) {
        matrix_value(&slopes->interface.rotation[s], rotation);
        matrix_slope(&slopes->interface.rotation[s], p, slope);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                double sum = 0;
                for (int k = 0; k < 3; k++)
                    sum += lattice[3 * r + k] * slope[3 * k + c] +
                           lattice_slope[3 * r + k] * rotation[3 * k + c];
                const size_t i = (number * sample_count + s) * 9 + (size_t)(3 * r + c);
                slopes->lattice_double[i] = sum;
                slopes->lattice_float[i] = (float)sum;
            }
    }
}

/* q = kappa d - s0 moves by kappa' d - s0' = (kappa'/kappa) q - (s0' - (kappa'/kappa) s0). */
static void fill_source_slopes(const db_experiment *e, int p, size_t number,
                               db_plan_slopes *slopes) {
    const size_t count = e->beam.source_count,
                 curves = 2 * count * (size_t)db_site_count(&e->structure_factors);
    for (size_t i = 0; i < curves; i++)
        slopes->site_curve[number * curves + i] = slopes->interface.site_curve[i].d[p];
    for (size_t j = 0; j < count; j++) {
        const db_dual_source_interface *z = &slopes->interface.source[j];
        db_kernel_source_double *slope = &slopes->source_double[number * count + j];
        slope->kappa = z->kappa.d[p] / z->kappa.v;
        vector_slope(z->s0, p, slope->s0);
        const double s0[3] = { z->s0.x.v, z->s0.y.v, z->s0.z.v };
        for (int c = 0; c < 3; c++) slope->s0[c] -= slope->kappa * s0[c];
        for (int n = 0; n < 6; n++) slope->polarization[n] = z->polarization[n].d[p];
        slope->weight = z->weight.d[p];
        slopes->source_float[number * count + j] = db_source_to_float(slope);
    }
}

/* Numbers of the columns of parameters that have a column of their own. */
typedef struct own_columns {
    int rotation, source, amplitude;
} own_columns;

/* Coefficients of the columns of a panel, from the slopes of its placement. */
static void panel_coefficients(const db_kernel_job *job, const db_dual_panel_interface *placed,
                               int p, double coefficient[DB_COLUMN_COUNT]) {
    if (job->curved) {
        coefficient[DB_COLUMN_ORIGIN] = placed->radius.d[p];
        coefficient[DB_COLUMN_ORIGIN + 1] = placed->beam_fast.d[p];
        coefficient[DB_COLUMN_ORIGIN + 2] = placed->beam_slow.d[p];
    } else {
        vector_slope(placed->origin, p, coefficient + DB_COLUMN_ORIGIN);
    }
    vector_slope(placed->fast, p, coefficient + DB_COLUMN_FAST);
    vector_slope(placed->slow, p, coefficient + DB_COLUMN_SLOW);
    if (job->general) {
        vector_slope(placed->normal, p, coefficient + DB_COLUMN_NORMAL);
        coefficient[DB_COLUMN_Z] = placed->z.d[p];
    } else if (!job->point_pixel) {
        /* the solid angle of a flat pixel is proportional to z */
        coefficient[DB_COLUMN_INTENSITY] = placed->z.d[p] / placed->z.v;
    }
}

/* Coefficients of all columns for one parameter on one panel. */
static void column_coefficients(const db_plan_parameters *all, const db_dual_interface *z,
                                const db_kernel_job *job, size_t panel, size_t k, own_columns own,
                                double coefficient[DB_COLUMN_COUNT]) {
    const int p = slope_number(k);
    const double scale = z->scale.v;
    for (int c = 0; c < DB_COLUMN_COUNT; c++) coefficient[c] = 0;
    if (!is_closed(all)) {
        if (db_parameter_moves_any(all, k, DB_MOVES_LATTICE))
            matrix_slope(&z->lattice, p, coefficient + DB_COLUMN_LATTICE);
        if (db_parameter_moves_any(all, k, DB_MOVES_CELLS))
            for (int i = 0; i < 3; i++) coefficient[DB_COLUMN_CELLS + i] = z->cells[i].d[p];
    }
    if (db_parameter_has_rotation_column(all, k))
        coefficient[DB_COLUMN_ROTATION + own.rotation] = 1;
    if (has_amplitude_columns(all) && db_parameter_moves_any(all, k, DB_MOVES_AMPLITUDE))
        coefficient[DB_COLUMN_AMPLITUDE + own.amplitude] = 1;
    if (db_parameter_has_source_column(all, k)) coefficient[DB_COLUMN_SOURCE + own.source] = 1;
    if (db_parameter_moves_any(all, k, DB_MOVES_DEBYE_WALLER))
        coefficient[DB_COLUMN_DEBYE_WALLER] = z->b_factor.d[p];
    if (db_parameter_moves_any(all, k, DB_MOVES_PANELS))
        panel_coefficients(job, &z->panel[panel], p, coefficient);
    if (db_parameter_moves_any(all, k, DB_MOVES_SENSOR) && job->sensor) {
        coefficient[DB_COLUMN_LAYER_STEP] = z->layer_step.d[p];
        coefficient[DB_COLUMN_ATTENUATION] = z->attenuation.d[p];
    }
    if (db_parameter_moves_any(all, k, DB_MOVES_BACKGROUND)) {
        coefficient[DB_COLUMN_WATER] = z->water.d[p];
        coefficient[DB_COLUMN_MOLECULES] = z->molecules.d[p];
    }
    for (int c = 0; c < DB_COLUMN_COUNT; c++) coefficient[c] *= scale;
    coefficient[DB_COLUMN_INTENSITY] += z->scale.d[p];
}

/* Keeps the run from the first to the last column whose coefficient is not 0; for the lattice all nine columns. */
static void fill_contraction(db_wanted_kind kind, const double coefficient[DB_COLUMN_COUNT],
                             db_kernel_contraction *out) {
    int first = 0, end = DB_COLUMN_COUNT;
    while (end > 0 && coefficient[end - 1] == 0) end--;
    while (first < end && coefficient[first] == 0) first++;
    if (kind == DB_WANTED_LATTICE) {
        first = DB_COLUMN_LATTICE;
        end = DB_COLUMN_LATTICE + DB_LATTICE_COLUMNS;
    } else if (kind == DB_WANTED_SINGLE && first == end) {
        first = 0; /* no coefficient differs from 0: any column will do */
        end = 1;
    }
    out->first_column = first;
    out->columns = end - first;
    for (int c = first; c < end; c++) {
        out->coefficient_double[c - first] = coefficient[c];
        out->coefficient_float[c - first] = (float)coefficient[c];
    }
}

static void fill_amplitude(const db_plan_parameters *p, size_t k, db_kernel_amplitude *out) {
    int node[3];
    db_parameter_node(p->list[k], node);
    for (int j = 0; j < 3; j++) out->node[j] = node[j];
    out->twice = 2 * db_parameter_get(p->experiment, p->list[k]);
}

void db_plan_slopes_fill(db_context *context, const db_plan_parameters *p,
                         const db_plan_values *values, db_plan_slopes *slopes, db_kernel_job *job) {
    const db_experiment *e = p->experiment;
    if (slopes->current) return;
    db_enter_stage(context, "slopes");
    own_columns own = { 0, 0, 0 };
    int begins = 1; /* 1: the parameter begins a pass of the model */
    slopes->passes.count = 0;
    for (size_t k = 0; k < p->count; k++) {
        if (slope_number(k) == 0) {
            const db_parameter_slots slots = db_parameters_at_once(p, k);
            db_model_dual(e, values->directions, &slots, &slopes->interface);
            begins = 1;
        }
        for (size_t panel = 0; panel < e->detector.panel_count; panel++) {
            double coefficient[DB_COLUMN_COUNT];
            column_coefficients(p, &slopes->interface, job, panel, k, own, coefficient);
            fill_contraction(is_closed(p) ? DB_WANTED_OTHER : db_parameter_wanted_kind(p, k),
                             coefficient,
                             &slopes->contraction[panel * p->count + slopes->position[k]]);
        }
        if (is_closed(p) && slopes->position[k] < job->spots.parameters) {
            db_spot_passes_add(&slopes->passes, p, &slopes->interface, k, slopes->position[k],
                               slope_number(k), begins);
            begins = 0;
        }
        if (db_parameter_has_rotation_column(p, k))
            fill_rotation_slopes(values->sample_count, slope_number(k), (size_t)own.rotation++,
                                 db_has_halo(&e->crystal), slopes);
        if (db_parameter_has_source_column(p, k))
            fill_source_slopes(e, slope_number(k), (size_t)own.source++, slopes);
        if (has_amplitude_columns(p) && db_parameter_moves_any(p, k, DB_MOVES_AMPLITUDE))
            fill_amplitude(p, k, &job->amplitude[own.amplitude++]);
    }
    job->lattice_slope_double = slopes->lattice_double;
    job->lattice_slope_float = slopes->lattice_float;
    job->source_slope_double = slopes->source_double;
    job->source_slope_float = slopes->source_float;
    job->site_curve_slope = slopes->site_curve;
    job->halo.slope = slopes->halo;
    job->contraction = slopes->contraction;
    if (is_closed(p)) {
        job->spots.each = (uint32_t)db_spot_passes_list(&slopes->passes, job->spots.parameters);
        job->spots.which = job->spots.each < job->spots.parameters ? slopes->passes.which : NULL;
    }
    job->spots.pass = slopes->passes.pass;
    job->spots.passes = slopes->passes.count;
    job->spots.dual = slopes->passes.dual;
    job->spots.dual_length = slopes->passes.length;
    job->parameter_count = p->count;
    slopes->current = 1;
    db_leave_stage(context, "slopes");
}

void db_plan_slopes_clear(db_plan_slopes *slopes) {
    void *const owned[] = { slopes->interface.rotation,
                            slopes->interface.panel,
                            slopes->interface.site_curve,
                            slopes->site_curve,
                            slopes->interface.source,
                            slopes->source_double,
                            slopes->source_float,
                            slopes->lattice_double,
                            slopes->lattice_float,
                            slopes->halo,
                            slopes->contraction,
                            slopes->position,
                            slopes->derivative };
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    db_spot_passes_clear(&slopes->passes);
}
