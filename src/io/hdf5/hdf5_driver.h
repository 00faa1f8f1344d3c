/* How libhdf5 puts bytes into files that we write. libhdf5 does not get over a write that fails (a full
 * disk): it may crash when the file is closed. So failures are kept from it and remembered here. */
#ifndef DB_IO_HDF5_DRIVER_H
#define DB_IO_HDF5_DRIVER_H

#include <hdf5.h>

/* A driver for one file; *error becomes the errno of the first write that failed, 0: none did. It is
 * to stay until the driver is gone. -1: failure. */
hid_t db_hdf5_driver(hid_t access, int *error);

#endif
