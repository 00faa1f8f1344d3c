/** @file
 * Detectors made of equal modules with gaps between them, whose
 * images are one array: Eiger, Pilatus. Cut into modules they
 * are detectors of several panels, and each can be refined. */
#ifndef DUALBRAGG_EXPERT_MODULES_H
#define DUALBRAGG_EXPERT_MODULES_H

#include <dualbragg/context.h>
#include <dualbragg/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Modules in rows and columns. All pairs: along fast, slow. */
typedef struct db_module_grid {
    int modules[2]; /**< their number */
    int pixels[2];  /**< of a module */
    int gap[2];     /**< pixels between two modules */
    char name[32];  /**< "EIGER2 16M"; the family's name alone for other numbers of modules */
} db_module_grid;

/** The modules of an image, recognized by the sizes of image and pixels: EIGER, EIGER2, PILATUS (and
 * PILATUS2, PILATUS3), PILATUS4, in any number of rows and columns, also turned by a quarter.
 *
 * @param pixels of the whole image
 * @param pixel_size mm
 * @param grid filled
 * @return 1; 0: it is no known one, or has one module only */
DB_API int db_module_grid_find(const int pixels[2], const double pixel_size[2],
                               db_module_grid *grid);

/** Modules of a given size with given gaps; the name is "".
 *
 * @param pixels of the whole image
 * @param module pixels of a module along fast, slow, pixels between two along fast, slow
 * @param grid filled
 * @return 1; 0: no whole number of them, or one only, fills the image */
DB_API int db_module_grid_of(const int pixels[2], const int module[4], db_module_grid *grid);

/** Replaces the only panel of a detector by one panel for each module, row by row. Pixels stay where
 * they are; the panels know where they begin in the image (db_panel.image_offset).
 *
 * @param context receives the message of a failure
 * @param grid whose modules fill the panel
 * @param experiment its detector is cut
 * @return DB_OK; DB_ERROR_USAGE where the panel has another size or there are several;
 *     DB_ERROR_UNSUPPORTED for a curved one; DB_ERROR_MEMORY; the detector then stays */
DB_API db_status db_detector_cut(db_context *context, const db_module_grid *grid,
                                 db_experiment *experiment);

/** Are the panels parts of one array in the image, as db_detector_cut makes them?
 *
 * @param detector with panels that know where they begin there
 * @return 1: several, of which one begins elsewhere than at the first pixel */
DB_API int db_detector_is_one_array(const db_detector *detector);

#ifdef __cplusplus
}
#endif
#endif
