/* What the pixels of one row of a flat panel have in common, for images of plain jobs: the position
 * is linear along the row, and with it everything that is bilinear in it, so that a Miller index
 * costs two multiplications and additions. */
#ifndef DB_KERNEL_ROW_H
#define DB_KERNEL_ROW_H

/* Jobs with more sources x samples, or more sub-pixels, than this do without. */
enum { DB_MOST_ROW_TERMS = 2048, DB_MOST_SUB_ROWS = 4 };

/* One source and sample, for the three lattice vectors: coefficients of powers of f in kappa a.x,
 * and -a.s0, to which INDEX_SHIFT is added where only the offset from the nearest node counts. */
typedef struct {
    double linear[3][2], constant[3];
} row_term;

/* What all rows of a panel have in common: kappa a.x at its corner, and its slope along slow. */
typedef struct {
    double corner[3], along_slow[3];
} panel_term;

#if LANES > 1
/* Of plans that leave samples out: the terms of bundles of samples, without INDEX_SHIFT, and room
 * behind the last bundle. [vector][source x sample] */
typedef SHAPE_REAL bundled_terms[3][DB_MOST_ROW_TERMS + LANES];
#endif

typedef struct {
    double start[3], square[3]; /* first point; coefficients of powers of f in |x|^2 */
    /* [source][3], coefficients of powers of f in x.W x */
    SHAPE_REAL *polarization;
    /* [source][2], coefficients of powers of f in -2 kappa x.s0; with a Debye-Waller factor */
    double *incident;
    row_term *term; /* [source][sample] */
#if LANES > 1
    bundled_terms *at_start; /* linear[][0] */
    const bundled_terms *along_fast, *constant;
#endif
} row_terms;

AD_INLINE double row_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* a.W b of a symmetric tensor: xx, yy, zz, xy, xz, yz */
AD_INLINE double row_form(const double w[6], const double a[3], const double b[3]) {
    const double wb[3] = { w[0] * b[0] + w[3] * b[1] + w[4] * b[2],
                           w[3] * b[0] + w[1] * b[1] + w[5] * b[2],
                           w[4] * b[0] + w[5] * b[1] + w[2] * b[2] };
    return row_dot(a, wb);
}

/* Term number n, [source][sample]: what stays the same from row to row. */
AD_INLINE void fill_panel_term(const db_kernel_job *job, const db_kernel_panel *panel, size_t n,
                               panel_term *whole, row_term *term) {
    const double shift = job->table_used ? 0 : INDEX_SHIFT;
    const db_kernel_source_double *source = &job->source_double[n / job->sample_count];
    const double *lattice = job->sample_double[n % job->sample_count].lattice;
    for (int i = 0; i < 3; i++) {
        const double *a = lattice + 3 * i;
        whole->corner[i] = source->kappa * row_dot(a, panel->origin);
        whole->along_slow[i] = source->kappa * row_dot(a, panel->slow);
        term->linear[i][1] = source->kappa * row_dot(a, panel->fast);
        term->constant[i] = shift - row_dot(a, source->s0);
    }
}

/* The rest of it for a sub-pixel row at `slow` (m from the panel's corner). */
AD_INLINE void place_term(const panel_term *whole, double slow, row_term *term) {
    for (int i = 0; i < 3; i++) term->linear[i][0] = whole->corner[i] + slow * whole->along_slow[i];
}

/* The row itself, and what one source makes of it. */
AD_INLINE void place_row(const db_kernel_panel *panel, double slow, row_terms *row) {
    for (int c = 0; c < 3; c++) row->start[c] = panel->origin[c] + slow * panel->slow[c];
    row->square[0] = row_dot(row->start, row->start);
    row->square[1] = 2 * row_dot(row->start, panel->fast);
    row->square[2] = row_dot(panel->fast, panel->fast);
}
AD_INLINE void fill_row_source(const db_kernel_job *job, const db_kernel_panel *panel,
                               size_t source, const row_terms *row) {
    const double *w = job->source_double[source].polarization;
    SHAPE_REAL *power = row->polarization + 3 * source;
    power[0] = (SHAPE_REAL)row_form(w, row->start, row->start);
    power[1] = (SHAPE_REAL)(2 * row_form(w, row->start, panel->fast));
    power[2] = (SHAPE_REAL)row_form(w, panel->fast, panel->fast);
    if (!job->debye_waller) return;
    const db_kernel_source_double *s = &job->source_double[source];
    row->incident[2 * source] = -2 * s->kappa * row_dot(s->s0, row->start);
    row->incident[2 * source + 1] = -2 * s->kappa * row_dot(s->s0, panel->fast);
}

#if LANES > 1
/* All of it for the rows of a tile, one after the other. */
typedef struct {
    panel_term panel[DB_MOST_ROW_TERMS];
    row_terms row[DB_MOST_SUB_ROWS];
    SHAPE_REAL polarization[DB_MOST_SUB_ROWS][3 * DB_MOST_ROW_TERMS];
    double incident[DB_MOST_SUB_ROWS][2 * DB_MOST_ROW_TERMS];
    row_term term[DB_MOST_SUB_ROWS][DB_MOST_ROW_TERMS];
    bundled_terms at_start[DB_MOST_SUB_ROWS], along_fast, constant;
} tile_terms;

AD_INLINE void fill_bundles(const db_kernel_job *job, size_t count, tile_terms *tile) {
    const double shift = job->table_used ? 0 : INDEX_SHIFT;
    for (int c = 0; c < 3; c++) {
        for (size_t n = 0; n < count; n++) {
            tile->along_fast[c][n] = (SHAPE_REAL)tile->term[0][n].linear[c][1];
            tile->constant[c][n] = (SHAPE_REAL)(tile->term[0][n].constant[c] - shift);
        }
        for (size_t n = count; n < count + LANES; n++) {
            tile->along_fast[c][n] = tile->constant[c][n] = 0;
            for (int i = 0; i < job->oversample; i++) tile->at_start[i][c][n] = 0;
        }
    }
}

AD_INLINE void fill_panel_terms(const db_kernel_job *job, const db_kernel_panel *panel,
                                tile_terms *tile) {
    const size_t count = job->source_count * job->sample_count;
    for (size_t n = 0; n < count; n++)
        fill_panel_term(job, panel, n, &tile->panel[n], &tile->term[0][n]);
    for (int i = 0; i < job->oversample; i++) {
        tile->row[i].polarization = tile->polarization[i];
        tile->row[i].incident = tile->incident[i];
        tile->row[i].term = tile->term[i];
        tile->row[i].at_start = &tile->at_start[i];
        tile->row[i].along_fast = (const bundled_terms *)&tile->along_fast;
        tile->row[i].constant = (const bundled_terms *)&tile->constant;
        if (i > 0) memcpy(tile->term[i], tile->term[0], count * sizeof(row_term));
    }
    if (job->cuts) fill_bundles(job, count, tile);
}

/* Sub-pixel row number i. */
AD_INLINE void fill_row(const db_kernel_job *job, const db_kernel_panel *panel, double slow, int i,
                        tile_terms *tile) {
    row_terms *row = &tile->row[i];
    place_row(panel, slow, row);
    for (size_t j = 0; j < job->source_count; j++) fill_row_source(job, panel, j, row);
    const size_t count = job->source_count * job->sample_count;
    for (size_t n = 0; n < count; n++) place_term(&tile->panel[n], slow, &row->term[n]);
    for (int c = 0; c < 3 && job->cuts; c++)
        for (size_t n = 0; n < count; n++)
            (*row->at_start)[c][n] = (SHAPE_REAL)row->term[n].linear[c][0];
}
#endif

#endif
