/* Size of the panel and its centre in the meaning of each convention (docs/theory/detector.md, Size
 * and centre). */
#include "setup/parts.h"

#include "base/context_internal.h"
#include <dualbragg/expert/setup_defaults.h>
#include <dualbragg/expert/setup_fields.h>

static const double COUNT_LIMIT = 1e6;

/* Number of pixels on a length. Half a pixel too much is no further pixel; the reference rounds. */
static double pixel_count(const db_setup *setup, double size) {
    const double pixel = setup->pixel_size;
    return setup->compat ? ceil(size / 1000 / (pixel / 1000) - 0.5)
                         : db_setup_intervals(size - 0.5 * pixel, pixel);
}

db_status db_setup_panel_size(db_context *context, const db_setup *setup, db_panel *panel,
                              double size[2]) {
    static const char *const names[2] = { "fast", "slow" };
    const double pixel = setup->pixel_size;
    int *const counts[2] = { &panel->fast_pixels, &panel->slow_pixels };
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_PIXEL_SIZE));
    for (int i = 0; i < 2; i++) {
        panel->pixel_size[i] = pixel;
        if (setup->detector_pixels[i] < 0)
            return db_fail(context, DB_ERROR_INPUT,
                           "detector pixels (%s): expected a positive number, found %d", names[i],
                           setup->detector_pixels[i]);
        if (setup->detector_pixels[i] > 0) {
            *counts[i] = setup->detector_pixels[i];
            size[i] = pixel * setup->detector_pixels[i];
            continue;
        }
        size[i] = setup->detector_size[i];
        const double count = pixel_count(setup, size[i]);
        if (!(size[i] > 0 && count >= 1))
            return db_fail(
                context, DB_ERROR_INPUT,
                "detector size (%s): expected at least half a pixel (%g mm), found %g mm", names[i],
                0.5 * pixel, size[i]);
        if (!(count < COUNT_LIMIT))
            return db_fail(context, DB_ERROR_INPUT,
                           "detector size (%s): %g mm are too many pixels of %g mm", names[i],
                           size[i], pixel);
        *counts[i] = (int)count;
    }
    return DB_OK;
}

/* The point closest to the sample: given in mm, or in pixels as in XDS, or in an image, or the middle. */
static void near_point(const db_setup *setup, const double size[2], double centre[2]) {
    const double *const stated = setup->stated.near_point;
    for (int i = 0; i < 2; i++)
        centre[i] = db_setup_given(setup->close_point[i]) ? setup->close_point[i]
                    : db_setup_given(setup->org[i]) ? (setup->org[i] - 0.5) * setup->pixel_size
                    : db_setup_given(stated[i])     ? stated[i]
                                                    : size[i] / 2;
}

/* X, Y of the direct beam in the convention's meaning: given, or the default. */
static void convention_point(const db_setup *setup, db_convention convention, const double size[2],
                             double point[2]) {
    const double p = setup->pixel_size;
    double standard[2];
    near_point(setup, size, standard);
    if (convention == DB_CONVENTION_MOSFLM || convention == DB_CONVENTION_DENZO) {
        standard[0] = (size[1] + p) / 2;
        standard[1] = (size[0] + p) / 2;
    } else if (convention == DB_CONVENTION_ADXV) {
        standard[0] = (size[0] + p) / 2;
        standard[1] = (size[1] - p) / 2;
    }
    for (int i = 0; i < 2; i++)
        point[i] = db_setup_given(setup->beam_centre[i]) ? setup->beam_centre[i] : standard[i];
}

/* Uses the point of an image if the user gives none. */
static void stated_point(const db_setup *setup, const double stated[2], int swapped,
                         double centre[2]) {
    for (int i = 0; i < 2; i++)
        if (db_setup_given(stated[i]) && !db_setup_given(setup->beam_centre[swapped ? 1 - i : i]) &&
            !db_setup_given(setup->close_point[i]) && !db_setup_given(setup->org[i]))
            centre[i] = stated[i];
}

/* X, Y -> direct beam along fast, slow. */
static void beam_point(const db_setup *setup, db_convention convention, const double size[2],
                       db_pivot pivot, double centre[2]) {
    const double p = setup->pixel_size;
    double point[2];
    convention_point(setup, convention, size, point);
    const double x = point[0], y = point[1];
    switch (convention) {
    case DB_CONVENTION_MOSFLM:
        centre[0] = y + p / 2;
        centre[1] = x + p / 2;
        break;
    case DB_CONVENTION_DENZO:
        centre[0] = y;
        centre[1] = x;
        break;
    case DB_CONVENTION_ADXV:
        centre[0] = x;
        centre[1] = size[1] - y;
        break;
    default:
        centre[0] = x;
        centre[1] = y;
        break;
    }
    stated_point(setup,
                 pivot == DB_PIVOT_BEAM ? setup->stated.beam_centre : setup->stated.near_point,
                 convention == DB_CONVENTION_MOSFLM || convention == DB_CONVENTION_DENZO, centre);
}

