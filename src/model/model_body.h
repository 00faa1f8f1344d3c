/* The model: parameters of an experiment -> interface values, written once in dual numbers of the
 * current width. Included by model_plain.c (no slopes) and model_dual.c (a slope for every
 * parameter of the table).
 *
 * Source of the equations: model.md, sections 2 to 7, cited at each function. Lengths inside:
 * angstrom for the crystal, metre for the detector. */
static const double DEGREE = 0.017453292519943295769; /* radian */

static num parameter(const db_experiment *experiment, db_parameter p) {
    return n_seed(db_parameter_get(experiment, p), (int)p);
}

static num radians(const db_experiment *experiment, db_parameter p) {
    return n_scale(parameter(experiment, p), DEGREE);
}

static vec3 fixed(const double v[3]) { return v3_passive(v[0], v[1], v[2]); }

/* Real-space basis of the standard frame: c along z, b in the yz plane (model.md 18.8); rows a, b,
 * c. Smooth for every possible cell, no clamping. */
static mat3 cell_basis(num a, num b, num c, num alpha, num beta, num gamma) {
    const num zero = n_constant(0), cos_alpha = n_cos(alpha), sin_alpha = n_sin(alpha),
              cos_beta = n_cos(beta), cos_gamma = n_cos(gamma);
    const num a_y = n_div(n_sub(cos_gamma, n_mul(cos_alpha, cos_beta)), sin_alpha);
    /* a's direction cosines along z and y are fixed by the angles; what remains of its length lies
     * along x */
    const num a_x = n_sqrt(n_shift(n_neg(n_add(n_sqr(a_y), n_sqr(cos_beta))), 1));
    return m3_rows(v3_make(n_mul(a, a_x), n_mul(a, a_y), n_mul(a, cos_beta)),
                   v3_make(zero, n_mul(b, sin_alpha), n_mul(b, cos_alpha)), v3_make(zero, zero, c));
}

/* Lattice vectors in the laboratory at the first phi step: orientation, misset (2.3), then the
 * spindle (3). */
static mat3 lattice_vectors(const db_experiment *e) {
    const mat3 basis =
        cell_basis(parameter(e, DB_CELL_A), parameter(e, DB_CELL_B), parameter(e, DB_CELL_C),
                   radians(e, DB_CELL_ALPHA), radians(e, DB_CELL_BETA), radians(e, DB_CELL_GAMMA));
    const mat3 misset =
        m3_rotation_xyz(radians(e, DB_MISSET_X), radians(e, DB_MISSET_Y), radians(e, DB_MISSET_Z));
    const mat3 spindle = m3_rotation(fixed(e->goniometer.spindle_axis), radians(e, DB_PHI));
    const double *given = e->crystal.orientation;
    const mat3 orientation = m3_rows(fixed(given), fixed(given + 3), fixed(given + 6));
    const mat3 turn = m3_multiply(spindle, m3_multiply(misset, orientation));
    return m3_multiply(basis, m3_transpose(turn));
}

/* Rotations of the samples, transposed: first the spindle's further steps, then the mosaic domain
 * (3, 4.3). */
static void sample_rotations(const db_experiment *e, const db_mosaic_direction *directions,
                             mat3 *rotation) {
    const num spread = radians(e, DB_MOSAIC_SPREAD);
    const int domains = e->crystal.mosaic_domains;
    for (int i = 0; i < e->goniometer.phi_steps; i++) {
        const double angle = i * e->goniometer.phi_step * DEGREE;
        const mat3 spindle = m3_rotation(fixed(e->goniometer.spindle_axis), n_constant(angle));
        for (int m = 0; m < domains; m++) {
            const mat3 mosaic =
                m3_rotation(fixed(directions[m].axis), n_scale(spread, directions[m].fraction));
            rotation[i * domains + m] = m3_transpose(m3_multiply(mosaic, spindle));
        }
    }
}

/* Light that travels along the polarization axis has no field there. Unpolarized light needs none;
 * to the reference all scattering of polarized one lies along the field. */
static void undirected_tensor(const db_experiment *e, vec3 incident, num tensor[6]) {
    const num i[3] = { incident.x, incident.y, incident.z };
    const double k = e->reference.on ? e->beam.polarization : 0;
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    for (int n = 0; n < 6; n++)
        tensor[n] = n_shift(n_scale(n_mul(i[first[n]], i[second[n]]), 1 + k), n < 3 ? -k : 0);
}

