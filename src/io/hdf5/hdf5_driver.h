/* Writes libhdf5's bytes into our files. libhdf5 may crash at closing after a write that failed (a full disk). So
 * this driver hides failures from it and remembers them. */
#ifndef DB_IO_HDF5_DRIVER_H
#define DB_IO_HDF5_DRIVER_H

#include <hdf5.h>

/* A driver for one file; *error becomes the errno of the first write that failed, 0: none did. It is
 * to stay until the driver is gone. -1: failure. */
hid_t db_hdf5_driver(hid_t access, int *error);

#endif
