/* The sums of each pixel of a group: intensity and, in gradient instances, columns. */
#ifndef DB_KERNEL_PIXEL_SUMS_H
#define DB_KERNEL_PIXEL_SUMS_H

#include "kernel/instance_types.h"

/* There are as many loose columns, from DB_COLUMN_AMPLITUDE on, as the job has parameters of their kinds. An index
 * that is known at run time only keeps an array out of registers. This matters on devices, where loose columns are
 * therefore a separate array. */
typedef struct {
    fine intensity;
#if defined(DB_INSTANCE_AMPLITUDES)
    fine cotangent;
    struct db_amplitude_sums *amplitudes; /* or NULL */
#endif
#if DB_INSTANCE_KIND > 0 && defined(DB_LOOSE_COLUMNS_APART)
    fine column[DB_COLUMN_AMPLITUDE];
    fine *loose; /* [DB_LOOSE_COLUMNS] */
#elif DB_INSTANCE_KIND > 0
    fine column[DB_COLUMN_COUNT];
#endif
} pixel_sums;

#if DB_INSTANCE_KIND > 0
AD_INLINE fine *loose_column(pixel_sums *sums, int column) {
#if defined(DB_LOOSE_COLUMNS_APART)
    return &sums->loose[column - DB_COLUMN_AMPLITUDE];
#else
    return &sums->column[column];
#endif
}
#endif

#endif
