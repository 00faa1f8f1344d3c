#include "kernel/instances.h"

#include "base/compiled_isas.h"

#include "kernel/spot_finder.h"

/* X(kind, precision, instruction set) for every kind, in the order of db_kernel_kind */
#define DB_KINDS(X, precision, isa)                                                                \
    X(forward, precision, isa)                                                                     \
    X(gradient, precision, isa)                                                                    \
    X(gradient_cells, precision, isa)                                                              \
    X(general_forward, precision, isa)                                                             \
    X(general_gradient, precision, isa)                                                            \
    X(spots_forward, precision, isa)                                                               \
    X(spots_gradient, precision, isa)                                                              \
    X(amplitudes, precision, isa)

#define NAME(kind, precision, isa) db_kernel_##kind##_##precision##_##isa
#define DECLARE_ONE(kind, precision, isa)                                                          \
    void NAME(kind, precision, isa)(const db_kernel_job *, const db_tile *, size_t, double *,      \
                                    void *);
#define DECLARE(isa, number) DB_KINDS(DECLARE_ONE, double, isa) DB_KINDS(DECLARE_ONE, mixed, isa)
DB_INSTANCES(DECLARE)

static const db_kernel_function table[DB_ISA_COUNT][2][DB_KERNEL_KIND_COUNT] = {
#define ENTRY_ONE(kind, precision, isa) NAME(kind, precision, isa),
#define ENTRY(isa, number)                                                                         \
    [number] = { { DB_KINDS(ENTRY_ONE, double, isa) }, { DB_KINDS(ENTRY_ONE, mixed, isa) } },
    DB_INSTANCES(ENTRY)
};

db_kernel_function db_kernel_instance(db_isa isa, db_precision precision, db_kernel_kind kind) {
    return table[isa][precision == DB_PRECISION_MIXED][kind];
}

#define DECLARE_SLOPES(isa, number)                                                                \
    void db_spot_slopes_##isa(const db_kernel_spots *, size_t, size_t, int, const double *,        \
                              double *, float *);
DB_INSTANCES(DECLARE_SLOPES)

db_spot_slopes_function db_spot_slopes_instance(db_isa isa) {
    static const db_spot_slopes_function instance[DB_ISA_COUNT] = {
#define SLOPES_ENTRY(isa, number) [number] = db_spot_slopes_##isa,
        DB_INSTANCES(SLOPES_ENTRY)
    };
    return instance[isa];
}

#define DECLARE_FINDER(isa, number) extern const db_spot_finder db_spot_finder_##isa;
DB_INSTANCES(DECLARE_FINDER)

const db_spot_finder *db_spot_finder_instance(db_isa isa) {
    static const db_spot_finder *const instance[DB_ISA_COUNT] = {
#define FINDER_ENTRY(isa, number) [number] = &db_spot_finder_##isa,
        DB_INSTANCES(FINDER_ENTRY)
    };
    return instance[isa];
}
