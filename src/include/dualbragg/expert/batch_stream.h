/** @file
 * Batches on streams of a GPU. */
#ifndef DUALBRAGG_EXPERT_BATCH_STREAM_H
#define DUALBRAGG_EXPERT_BATCH_STREAM_H

#include <dualbragg/batch.h>
#include <dualbragg/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/** db_plan_set_stream for all shots, which a GPU then renders one after another.
 *
 * @param batch to change
 * @param use of the stream
 * @param stream the caller's
 * @return as db_plan_set_stream */
DB_API db_status db_plan_batch_set_stream(db_plan_batch *batch, db_stream_use use, void *stream);

/** db_plan_wait for all shots.
 *
 * @param batch to wait for
 * @return as db_plan_wait */
DB_API db_status db_plan_batch_wait(db_plan_batch *batch);

#ifdef __cplusplus
}
#endif
#endif
