/* A site is a point of a pixel in one layer of the sensor: its direction from the sample, its solid
 * angle, and the part of the photons that the layer absorbs. In gradient instances slopes go back,
 * in reverse mode (adjoint), from these to the values that place the panel. */
#ifndef DB_KERNEL_SITE_H
#define DB_KERNEL_SITE_H

#include "kernel/pixel_sums.h"
#include "kernel/row.h"
#include "kernel/samples.h"

#if DB_INSTANCE_KIND > 0
/* The depth of a sensor layer behind a flat panel's front, with its slopes. */
typedef struct {
    fine depth; /* m along the normal */
    /* its slopes by layer step, by attenuation, and by the obliquity at the layer's middle, which
     * lies in direction d, 1/inverse away, `middle` deep (m), and middle_step steps */
    fine by_step, by_attenuation, by_obliquity;
    fine d[3], inverse;
    SHAPE_REAL middle, middle_step;
} layer_place;
#endif

/* For plain jobs: flat panel, one layer, only d and omega. */
typedef struct {
    wide_vec3 wide_d;    /* unit vector from the sample; not for images along rows */
    fine d[3];           /* narrowed; not for images along rows */
    fine inverse;        /* 1/distance (1/m) */
    DISTANCE(num) omega; /* solid angle (sr), with its slope by 1/distance */
    fine capture;        /* part of the photons absorbed in this layer */
    fine fast, slow;     /* x = ... + fast fast_axis + slow slow_axis */
#if DB_INSTANCE_KIND > 0
    fine capture_slope[3]; /* by obliquity, layer step, attenuation */
    fine by_sphere[3][3];  /* curved: d(x)/d(radius, beam_fast, beam_slow) */
    layer_place layer;
#endif
} site;

/* z: of the panel, the layer's depth included */
AD_INLINE DISTANCE(num) solid_angle_of(const db_kernel_job *job, const db_kernel_panel *panel,
                                       fine z, fine inverse_distance) {
    const DISTANCE(num) inverse = DISTANCE(n_seed)(inverse_distance, 0);
    if (job->point_pixel) return DISTANCE(point_solid_angle)(inverse);
    return DISTANCE(solid_angle)(inverse, DISTANCE(n_passive)(z),
                                 f_set(panel->pixel_size[0] * panel->pixel_size[1]));
}

/* Depth of a layer behind a point of a flat panel's front (m along the normal); its slopes go to
 * s. */
AD_INLINE wide layer_depth(const db_kernel_job *job, const db_kernel_panel *panel, int layer,
                           wide_vec3 front, site *s) {
    const wide depth = w_set(layer * job->layer_step);
#if DB_INSTANCE_KIND > 0
    s->layer = (layer_place){ .by_step = f_set(layer),
                              .by_attenuation = f_set(0),
                              .by_obliquity = f_set(0) };
#else
    (void)s;
#endif
    if (job->layers_at_front) return depth;
    const double middle_step = layer + 0.5, middle = middle_step * job->layer_step;
    const wide_vec3 normal = wide_vector(panel->normal),
                    at = w3_add(front, w3_scale(normal, wn_passive(w_set(middle))));
    const wide_num inverse = w3_inverse_length(at), along = w3_dot(at, normal);
    const WIDE_DIRS(num) a =
        WIDE_DIRS(absorption_depth)(WIDE_DIRS(n_seed)(w_mul(along.v, inverse.v), 0),
                                    WIDE_DIRS(n_seed)(w_set(job->layer_step), 1),
                                    WIDE_DIRS(n_seed)(w_set(job->attenuation), 2), w_set(layer));
#if DB_INSTANCE_KIND > 0
    s->layer =
        (layer_place){ .by_step = narrow(a.d[1]),
                       .by_attenuation = narrow(a.d[2]),
                       .by_obliquity = narrow(a.d[0]),
                       .d = { narrow(w_mul(at.x.v, inverse.v)), narrow(w_mul(at.y.v, inverse.v)),
                              narrow(w_mul(at.z.v, inverse.v)) },
                       .inverse = narrow(inverse.v),
                       .middle = (SHAPE_REAL)middle,
                       .middle_step = (SHAPE_REAL)middle_step };
#endif
    return a.v;
}

