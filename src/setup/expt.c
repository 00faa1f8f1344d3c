/* Frame, detector and crystal from an experiment list. */
#include "setup/parts.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_list_content.h>

#include "base/context_internal.h"
#include "base/rotation.h"

#include <stdio.h>
#include <string.h>

/* Flags that place a detector in a convention have no meaning in the list's frame. */
static const char *placement_given(const db_setup *setup) {
    const struct {
        const char *name;
        double value;
    } numbers[] = { { "beam centre", setup->beam_centre_px[0] },
                    { "beam centre", setup->beam_centre_px[1] },
                    { "beam centre", setup->beam_centre[0] },
                    { "beam centre", setup->beam_centre[1] },
                    { "close point", setup->close_point[0] },
                    { "close point", setup->close_point[1] },
                    { "ORGX", setup->org[0] },
                    { "ORGY", setup->org[1] },
                    { "detector origin", setup->origin[0] },
                    { "pixel size", setup->pixel_size },
                    { "detector size", setup->detector_size[0] },
                    { "detector size", setup->detector_size[1] } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (db_setup_given(numbers[i].value)) return numbers[i].name;
    if (db_setup_axis_given(setup)) return db_setup_axis_given(setup)->what;
    if (setup->detector_pixels[0] || setup->detector_pixels[1]) return "number of pixels";
    if (setup->convention != DB_CONVENTION_CUSTOM) return "convention";
    if (setup->pivot >= 0) return "pivot";
    if (setup->curved) return "curved detector";
    if (setup->compat) return "compat";
    return NULL;
}

static void note_mosaicity(const db_setup *setup, const db_expt_content *content,
                           const db_setup_notes *notes) {
    if (isnan(content->mosaicity) && isnan(content->domain_size)) return;
    char mosaicity[40] = "", domains[40] = "";
    if (!isnan(content->mosaicity))
        snprintf(mosaicity, sizeof mosaicity, "mosaicity (%g degree)", content->mosaicity);
    if (!isnan(content->domain_size))
        snprintf(domains, sizeof domains, "domain size (%g A)", content->domain_size);
    db_setup_note(notes, "%s: %s%s%s not used; give crystal size and mosaic spread",
                  setup->expt_file, mosaicity, *mosaicity && *domains ? ", " : "", domains);
}

static db_status take_expt(db_context *context, const db_setup *setup, db_experiment *experiment,
                           db_expt_content *content, const db_setup_notes *notes) {
    const db_expt_selection selection = { setup->expt_number, setup->expt_image,
                                          setup->expt_frame };
    db_detector *const detector = &experiment->detector;
    DB_TRY_STAGE(context, "read files",
                 db_read_expt(context, setup->expt_file, &selection, experiment, content));
    note_mosaicity(setup, content, notes);
    const double moved =
        db_setup_given(setup->close_distance) ? setup->close_distance : setup->distance;
    if (db_setup_given(moved)) {
        if (!(moved > 0))
            return db_fail(context, DB_ERROR_INPUT,
                           "detector distance: expected a positive number (mm), found %g", moved);
        detector->distance = moved;
        detector->distance_is_close = db_setup_given(setup->close_distance);
    }
    memcpy(detector->rotation, setup->rotation, sizeof detector->rotation);
    detector->twotheta = setup->twotheta;
    return DB_OK;
}

db_status db_setup_expt(db_context *context, const db_setup *setup, db_experiment *experiment,
                        const db_setup_notes *notes) {
    const char *const given = placement_given(setup);
    if (given)
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: cannot be given beside the experiment list %s, which places the "
                       "detector in its own frame; distance, rotations and two-theta can",
                       given, setup->expt_file);
    db_expt_content content;
    const db_status status = take_expt(context, setup, experiment, &content, notes);
    db_expt_content_clear(&content);
    return status;
}

static void fill_setup(const db_experiment *experiment, const db_expt_content *content,
                       db_setup *setup) {
    setup->wavelength = experiment->beam.wavelength;
    setup->polarization = experiment->beam.polarization;
    setup->phi = content->phi;
    memcpy(setup->stated.space_group, content->space_group, sizeof setup->stated.space_group);
    if (db_turns(content->osc_range)) setup->osc = content->osc_range;
    if (content->sensor_thickness > 0) {
        setup->sensor_thickness = content->sensor_thickness;
        setup->attenuation_depth = content->attenuation_depth;
        setup->sensor_material = content->sensor_material;
        setup->sensor_stated = 1;
    }
    setup->convention = DB_CONVENTION_CUSTOM;
    setup->detector_pixels[0] = setup->detector_pixels[1] = 0; /* of an image's header */
    setup->rotation[0] = setup->rotation[1] = setup->rotation[2] = setup->twotheta = 0;
    setup->pixel_size = setup->detector_size[0] = setup->detector_size[1] = NAN;
}

/* Reports that models of another image are used, for example when one image of a detector was calibrated. */
static void tell_other_image(const db_setup_notes *notes, const char *path, const char *image,
                             const db_expt_content *content) {
    char turned[80] = "";
    if (db_turns(content->osc_range))
        snprintf(turned, sizeof turned, ", with phi %.10g degree if none is given", content->phi);
    db_setup_note(notes,
                  "%s: experiment %ld shows %s, not %s: its models are used for this image%s", path,
                  content->number, content->other_image, image, turned);
}

db_status db_setup_read_expt(db_context *context, const char *path, int number, const char *image,
                             db_setup *setup, void (*notices)(void *user, const char *line),
                             void *user) {
    const db_setup_notes notes = { notices, user };
    const db_expt_selection selection = { number, image, setup->expt_frame };
    db_experiment experiment;
    db_expt_content content;
    DB_TRY(db_experiment_init(context, &experiment));
    const db_status status = db_read_expt(context, path, &selection, &experiment, &content);
    if (status == DB_OK) {
        fill_setup(&experiment, &content, setup);
        setup->expt_file = path;
        setup->expt_number = (int)content.number;
        setup->expt_image = image;
        if (*content.other_image) tell_other_image(&notes, path, image, &content);
        if (number < 0 && content.number > 0)
            db_setup_note(&notes, "%s: experiment %ld", path, content.number);
    }
    db_expt_content_clear(&content);
    db_experiment_clear(&experiment);
    return status;
}