/* The reference's choice: a predefined convention with the pivot at the sample knows only XDS's near point, one
 * with the pivot at the beam only the beam centre. */
static void reference_centre(const db_setup *setup, db_convention convention, const double size[2],
                             db_detector *detector, const db_setup_notes *notes) {
    const int custom = convention == DB_CONVENTION_CUSTOM,
              near = !custom && detector->pivot == DB_PIVOT_SAMPLE;
    const char *const name = db_convention_name(convention);
    db_setup heard = *setup;
    if (!custom) heard.close_point[0] = heard.close_point[1] = NAN;
    if (near)
        near_point(&heard, size, detector->centre);
    else
        beam_point(&heard, convention, size, detector->pivot, detector->centre);
    for (int i = 0; i < 2 && !custom; i++) {
        if (db_setup_given(setup->close_point[i]))
            db_setup_note(notes, "%s has no effect in convention %s", i ? "Yclose" : "Xclose",
                          name);
        if (db_setup_given(setup->org[i]) && !near)
            db_setup_note(notes, "%s has no effect in convention %s", i ? "ORGY" : "ORGX", name);
        if (db_setup_given(setup->beam_centre[i]) && near)
            db_setup_note(notes, "%s has no effect in convention %s", i ? "Ybeam" : "Xbeam", name);
    }
}

/* A centre in pixels is the same point in every convention. */
static db_status centre_in_pixels(db_context *context, const db_setup *s, double centre[2]) {
    const double *const px = s->beam_centre_px;
    for (int i = 0; i < 2; i++) {
        if (db_setup_given(s->beam_centre[i]) || db_setup_given(s->close_point[i]) ||
            db_setup_given(s->org[i]))
            return db_fail(
                context, DB_ERROR_INPUT,
                "detector: a beam centre in pixels (beam_centre_px) and one of the "
                "convention (Xbeam, Ybeam, Xclose, Yclose, ORGX, ORGY) exclude each other");
        if (!isfinite(px[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "beam centre (pixels): expected two numbers, found %g, %g", px[0],
                           px[1]);
        centre[i] = px[i] * s->pixel_size;
    }
    return DB_OK;
}

db_status db_setup_centre(db_context *context, const db_setup *s, db_convention convention,
                          const double size[2], db_detector *detector,
                          const db_setup_notes *notes) {
    if (db_setup_given(s->beam_centre_px[0]) || db_setup_given(s->beam_centre_px[1]))
        return centre_in_pixels(context, s, detector->centre);
    if (s->compat) {
        reference_centre(s, convention, size, detector, notes);
        return DB_OK;
    }
    const int beam_given = db_setup_given(s->beam_centre[0]) || db_setup_given(s->beam_centre[1]),
              near_given = db_setup_given(s->close_point[0]) || db_setup_given(s->close_point[1]) ||
                           db_setup_given(s->org[0]) || db_setup_given(s->org[1]);
    if (convention == DB_CONVENTION_CUSTOM) { /* one point serves as both */
        if (beam_given && near_given)
            db_setup_note(
                notes,
                "beam centre and point closest to the sample are given: the beam centre is used");
        beam_point(s, convention, size, detector->pivot, detector->centre);
        return DB_OK;
    }
    const char *name = db_convention_name(convention);
    if (beam_given && near_given)
        return db_fail(
            context, DB_ERROR_INPUT,
            "detector: a beam centre (Xbeam, Ybeam) and a point closest to the sample (Xclose, "
            "Yclose, ORGX, ORGY) exclude each other in convention %s; expected one of them",
            name);
    if (detector->pivot == DB_PIVOT_SAMPLE) {
        if (!beam_given) {
            near_point(s, size, detector->centre);
            return DB_OK;
        }
        /* on the detector before rotations both are the same point: the beam runs along the normal
         */
        db_setup_note(notes, "beam centre given with the pivot at the sample: used as the beam "
                             "centre before rotations, which is the point closest to the sample");
    } else if (near_given && db_setup_convention_pivot(convention) == DB_PIVOT_BEAM) {
        return db_fail(context, DB_ERROR_INPUT,
                       "detector: a point closest to the sample (Xclose, Yclose, ORGX, ORGY) has "
                       "no meaning in "
                       "convention %s with the "
                       "pivot at the direct beam; use Xbeam and Ybeam, or pivot sample",
                       name);
    }
    beam_point(s, convention, size, detector->pivot, detector->centre);
    return DB_OK;
}

db_status db_setup_beam_centre(db_context *context, const db_setup *setup, double centre[2]) {
    static const db_setup_notes silent = { NULL, NULL };
    db_panel panel;
    double size[2];
    if ((unsigned)setup->convention >= DB_CONVENTION_COUNT)
        return db_fail(context, DB_ERROR_USAGE, "detector convention: unknown value %d",
                       (int)setup->convention);
    DB_TRY(db_setup_panel_size(context, setup, &panel, size));
    convention_point(setup, db_setup_effective_convention(setup, &silent), size, centre);
    return DB_OK;
}
