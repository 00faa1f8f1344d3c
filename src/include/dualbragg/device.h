/** @file
 * Devices on which plans are executed. The processor, "cpu", is always available; GPUs are once
 * their backend has been registered (dualbragg/cuda.h of a build with CUDA).
 *
 * A plan belongs to the device that its context had when it was created. The device keeps its own
 * copy of all that the plan's kernels read; a call copies to it what has changed since the last
 * one, and results back, or nothing where they are to stay in the device's memory
 * (db_plan_memory_create). */
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
 *   "cuda:local"       the one whose number is that of this process on its machine, modulo the number of
 *                      devices there: by MPI in the programs, else as the launcher (mpirun, srun, flux,
 *                      torchrun ...) says in the environment; the first where nothing tells
 *   "auto"             such a device if there is one, else the processor. A plan that does not fit
 *                      there, asks for what the device cannot do, or is predicted to be sooner done by
 *                      the processor, with results in ordinary memory, runs there; all do once the
 *                      device has failed. Memory of the device is then refused (DB_ERROR_DEVICE)
 *
 * The environment variable DUALBRAGG_DEVICE sets the default. Errors, which leave the choice as it
 * was: DB_ERROR_USAGE for a text that is not a device's name; DB_ERROR_DEVICE if the program has no
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

/** Why "auto" chose the processor, or a plan of it moved there; empty where it did not. Owned by
 * the context, until a device is chosen or another plan moves.
 *
 * @param context to ask
 * @return the text, or "" */
DB_API const char *db_context_device_note(const db_context *context);

/** The device that a plan runs on. Owned by the plan.
 *
 * @param plan to ask
 * @return its name */
DB_API const char *db_plan_device(const db_plan *plan);

/** What of the last db_plan_vjp or db_plan_jvp of a plan on a GPU the processor did, because the
 * GPU has no kernels for it. Owned by the library.
 *
 * @param plan to ask
 * @return the text, or "" where all was done on the plan's device */
DB_API const char *db_plan_device_note(const db_plan *plan);

/** Where memory is. */
typedef enum db_memory {
    /** page-locked (pinned) memory of the host: read and written by the processor, and copied
     * fastest to and from the device */
    DB_MEMORY_HOST,
    DB_MEMORY_DEVICE /**< of the plan's device: to be read and written by the functions below */
} db_memory;

/** Memory for what a plan renders into (db_plan_forward, db_plan_gradient) or compares with
 * (db_plan_normal), aligned for any type. With memory of the device nothing is copied, which pays
 * for data that stay the same from call to call and for images that are used there. Memory that the
 * device's own library has allocated serves as well. For plans on the processor both kinds are
 * ordinary memory, so that one program serves all devices.
 *
 * Errors: DB_ERROR_MEMORY; *memory is then NULL.
 *
 * @param plan whose device it is for
 * @param kind where it is
 * @param bytes its size
 * @param memory receives it; freed by db_plan_memory_destroy
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_plan_memory_create(db_plan *plan, db_memory kind, size_t bytes, void **memory);

/** Copies from the processor to memory of either kind; behind all work of the plan, for which it waits.
 *
 * @param plan whose memory it is
 * @param memory to write
 * @param from bytes to copy
 * @param bytes their number
 * @return DB_OK or an error */
DB_API db_status db_plan_memory_write(db_plan *plan, void *memory, const void *from, size_t bytes);

/** Copies to the processor from memory of either kind; behind all work of the plan, for which it waits.
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

/** Whose stream a plan on a GPU works on, and whether its calls wait. */
typedef enum db_stream_use {
    DB_STREAM_OWN, /**< the plan's own; calls return when their results are there (new plans) */
    /** the caller's, behind all that is there already; calls return when their results are there */
    DB_STREAM_WAIT,
    /** the caller's; a call whose results all stay in the device's memory returns as soon as its work
     * is in the stream */
    DB_STREAM_ASYNCHRONOUS
} db_stream_use;

/** Has a plan on a GPU work on a stream of the caller's from now on, so that what the caller's own
 * kernels write there is read behind them, and what the plan writes is there for kernels behind it,
 * without anybody waiting. What the plan has begun on another stream comes first.
 *
 * With DB_STREAM_ASYNCHRONOUS calls do not wait for the GPU where image, derivative images, tangent,
 * cotangent, data and weights are in its memory (db_plan_forward, db_plan_gradient, db_plan_jvp, and those
 * of batches). Calls with results in the host's memory wait for them as ever: numbers, such as the sums of
 * db_plan_normal and the gradient of db_plan_vjp, are such results. Beyond that a call waits where it
 * is four calls ahead of the GPU, where it needs more memory than those before, and where it copies
 * more than 32 MB to the GPU. A failure of the GPU is reported by whichever call finds it: at the latest
 * by the next that waits (db_plan_wait).
 *
 * On a stream that is captured into a CUDA graph, calls of plans whose results all stay in the device's memory
 * are captured with the parameters that the plan has then; others are DB_ERROR_UNSUPPORTED. A graph must not
 * be launched once the plan is destroyed.
 *
 * The caller keeps alive: the stream, until the plan has another one or is destroyed; images and data,
 * until the stream is past the call that was given them. Experiments, options, directions and what else
 * is in the host's memory may change as soon as a call returns. A plan may be destroyed while its work
 * is under way.
 *
 * @param plan to change
 * @param use of the stream
 * @param stream a cudaStream_t of the plan's GPU, or NULL, cudaStreamLegacy or cudaStreamPerThread, as
 *     CUDA's own calls take them; not looked at with DB_STREAM_OWN
 * @return DB_OK; DB_ERROR_USAGE; DB_ERROR_INPUT for a stream of another GPU; DB_ERROR_UNSUPPORTED for a
 *     plan on the processor, which has none but DB_STREAM_OWN; DB_ERROR_DEVICE. After an error the plan
 *     works where it did */
DB_API db_status db_plan_set_stream(db_plan *plan, db_stream_use use, void *stream);

/** Waits until the plan's stream has nothing more to do; returns at once for plans on the processor.
 *
 * @param plan to wait for
 * @return DB_OK; DB_ERROR_DEVICE where the GPU has failed since the last call that waited */
DB_API db_status db_plan_wait(db_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
