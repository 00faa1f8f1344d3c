/** @file
 * Shots of an experiment list or of a stream of CrystFEL. */
#ifndef DUALBRAGG_EXPERT_LISTED_SHOTS_H
#define DUALBRAGG_EXPERT_LISTED_SHOTS_H

#include <dualbragg/experiment_list.h>
#include <dualbragg/reflections.h>
#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/reflection_tables.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An image of an experiment. */
typedef struct db_listed_shot {
    long number; /**< of the experiment in its list, from 0; -1: the image has none */
    char *image; /**< as the list names it: FILE, FILE#N, FILE#EVENT; owned */
} db_listed_shot;

/** The shots of a list. */
typedef struct db_listed_shots {
    size_t count;
    db_listed_shot *shot; /**< owned */
} db_listed_shots;

/** Lists all images of all experiments of a DIALS experiment list, in its order: each image of a scan. If
 * experiments without scans share a set of images, each has its own image of the set. From a stream of
 * CrystFEL: the image of each crystal. The images need not exist.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param shots overwritten; to be cleared by the caller; empty after a failure
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED without
 *     jansson */
DB_API db_status db_list_shots(db_context *context, const char *path, db_listed_shots *shots);

/** Frees the shots and zeroes the struct. Safe on a zeroed struct.
 *
 * @param shots to clear */
DB_API void db_listed_shots_clear(db_listed_shots *shots);

/** Reads the peaks of an image from a stream of
 * CrystFEL, in pixels of the panels of its geometry.
 *
 * @param context receives the message of a failure
 * @param path name of the stream
 * @param selection the number of a crystal on the image, or the image
 * @param table overwritten: positions and panels; to be cleared by the caller
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_read_stream_spots(db_context *context, const char *path,
                                      const db_expt_selection *selection,
                                      db_reflection_table *table);

#ifdef __cplusplus
}
#endif
#endif
