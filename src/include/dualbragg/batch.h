/** @file
 * Batches: images of many experiments in one call, with their derivatives. The experiments (shots) have
 * the same counts and structure factors; orientation, cell, beam, scale, detector geometry ... are each
 * shot's own.
 *
 * Shots are divided among the context's threads, a whole shot each, so that small images use all cores;
 * shots that are left over, fewer than there are threads, are rendered one after another by all of them.
 * Results have the same bits as those of plans for each shot, for any number of threads.
 *
 * On a GPU images and derivatives along directions are made of many shots in one launch, in mixed precision
 * and up to 8 MB of a shot: threads prepare them, as many as those of the context and 32 more, as far as
 * their plans fit into 1 GB. Everything else, and a batch on a caller's stream, is made of one shot after
 * another.
 *
 *     db_plan_batch_create -> (db_plan_batch_forward | _vjp | _jvp | _normal)* -> db_plan_batch_destroy
 *
 * A batch is used by one thread at a time. It keeps one plan, and one for each thread that has rendered
 * whole shots, each with a copy of the structure factors. Errors are those of the calls for one plan,
 * with "shot N" (from 0) in front of the message: of all shots that failed, the first; the results of
 * all shots are then undefined. The context's progress callback is called between shots. */
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

/** The plan that the batch's shots are rendered with, to be asked for parameters, regions, sizes.
 *
 * @param batch to ask; owns it
 * @return the plan, with the values of any of the shots */
DB_API const db_plan *db_plan_batch_plan(const db_plan_batch *batch);

/** db_plan_share_amplitudes for all shots.
 *
 * @param batch to change
 * @param value of each entry of the box; NULL: its own
 * @param count number of values
 * @return as db_plan_share_amplitudes */
DB_API db_status db_plan_batch_share_amplitudes(db_plan_batch *batch, const uint32_t *value,
                                                size_t count);

/** Takes over an experiment's structure factors, for all shots to come; its counts and the box of its list
 * must be those of creation.
 *
 * @param batch to change
 * @param experiment has the list and default_F; its other values are not those of any shot
 * @return as db_plan_update; after an error the batch may have the structure factors of either */
DB_API db_status db_plan_batch_update(db_plan_batch *batch, const db_experiment *experiment);

/** Images of the shots: db_plan_forward for each.
 *
 * @param batch to execute
 * @param shots [count] experiments; their lists of structure factors are not looked at, and may be NULL
 *     with extents of 0. Copies of a db_experiment that borrow its lists will do
 * @param count number of shots
 * @param images [count]: buffers of db_plan_pixels elements of the plan's pixel type; photons
 * @return an error leaves the results undefined */
DB_API db_status db_plan_batch_forward(db_plan_batch *batch, const db_experiment *const *shots,
                                       size_t count, void *const *images);

/** Gradients: db_plan_vjp for each shot, and sums over the shots of those by structure factors, which
 * the shots share; sums are in the order of the shots.
 *
 * Memory, if sums are wanted: 8 bytes for each structure factor and thread, beside what
 * db_plan_vjp keeps in the plan of each.
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
