/* Where in space a point of a pixel (in one layer of the sensor) lies, and what that makes of a
 * scattered wave: its direction, the solid angle, the part that the layer absorbs; in gradient
 * instances with slopes by the values that place it. */
#ifndef DB_KERNEL_SITE_H
#define DB_KERNEL_SITE_H

#define REAL SHAPE_REAL
#if DB_INSTANCE_KIND > 0
#define DIRS 3
#define WIDE_DIRS(name) name##_double_3
#else
#define DIRS 0
#define WIDE_DIRS(name) name##_double_0
#endif

/* In jobs that are not general: flat panel, one layer, nothing but x, d and omega. */
typedef struct {
    wide_vec3 wide_d;    /* unit vector from the sample */
    vec3 x, d;           /* position (m) with slopes by itself; direction likewise */
    num omega;           /* solid angle (sr), slopes by x */
    fine capture;        /* part of the photons absorbed in this layer */
    fine fast, slow;     /* x = ... + fast fast_axis + slow slow_axis */
    fine inverse_square; /* 1/|x|^2, along rows only */
#if DB_INSTANCE_KIND > 0
    fine capture_slope[3]; /* by obliquity, layer step, attenuation */
    vec3 by_sphere;        /* curved: slopes of x by radius, beam_fast, beam_slow */
    int layer;
#endif
} site;

AD_INLINE wide_vec3 wide_passive(const double v[3]) {
    return v3_passive_double_0(l_set_double(v[0]), l_set_double(v[1]), l_set_double(v[2]));
}

/* Position on a flat panel, a layer's depth behind its front. */
AD_INLINE wide_vec3 flat_place(int general, const db_kernel_job *job, const db_kernel_panel *panel,
                               int layer, wide fast, wide slow) {
    const wide_vec3 front =
        pixel_position_double_0(wide_passive(panel->origin), wide_passive(panel->fast),
                                wide_passive(panel->slow), fast, slow);
    if (!general || layer == 0) return front;
    return v3_add_double_0(
        front, v3_scale_double_0(wide_passive(panel->normal),
                                 n_passive_double_0(l_set_double(layer * job->layer_step))));
}

/* Position on a curved one: only the values that place the sphere carry slopes, those by the axes
 * are its coefficients along them. */
AD_INLINE wide_vec3 curved_site(const db_kernel_job *job, const db_kernel_panel *panel, wide fast,
                                wide slow, site *s) {
    const double *b = job->beam_direction, *f = panel->fast, *w = panel->slow;
    const WIDE_DIRS(curved_place) p = WIDE_DIRS(curved_position)(
        WIDE_DIRS(n_seed)(l_set_double(panel->radius), 0),
        WIDE_DIRS(n_seed)(l_set_double(panel->beam_fast), 1),
        WIDE_DIRS(n_seed)(l_set_double(panel->beam_slow), 2),
        WIDE_DIRS(v3_passive)(l_set_double(b[0]), l_set_double(b[1]), l_set_double(b[2])),
        WIDE_DIRS(v3_passive)(l_set_double(f[0]), l_set_double(f[1]), l_set_double(f[2])),
        WIDE_DIRS(v3_passive)(l_set_double(w[0]), l_set_double(w[1]), l_set_double(w[2])), fast,
        slow);
#if DB_INSTANCE_KIND > 0
    s->fast = narrow(p.along_fast.v);
    s->slow = narrow(p.along_slow.v);
    s->by_sphere = v3_passive(l_set(0), l_set(0), l_set(0));
    for (int k = 0; k < 3; k++) {
        s->by_sphere.x.d[k] = narrow(p.x.x.d[k]);
        s->by_sphere.y.d[k] = narrow(p.x.y.d[k]);
        s->by_sphere.z.d[k] = narrow(p.x.z.d[k]);
    }
#else
    (void)s;
#endif
    return v3_passive_double_0(p.x.x.v, p.x.y.v, p.x.z.v);
}

/* In double: thin layers absorb the difference of two nearly equal numbers. */
AD_INLINE void capture_site(const db_kernel_job *job, const db_kernel_panel *panel, int layer,
                            site *s) {
    const wide obliquity =
        job->curved ? l_set_double(1) : v3_dot_double_0(s->wide_d, wide_passive(panel->normal)).v;
    const WIDE_DIRS(num) a = WIDE_DIRS(capture_fraction)(
        WIDE_DIRS(n_seed)(obliquity, 0), WIDE_DIRS(n_seed)(l_set_double(job->layer_step), 1),
        WIDE_DIRS(n_seed)(l_set_double(job->attenuation), 2), l_set_double(layer));
    s->capture = narrow(a.v);
#if DB_INSTANCE_KIND > 0
    for (int k = 0; k < 3; k++) s->capture_slope[k] = narrow(a.d[k]);
#endif
}

AD_INLINE site site_of(int general, const db_kernel_job *job, const db_kernel_panel *panel,
                       int layer, wide fast, wide slow) {
    site s;
    const int curved = general && job->curved;
    s.fast = narrow(fast);
    s.slow = narrow(slow);
#if DB_INSTANCE_KIND > 0
    s.layer = layer;
#endif
    const wide_vec3 x = curved ? curved_site(job, panel, fast, slow, &s)
                               : flat_place(general, job, panel, layer, fast, slow);
    s.wide_d = v3_unit_double_0(x);
    s.x = v3_seed(narrow(x.x.v), narrow(x.y.v), narrow(x.z.v), 0);
    s.d = v3_seed(narrow(s.wide_d.x.v), narrow(s.wide_d.y.v), narrow(s.wide_d.z.v), 0);
    const double depth = general && !curved ? layer * job->layer_step : 0;
    s.omega = job->point_pixel
                  ? point_solid_angle(s.x)
                  : solid_angle(s.x, n_passive(l_set((SHAPE_REAL)(panel->z + depth))),
                                l_set((SHAPE_REAL)(panel->pixel_size[0] * panel->pixel_size[1])));
    s.capture = l_set(1);
    if (general && job->sensor) capture_site(job, panel, layer, &s);
    return s;
}

