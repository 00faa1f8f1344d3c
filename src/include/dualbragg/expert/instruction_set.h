/** @file
 * The instruction set of a context: for tests and measurements. */
#ifndef DUALBRAGG_EXPERT_INSTRUCTION_SET_H
#define DUALBRAGG_EXPERT_INSTRUCTION_SET_H

#include <dualbragg/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Instruction set of the kernels: "auto" (default), "sse2", "avx2" or "avx512" on x86-64, "neon"
 * on 64-bit Arm, "generic" elsewhere. The environment variable DUALBRAGG_ISA sets the default.
 * DB_ERROR_DEVICE if this processor lacks it.
 *
 * @param context to change
 * @param isa name of the instruction set
 * @return DB_OK; DB_ERROR_USAGE for an unknown name; DB_ERROR_DEVICE */
DB_API db_status db_context_set_isa(db_context *context, const char *isa);

/** The instruction set in effect ("sse2", "neon", ...). Static storage.
 *
 * @param context to ask
 * @return its name */
DB_API const char *db_context_isa(const db_context *context);

#ifdef __cplusplus
}
#endif
#endif
