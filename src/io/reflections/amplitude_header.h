/* Reads cell, group, resolution and columns of a file of structure factors without its list. */
#ifndef DB_IO_AMPLITUDE_HEADER_H
#define DB_IO_AMPLITUDE_HEADER_H

#include <dualbragg/context.h>
#include <stddef.h>

typedef struct db_amplitude_header {
    int coordinates;      /* 1: a model, not reflections */
    double cell[6];       /* A, degree; NAN: not said */
    char group[96];       /* space group as the file names it; "" */
    double resolution[2]; /* A, coarsest and finest; NAN */
    size_t count;         /* reflections or atoms that the file holds */
    char columns[400];    /* labels of an MTZ file with their types: "FP (F), SIGFP (Q)"; "" */
} db_amplitude_header;

/* Are all six numbers of a cell known? */
int db_cell_is_stated(const double cell[6]);

/* Reads an MTZ, mmCIF or PDB file; for other files all members stay unknown. */
db_status db_amplitude_header_read(db_context *context, const char *path,
                                   db_amplitude_header *header);

#endif
