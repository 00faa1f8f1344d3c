#include "kernel/instances.h"

/* X(instruction set) for every compiled one */
#if defined(DB_HAVE_X86_INSTANCES)
#define DB_INSTANCES(X) X(sse2) X(avx2) X(avx512)
#else
#define DB_INSTANCES(X) X(sse2)
#endif

#define DECLARE_ONE(tag) void db_kernel_##tag(const db_kernel_job *, size_t, int, int);
#define DECLARE(isa)                                                                               \
    DECLARE_ONE(forward_double_##isa)                                                              \
    DECLARE_ONE(gradient_double_##isa)                                                             \
    DECLARE_ONE(gradient_cells_double_##isa)                                                       \
    DECLARE_ONE(forward_mixed_##isa)                                                               \
    DECLARE_ONE(gradient_mixed_##isa)                                                              \
    DECLARE_ONE(gradient_cells_mixed_##isa)
DB_INSTANCES(DECLARE)

static const db_kernel_function table[DB_ISA_COUNT][2][3] = {
#define ENTRY(isa)                                                                                 \
    { { db_kernel_forward_double_##isa, db_kernel_gradient_double_##isa,                           \
        db_kernel_gradient_cells_double_##isa },                                                   \
      { db_kernel_forward_mixed_##isa, db_kernel_gradient_mixed_##isa,                             \
        db_kernel_gradient_cells_mixed_##isa } },
    DB_INSTANCES(ENTRY)
#undef ENTRY
};

db_kernel_function db_kernel_instance(db_isa isa, db_precision precision, db_kernel_kind kind) {
    return table[isa][precision == DB_PRECISION_MIXED][kind];
}
