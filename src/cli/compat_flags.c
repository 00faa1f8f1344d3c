#define _POSIX_C_SOURCE 200809L /* access */
#include "cli/compat_flags.h"

#include "cli/noise_settings.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is(const db_flag *flag, const char *name) { return strcmp(flag->name, name) == 0; }

/* The last flag that speaks of the pivot counts, -pivot being one of them. */
static void settle_pivot(const db_flag *flag, db_setup *setup) {
    if (flag->pivot == DB_IMPLIES_NOTHING) return;
    setup->pivot = -1;
    setup->pivot_hint = flag->pivot == DB_IMPLIES_SAMPLE ? DB_PIVOT_SAMPLE : DB_PIVOT_BEAM;
}

/* -twotheta_axis x y z is -twotheta x, too; -misset_seed s is -misset s and the two arguments after
 * it, whatever they are. */
static void collide(const db_flag *flag, char *const *value, int count, db_setup *setup) {
    if (is(flag, "-twotheta_axis")) {
        setup->twotheta = setup->twotheta_axis[0];
        setup->pivot = -1;
        setup->pivot_hint = DB_PIVOT_SAMPLE;
    }
    if (is(flag, "-misset_seed") && count >= 3) {
        setup->misset_random = 0;
        for (int i = 0; i < 3; i++) setup->misset[i] = strtod(value[i], NULL);
    }
}

void db_compat_after_flag(const db_flag *flag, char *const *value, int count,
                          db_settings *settings) {
    db_setup *const setup = &settings->setup;
    if (flag->vector) setup->convention = DB_CONVENTION_CUSTOM;
    settle_pivot(flag, setup);
    collide(flag, value, count, setup);
}

void db_compat_settle(db_settings *settings) {
    static const char cache[] = "Fdump.bin";
    db_setup *const setup = &settings->setup;
    const long now = (long)time(NULL);
    if (!settings->misset_seed_given) setup->misset_seed = now;
    if (settings->seed == 0) settings->seed = now;
    if (!setup->cache_file && (setup->hkl_file || access(cache, R_OK) == 0))
        setup->cache_file = cache;
    if (strcmp(settings->command, "sim") != 0) return;
    if (!settings->float_file) settings->float_file = "floatimage.bin";
    if (!settings->int_file) settings->int_file = "intimage.img";
    if (!settings->pgm_file && settings->pgm != 0) {
        settings->pgm = 1;
        settings->pgm_file = "image.pgm";
    }
    if (settings->noise_wanted < 0 && db_noise_available()) {
        settings->noise_wanted = 1;
        settings->noise_file = "noiseimage.img";
    }
}
