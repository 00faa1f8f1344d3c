/* One pixel of the image: the plain sum over its sub-pixels, layers, sources and samples. The oracle
 * and the image in long double use it. Include once per (REAL, DIRS), after kernel/one_sample.h. */

#define pixel_inputs AD_NUM(pixel_inputs)
#define sample_intensity AD_NUM(sample_intensity)
#define scattered_intensity AD_NUM(scattered_intensity)
#define beam_intensity AD_NUM(beam_intensity)
#define site_intensity AD_NUM(site_intensity)
#define pixel_intensity AD_NUM(pixel_intensity)

/* Everything that a pixel depends on; borrowed. */
typedef struct {
    const db_experiment *experiment;
    const interface_values *interface;
    const db_parameter_slots *slots; /* slots of the parameters in the interface's duals, or NULL */
    const db_kernel_amorphous *curve;
} pixel_inputs;

/* F_c^2 F_latt^2 of one sample (mosaic domain and phi step) in one source's beam. */
AD_FN num sample_intensity(const pixel_inputs *o, size_t source, size_t sample, vec3 q) {
    const db_experiment *e = o->experiment;
    const interface_values *z = o->interface;
    const vec3 hkl = m3_apply(z->lattice, m3_apply(z->rotation[sample], q));
    const num h[3] = { hkl.x, hkl.y, hkl.z };
    lane node[3];
    num offset[3];
    for (int j = 0; j < 3; j++) {
        node[j] = nearest_node(h[j].v);
        offset[j] = n_shift(h[j], -node[j]);
    }
    const db_structure_factors *f = &e->structure_factors;
    const num square = f->amplitude && f->interpolate
                           ? n_sqr(interpolated_amplitude(f, o->slots, h))
                           : node_square(f, o->slots, z->site_curve, source, node);
    return n_mul(square,
                 lattice_amplitude_squared(e->crystal.shape, e->crystal.fudge, offset, z->cells));
}

/* Squared amplitude of crystal and background at the scattering vector q of one source. */
AD_FN num scattered_intensity(const pixel_inputs *o, size_t source, vec3 q) {
    const db_experiment *e = o->experiment;
    const size_t samples = db_sample_count(e);
    const num square = v3_square(q);
    num sum = o->interface->water;
    if (o->curve->bins)
        sum = n_add(sum,
                    n_mul(o->interface->molecules, amorphous_square(o->curve, resolution(square))));
    if (!within_resolution(square.v, e->dmin)) return sum;
    num crystal = halo_square(e, o->interface, o->slots, q);
    for (size_t s = 0; s < samples; s++)
        crystal = n_add(crystal, sample_intensity(o, source, s, q));
    return n_add(sum, n_mul(crystal, debye_waller_factor(square, o->interface->b_factor)));
}

/* Sum over all sources in direction d, each with its weight and polarization factor. */
AD_FN num beam_intensity(const pixel_inputs *o, vec3 d) {
    num sum = n_constant(0);
    for (size_t n = 0; n < o->experiment->beam.source_count; n++) {
        const source_interface *source = &o->interface->source[n];
        const vec3 q = scattering_vector(d, source->kappa, source->s0);
        sum = n_add(sum, n_mul(n_mul(source->weight, polarization_factor(d, source->polarization)),
                               scattered_intensity(o, n, q)));
    }
    return sum;
}

/* Photons per unit of scale at one point of a pixel (m, from the panel's corner) in one layer. */
AD_FN num site_intensity(const pixel_inputs *o, size_t panel, lane fast, lane slow, int layer) {
    const site s = site_at(o->experiment, o->interface, panel, layer, fast, slow);
    return n_mul(beam_intensity(o, s.d), n_mul(s.omega, s.capture));
}

AD_FN num pixel_intensity(const pixel_inputs *o, size_t p, int fast, int slow) {
    const db_experiment *e = o->experiment;
    const db_panel *panel = &e->detector.panels[p];
    const lane size_fast = (REAL)1e-3 * panel->pixel_size[0],
               size_slow = (REAL)1e-3 * panel->pixel_size[1], part = (REAL)1 / e->oversample;
    const int layers = e->detector.sensor_thickness != 0 ? e->detector.sensor_layers : 1;
    num total = n_constant(0);
    for (int i = 0; i < e->oversample; i++)
        for (int j = 0; j < e->oversample; j++)
            for (int layer = 0; layer < layers; layer++)
                total = n_add(total, site_intensity(o, p, (fast + (j + 0.5) * part) * size_fast,
                                                    (slow + (i + 0.5) * part) * size_slow, layer));
    return n_mul(o->interface->scale, total);
}