#if DB_INSTANCE_KIND == 0
/* A site of a row of a plain job is nothing but its solid angle and what polarization needs. fast:
 * pixel numbers, sub-pixel included; sets the view's place. */
AD_INLINE site row_site(const db_kernel_job *job, const db_kernel_panel *panel,
                        const row_terms *row, wide fast, index_view *view) {
    site s;
    view->fast = l_mul_double(fast, l_set_double(panel->pixel_size[0]));
    view->inverse_distance = l_rsqrt_double(row_square_double_0(row->square, view->fast));
    const num inverse = n_passive(narrow(view->inverse_distance));
    s.fast = narrow(view->fast);
    s.inverse_square = l_mul(inverse.v, inverse.v);
    s.capture = l_set(1);
    const fine area = l_set((SHAPE_REAL)(panel->pixel_size[0] * panel->pixel_size[1]));
    s.omega = job->point_pixel
                  ? n_sqr(inverse)
                  : solid_angle_at(inverse, n_passive(l_set((SHAPE_REAL)panel->z)), area);
    return s;
}
#endif

#if DB_INSTANCE_KIND > 0
AD_INLINE void add_to(pixel_sums *sums, int column, fine value) {
    sums->column[column] = l_add(sums->column[column], value);
}

/* Columns of the values that place the panel and its layers. by_d, by_omega: slopes of the pixel by
 * direction and solid angle, without the layer's capture fraction in the latter. */
AD_INLINE void add_site_slopes(int general, const db_kernel_job *job, const db_kernel_panel *panel,
                               const site *s, const fine by_d[3], fine by_omega, pixel_sums *sums) {
    const vec3 direction = v3_unit(s->x);
    const int sensor = general && job->sensor, curved = general && job->curved;
    const fine pixel = l_mul(by_omega, s->omega.v); /* of this site, without capture */
    const fine captured = sensor ? l_mul(by_omega, s->capture) : by_omega;
    fine along[3] = { by_d[0], by_d[1], by_d[2] }, by_x[3];
    fine by_obliquity = l_set(0);
    if (sensor && !curved) {
        by_obliquity = l_mul(pixel, s->capture_slope[0]);
        for (int c = 0; c < 3; c++)
            along[c] = l_fma(by_obliquity, l_set((SHAPE_REAL)panel->normal[c]), along[c]);
    }
    for (int c = 0; c < 3; c++) {
        by_x[c] = l_mul(captured, s->omega.d[c]);
        by_x[c] = l_fma(along[0], direction.x.d[c], by_x[c]);
        by_x[c] = l_fma(along[1], direction.y.d[c], by_x[c]);
        by_x[c] = l_fma(along[2], direction.z.d[c], by_x[c]);
        if (!curved) add_to(sums, DB_COLUMN_ORIGIN + c, by_x[c]);
        fine *const column = sums->column;
        column[DB_COLUMN_FAST + c] = l_fma(s->fast, by_x[c], column[DB_COLUMN_FAST + c]);
        column[DB_COLUMN_SLOW + c] = l_fma(s->slow, by_x[c], column[DB_COLUMN_SLOW + c]);
    }
    if (!general) return;
    if (curved)
        for (int k = 0; k < 3; k++)
            add_to(sums, DB_COLUMN_ORIGIN + k,
                   l_fma(by_x[0], s->by_sphere.x.d[k],
                         l_fma(by_x[1], s->by_sphere.y.d[k], l_mul(by_x[2], s->by_sphere.z.d[k]))));
    /* the solid angle of a flat pixel is proportional to its distance along the normal */
    const double depth = curved ? 0 : s->layer * job->layer_step;
    const fine by_z = job->point_pixel ? l_set(0)
                                       : l_mul(l_mul(captured, s->omega.v),
                                               l_set((SHAPE_REAL)(1 / (panel->z + depth))));
    add_to(sums, DB_COLUMN_Z, by_z);
    if (sensor) {
        add_to(sums, DB_COLUMN_LAYER_STEP, l_mul(pixel, s->capture_slope[1]));
        add_to(sums, DB_COLUMN_ATTENUATION, l_mul(pixel, s->capture_slope[2]));
    }
    if (curved) return;
    const fine d[3] = { s->d.x.v, s->d.y.v, s->d.z.v };
    fine by_depth = by_z;
    for (int c = 0; c < 3; c++) {
        by_depth = l_fma(by_x[c], l_set((SHAPE_REAL)panel->normal[c]), by_depth);
        add_to(sums, DB_COLUMN_NORMAL + c,
               l_fma(by_x[c], l_set((SHAPE_REAL)depth), l_mul(by_obliquity, d[c])));
    }
    add_to(sums, DB_COLUMN_LAYER_STEP, l_mul(by_depth, l_set((SHAPE_REAL)s->layer)));
}
#endif

#undef REAL
#undef DIRS
#endif
