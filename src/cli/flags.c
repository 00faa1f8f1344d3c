#define _POSIX_C_SOURCE 200809L /* access */
#include "cli/flags.h"

#include "cli/amorphous.h"
#include "cli/complaint.h"
#include "cli/flag_files.h"
#include "cli/noise_settings.h"
#include "setup/sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void db_settings_init(db_settings *settings, const db_flag_table *flags) {
    memset(settings, 0, sizeof *settings);
    settings->flags = flags;
    settings->command = flags->command;
    db_setup_init(&settings->setup);
    settings->roi[0] = -1;
    settings->adc = 40;
    settings->pgm = -1;
    settings->prefix = "grad";
    settings->output_directory = ".";
    settings->printout_pixel[0] = settings->trace_pixel[0] = -1;
    settings->progress = -1;
    settings->digits = 6;
    settings->tolerance = NAN;
    settings->difference_tolerance = 1e-7;
    settings->contraction_tolerance = 1e-11;
    for (int i = 0; i < 3; i++) settings->setup.amorphous_size[i] = NAN;
    if (db_amorphous_alone(settings))
        for (int i = 0; i < 3; i++) settings->setup.sample_size[i] = NAN;
    for (int i = 0; i < 9; i++) settings->view.ring[i] = NAN;
    for (int i = 0; i < 2; i++) settings->view.counts[i] = settings->view.percentile[i] = NAN;
    settings->view.size = 1400;
    settings->view.sum = 1;
    settings->view.strong = 6;
    db_noise_leave_open(settings);
}

static int is_named(const db_flag *flag, const char *name) { return strcmp(flag->name, name) == 0; }

/* Habits of the reference: further effects of flags with -compat. dualbragg orient then works like UBtoA, which
 * has other habits. */
static int as_reference(const db_flag_table *flags, const db_arguments *given) {
    int compat = 0;
    for (size_t i = 0; i < given->count; i++)
        compat |= is_named(given->argument[i].flag, "-compat");
    return compat && flags->bit != DB_FOR_ORIENT;
}

/* -twotheta_axis x y z is -twotheta x, too; -misset_seed s is -misset s and the two arguments after
 * it, of any kind. */
static void collide(const db_argument *given, db_setup *setup) {
    if (is_named(given->flag, "-twotheta_axis")) {
        setup->twotheta = setup->twotheta_axis[0];
        setup->pivot = -1;
        setup->pivot_hint = DB_PIVOT_SAMPLE;
    }
    if (is_named(given->flag, "-misset_seed") && given->after_count >= 3) {
        setup->misset_random = 0;
        for (int i = 0; i < 3; i++) setup->misset[i] = strtod(given->after[i], NULL);
    }
}

/* Flags count in their order, and the last one about the pivot counts, -pivot included. A negative seed starts the
 * stream of seed 1. */
static void apply_as_reference(const db_argument *given, db_settings *settings) {
    const db_flag *const flag = given->flag;
    db_setup *const setup = &settings->setup;
    const long first_stream = 1;
    db_argument_store(given, settings);
    if (flag->kind == DB_FLAG_SEED && given->number[0] < 0)
        memcpy((char *)settings + flag->member, &first_stream, sizeof first_stream);
    if (flag->vector) setup->convention = DB_CONVENTION_CUSTOM;
    if (flag->pivot != DB_IMPLIES_NOTHING) {
        setup->pivot = -1;
        setup->pivot_hint = flag->pivot == DB_IMPLIES_SAMPLE ? DB_PIVOT_SAMPLE : DB_PIVOT_BEAM;
    }
    collide(given, setup);
}

