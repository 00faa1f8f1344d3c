/* The internals of an NXmx file that is being written. */
#ifndef DB_IO_NEXUS_OUTPUT_H
#define DB_IO_NEXUS_OUTPUT_H

#include "io/experiments/dxtbx.h"
#include "io/hdf5/hdf5_write.h"
#include "model/model.h"

#include <stdint.h>

struct db_nexus_writer {
    db_hdf5_output out;
    hid_t entry;
    double frame[3][3]; /* rows: the axes of NeXus in the laboratory */
    hsize_t shape[2];   /* of an image: slow, fast */
    size_t sources;
    double *wavelength; /* angstrom, of each source; owned, ... */
    double *weight;     /* ... with their weights behind them */
    db_hdf5_column images, mean_wavelength, phi;
    db_hdf5_column phi_end, spectrum, weights; /* id 0: there is none */
};

/* A vector of the laboratory in the frame of NeXus. */
void db_nexus_turn(const struct db_nexus_writer *writer, const double laboratory[3],
                   double turned[3]);

#endif
