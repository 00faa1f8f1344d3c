#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_selection.h"

#include <stdint.h>
#include <string.h>

/* Selections without end reach to the end of the data set. */
static int complete_axis(db_hdf5_selection *s, int d, hsize_t extent) {
    const hsize_t rest = extent > s->start[d] ? extent - s->start[d] : 0;
    if (s->block[d] == H5S_UNLIMITED || s->count[d] == H5S_UNLIMITED) {
        if (s->unlimited >= 0) return 0;
        s->unlimited = d;
    }
    if (s->block[d] == H5S_UNLIMITED) s->block[d] = rest;
    if (s->count[d] == 1) s->stride[d] = s->block[d] ? s->block[d] : 1;
    if (s->stride[d] == 0 || s->stride[d] < s->block[d]) return 0;
    if (s->count[d] == H5S_UNLIMITED) s->count[d] = (rest + s->stride[d] - 1) / s->stride[d];
    return s->count[d] <= UINT32_MAX && s->block[d] <= UINT32_MAX && s->start[d] <= UINT32_MAX &&
           s->stride[d] <= UINT32_MAX;
}

int db_hdf5_selection_of(hid_t space, const hsize_t *extent, db_hdf5_selection *s) {
    s->rank = H5Sget_simple_extent_ndims(space);
    s->unlimited = -1;
    if (s->rank < 1 || s->rank > DB_HDF5_RANK) return 0;
    if (H5Sget_select_type(space) == H5S_SEL_ALL) {
        for (int d = 0; d < s->rank; d++) {
            s->start[d] = 0;
            s->count[d] = 1;
            s->block[d] = s->stride[d] = extent[d];
        }
        return 1;
    }
    if (H5Sget_select_type(space) != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(space) <= 0 ||
        H5Sget_regular_hyperslab(space, s->start, s->stride, s->count, s->block) < 0)
        return 0;
    for (int d = 0; d < s->rank; d++)
        if (!complete_axis(s, d, extent[d])) return 0;
    return 1;
}

int db_hdf5_selection_is_dense(const db_hdf5_selection *s, int axis) {
    return s->count[axis] <= 1 || s->stride[axis] == s->block[axis];
}

hsize_t db_hdf5_selection_total(const db_hdf5_selection *s, int axis) {
    return s->count[axis] * s->block[axis];
}

hsize_t db_hdf5_selection_place(const db_hdf5_selection *s, int axis, hsize_t n) {
    if (db_hdf5_selection_is_dense(s, axis)) return s->start[axis] + n;
    return s->start[axis] + n / s->block[axis] * s->stride[axis] + n % s->block[axis];
}

int db_hdf5_selection_meet(const db_hdf5_selection *s, int axis, hsize_t from, hsize_t length,
                           hsize_t *low, hsize_t *ordinal, hsize_t *count) {
    const hsize_t total = db_hdf5_selection_total(s, axis);
    if (total == 0) return 0;
    const hsize_t end = db_hdf5_selection_place(s, axis, total - 1) + 1, stop = from + length;
    const hsize_t least = stop < end ? stop : end;
    *low = from > s->start[axis] ? from : s->start[axis];
    if (*low >= least) return 0;
    *count = least - *low;
    *ordinal = *low - s->start[axis];
    if (db_hdf5_selection_is_dense(s, axis)) return 1;
    const hsize_t number = *ordinal / s->stride[axis], within = *ordinal % s->stride[axis];
    *ordinal = number * s->block[axis] + within;
    if (length == 1) return within < s->block[axis];
    return within + *count <= s->block[axis] ? 1 : -1;
}
#else
typedef int db_without_hdf5_selection;
#endif
