#include "cli/amorphous.h"

#include "base/context_internal.h"
#include "base/shown_text.h"
#include "cli/complaint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double default_size = 0.1; /* mm */

int db_amorphous_alone(const db_settings *settings) {
    return strcmp(settings->command, "amorphous") == 0;
}

void db_amorphous_settle(db_settings *settings) {
    db_setup *const setup = &settings->setup;
    for (int i = 0; i < 3; i++) {
        double *const size = &setup->amorphous_size[i];
        const int of_sample = db_amorphous_alone(settings) && !isnan(setup->sample_size[i]);
        if (isnan(*size)) *size = of_sample ? setup->sample_size[i] : default_size;
    }
}

static db_status check_sample(const db_settings *settings) {
    static const char *const names[3] = { "thickness", "width", "height" };
    for (int i = 0; i < 3; i++) {
        const double size = settings->setup.sample_size[i];
        if (size <= 0)
            return db_complain(settings->command, DB_ERROR_INPUT,
                               "-samplesize or -sample_%s: amorphous %s: expected a positive "
                               "number (mm), found %g",
                               names[i], names[i], size);
    }
    return DB_OK;
}

db_status db_amorphous_prepare(db_settings *settings) {
    db_setup *const setup = &settings->setup;
    if (!db_amorphous_alone(settings)) {
        if (settings->matter_given && !setup->stol_file && !settings->quiet)
            db_remark(
                settings->command,
                "-thickness, -density, -MW, -molecules and -amorphous_... have no effect: they "
                "describe amorphous matter, and without -stol, -4stol or -Q there is none");
        return DB_OK;
    }
    if (!setup->stol_file)
        return db_complain(
            settings->command, DB_ERROR_USAGE,
            "no amplitudes: expected -stol FILE, -4stol FILE or -Q FILE, found none");
    DB_TRY(check_sample(settings));
    /* a cell this small asks for no more than one sample per pixel, and is large enough that no note calls it implausible */
    for (int i = 0; i < 3; i++) {
        setup->cell[i] = 2;
        setup->sample_size[i] = 0;
    }
    setup->default_F = 0;
    return DB_OK;
}

void db_amorphous_report(const db_settings *settings, const db_background *b) {
    if (!b->count) return;
    const int digits = settings->digits;
    const double grams = 1e-3 * b->thickness * b->area * b->density;
    db_shown_print(stdout, "read %zu amorphous amplitudes from %s\n", b->count,
                   settings->setup.stol_file);
    printf("amorphous matter: %.*g mm thick, %.*g mm^2 in the beam, %.*g g/cm^3, MW %.*g\n", digits,
           b->thickness, digits, b->area, digits, b->density, digits, b->molecular_weight);
    printf("%.*g molecules\n", digits, grams * DB_AVOGADRO / b->molecular_weight);
}