/* Position on a flat panel, in a layer of the sensor behind its front. */
AD_INLINE wide_vec3 flat_place(const db_kernel_job *job, const db_kernel_panel *panel, int layer,
                               wide fast, wide slow, wide *depth, site *s) {
    const wide_vec3 front = w_pixel_position(wide_vector(panel->origin), wide_vector(panel->fast),
                                             wide_vector(panel->slow), fast, slow);
    if (!GENERAL || !job->sensor) return front;
    *depth = layer_depth(job, panel, layer, front, s);
    return w3_add(front, w3_scale(wide_vector(panel->normal), wn_passive(*depth)));
}

/* Position on a curved panel: only the values that place the sphere carry slopes; slopes by the
 * axes are the coefficients of the position along them. */
AD_INLINE wide_vec3 curved_site(const db_kernel_job *job, const db_kernel_panel *panel, wide fast,
                                wide slow, site *s) {
    const double *b = job->beam_direction;
    const double *f = panel->fast;
    const double *w = panel->slow;
    const WIDE_DIRS(curved_place) p = WIDE_DIRS(curved_position)(
        WIDE_DIRS(n_seed)(w_set(panel->radius), 0), WIDE_DIRS(n_seed)(w_set(panel->beam_fast), 1),
        WIDE_DIRS(n_seed)(w_set(panel->beam_slow), 2),
        WIDE_DIRS(v3_passive)(w_set(b[0]), w_set(b[1]), w_set(b[2])),
        WIDE_DIRS(v3_passive)(w_set(f[0]), w_set(f[1]), w_set(f[2])),
        WIDE_DIRS(v3_passive)(w_set(w[0]), w_set(w[1]), w_set(w[2])), fast, slow);
#if DB_INSTANCE_KIND > 0
    s->fast = narrow(p.along_fast.v);
    s->slow = narrow(p.along_slow.v);
    for (int k = 0; k < 3; k++) {
        s->by_sphere[k][0] = narrow(p.x.x.d[k]);
        s->by_sphere[k][1] = narrow(p.x.y.d[k]);
        s->by_sphere[k][2] = narrow(p.x.z.d[k]);
    }
#else
    (void)s;
#endif
    return w3_passive(p.x.x.v, p.x.y.v, p.x.z.v);
}

/* Works in double: a thin layer's absorption is the difference of two nearly equal numbers. */
AD_INLINE void capture_site(const db_kernel_job *job, const db_kernel_panel *panel, int layer,
                            site *s) {
    const wide obliquity = CURVED(job) ? w_set(1) : w3_dot(s->wide_d, wide_vector(panel->normal)).v;
    const WIDE_DIRS(num) a = WIDE_DIRS(capture_fraction)(
        WIDE_DIRS(n_seed)(obliquity, 0), WIDE_DIRS(n_seed)(w_set(job->layer_step), 1),
        WIDE_DIRS(n_seed)(w_set(job->attenuation), 2), w_set(layer));
    s->capture = narrow(a.v);
#if DB_INSTANCE_KIND > 0
    for (int k = 0; k < 3; k++) s->capture_slope[k] = narrow(a.d[k]);
#endif
}

