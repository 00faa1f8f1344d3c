/* Default set-up; names of conventions; notices. */
#include "setup/parts.h"

#include "base/shown_text.h"

#include <dualbragg/expert/setup_defaults.h>
#include <dualbragg/expert/setup_fields.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *db_convention_name(db_convention convention) {
    return (unsigned)convention < DB_CONVENTION_COUNT
               ? db_setup_fields[DB_FIELD_CONVENTION].choices[convention]
               : NULL;
}

void db_setup_note(const db_setup_notes *notes, const char *format, ...) {
    if (!notes->line) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    db_shown_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    notes->line(notes->user, text);
}

static void leave_open(double *values, int count) {
    for (int i = 0; i < count; i++) values[i] = NAN;
}

/* Leaves fields open, as their table says. */
static void leave_fields_open(db_setup *setup) {
    for (const db_setup_field *f = db_setup_fields; f < db_setup_fields + DB_FIELD_COUNT; f++) {
        void *const values = (char *)setup + f->offset;
        if (f->kind == DB_FIELD_NUMBER && f->open) leave_open(values, f->count);
        for (int i = 0; f->kind == DB_FIELD_INTEGER && i < f->count; i++)
            ((int *)values)[i] = f->open;
    }
}

void db_setup_init(db_setup *setup) {
    memset(setup, 0, sizeof *setup);
    leave_fields_open(setup);
    setup->misset_seed = 1;
    setup->misset_spread = NAN;
    leave_open(setup->orientation, 9);
    for (int i = 0; i < 3; i++) setup->Ncells[i] = 1;
    setup->shape = DB_SHAPE_SQUARE;
    setup->fudge = 1;
    setup->mosaic_seed = 12345678;

    setup->interpolate = -1;
    setup->k_sol = 0.35;
    setup->b_sol = 46;
    setup->anomalous = 1;
    for (int i = 0; i < 3; i++) setup->amorphous_size[i] = 0.1;
    setup->density = 1;
    setup->molecular_weight = 18;
    setup->molecules = NAN;

    setup->wavelength = DB_UNKNOWN_WAVELENGTH;
    setup->spectrum_stretch = 1;
    setup->fluence = DB_DEFAULT_FLUENCE;
    setup->exposure = 1;
    setup->scale = 1;
    setup->beamsize = 0.1;
    leave_open(setup->divergence_step, 2);
    setup->round_divergence = 1;
    setup->polarized = 1;

    setup->convention = DB_CONVENTION_MOSFLM;
    setup->pixel_size = 0.1;
    setup->detector_size[0] = setup->detector_size[1] = 102.4;
    leave_open(setup->beam_centre, 2);
    leave_open(setup->beam_centre_px, 2);
    leave_open(setup->close_point, 2);
    leave_open(setup->org, 2);
    setup->pivot = setup->pivot_hint = -1;
    setup->layers_at_front = -1;
    setup->stated.distance = setup->stated.close_distance = NAN;
    leave_open(setup->stated.beam_centre, 2);
    leave_open(setup->stated.near_point, 2);
    setup->stated.pivot = -1;
    leave_open(setup->origin, 3);
}
