/* One pixel of spots in closed form: the plain sum over sub-pixels and spots. For the oracle and for
 * the image in long double. Include once per (REAL, DIRS) that needs it, after kernel/one_pixel.h,
 * kernel/spot.h and kernel/spot_shape.h. */

#define spot_shown AD_NUM(spot_shown)
#define spot_seen_at AD_NUM(spot_seen_at)
#define spots_intensity AD_NUM(spots_intensity)
#define spots_pixel AD_NUM(spots_pixel)

/* A spot that reaches the pixel's region. */
typedef struct {
    spot_values value;
    const db_spot_entry *entry;
} spot_shown;

/* Its part of the crystal's intensity in direction d. */
AD_FN num spot_seen_at(const spot_shown *spot, vec3 d) {
    const spot_values *v = &spot->value;
    const vec3 z = m3_apply(v->white, v3_sub(d, v->centre));
    const num across = n_add(n_sqr(z.x), n_sqr(z.y)), whole = n_add(across, n_sqr(z.z));
    const int moves = spot->entry->name.passage.moves;
    const REAL cut = (REAL)spot->entry->cut;
    if (!moves) {
        if (!(whole.v < cut)) return n_constant(0);
        return n_mul(v->amplitude, spot_gaussian(whole));
    }
    const REAL before = v->from.v - z.z.v, behind = z.z.v - v->to.v;
    const REAL outside = before > 0 ? before : behind > 0 ? behind : 0;
    if (!(across.v + outside * outside < cut)) return n_constant(0);
    const int narrow = v->to.v - v->from.v < (REAL)DB_SPOT_NARROW;
    return n_mul(n_mul(v->amplitude, spot_gaussian(across)),
                 spot_passed(narrow, v->from, v->to, z.z));
}

/* All sources for one direction. */
AD_FN num spots_intensity(const pixel_inputs *o, const spot_shown *spot, size_t count, vec3 d) {
    num sum = n_constant(0);
    size_t i = 0;
    for (size_t j = 0; j < o->experiment->beam.source_count; j++) {
        const source_interface *source = &o->interface->source[j];
        const vec3 q = scattering_vector(d, source->kappa, source->s0);
        const num square = v3_square(q);
        num crystal = n_constant(0), free_matter = o->interface->water;
        for (; i < count && spot[i].entry->name.source == j; i++)
            crystal = n_add(crystal, spot_seen_at(&spot[i], d));
        if (within_resolution(square.v, o->experiment->dmin))
            crystal = n_add(crystal, n_mul(source->weight,
                                           halo_square(o->experiment, o->interface, o->slots, q)));
        crystal = n_mul(crystal, debye_waller_factor(square, o->interface->b_factor));
        if (o->curve->bins)
            free_matter = n_add(free_matter, n_mul(o->interface->molecules,
                                                   amorphous_square(o->curve, resolution(square))));
        sum = n_add(sum, n_mul(polarization_factor(d, source->polarization),
                               n_add(crystal, n_mul(source->weight, free_matter))));
    }
    return sum;
}

/* spot: those that reach the pixel, in the order of sources. */
AD_FN num spots_pixel(const pixel_inputs *o, const spot_shown *spot, size_t count, size_t p,
                      int fast, int slow) {
    const db_experiment *e = o->experiment;
    const db_panel *panel = &e->detector.panels[p];
    const lane size_fast = (REAL)1e-3 * panel->pixel_size[0],
               size_slow = (REAL)1e-3 * panel->pixel_size[1], part = (REAL)1 / e->oversample;
    num total = n_constant(0);
    for (int i = 0; i < e->oversample; i++)
        for (int j = 0; j < e->oversample; j++) {
            const site s = site_at(e, o->interface, p, 0, (fast + (j + 0.5) * part) * size_fast,
                                   (slow + (i + 0.5) * part) * size_slow);
            total = n_add(total,
                          n_mul(spots_intensity(o, spot, count, s.d), n_mul(s.omega, s.capture)));
        }
    return n_mul(o->interface->scale, total);
}
