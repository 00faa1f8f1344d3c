/* Regular selections of elements of HDF5 data sets: blocks at equal distances along each axis. */
#ifndef DB_IO_HDF5_SELECTION_H
#define DB_IO_HDF5_SELECTION_H

#include "io/hdf5/hdf5_chunks.h"

typedef struct db_hdf5_selection {
    int rank;
    hsize_t start[DB_HDF5_RANK], stride[DB_HDF5_RANK], count[DB_HDF5_RANK], block[DB_HDF5_RANK];
    int unlimited; /* axis along which it grows with the data set; -1: none */
} db_hdf5_selection;

/* extent: of the data set as it is, to which selections without end go. 0: it is another kind. */
int db_hdf5_selection_of(hid_t space, const hsize_t *extent, db_hdf5_selection *selection);

/* Are its elements along an axis next to each other? */
int db_hdf5_selection_is_dense(const db_hdf5_selection *selection, int axis);

/* Number of selected elements along an axis, and where number n of them (from 0) is. */
hsize_t db_hdf5_selection_total(const db_hdf5_selection *selection, int axis);
hsize_t db_hdf5_selection_place(const db_hdf5_selection *selection, int axis, hsize_t n);

/* The selected elements among `length` elements of an axis from `from` on: *low the first, *ordinal its number in
 * the selection, *count how many in a row. Returns 0: none; -1: several that are not in a row. */
int db_hdf5_selection_meet(const db_hdf5_selection *selection, int axis, hsize_t from,
                           hsize_t length, hsize_t *low, hsize_t *ordinal, hsize_t *count);

#endif
