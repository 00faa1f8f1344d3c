/** @file
 * Batches: images of many experiments in one call, with their derivatives. The experiments (shots)
 * have equal counts and structure factors. Each shot has its own orientation, cell, beam, scale ...
 *
 * Each thread of the context renders one shot at a time, so that small images use all cores. The
 * last shots, fewer than threads, are rendered one after another by all threads.
 *
 * Results have the bits that a plan for each shot gives, for any number of threads.
 *
 * On a GPU a batch renders one shot after another.
 *
 *     db_plan_batch_create -> (db_plan_batch_forward | _vjp | _jvp | _normal)* -> db_plan_batch_destroy
 *
 * One thread at a time may use a batch. A batch keeps one plan, and a plan for each thread that has
 * rendered whole shots, each with a copy of the structure factors. Errors are the errors of calls
 * for one plan, with "shot N" (from 0, the first failed shot) in front of the message; the results
 * of all shots are then undefined. The context's progress callback is called between shots. */
#ifndef DUALBRAGG_BATCH_H
#define DUALBRAGG_BATCH_H

#include <dualbragg/device.h>
#include <dualbragg/products.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct db_plan_batch db_plan_batch;

/** Prepares a batch.
 *
 * @param context receives the messages of the batch; must live as long as it
 * @param experiment has the counts and the structure factors of all shots; copied
 * @param options of the plans; NULL: defaults
 * @param batch receives it; to be destroyed by the caller; NULL after an error
 * @return as db_plan_create */
DB_API db_status db_plan_batch_create(db_context *context, const db_experiment *experiment,
                                      const db_plan_options *options, db_plan_batch **batch);

/** The plan of the batch, for its parameters, regions and sizes.
 *
 * @param batch to ask; owns it
 * @return the plan, with the values of any of the shots */
DB_API const db_plan *db_plan_batch_plan(const db_plan_batch *batch);

/** db_plan_share_amplitudes for all shots.
 *
 * @param batch to change
 * @param value number for each entry of the box; NULL: all differ
 * @param count number of values
 * @return as db_plan_share_amplitudes */
DB_API db_status db_plan_batch_share_amplitudes(db_plan_batch *batch, const uint32_t *value,
                                                size_t count);

/** Sets the structure factors for all later shots. Counts
 * and the box of the list must be as at the creation.
 *
 * @param batch to change
 * @param experiment has the list and default_F; its other values are not used
 * @return as db_plan_update; after an error the batch may have the old or the new structure factors */
DB_API db_status db_plan_batch_update(db_plan_batch *batch, const db_experiment *experiment);

/** Images of the shots: db_plan_forward for each.
 *
 * @param batch to execute
 * @param shots [count] experiments; their lists of structure factors are not used, and may
 *     be NULL with extents of 0. They may be copies of a db_experiment that borrow its lists
 * @param count number of shots
 * @param images [count]: buffers of db_plan_pixels elements of the plan's pixel type; photons
 * @return an error leaves the results undefined */
DB_API db_status db_plan_batch_forward(db_plan_batch *batch, const db_experiment *const *shots,
                                       size_t count, void *const *images);

/** Gradients: db_plan_vjp for each shot, and the sum over all shots of gradients by structure
 * factors, in the order of the shots.
 *
 * Memory, if sums are wanted: 8 bytes for each structure factor and thread, besides the memory of
 * db_plan_vjp in the plan of each thread.
 *
 * @param batch to execute
 * @param shots [count], as for db_plan_batch_forward
 * @param count number of shots
 * @param cotangents [count] images
 * @param images [count], each as in db_plan_vjp, or NULL: none is wanted
 * @param gradients [count], each as in db_plan_vjp; NULL: sums alone are wanted
 * @param sums amplitudes and default_F receive sums over all shots, the other members must be NULL; NULL:
 *     not wanted
 * @return an error leaves the results undefined */
DB_API db_status db_plan_batch_vjp(db_plan_batch *batch, const db_experiment *const *shots,
                                   size_t count, const void *const *cotangents, void *const *images,
                                   const db_plan_vector *gradients, const db_plan_vector *sums);

/** Derivatives along directions: db_plan_jvp for each shot.
 *
 * @param batch to execute
 * @param shots [count], as for db_plan_batch_forward
 * @param count number of shots
 * @param directions [count], each as in db_plan_jvp; several may point to the same arrays
 * @param images [count] images, photons
 * @param tangents [count] derivatives along the directions
 * @return an error leaves the results undefined */
DB_API db_status db_plan_batch_jvp(db_plan_batch *batch, const db_experiment *const *shots,
                                   size_t count, const db_plan_vector *directions,
                                   void *const *images, void *const *tangents);

/** Normal equations: db_plan_normal for each shot.
 *
 * @param batch to execute; with parameters
 * @param shots [count], as for db_plan_batch_forward
 * @param count number of shots
 * @param type of the elements of data and weights
 * @param data [count] images, photons
 * @param weights [count] images, 1/photons^2, each may be NULL: 1; NULL: 1 for all
 * @param chi2 receives [count]
 * @param gradients receives [count][parameter_count]
 * @param curvatures receives [count][parameter_count][parameter_count]
 * @return an error leaves the results undefined */
DB_API db_status db_plan_batch_normal(db_plan_batch *batch, const db_experiment *const *shots,
                                      size_t count, db_pixel_type type, const void *const *data,
                                      const void *const *weights, double *chi2, double *gradients,
                                      double *curvatures);

/** Frees the batch and sets the caller's pointer to NULL.
 *
 * @param batch to destroy */
DB_API void db_plan_batch_destroy(db_plan_batch **batch);

#ifdef __cplusplus
}
#endif
#endif