/* Kahn's polarization factor as a quadratic form of the outgoing direction (model.md 10): with E
 * and B the field directions, P = (1 + (d.i)^2 - K ((d.E)^2 - (d.B)^2))/2 = (1 + d.W d)/2. Without
 * polarization W = 1: P = 1. */
static void polarization_tensor(const db_experiment *e, vec3 incident, num tensor[6]) {
    if (!e->beam.polarized) {
        for (int i = 0; i < 6; i++) tensor[i] = n_constant(i < 3);
        return;
    }
    const num k = parameter(e, DB_POLARIZATION);
    const vec3 across = v3_cross(fixed(e->beam.polarization_axis), incident);
    if (!(v3_square(across).v > 1e-24)) {
        undirected_tensor(e, incident, tensor);
        return;
    }
    const vec3 magnetic = v3_unit(across);
    const vec3 electric = v3_unit(v3_cross(incident, magnetic));
    const num i[3] = { incident.x, incident.y, incident.z },
              f[3] = { electric.x, electric.y, electric.z },
              g[3] = { magnetic.x, magnetic.y, magnetic.z };
    static const int first[6] = { 0, 1, 2, 0, 0, 1 }, second[6] = { 0, 1, 2, 1, 2, 2 };
    for (int n = 0; n < 6; n++) {
        const int p = first[n], q = second[n];
        tensor[n] = n_sub(n_mul(i[p], i[q]), n_mul(k, n_sub(n_mul(f[p], f[q]), n_mul(g[p], g[q]))));
    }
}

static num source_weight(const db_experiment *e, const db_parameter_slots *slots, size_t source) {
    const double weight = e->beam.sources[source].weight;
    const int slope =
        slots && slots->count ? db_parameter_slope(slots, db_parameter_source_weight(source)) : -1;
    return slope < 0 ? n_constant(weight) : n_seed(weight, slope);
}

/* Sources: divergence (6.2: vertical angle about the polarization axis first, then horizontal about
 * beam x polarization), then the tilt of the whole beam about the same axes. */
static void beam_sources(const db_experiment *e, const db_parameter_slots *slots,
                         source_interface *source) {
    const vec3 horizontal = fixed(e->beam.polarization_axis),
               vertical = v3_unit(v3_cross(fixed(e->beam.direction), horizontal));
    const mat3 tilt =
        m3_multiply(m3_rotation(vertical, n_scale(parameter(e, DB_BEAM_HORIZONTAL), 1e-3)),
                    m3_rotation(horizontal, n_scale(parameter(e, DB_BEAM_VERTICAL), 1e-3)));
    const num wavelength = parameter(e, DB_WAVELENGTH), dispersion = parameter(e, DB_DISPERSION),
              horizontal_range = n_scale(parameter(e, DB_DIVERGENCE_HORIZONTAL), 1e-3),
              vertical_range = n_scale(parameter(e, DB_DIVERGENCE_VERTICAL), 1e-3);
    num total = n_constant(0);
    for (size_t j = 0; j < e->beam.source_count; j++) {
        source[j].weight = source_weight(e, slots, j);
        total = n_add(total, source[j].weight);
    }
    for (size_t j = 0; j < e->beam.source_count; j++) {
        const db_source *s = &e->beam.sources[j];
        const vec3 diverged =
            m3_apply(m3_rotation(vertical, n_scale(horizontal_range, s->spread[0])),
                     m3_apply(m3_rotation(horizontal, n_scale(vertical_range, s->spread[1])),
                              fixed(s->direction)));
        const vec3 incident = m3_apply(tilt, diverged);
        const num own_wavelength = n_mul(n_scale(wavelength, s->wavelength_ratio),
                                         n_shift(n_scale(dispersion, s->spread[2]), 1));
        source[j].kappa = n_div(n_constant(1), own_wavelength);
        source[j].s0 = v3_scale(incident, source[j].kappa);
        polarization_tensor(e, incident, source[j].polarization);
        source[j].weight = n_div(source[j].weight, total);
    }
}