/* Names of files that the reference writes and reads anyway, and seeds from the clock. */
static void resolve_as_reference(db_settings *settings) {
    static const char cache[] = "Fdump.bin";
    db_setup *const setup = &settings->setup;
    const long now = (long)time(NULL);
    if (!settings->misset_seed_given) setup->misset_seed = now;
    if (settings->seed == 0) settings->seed = now;
    if (!setup->cache_file && (setup->hkl_file || access(cache, R_OK) == 0))
        setup->cache_file = cache;
    if (settings->flags->bit != DB_FOR_SIM) return;
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

/* In any order: one flag about the sample decides the pivot. */
static void apply_one(const db_argument *given, db_settings *settings) {
    const db_flag *const flag = given->flag;
    int *const hint = &settings->setup.pivot_hint;
    db_argument_store(given, settings);
    if (flag->vector) settings->vector_given = 1;
    if (flag->pivot == DB_IMPLIES_SAMPLE) *hint = DB_PIVOT_SAMPLE;
    if (flag->pivot == DB_IMPLIES_BEAM && *hint < 0) *hint = DB_PIVOT_BEAM;
}

void db_settings_apply(db_settings *settings, const db_arguments *given) {
    const int reference = as_reference(settings->flags, given);
    if (reference) {
        for (size_t i = 0; i < given->count; i++) apply_as_reference(&given->argument[i], settings);
        resolve_as_reference(settings);
    } else {
        /* a flag for one axis has precedence over the one for all axes, in any order */
        for (int one_axis = 0; one_axis < 2; one_axis++)
            for (size_t i = 0; i < given->count; i++)
                if (one_axis == (given->argument[i].flag->fill < 2))
                    apply_one(&given->argument[i], settings);
        if (settings->seed > 0 && !settings->misset_seed_given)
            settings->setup.misset_seed = settings->seed;
    }
    db_amorphous_settle(settings);
    if (settings->pgm == 0) settings->pgm_file = NULL;
    db_flag_files_settle(settings->flags, settings);
}

void db_settings_name_curves(const db_settings *settings, db_named_files *files) {
    const char *const text = settings->setup.sites;
    db_setup_sites sites;
    if (!text || db_setup_read_sites(NULL, text, &sites) != DB_OK)
        return; /* refused later, when it is used */
    for (int k = 0; k < sites.count; k++)
        if (!db_setup_is_table(sites.kind[k].curve))
            db_named_files_add(files, DB_ROLE_INPUT, "-sites", sites.kind[k].curve);
}

/* Do two flags give a number different values, as -lambda and -energy can? */
static int contradict(const db_argument *a, const db_argument *b) {
    if (a->flag == b->flag || a->flag->member != b->flag->member) return 0;
    if (a->flag->kind != DB_FLAG_NUMBER || b->flag->kind != DB_FLAG_NUMBER) return 0;
    if (a->flag->fill > 1 || b->flag->fill > 1 || a->count != 1 || b->count != 1) return 0;
    const double x = db_argument_value(a, 0), y = db_argument_value(b, 0);
    return fabs(x - y) > 1e-3 * fabs(y);
}

static void remark_contradictions(const db_settings *settings, const db_arguments *given) {
    for (size_t j = 1; j < given->count; j++)
        for (size_t i = 0; i < j; i++) {
            const db_argument *const a = &given->argument[i];
            const db_argument *const b = &given->argument[j];
            if (contradict(a, b))
                db_remark(settings->command,
                          "%s %g contradicts %s %g (%.6g and %.6g): the last one is used",
                          a->flag->name, a->number[0], b->flag->name, b->number[0],
                          db_argument_value(a, 0), db_argument_value(b, 0));
        }
}

void db_settings_remark(const db_settings *settings, const db_arguments *given) {
    if (settings->quiet) return;
    remark_contradictions(settings, given);
    for (size_t i = 0; i < given->count; i++) {
        const db_flag *const flag = given->argument[i].flag;
        const int compat_only = flag->status == DB_FLAG_COMPAT;
        if (flag->remark && !(compat_only && settings->setup.compat))
            db_remark(settings->command, "%s has no effect%s: %s", flag->name,
                      compat_only ? " without -compat" : "", flag->remark);
    }
}