/* Fills a site in place, since it is large. */
AD_INLINE void find_site(const db_kernel_job *job, const db_kernel_panel *panel, int layer,
                         wide fast, wide slow, site *s) {
    const int curved = CURVED(job);
    wide depth = w_set(0);
    s->fast = narrow(fast);
    s->slow = narrow(slow);
    const wide_vec3 x = curved ? curved_site(job, panel, fast, slow, s)
                               : flat_place(job, panel, layer, fast, slow, &depth, s);
    const wide_num inverse = w3_inverse_length(x);
    s->wide_d = w3_scale(x, inverse);
    narrow_vector(s->wide_d, s->d);
    s->inverse = narrow(inverse.v);
    s->omega = solid_angle_of(
        job, panel, GENERAL ? narrow(w_add(w_set(panel->z), depth)) : f_set(panel->z), s->inverse);
#if DB_INSTANCE_KIND > 0
    s->layer.depth = narrow(depth);
#endif
    s->capture = f_set(1);
    if (GENERAL && job->sensor) capture_site(job, panel, layer, s);
}

AD_INLINE site site_of(const db_kernel_job *job, const db_kernel_panel *panel, int layer, wide fast,
                       wide slow) {
    site s;
    find_site(job, panel, layer, fast, slow, &s);
    return s;
}

/* Values of row terms for the rows of a group's pixels. */
typedef struct {
    wide square[3];
    wide_vec3 start;
    fine slow;
} row_view;

/* One row for all lanes. */
AD_INLINE row_view view_along_row(const row_terms *row) {
    row_view r;
    for (int c = 0; c < 3; c++) r.square[c] = w_set(row->square[c]);
    r.start = wide_vector(row->start);
    r.slow = f_set(row->slow);
    return r;
}

/* A row for each lane, `slow` (m) from the panel's corner. */
AD_INLINE row_view view_across_rows(const db_kernel_panel *panel, wide slow) {
    row_view r;
    r.start = row_start(panel, slow);
    row_square_terms(panel, r.start, r.square);
    r.slow = narrow(slow);
    return r;
}

/* A site of a row of a plain job, and its place in the view. fast: pixel numbers, sub-pixel
 * included. */
AD_INLINE site row_site(const db_kernel_job *job, const db_kernel_panel *panel, const row_view *row,
                        wide fast, index_view *view) {
    site s;
    view->fast = w_mul(fast, w_set(panel->pixel_size[0]));
    view->inverse_distance = w_rsqrt(w_row_square(row->square, view->fast));
    s.fast = narrow(view->fast);
    s.inverse = narrow(view->inverse_distance);
    s.omega = solid_angle_of(job, panel, f_set(panel->z), s.inverse);
    s.capture = f_set(1);
#if DB_INSTANCE_KIND > 0
    const wide_vec3 place =
        w3_add(row->start, w3_scale(wide_vector(panel->fast), wn_passive(view->fast)));
    s.wide_d = w3_scale(place, wn_passive(view->inverse_distance));
    narrow_vector(s.wide_d, s.d);
    s.slow = row->slow;
#endif
    return s;
}

#if DB_INSTANCE_KIND > 0
AD_INLINE void add_to(pixel_sums *sums, int column, fine value) {
    sums->column[column] = f_add(sums->column[column], value);
}

/* Adds the columns of a layer's mean depth, except the layer step: attenuation, and obliquity by the point in the
 * layer's middle. by_depth: the pixel's slope by the depth. */
AD_INLINE void add_depth_slopes(const db_kernel_panel *panel, const site *s, fine by_depth,
                                pixel_sums *sums) {
    const layer_place *const layer = &s->layer;
    const fine by_obliquity = f_mul(by_depth, layer->by_obliquity);
    fine along[3], by_middle[3], inwards = f_set(0);
    add_to(sums, DB_COLUMN_ATTENUATION, f_mul(by_depth, layer->by_attenuation));
    for (int c = 0; c < 3; c++) along[c] = f_mul(by_obliquity, f_set(panel->normal[c]));
    f3_unit_back(layer->d, layer->inverse, along, f_set(0), by_middle);
    for (int c = 0; c < 3; c++) {
        add_to(sums, DB_COLUMN_ORIGIN + c, by_middle[c]);
        add_to(sums, DB_COLUMN_FAST + c, f_mul(s->fast, by_middle[c]));
        add_to(sums, DB_COLUMN_SLOW + c, f_mul(s->slow, by_middle[c]));
        add_to(sums, DB_COLUMN_NORMAL + c,
               f_fma(by_middle[c], f_set(layer->middle), f_mul(by_obliquity, layer->d[c])));
        inwards = f_fma(by_middle[c], f_set(panel->normal[c]), inwards);
    }
    add_to(sums, DB_COLUMN_LAYER_STEP, f_mul(inwards, f_set(layer->middle_step)));
}

