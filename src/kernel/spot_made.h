/* Spots in closed form of nodes, and the pixels that they reach, in lanes. Include with REAL double and DIRS 0,
 * after kernel/spot_near.h. */
#ifndef DB_KERNEL_SPOT_MADE_H
#define DB_KERNEL_SPOT_MADE_H

/* The stored values of a vector of spots. */
enum { OFFSET = 0, WHITE = 3, AMPLITUDE = 12, FROM = 13, TO = 14, VALUES = 15 };
typedef struct {
    double value[VALUES][LANES], cut[LANES], from[2][LANES], to[2][LANES], brightest[3][LANES];
    unsigned reached; /* a bit for each lane with a spot that counts anywhere */
    unsigned wrong;   /* a bit for each lane whose spread is no covariance */
} spot_vector;

AD_INLINE void store_spots(const spot_values *s, spot_vector *v) {
    const vec3 row[4] = { v3_neg(m3_apply(s->white, s->centre)), s->white.r[0], s->white.r[1],
                          s->white.r[2] };
    for (int i = 0; i < 4; i++) {
        l_store(v->value[3 * i], row[i].x.v);
        l_store(v->value[3 * i + 1], row[i].y.v);
        l_store(v->value[3 * i + 2], row[i].z.v);
    }
    l_store(v->value[AMPLITUDE], s->amplitude.v);
    l_store(v->value[FROM], s->from.v);
    l_store(v->value[TO], s->to.v);
}

/* Computes the cuts of spots, and finds those that count anywhere. */
AD_INLINE void cut_spots(const db_spot_search *search, int moves, spot_vector *v) {
    v->reached = v->wrong = 0;
    for (int j = 0; j < LANES; j++) {
        double amplitude = fabs(v->value[AMPLITUDE][j]);
        if (moves) amplitude *= fmin(1.0, 0.4 * (v->value[TO][j] - v->value[FROM][j]));
        if (amplitude == 0) amplitude = 1; /* its slope by the structure factor */
        v->cut[j] = db_spot_cut(&search->bounds, amplitude);
        v->reached |= (unsigned)(v->cut[j] > 0) << j;
        v->wrong |=
            (unsigned)(!isfinite(v->value[AMPLITUDE][j]) || !isfinite(v->value[WHITE + 8][j])) << j;
    }
}

/* The spots of nodes, of one class of blocks; moves: of all lanes. */
AD_INLINE void make_spots(const db_experiment *e, const db_spot_search *search,
                          const interface_values *z, const spot_view *view,
                          const db_spot_name *name, const spot_node *node, num square,
                          spot_vector *v) {
    const int moves = name->passage.moves;
    const spot_values s = spot_of(e, z, name, node, square);
    store_spots(&s, v);
    cut_spots(search, moves, v);
    if (v->wrong) v->reached = 0;
    if (!v->reached) return;
    const lane cut = l_max(l_load(v->cut), l_set(0));
    const spot_box box = spot_box_of(view, &s, moves, cut);
    v->reached &= l_bitmask(box.reached);
    for (int a = 0; a < 2; a++) {
        l_store(v->from[a], box.from[a]);
        l_store(v->to[a], box.to[a]);
    }
    l_store(v->brightest[0], box.brightest.x.v);
    l_store(v->brightest[1], box.brightest.y.v);
    l_store(v->brightest[2], box.brightest.z.v);
}

AD_INLINE int to_pixels(double from, double to, int pixels, int32_t out[2]) {
    const double rounding = 1e-3;
    if (!(to + rounding > 0 && from - rounding < pixels && from - to < 2 * rounding)) return 0;
    out[0] = from - rounding > 0 ? (int32_t)floor(from - rounding) : 0;
    out[1] = to + rounding < pixels ? (int32_t)floor(to + rounding) + 1 : pixels;
    return 1;
}

/* z at the brightest of those pixels that a spot reaches. */
AD_FN void find_inside(const db_kernel_panel *panel, const spot_vector *v, int j,
                       db_kernel_spot *s) {
    const double *axis[2] = { panel->fast, panel->slow };
    const int32_t *ends[2] = { s->fast, s->slow };
    const double d[3] = { v->brightest[0][j], v->brightest[1][j], v->brightest[2][j] };
    const double *n = panel->normal;
    const double *o = panel->origin;
    const double distance = panel->z / (d[0] * n[0] + d[1] * n[1] + d[2] * n[2]);
    double x[3] = { o[0], o[1], o[2] }, square = 0;
    for (int a = 0; a < 2; a++) {
        const double pixel = panel->pixel_size[a];
        double at = 0;
        for (int c = 0; c < 3; c++) at += (distance * d[c] - o[c]) * axis[a][c];
        at = pixel * fmax((double)ends[a][0], fmin((double)ends[a][1], at / pixel));
        for (int c = 0; c < 3; c++) x[c] += at * axis[a][c];
    }
    for (int c = 0; c < 3; c++) square += x[c] * x[c];
    const double inverse = 1 / sqrt(square);
    for (int i = 0; i < 3; i++) {
        const double *w = s->white + 3 * i;
        s->value_double[DB_SPOT_INSIDE + i] =
            (float)(s->offset[i] + inverse * (w[0] * x[0] + w[1] * x[1] + w[2] * x[2]));
    }
}

/* Fills a lane's spot for the pixel loop; 0: it reaches no pixel of the panel. */
AD_INLINE int spot_of_lane(const db_spot_search *search, const db_spot_window *window,
                           const spot_vector *v, int j, int moves, db_kernel_spot *s) {
    const double all = 40; /* the range of a spot that does not move (standard deviations) */
    if (!(v->reached >> j & 1) ||
        !to_pixels(v->from[0][j], v->to[0][j], window->pixels[0], s->fast) ||
        !to_pixels(v->from[1][j], v->to[1][j], window->pixels[1], s->slow))
        return 0;
    for (int i = 0; i < 9; i++) s->white[i] = v->value[WHITE + i][j];
    for (int i = 0; i < 3; i++) s->offset[i] = v->value[OFFSET + i][j];
    s->value_double[DB_SPOT_AMPLITUDE] = v->value[AMPLITUDE][j];
    s->value_double[DB_SPOT_CUT] = v->cut[j];
    s->value_double[DB_SPOT_AT_REST] = moves ? 0 : 1;
    s->value_double[DB_SPOT_FROM] = moves ? v->value[FROM][j] : -all;
    s->value_double[DB_SPOT_TO] = moves ? v->value[TO][j] : all;
    for (int i = 0; i < 3; i++) s->value_double[DB_SPOT_INSIDE + i] = 0;
    if (!moves && search->slopes) find_inside(&window->panel, v, j, s);
    for (int i = 0; i < DB_SPOT_VALUES; i++) s->value_float[i] = (float)s->value_double[i];
    return 1;
}

#endif
