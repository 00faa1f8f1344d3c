/** @file
 * Lists of reflections, which say where an image is to be compared with the model. */
#ifndef DUALBRAGG_FIT_SPOTS_H
#define DUALBRAGG_FIT_SPOTS_H

#include <dualbragg/context.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reflections that a list names: by index, by where they were seen, or by the pixels they get. */
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
    /** 1: of neighbouring frames, so that what the image shows of a reflection counts even where
     * that is nothing */
    int are_parts;
} db_fit_spots;

/** Reads lines "h k l", or "fast slow" or "fast slow panel" (panels from 0), or "panel fast_min
 * fast_max slow_min slow_max", perhaps followed by "h k l" (boxes, inclusive). Further columns of
 * the first two, blank lines and what follows '#' are passed over. Or reads a reflection table of
 * DIALS (.refl): miller_index of indexed reflections, or xyzobs.px.value and panel, or bbox, panel
 * and, where they are indexed, miller_index; of several experiments that of number `experiment`
 * (from 0), which otherwise may be -1. Clear it with db_fit_spots_clear.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param listing what the lines say
 * @param experiment number in a table of several experiments, from 0; -1: there is one
 * @param spots overwritten; owns the list
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; *spots then owns nothing */
DB_API db_status db_fit_spots_read(db_context *context, const char *path, db_fit_listing listing,
                                   int experiment, db_fit_spots *spots);

/** Frees the list and zeroes the struct. Safe on a zeroed struct.
 *
 * @param spots to clear */
DB_API void db_fit_spots_clear(db_fit_spots *spots);

#ifdef __cplusplus
}
#endif
#endif