/* The detector plate and its panels in the laboratory (5.4). */
static void detector_panels(const db_experiment *e, panel_interface *panel) {
    const db_detector *d = &e->detector;
    const vec3 beam = fixed(e->beam.direction);
    const mat3 turn = m3_rotation_xyz(radians(e, DB_DETECTOR_ROTX), radians(e, DB_DETECTOR_ROTY),
                                      radians(e, DB_DETECTOR_ROTZ));
    const mat3 swing =
        m3_multiply(m3_rotation(fixed(d->twotheta_axis), radians(e, DB_TWOTHETA)), turn);
    const vec3 fast = m3_apply(swing, fixed(d->fast_axis)),
               slow = m3_apply(swing, fixed(d->slow_axis)),
               normal = m3_apply(swing, fixed(d->normal));
    /* obliquity of the plate to the beam before the two-theta swing */
    const num ratio = v3_dot(beam, m3_apply(turn, fixed(d->normal)));
    const num given = n_scale(parameter(e, DB_DISTANCE), 1e-3);
    const num along_beam = d->distance_is_close ? n_div(given, ratio) : given;
    const num along_normal = d->distance_is_close ? given : n_mul(given, ratio);
    const num centre_fast = n_scale(parameter(e, DB_BEAM_FAST), 1e-3),
              centre_slow = n_scale(parameter(e, DB_BEAM_SLOW), 1e-3);
    const vec3 hub =
        d->pivot == DB_PIVOT_BEAM ? v3_scale(beam, along_beam) : v3_scale(normal, along_normal);
    const vec3 plate =
        v3_sub(hub, v3_add(v3_scale(fast, centre_fast), v3_scale(slow, centre_slow)));
    const mat3 axes = m3_rows(fast, slow, normal);
    for (size_t p = 0; p < d->panel_count; p++) {
        const db_panel *own = &d->panels[p];
        const vec3 offset =
            v3_passive(own->origin[0] * 1e-3, own->origin[1] * 1e-3, own->origin[2] * 1e-3);
        panel[p].origin = v3_add(plate, m3_apply_transposed(axes, offset));
        panel[p].fast = m3_apply_transposed(axes, fixed(own->fast_axis));
        panel[p].slow = m3_apply_transposed(axes, fixed(own->slow_axis));
        panel[p].normal = m3_apply_transposed(axes, fixed(own->normal));
        panel[p].z = v3_dot(panel[p].origin, panel[p].normal);
        panel[p].radius = n_div(panel[p].z, v3_dot(beam, panel[p].normal));
        const vec3 spot = v3_sub(v3_scale(beam, panel[p].radius), panel[p].origin);
        panel[p].beam_fast = v3_dot(spot, panel[p].fast);
        panel[p].beam_slow = v3_dot(spot, panel[p].slow);
    }
}

/* Layers of the sensor (8, recommended: they fill the thickness). */
static void sensor_layers(const db_experiment *e, interface_values *out) {
    const db_detector *d = &e->detector;
    out->layer_step = n_scale(parameter(e, DB_SENSOR_THICKNESS), 1e-6 / d->sensor_layers);
    out->attenuation = d->sensor_thickness == 0
                           ? n_constant(0)
                           : n_div(n_constant(1e6), parameter(e, DB_ATTENUATION_DEPTH));
}

/* Water: a cube of its own size, with an amplitude of 2.57 electrons in all directions (12); an
 * amorphous layer: its volume's number of molecules (19). */
static void lattice_free_matter(const db_experiment *e, interface_values *out) {
    const db_background *b = &e->background;
    const double samples = (double)e->goniometer.phi_steps * e->crystal.mosaic_domains;
    const double density = 1e6, molar_mass = 18; /* g/m^3, g/mol */
    const num edge = n_scale(parameter(e, DB_WATER_SIZE), 1e-6);
    out->water = n_scale(n_mul(edge, n_sqr(edge)),
                         samples * 2.57 * 2.57 * (density * DB_AVOGADRO / molar_mass));
    const double per_thickness =
        b->count == 0 ? 0 : 1e-9 * b->area * (1e6 * b->density) * DB_AVOGADRO / b->molecular_weight;
    out->molecules = n_scale(parameter(e, DB_AMORPHOUS_THICKNESS), samples * per_thickness);
}

static void model_interface(const db_experiment *e, const db_mosaic_direction *directions,
                            const db_parameter_slots *slots, interface_values *out) {
    out->lattice = lattice_vectors(e);
    sample_rotations(e, directions, out->rotation);
    out->cells[0] = parameter(e, DB_CELLS_A);
    out->cells[1] = parameter(e, DB_CELLS_B);
    out->cells[2] = parameter(e, DB_CELLS_C);
    out->b_factor = parameter(e, DB_B_FACTOR);
    const double samples =
        (double)e->goniometer.phi_steps * e->crystal.mosaic_domains * e->oversample * e->oversample;
    out->scale = n_scale(parameter(e, DB_SCALE), DB_THOMSON_R2 * e->beam.fluence / samples);
    sensor_layers(e, out);
    lattice_free_matter(e, out);
    detector_panels(e, out->panel);
    beam_sources(e, slots, out->source);
}
