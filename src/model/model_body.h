/* The model: parameters of an experiment -> interface values, written once in dual numbers of the
 * current width. Included by model_plain.c (no slopes) and model_dual.c (slopes by the parameters
 * asked for).
 *
 * Source of the equations: docs/theory/crystal.md, beam.md and detector.md. Lengths inside:
 * angstrom for the crystal, metre for the detector. */
static const double DEGREE = 0.017453292519943295769; /* radian */
static const double PARALLEL = 1e-12; /* squared sine between directions that count as parallel */

typedef struct {
    const db_experiment *experiment;
    const db_parameter_slots *slots; /* parameters with slopes; NULL: none */
} model_inputs;

static num parameter(const model_inputs *m, db_parameter p) {
    const double value = db_parameter_get(m->experiment, p);
    const int slope = m->slots ? db_parameter_slope(m->slots, p) : -1;
    return slope < 0 ? n_constant(value) : n_seed(value, slope);
}

static num radians(const model_inputs *m, db_parameter p) {
    return n_scale(parameter(m, p), DEGREE);
}

static vec3 fixed(const double v[3]) { return v3_passive(v[0], v[1], v[2]); }

/* Real-space basis of the standard frame: c along z, b in the yz plane; rows a, b, c. Smooth for
 * every possible cell, no clamping (docs/theory/crystal.md, Unit cell). */
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

/* The spindle's axis. Its two tilts are rotations about directions perpendicular to it: across the
 * beam, and in its plane with the beam. */
static vec3 spindle_axis(const model_inputs *m) {
    const db_experiment *e = m->experiment;
    const vec3 axis = fixed(e->goniometer.spindle_axis);
    vec3 across = v3_cross(axis, fixed(e->beam.direction));
    if (!(v3_square(across).v > PARALLEL))
        across = v3_cross(axis, fixed(e->beam.polarization_axis));
    const vec3 across_unit = v3_unit(across);
    const mat3 tilt =
        m3_multiply(m3_rotation(across_unit, radians(m, DB_SPINDLE_TILT_BEAM)),
                    m3_rotation(v3_cross(across_unit, axis), radians(m, DB_SPINDLE_TILT_ACROSS)));
    return m3_apply(tilt, axis);
}

/* From the standard frame to the laboratory at the first phi step: orientation, misset, then the
 * spindle (docs/theory/crystal.md, Misset and spindle). */
static mat3 crystal_turn(const model_inputs *m, vec3 axis) {
    const mat3 misset =
        m3_rotation_xyz(radians(m, DB_MISSET_X), radians(m, DB_MISSET_Y), radians(m, DB_MISSET_Z));
    const mat3 spindle = m3_rotation(axis, radians(m, DB_PHI));
    const double *given = m->experiment->crystal.orientation;
    const mat3 orientation = m3_rows(fixed(given), fixed(given + 3), fixed(given + 6));
    return m3_multiply(spindle, m3_multiply(misset, orientation));
}

/* Lattice vectors in the laboratory of a crystal so turned. */
static mat3 lattice_vectors(const model_inputs *m, mat3 turn) {
    const mat3 basis =
        cell_basis(parameter(m, DB_CELL_A), parameter(m, DB_CELL_B), parameter(m, DB_CELL_C),
                   radians(m, DB_CELL_ALPHA), radians(m, DB_CELL_BETA), radians(m, DB_CELL_GAMMA));
    return m3_multiply(basis, m3_transpose(turn));
}

/* Rotation of a mosaic domain of a crystal that stands as `turn` says: about a random axis of the
 * laboratory (docs/theory/crystal.md, Mosaic domains). If the spread is anisotropic, the components
 * of the same rotation vector along the crystal's axes have a cap each. */
static mat3 mosaic_rotation(const model_inputs *m, const db_mosaic_direction *direction,
                            mat3 turn) {
    const vec3 axis = fixed(direction->axis);
    if (!m->experiment->crystal.mosaic_anisotropic)
        return m3_rotation(axis, n_scale(radians(m, DB_MOSAIC_SPREAD), direction->fraction));
    const vec3 of_cap = m3_apply_transposed(turn, v3_scale(axis, n_constant(direction->fraction)));
    const vec3 in_crystal =
        v3_make(n_mul(of_cap.x, radians(m, DB_MOSAIC_A)), n_mul(of_cap.y, radians(m, DB_MOSAIC_B)),
                n_mul(of_cap.z, radians(m, DB_MOSAIC_C)));
    return m3_rotation_vector(m3_apply(turn, in_crystal));
}

