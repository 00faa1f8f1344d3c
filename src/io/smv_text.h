/* The text header of an SMV image that is about to be written. */
#ifndef DB_IO_SMV_TEXT_H
#define DB_IO_SMV_TEXT_H

#include <dualbragg/io.h>

enum { DB_SMV_BLOCK = 512, DB_SMV_TEXT_SIZE = 8 * DB_SMV_BLOCK };

typedef struct db_smv_text {
    char bytes[DB_SMV_TEXT_SIZE];
    size_t length; /* a multiple of DB_SMV_BLOCK once it is built */
} db_smv_text;

/* What the header says of the pixels: value = scale * photons + adc, in 16 bits or 32. */
typedef struct db_smv_pixels {
    double scale, adc;
    int bits;
} db_smv_pixels;

/* Writes the keys of an experiment. path is for messages. */
db_status db_smv_text_build(db_context *context, const char *path, const db_experiment *experiment,
                            const db_smv_pixels *pixels, const db_smv_style *style,
                            db_smv_text *text);

#endif
