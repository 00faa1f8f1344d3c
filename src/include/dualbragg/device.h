/** @file
 * Devices on which plans are executed. The processor, "cpu", is always available. GPUs are
 * available after their backend is registered (dualbragg/cuda.h of a build with CUDA).
 *
 * A plan belongs to the device of its context at creation. The device keeps a copy of the input of
 * the plan's kernels. A call copies changed input to the device, and results back, unless results
 * stay in the device's memory (db_plan_memory_create).
 */
#ifndef DUALBRAGG_DEVICE_H
#define DUALBRAGG_DEVICE_H

#include <dualbragg/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Device of the plans created with this context from now on:
 *
 *   "cpu", "cpu:0"     (default)
 *   "cuda", "cuda:1"   a backend's first device, or the one of that number
 *   "cuda:local"       the device with the number of this process on its machine, modulo the number of
 *                      devices. The number comes from MPI in the programs, else from the
 *                      environment of the launcher (mpirun, srun, flux, torchrun ...), else it is 0
 *   "auto"             such a device if there is one, else the processor. The processor also runs a
 *                      plan that does not fit on the device, needs what the device lacks, or is predicted
 *                      to be faster on the processor, with results in ordinary memory; and all plans after
 *                      a failure of the device. Memory of the device is then refused (DB_ERROR_DEVICE)
 *
 * The environment variable DUALBRAGG_DEVICE sets the default. Errors, which do not change the device:
 * DB_ERROR_USAGE for a text that is not a device's name; DB_ERROR_DEVICE if the program has no
 * such backend, or the backend finds no driver or no such device.
 *
 * @param context to change
 * @param name of the device
 * @return DB_OK; DB_ERROR_USAGE or DB_ERROR_DEVICE */
DB_API db_status db_context_set_device(db_context *context, const char *name);

/** The device in effect: "cpu", "cuda:0". Owned by the context, until the next choice or, with "auto",
 * a failure of the device.
 *
 * @param context to ask
 * @return its name */
DB_API const char *db_context_device(const db_context *context);

/** The model name of the device, e.g. "NVIDIA H100 PCIe"; empty for the processor. Owned like the
 * device.
 *
 * @param context to ask
 * @return its name */
DB_API const char *db_context_device_model(const db_context *context);

/** Why "auto" chose the processor, or moved a plan to it; empty if it did
 * not. Owned by the context, until a device is chosen or another plan moves.
 *
 * @param context to ask
 * @return the text, or "" */
DB_API const char *db_context_device_note(const db_context *context);

/** The device that a plan runs on. Owned by the plan.
 *
 * @param plan to ask
 * @return its name */
DB_API const char *db_plan_device(const db_plan *plan);

/** Parts of the last db_plan_vjp or db_plan_jvp of a plan on a GPU that the
 * processor did, because the GPU has no kernels for them. Owned by the library.
 *
 * @param plan to ask
 * @return the text, or "" if the plan's device did all */
DB_API const char *db_plan_device_note(const db_plan *plan);

/** Where memory is. */
typedef enum db_memory {
    /** page-locked (pinned) memory of the host: read and written by the processor, and copied
     * fastest to and from the device */
    DB_MEMORY_HOST,
    DB_MEMORY_DEVICE /**< memory of the plan's device: read and written by the functions below */
} db_memory;

/** Memory for images (db_plan_forward, db_plan_gradient) or data (db_plan_normal) of
 * a plan, aligned for any type. Memory of the device needs no copies: use it for data
 * that do not change between calls, and for images that are used on the device.
 * Memory allocated by the device's own library works, too. For plans on the processor
 * both kinds are ordinary memory, so that one program works on all devices.
 *
 * Errors: DB_ERROR_MEMORY; *memory is then NULL.
 *
 * @param plan whose device it is for
 * @param kind where it is
 * @param bytes its size
 * @param memory receives it; freed by db_plan_memory_destroy
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_plan_memory_create(db_plan *plan, db_memory kind, size_t bytes, void **memory);

/** Copies from the processor to memory of either kind, after waiting for all work of the plan.
 *
 * @param plan whose memory it is
 * @param memory to write
 * @param from bytes to copy
 * @param bytes their number
 * @return DB_OK or an error */
DB_API db_status db_plan_memory_write(db_plan *plan, void *memory, const void *from, size_t bytes);

/** Copies to the processor from memory of either kind, after waiting for all work of the plan.
 *
 * @param plan whose memory it is
 * @param memory to read
 * @param to room for the bytes
 * @param bytes their number
 * @return DB_OK or an error */
DB_API db_status db_plan_memory_read(db_plan *plan, const void *memory, void *to, size_t bytes);

/** Frees it and sets the caller's pointer to NULL; before the plan is destroyed. NULL and pointer
 * to NULL are allowed.
 *
 * @param plan whose memory it is
 * @param memory to free */
DB_API void db_plan_memory_destroy(db_plan *plan, void **memory);

/** The stream of a plan on a GPU, and whether its calls wait. */
typedef enum db_stream_use {
    DB_STREAM_OWN, /**< the plan's own; calls return when their results are there (new plans) */
    /** the caller's, after all earlier work on it; calls return when their results are complete */
    DB_STREAM_WAIT,
    /** the caller's; a call whose results all stay in the
     * device's memory returns when its work is in the stream */
    DB_STREAM_ASYNCHRONOUS
} db_stream_use;

/** Lets a plan on a GPU work on a stream of the caller. The plan then reads the
 * results of earlier kernels on this stream, and later kernels read the results of
 * the plan, without waiting. Work of the plan on its former stream is finished first.
 *
 * With DB_STREAM_ASYNCHRONOUS calls do not wait for the GPU if image, derivative
 * images, tangent, cotangent, data and weights are in its memory (db_plan_forward,
 * db_plan_gradient, db_plan_jvp, and calls of batches). Calls with results in the
 * host's memory wait; the sums of db_plan_normal and the gradient of db_plan_vjp are
 * such results. A call also waits if it is four calls ahead of the GPU, needs more
 * memory than earlier calls, or copies more than 32 MB to the GPU. A failure of the GPU
 * is reported by a later call, at the latest by the next one that waits (db_plan_wait).
 *
 * On a stream that is captured into a CUDA graph, calls of plans whose results all stay in the device's memory
 * are captured with the parameters that the plan has then; others are DB_ERROR_UNSUPPORTED. A graph must not
 * be launched once the plan is destroyed.
 *
 * The caller must keep the stream until the plan has another one or is
 * destroyed, and images and data until the stream has passed the call.
 * Experiments, options, directions and other data in the host's memory may
 * change when a call returns. A plan may be destroyed while its work is running.
 *
 * @param plan to change
 * @param use of the stream
 * @param stream a cudaStream_t of the plan's GPU, or NULL, cudaStreamLegacy or
 *     cudaStreamPerThread, as CUDA's own calls take them; ignored with DB_STREAM_OWN
 * @return DB_OK; DB_ERROR_USAGE; DB_ERROR_INPUT for a stream of another GPU; DB_ERROR_UNSUPPORTED for a
 *     plan on the processor, which has none but DB_STREAM_OWN;
 *     DB_ERROR_DEVICE. After an error the plan keeps its stream */
DB_API db_status db_plan_set_stream(db_plan *plan, db_stream_use use, void *stream);

/** Waits until the plan's stream has nothing more to do; returns at once for plans on the processor.
 *
 * @param plan to wait for
 * @return DB_OK; DB_ERROR_DEVICE if the GPU has failed since the last call that waited */
DB_API db_status db_plan_wait(db_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
