/** @file
 * Lists of reflections, where an image is compared with the model. */
#ifndef DUALBRAGG_FIT_SPOTS_H
#define DUALBRAGG_FIT_SPOTS_H

#include <dualbragg/context.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of lists: by index, by observed place, or by pixels. */
typedef enum db_fit_listing {
    DB_FIT_LISTED_BY_INDEX,    /**< hkl */
    DB_FIT_LISTED_BY_POSITION, /**< panel and position */
    DB_FIT_LISTED_BY_BOX       /**< panel and box, and hkl unless it is 0 0 0 */
} db_fit_listing;
/** A reflection of a list. */
typedef struct db_fit_spot {
    int hkl[3];
    size_t panel;
    double position[2]; /**< pixels of the panel, fast, slow */
    int box[4];         /**< pixels of the panel: fast min, max, slow min, max, inclusive */
} db_fit_spot;
/** A list of reflections. */
typedef struct db_fit_spots {
    db_fit_listing listing;
    size_t count;
    db_fit_spot *spot; /**< ordered by hkl, or as read; owned */
    /** 1: parts of reflections on consecutive frames, which
     * are also used if the image shows nothing of them */
    int are_parts;
} db_fit_spots;

/** Frees the list and zeroes the struct. Safe on a zeroed struct.
 *
 * @param spots to clear */
DB_API void db_fit_spots_clear(db_fit_spots *spots);

#ifdef __cplusplus
}
#endif
#endif