/* Rotations of the samples, transposed: first the spindle's further steps, then the mosaic domain
 * (docs/theory/crystal.md, Samples). */
static void sample_rotations(const model_inputs *m, const db_mosaic_direction *directions,
                             vec3 axis, mat3 turn, mat3 *rotation) {
    const db_experiment *e = m->experiment;
    const int domains = e->crystal.mosaic_domains;
    for (int i = 0; i < e->goniometer.phi_steps; i++) {
        const double angle = i * e->goniometer.phi_step * DEGREE;
        const mat3 spindle = m3_rotation(axis, n_constant(angle));
        const mat3 now = m3_multiply(spindle, turn);
        for (int k = 0; k < domains; k++) {
            const mat3 mosaic = mosaic_rotation(m, &directions[k], now);
            rotation[i * domains + k] = m3_transpose(m3_multiply(mosaic, spindle));
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

/* Kahn's polarization factor as a quadratic form of the outgoing direction (docs/theory/pixel.md,
 * Polarization): with E and B the field directions, P = (1 + (d.i)^2 - K ((d.E)^2 - (d.B)^2))/2 =
 * (1 + d.W d)/2. Without polarization W = 1: P = 1. */
static void polarization_tensor(const model_inputs *m, vec3 incident, num tensor[6]) {
    const db_experiment *e = m->experiment;
    if (!e->beam.polarized) {
        for (int i = 0; i < 6; i++) tensor[i] = n_constant(i < 3);
        return;
    }
    const num k = parameter(m, DB_POLARIZATION);
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

/* Mean of the sources' wavelengths, as a ratio to the beam's. */
static num mean_ratio(const model_inputs *m) {
    const db_beam *beam = &m->experiment->beam;
    num sum = n_constant(0), total = n_constant(0);
    for (size_t j = 0; j < beam->source_count; j++) {
        const num weight = parameter(m, db_parameter_source_weight(j));
        sum = n_add(sum, n_scale(weight, beam->sources[j].wavelength_ratio));
        total = n_add(total, weight);
    }
    return n_div(sum, total);
}

/* Wavelength of a source, of a spectrum stretched about its mean, with dispersion. */
static num source_wavelength(const model_inputs *m, const db_source *s, num mean) {
    const num wavelength = parameter(m, DB_WAVELENGTH), dispersion = parameter(m, DB_DISPERSION),
              widening = n_shift(parameter(m, DB_SPECTRUM_STRETCH), -1);
    const num from_mean = n_shift(n_neg(mean), s->wavelength_ratio);
    const num ratio = n_shift(n_mul(widening, from_mean), s->wavelength_ratio);
    return n_mul(n_mul(wavelength, ratio), n_shift(n_scale(dispersion, s->spread[2]), 1));
}

/* Sources: divergence (the vertical angle about the polarization axis first, then the horizontal
 * one about beam x polarization), then the tilt of the whole beam about the same axes
 * (docs/theory/beam.md, Sources). */
static void beam_sources(const model_inputs *m, source_interface *source) {
    const db_experiment *e = m->experiment;
    const vec3 horizontal = fixed(e->beam.polarization_axis),
               vertical = v3_unit(v3_cross(fixed(e->beam.direction), horizontal));
    const mat3 tilt =
        m3_multiply(m3_rotation(vertical, n_scale(parameter(m, DB_BEAM_HORIZONTAL), 1e-3)),
                    m3_rotation(horizontal, n_scale(parameter(m, DB_BEAM_VERTICAL), 1e-3)));
    const num mean = mean_ratio(m),
              horizontal_range = n_scale(parameter(m, DB_DIVERGENCE_HORIZONTAL), 1e-3),
              vertical_range = n_scale(parameter(m, DB_DIVERGENCE_VERTICAL), 1e-3);
    num total = n_constant(0);
    for (size_t j = 0; j < e->beam.source_count; j++) {
        source[j].weight = parameter(m, db_parameter_source_weight(j));
        total = n_add(total, source[j].weight);
    }
    for (size_t j = 0; j < e->beam.source_count; j++) {
        const db_source *s = &e->beam.sources[j];
        const vec3 diverged =
            m3_apply(m3_rotation(vertical, n_scale(horizontal_range, s->spread[0])),
                     m3_apply(m3_rotation(horizontal, n_scale(vertical_range, s->spread[1])),
                              fixed(s->direction)));
        const vec3 incident = m3_apply(tilt, diverged);
        source[j].kappa = n_div(n_constant(1), source_wavelength(m, s, mean));
        source[j].s0 = v3_scale(incident, source[j].kappa);
        polarization_tensor(m, incident, source[j].polarization);
        source[j].weight = n_div(source[j].weight, total);
    }
}

/* The motion that all panels make, each in its own frame: a rotation and a shift (m), in components
 * along fast, slow and normal. */
typedef struct {
    vec3 by_fast, by_slow, by_normal; /* what the rotation adds to each axis */
    vec3 shift;
} own_motion;

static own_motion panel_motion(const model_inputs *m) {
    const mat3 columns =
        m3_transpose(m3_rotation_xyz(radians(m, DB_PANEL_TURN_FAST), radians(m, DB_PANEL_TURN_SLOW),
                                     radians(m, DB_PANEL_TURN_NORMAL)));
    const mat3 one = m3_identity();
    own_motion own;
    own.by_fast = v3_sub(columns.r[0], one.r[0]);
    own.by_slow = v3_sub(columns.r[1], one.r[1]);
    own.by_normal = v3_sub(columns.r[2], one.r[2]);
    own.shift = v3_make(n_scale(parameter(m, DB_PANEL_SHIFT_FAST), 1e-3),
                        n_scale(parameter(m, DB_PANEL_SHIFT_SLOW), 1e-3),
                        n_scale(parameter(m, DB_PANEL_SHIFT_NORMAL), 1e-3));
    return own;
}

/* A vector of the plate's frame, from components in a panel's own. */
static vec3 from_own(const db_panel *p, vec3 own) {
    const double *f = p->fast_axis;
    const double *s = p->slow_axis;
    const double *n = p->normal;
    num r[3];
    for (int i = 0; i < 3; i++)
        r[i] = n_add(n_scale(own.x, f[i]), n_add(n_scale(own.y, s[i]), n_scale(own.z, n[i])));
    return v3_make(r[0], r[1], r[2]);
}

/* What its own motion adds to the corner of a panel, which lies half a diagonal from its centre. */
static vec3 corner_motion(const db_panel *p, const own_motion *m) {
    const double half_fast = 0.5e-3 * p->fast_pixels * p->pixel_size[0],
                 half_slow = 0.5e-3 * p->slow_pixels * p->pixel_size[1];
    const vec3 turned = v3_add(v3_scale(m->by_fast, n_constant(half_fast)),
                               v3_scale(m->by_slow, n_constant(half_slow)));
    return from_own(p, v3_sub(m->shift, turned));
}

/* The detector plate and its panels in the laboratory (docs/theory/detector.md, Placement). */
static void detector_panels(const model_inputs *m, panel_interface *panel) {
    const db_experiment *e = m->experiment;
    const db_detector *d = &e->detector;
    const vec3 beam = fixed(e->beam.direction);
    const mat3 turn = m3_rotation_xyz(radians(m, DB_DETECTOR_ROTX), radians(m, DB_DETECTOR_ROTY),
                                      radians(m, DB_DETECTOR_ROTZ));
    const mat3 swing =
        m3_multiply(m3_rotation(fixed(d->twotheta_axis), radians(m, DB_TWOTHETA)), turn);
    const vec3 fast = m3_apply(swing, fixed(d->fast_axis)),
               slow = m3_apply(swing, fixed(d->slow_axis)),
               normal = m3_apply(swing, fixed(d->normal));
    /* obliquity of the plate to the beam before the two-theta swing */
    const num ratio = v3_dot(beam, m3_apply(turn, fixed(d->normal)));
    const num given = n_scale(parameter(m, DB_DISTANCE), 1e-3);
    const num along_beam = d->distance_is_close ? n_div(given, ratio) : given;
    const num along_normal = d->distance_is_close ? given : n_mul(given, ratio);
    const num centre_fast = n_scale(parameter(m, DB_BEAM_FAST), 1e-3),
              centre_slow = n_scale(parameter(m, DB_BEAM_SLOW), 1e-3);
    const vec3 hub =
        d->pivot == DB_PIVOT_BEAM ? v3_scale(beam, along_beam) : v3_scale(normal, along_normal);
    const vec3 plate =
        v3_sub(hub, v3_add(v3_scale(fast, centre_fast), v3_scale(slow, centre_slow)));
    const mat3 axes = m3_rows(fast, slow, normal);
    const own_motion motion = panel_motion(m);
    for (size_t p = 0; p < d->panel_count; p++) {
        const db_panel *own = &d->panels[p];
        const vec3 offset =
            v3_add(v3_passive(own->origin[0] * 1e-3, own->origin[1] * 1e-3, own->origin[2] * 1e-3),
                   corner_motion(own, &motion));
        const vec3 own_fast = v3_add(fixed(own->fast_axis), from_own(own, motion.by_fast)),
                   own_slow = v3_add(fixed(own->slow_axis), from_own(own, motion.by_slow)),
                   own_normal = v3_add(fixed(own->normal), from_own(own, motion.by_normal));
        panel[p].origin = v3_add(plate, m3_apply_transposed(axes, offset));
        panel[p].fast = m3_apply_transposed(axes, own_fast);
        panel[p].slow = m3_apply_transposed(axes, own_slow);
        panel[p].normal = m3_apply_transposed(axes, own_normal);
        panel[p].z = v3_dot(panel[p].origin, panel[p].normal);
        panel[p].radius = n_div(panel[p].z, v3_dot(beam, panel[p].normal));
        const vec3 spot = v3_sub(v3_scale(beam, panel[p].radius), panel[p].origin);
        panel[p].beam_fast = v3_dot(spot, panel[p].fast);
        panel[p].beam_slow = v3_dot(spot, panel[p].slow);
    }
}

/* Layers of the sensor, which fill its thickness (docs/theory/detector.md, Sensor). */
static void sensor_layers(const model_inputs *m, interface_values *out) {
    const db_experiment *e = m->experiment;
    const db_detector *d = &e->detector;
    out->layer_step = n_scale(parameter(m, DB_SENSOR_THICKNESS), 1e-6 / d->sensor_layers);
    out->attenuation = d->sensor_thickness == 0
                           ? n_constant(0)
                           : n_div(n_constant(1e6), parameter(m, DB_ATTENUATION_DEPTH));
}

/* Water: a cube of its own size, with an amplitude of 2.57 electrons in all directions; an
 * amorphous layer: its volume's number of molecules (docs/theory/pixel.md, Scattering without a
 * lattice). */
static void lattice_free_matter(const model_inputs *m, interface_values *out) {
    const db_experiment *e = m->experiment;
    const db_background *b = &e->background;
    const double samples = (double)e->goniometer.phi_steps * e->crystal.mosaic_domains;
    const double density = 1e6, molar_mass = 18; /* g/m^3, g/mol */
    const num edge = n_scale(parameter(m, DB_WATER_SIZE), 1e-6);
    out->water = n_scale(n_mul(edge, n_sqr(edge)),
                         samples * 2.57 * 2.57 * (density * DB_AVOGADRO / molar_mass));
    const double per_thickness =
        b->count == 0 ? 0 : 1e-9 * b->area * (1e6 * b->density) * DB_AVOGADRO / b->molecular_weight;
    out->molecules = n_scale(parameter(m, DB_AMORPHOUS_THICKNESS), samples * per_thickness);
}

static void model_interface(const db_experiment *e, const db_mosaic_direction *directions,
                            const db_parameter_slots *slots, interface_values *out) {
    const model_inputs inputs = { e, slots }, *m = &inputs;
    const vec3 axis = spindle_axis(m);
    const mat3 turn = crystal_turn(m, axis);
    out->lattice = lattice_vectors(m, turn);
    sample_rotations(m, directions, axis, turn, out->rotation);
    out->cells[0] = parameter(m, DB_CELLS_A);
    out->cells[1] = parameter(m, DB_CELLS_B);
    out->cells[2] = parameter(m, DB_CELLS_C);
    out->b_factor = parameter(m, DB_B_FACTOR);
    const double samples =
        (double)e->goniometer.phi_steps * e->crystal.mosaic_domains * e->oversample * e->oversample;
    out->scale = n_scale(parameter(m, DB_SCALE), DB_THOMSON_R2 * e->beam.fluence / samples);
    sensor_layers(m, out);
    lattice_free_matter(m, out);
    detector_panels(m, out->panel);
    beam_sources(m, out->source);
}