/* Columns of the values that place the panel and its layers. only: the pixels have no other site,
 * and their columns have not been cleared. by_d, by_omega: slopes of the pixel (adjoints) by
 * direction and solid angle, without the layer's capture fraction in the latter. */
AD_INLINE void add_site_slopes(int only, const db_kernel_job *job, const db_kernel_panel *panel,
                               const site *s, const fine by_d[3], fine by_omega, pixel_sums *sums) {
    const int sensor = GENERAL && job->sensor, curved = CURVED(job);
    const fine pixel = f_mul(by_omega, s->omega.v); /* of this site, without capture */
    const fine captured = sensor ? f_mul(by_omega, s->capture) : by_omega;
    fine along[3] = { by_d[0], by_d[1], by_d[2] }, by_x[3];
    fine by_obliquity = f_set(0);
    if (sensor && !curved) {
        by_obliquity = f_mul(pixel, s->capture_slope[0]);
        for (int c = 0; c < 3; c++)
            along[c] = f_fma(by_obliquity, f_set(panel->normal[c]), along[c]);
    }
    f3_unit_back(s->d, s->inverse, along, f_mul(captured, s->omega.d[0]), by_x);
    for (int c = 0; c < 3; c++) {
        fine *const column = sums->column;
        if (only) {
            column[DB_COLUMN_ORIGIN + c] = by_x[c];
            column[DB_COLUMN_FAST + c] = f_mul(s->fast, by_x[c]);
            column[DB_COLUMN_SLOW + c] = f_mul(s->slow, by_x[c]);
            continue;
        }
        if (!curved) add_to(sums, DB_COLUMN_ORIGIN + c, by_x[c]);
        column[DB_COLUMN_FAST + c] = f_fma(s->fast, by_x[c], column[DB_COLUMN_FAST + c]);
        column[DB_COLUMN_SLOW + c] = f_fma(s->slow, by_x[c], column[DB_COLUMN_SLOW + c]);
    }
    if (!GENERAL) return;
    if (curved)
        for (int k = 0; k < 3; k++)
            add_to(sums, DB_COLUMN_ORIGIN + k,
                   f_fma(by_x[0], s->by_sphere[k][0],
                         f_fma(by_x[1], s->by_sphere[k][1], f_mul(by_x[2], s->by_sphere[k][2]))));
    /* the solid angle of a flat pixel is proportional to its distance along the normal */
    const fine distance =
        sensor && !curved ? f_add(f_set(panel->z), s->layer.depth) : f_set(panel->z);
    const fine by_z = job->point_pixel ? f_set(0) : f_div(f_mul(captured, s->omega.v), distance);
    add_to(sums, DB_COLUMN_Z, by_z);
    if (!sensor) return;
    add_to(sums, DB_COLUMN_LAYER_STEP, f_mul(pixel, s->capture_slope[1]));
    add_to(sums, DB_COLUMN_ATTENUATION, f_mul(pixel, s->capture_slope[2]));
    if (curved) return;
    fine by_depth = by_z;
    for (int c = 0; c < 3; c++) {
        by_depth = f_fma(by_x[c], f_set(panel->normal[c]), by_depth);
        add_to(sums, DB_COLUMN_NORMAL + c,
               f_fma(by_x[c], s->layer.depth, f_mul(by_obliquity, s->d[c])));
    }
    add_to(sums, DB_COLUMN_LAYER_STEP, f_mul(by_depth, s->layer.by_step));
    if (!job->layers_at_front) add_depth_slopes(panel, s, by_depth, sums);
}
#endif

#endif
