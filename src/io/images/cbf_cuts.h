/* Arrays of CBF files (imgCIF): which binary section holds which, and the panels into which tables cut them. */
#ifndef DB_IO_CBF_CUTS_H
#define DB_IO_CBF_CUTS_H

#include "io/cif.h"
#include "io/images/cbf.h"

/* A panel within its array: first pixel and number of pixels along the three dimensions. The words point
 * into the file. */
typedef struct db_cbf_cut {
    db_word array, name;
    int start[3], count[3];
    size_t section; /* number of the binary section, from 0 */
} db_cbf_cut;

typedef struct db_cbf_arrays {
    db_context *context;
    const char *path;
    const db_file_content *content;
    const char *text_end; /* where the first binary section begins */
    db_cif_table data_frame, list, section, intensities;
    size_t arrays;    /* binary sections */
    db_cbf_cut *cuts; /* panels, in the order of their arrays in the file; owned */
    size_t count, room;
} db_cbf_arrays;

/* Reads them; the content must stay. To be cleared in any case. */
db_status db_cbf_arrays_open(db_context *context, const char *path, const db_file_content *content,
                             db_cbf_arrays *arrays);
void db_cbf_arrays_clear(db_cbf_arrays *arrays);

/* The end of the text before the first binary section. */
const char *db_cbf_text_end(const db_file_content *content, const db_cbf_binary *first);

#endif
