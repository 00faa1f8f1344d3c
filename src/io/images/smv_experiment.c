/* Reads the experiment from the header of an SMV file, for set-ups. */
#include "base/context_internal.h"
#include "io/images/image_geometry.h"
#include "io/images/smv.h"

#include <math.h>
#include <string.h>

static db_status open_smv(db_context *context, const char *path, db_file_content *content,
                          db_smv_header *header) {
    DB_TRY(db_file_content_read(context, path, content));
    const db_status status = db_is_smv(content)
                                 ? db_smv_header_open(context, path, content, header)
                                 : db_fail(context, DB_ERROR_INPUT,
                                           "%s: expected an SMV image, found something else", path);
    if (status != DB_OK) db_file_content_clear(content);
    return status;
}

db_status db_smv_image_geometry(db_context *context, const char *path, long frame,
                                db_image_geometry *geometry) {
    db_file_content content;
    db_smv_header header;
    (void)frame; /* there is one */
    DB_TRY(open_smv(context, path, &content, &header));
    const db_status status = db_smv_geometry_read(&header, geometry);
    db_file_content_clear(&content);
    return status;
}

static db_status read_reference_header(const db_smv_header *header, db_reference_header *n) {
    *n = (db_reference_header){ { NAN, NAN }, NAN,          NAN, NAN, NAN,
                                { NAN, NAN }, { NAN, NAN }, NAN, NAN };
    const struct {
        const char *key;
        double *numbers;
        int count;
    } rows[] = {
        { "DETECTOR_DIMENSIONS", n->size, 2 },
        { "SIZE1", &n->size[0], 1 },
        { "SIZE2", &n->size[1], 1 },
        { "PIXEL_SIZE", &n->pixel_size, 1 },
        { "DISTANCE", &n->distance, 1 },
        { "CLOSE_DISTANCE", &n->close_distance, 1 },
        { "WAVELENGTH", &n->wavelength, 1 },
        { "BEAM_CENTER_X", &n->beam_center[0], 1 },
        { "BEAM_CENTER_Y", &n->beam_center[1], 1 },
        { "ORGX", &n->org[0], 1 },
        { "ORGY", &n->org[1], 1 },
        { "PHI", &n->phi, 1 },
        { "OSC_RANGE", &n->osc_range, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        DB_TRY(db_smv_header_last_numbers(header, rows[i].key, rows[i].numbers, rows[i].count));
    return DB_OK;
}

db_status db_reference_header_read(db_context *context, const char *path,
                                   db_reference_header *numbers) {
    db_file_content content;
    db_smv_header header;
    DB_TRY(open_smv(context, path, &content, &header));
    const db_status status = read_reference_header(&header, numbers);
    db_file_content_clear(&content);
    return status;
}
