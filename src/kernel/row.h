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

typedef struct {
    double square[3]; /* coefficients of powers of f in |x|^2 */
    /* of each source, coefficients of powers of f in x.W x */
    SHAPE_REAL polarization[DB_MOST_ROW_TERMS][3];
    /* of each source, coefficients of powers of f in -2 kappa x.s0; with a Debye-Waller factor */
    double incident[DB_MOST_ROW_TERMS][2];
    row_term term[DB_MOST_ROW_TERMS]; /* [source][sample] */
} row_terms;

typedef struct {
    panel_term panel[DB_MOST_ROW_TERMS];
    row_terms row[DB_MOST_SUB_ROWS];
} tile_terms;

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

/* What stays the same from row to row. */
AD_INLINE void fill_panel_terms(const db_kernel_job *job, const db_kernel_panel *panel,
                                tile_terms *tile) {
    const double shift = job->table_used ? 0 : INDEX_SHIFT;
    size_t n = 0;
    for (size_t j = 0; j < job->source_count; j++) {
        const db_kernel_source_double *source = &job->source_double[j];
        for (size_t s = 0; s < job->sample_count; s++, n++)
            for (int i = 0; i < 3; i++) {
                const double *a = &job->sample_double[s].lattice[3 * i];
                tile->panel[n].corner[i] = source->kappa * row_dot(a, panel->origin);
                tile->panel[n].along_slow[i] = source->kappa * row_dot(a, panel->slow);
                tile->row[0].term[n].linear[i][1] = source->kappa * row_dot(a, panel->fast);
                tile->row[0].term[n].constant[i] = shift - row_dot(a, source->s0);
            }
    }
    for (int i = 1; i < job->oversample; i++)
        memcpy(tile->row[i].term, tile->row[0].term, n * sizeof(row_term));
}

/* Sub-pixel row number i at `slow` (m from the panel's corner). */
AD_INLINE void fill_row(const db_kernel_job *job, const db_kernel_panel *panel, double slow, int i,
                        tile_terms *tile) {
    const double *fast = panel->fast;
    row_terms *row = &tile->row[i];
    double start[3];
    for (int c = 0; c < 3; c++) start[c] = panel->origin[c] + slow * panel->slow[c];
    row->square[0] = row_dot(start, start);
    row->square[1] = 2 * row_dot(start, fast);
    row->square[2] = row_dot(fast, fast);
    for (size_t j = 0; j < job->source_count; j++) {
        const double *w = job->source_double[j].polarization;
        row->polarization[j][0] = (SHAPE_REAL)row_form(w, start, start);
        row->polarization[j][1] = (SHAPE_REAL)(2 * row_form(w, start, fast));
        row->polarization[j][2] = (SHAPE_REAL)row_form(w, fast, fast);
        if (!job->debye_waller) continue;
        const db_kernel_source_double *source = &job->source_double[j];
        row->incident[j][0] = -2 * source->kappa * row_dot(source->s0, start);
        row->incident[j][1] = -2 * source->kappa * row_dot(source->s0, fast);
    }
    for (size_t n = 0; n < job->source_count * job->sample_count; n++)
        for (int c = 0; c < 3; c++)
            row->term[n].linear[c][0] =
                tile->panel[n].corner[c] + slow * tile->panel[n].along_slow[c];
}

#endif
