/* Coefficients of columns, as the device has them: a row for each image. */
#include "cuda/plan.h"

#include <string.h>

static size_t row_bytes(const db_device_work *work) {
    return work->precision == DB_PRECISION_MIXED ? sizeof(db_cuda_row_float)
                                                 : sizeof(db_cuda_row_double);
}

/* Windows of columns: {bit, first, end} */
static const int windows[][3] = {
    { DB_CUDA_WINDOW_LATTICE, DB_COLUMN_LATTICE, DB_COLUMN_ORIGIN },
    { DB_CUDA_WINDOW_PANEL, DB_COLUMN_ORIGIN, DB_COLUMN_Z },
    { DB_CUDA_WINDOW_GENERAL, DB_COLUMN_Z, DB_COLUMN_DEBYE_WALLER },
    { DB_CUDA_WINDOW_DEBYE_WALLER, DB_COLUMN_DEBYE_WALLER, DB_COLUMN_CELLS },
    { DB_CUDA_WINDOW_CELLS, DB_COLUMN_CELLS, DB_COLUMN_AMPLITUDE },
};

static int windows_of(const db_kernel_contraction *c) {
    int found = 0;
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        if (c->columns && c->first_column < windows[w][2] &&
            c->first_column + c->columns > windows[w][1])
            found |= windows[w][0];
    return found;
}

/* The only loose column of a run; -1: none, -2: several. */
static int loose_column_of(const db_kernel_contraction *c) {
    const int last = c->first_column + c->columns - 1;
    if (!c->columns || last < DB_COLUMN_AMPLITUDE) return -1;
    return c->columns == 1 ? last - DB_COLUMN_AMPLITUDE : -2;
}

static void lay_out_double(const db_kernel_contraction *c, int loose, db_cuda_row_double *row) {
    memset(row, 0, sizeof *row);
    row->windows = windows_of(c);
    if (loose >= 0) {
        row->windows = DB_CUDA_WINDOW_LOOSE;
        row->loose = loose;
        row->loose_coefficient = c->coefficient_double[0];
    } else {
        for (int i = 0; i < c->columns; i++)
            row->coefficient[c->first_column + i] = c->coefficient_double[i];
    }
}

static void lay_out_float(const db_kernel_contraction *c, int loose, db_cuda_row_float *row) {
    memset(row, 0, sizeof *row);
    row->windows = windows_of(c);
    if (loose >= 0) {
        row->windows = DB_CUDA_WINDOW_LOOSE;
        row->loose = loose;
        row->loose_coefficient = c->coefficient_float[0];
    } else {
        for (int i = 0; i < c->columns; i++)
            row->coefficient[c->first_column + i] = c->coefficient_float[i];
    }
}

/* Derivatives along a direction */

/* Number of a panel's loose column of a run's column; -1: it is not loose. */
static int loose_number(const db_kernel_contraction *c, int i) {
    return c->first_column + i - DB_COLUMN_AMPLITUDE < 0
               ? -1
               : c->first_column + i - DB_COLUMN_AMPLITUDE;
}

static size_t loose_columns(const db_device_work *work, size_t panel) {
    const size_t runs = work->job.parameter_count;
    size_t count = 0;
    for (size_t n = 0; n < runs; n++) {
        const db_kernel_contraction *c = &work->job.contraction[panel * runs + n];
        for (int i = 0; i < c->columns; i++) count += loose_number(c, i) >= 0;
    }
    return count;
}

size_t db_cuda_panels(const db_device_work *work) {
    for (size_t i = 0; i < work->array_count; i++)
        if (work->array[i].member == offsetof(db_kernel_job, panel))
            return work->array[i].bytes / sizeof *work->job.panel;
    return 0;
}

size_t db_cuda_tangent_images(const db_device_work *work) {
    size_t most = 1;
    for (size_t panel = 0; panel < db_cuda_panels(work); panel++) {
        const size_t loose = loose_columns(work, panel);
        if (loose > most) most = loose;
    }
    return most;
}

/* Adds a run of columns to the panel's rows; *next: row of the next loose column. */
static void lay_out_run(const db_kernel_contraction *c, int mixed, char *rows, size_t *next) {
    for (int i = 0; i < c->columns; i++) {
        const int loose = loose_number(c, i);
        const size_t row = loose < 0 ? 0 : (*next)++;
        db_cuda_row_double *const wide = (db_cuda_row_double *)(void *)rows + row;
        db_cuda_row_float *const fine = (db_cuda_row_float *)(void *)rows + row;
        if (loose >= 0 && mixed) {
            fine->windows |= DB_CUDA_WINDOW_LOOSE;
            fine->loose = loose;
            fine->loose_coefficient = c->coefficient_float[i];
        } else if (loose >= 0) {
            wide->windows |= DB_CUDA_WINDOW_LOOSE;
            wide->loose = loose;
            wide->loose_coefficient = c->coefficient_double[i];
        } else if (mixed)
            fine->coefficient[c->first_column + i] = c->coefficient_float[i];
        else
            wide->coefficient[c->first_column + i] = c->coefficient_double[i];
    }
    if (mixed)
        ((db_cuda_row_float *)(void *)rows)->windows |= windows_of(c);
    else
        ((db_cuda_row_double *)(void *)rows)->windows |= windows_of(c);
}

/* Writes all rows of all panels without comparing: a direction is rarely the same again. */
static void fill_tangent(const db_device_work *work, char *out, int *changed) {
    const size_t images = db_cuda_tangent_images(work), runs = work->job.parameter_count;
    for (size_t panel = 0; panel < db_cuda_panels(work); panel++) {
        char *const rows = out + panel * images * row_bytes(work);
        size_t next = 0;
        memset(rows, 0, images * row_bytes(work));
        for (size_t n = 0; n < runs; n++)
            lay_out_run(&work->job.contraction[panel * runs + n], db_cuda_is_mixed(work), rows,
                        &next);
    }
    *changed = 1;
}

/* Writes the rows that differ from those there. */
static db_status fill_rows(db_context *context, const db_device_work *work, size_t bytes, char *out,
                           int *changed) {
    const db_kernel_contraction *from = work->job.contraction;
    const int mixed = work->precision == DB_PRECISION_MIXED;
    for (size_t i = 0; i < bytes / sizeof *from; i++) {
        union {
            db_cuda_row_double wide;
            db_cuda_row_float fine;
        } row;
        const int loose = loose_column_of(&from[i]);
        const size_t size = mixed ? sizeof row.fine : sizeof row.wide;
        if (loose == -2)
            return db_fail(context, DB_ERROR_UNSUPPORTED,
                           "cuda: a parameter that moves several values of sources or rotations");
        if (mixed)
            lay_out_float(&from[i], loose, &row.fine);
        else
            lay_out_double(&from[i], loose, &row.wide);
        if (*changed || memcmp(out + i * size, &row, size) != 0) {
            memcpy(out + i * size, &row, size);
            *changed = 1;
        }
    }
    return DB_OK;
}

size_t db_cuda_coefficient_bytes(const db_device_work *work, size_t bytes) {
    const size_t runs = bytes / sizeof(db_kernel_contraction);
    if (!work->job.tangent) return runs * row_bytes(work);
    return runs / work->job.parameter_count * db_cuda_tangent_images(work) * row_bytes(work);
}

db_status db_cuda_fill_coefficients(db_context *context, const db_device_work *work, size_t bytes,
                                    char *out, int *changed) {
    if (!work->job.tangent) return fill_rows(context, work, bytes, out, changed);
    fill_tangent(work, out, changed);
    return DB_OK;
}
