/* Selection of a shot's reflections that get shoeboxes for joint intensities. */
#include "fit/intensities/joint_intensities.h"

#include "base/context_internal.h"
#include "base/photon_energy.h"
#include "base/quantile.h"
#include "base/vector.h"
#include "fit/pixels/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least light, relative to a reflection exactly on the Ewald sphere: fainter light depends too much on the model's
 * tails. */
static const double LEAST_LIGHT = 0.05;

static const double pi = 3.14159265358979323846;

/* The largest angle from the beam (radian) at which a ray in a direction around it meets a panel. */
static double reach_of(const db_fit_geometry *geometry, const double across[3]) {
    enum { STEPS = 360 };
    double reach = 0;
    for (int step = 1; step < STEPS; step++) {
        const double angle = pi * step / STEPS;
        double s1[3], pixel[2];
        size_t panel;
        for (int i = 0; i < 3; i++)
            s1[i] = cos(angle) * geometry->direction[i] + sin(angle) * across[i];
        if (db_fit_geometry_meets(geometry, s1, &panel, pixel)) reach = angle;
    }
    return reach;
}

db_status db_intensity_rim(db_context *context, const db_experiment *experiment, double *dmin) {
    enum { RAYS = 72 };
    double reach[RAYS], first[3], second[3];
    db_fit_geometry geometry;
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    const double *const along = geometry.direction;
    const int least = fabs(along[0]) < fabs(along[1]) ? (fabs(along[0]) < fabs(along[2]) ? 0 : 2)
                                                      : (fabs(along[1]) < fabs(along[2]) ? 1 : 2);
    double axis[3] = { 0 };
    axis[least] = 1;
    db_cross(along, axis, first);
    const double length = db_length(first);
    for (int i = 0; i < 3; i++) first[i] /= length;
    db_cross(along, first, second);
    for (int ray = 0; ray < RAYS; ray++) {
        double across[3];
        for (int i = 0; i < 3; i++)
            across[i] = cos(2 * pi * ray / RAYS) * first[i] + sin(2 * pi * ray / RAYS) * second[i];
        reach[ray] = reach_of(&geometry, across);
    }
    db_sort_numbers(reach, RAYS);
    const double half = reach[RAYS / 2];
    *dmin = half > 0 ? 1 / (2 * db_length(geometry.s0) * sin(0.5 * half)) : 0;
    db_fit_geometry_clear(&geometry);
    return *dmin > 0 ? DB_OK
                     : db_fail(context, DB_ERROR_INPUT,
                               "intensities.dmin: cannot be chosen, because half of the directions "
                               "around the beam meet no panel; expected a resolution (A)");
}

int db_intensity_is_shown(const db_spot *r, int turns) {
    const double light =
        !turns && r->covariance[0] > 0 ? exp(-0.5 * r->excitation * r->excitation) : r->recorded;
    return light >= LEAST_LIGHT;
}

/* Are the photons of a reflection in a range of energies (eV; NAN: all)? */
static int has_energy(const db_spot *r, const double range[2]) {
    const double energy = DB_EV_ANGSTROM / r->wavelength;
    return isnan(range[1]) || (energy >= range[0] && energy <= range[1]);
}

/* Keeps listed reflections; one that a rotation, or a fold of the sphere, shows twice stays in both boxes. */
static void keep_listed(const db_asu_list *list, const double energies[2], int turns,
                        db_shoeboxes *boxes) {
    size_t count = 0;
    for (size_t b = 0; b < boxes->count; b++) {
        const db_spot *const r = &boxes->reflection[b];
        if (!db_intensity_is_shown(r, turns) || db_asu_number(list, r->hkl) == DB_NO_REFLECTION ||
            !has_energy(r, energies))
            continue;
        if (count < b) db_shoeboxes_move(boxes, b, count);
        count++;
    }
    boxes->count = count;
}

db_status db_intensity_boxes_take(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, const db_asu_list *list,
                                  db_shoeboxes *boxes) {
    DB_TRY(db_shoeboxes_place(context, experiment, data, list->d_min, DB_SHOEBOXES_ALL, boxes));
    const double *const energies = data->settings->joint.energies;
    const size_t predicted = boxes->count;
    keep_listed(list, energies, experiment->goniometer.phi_steps > 1, boxes);
    const int other_energies = !isnan(energies[1]) && predicted > 0;
    db_status status = db_overlap_exclude(context, experiment, data->settings, 1, boxes);
    if (status == DB_OK && boxes->count)
        status = db_shoeboxes_weigh(context, data->settings, 0, boxes);
    else if (status == DB_OK && other_energies)
        status = db_fail(context, DB_ERROR_INPUT,
                         "the photons of no predicted reflection have a mean energy of %g to %g eV "
                         "(intensities.energies); the beam's is %g eV",
                         energies[0], energies[1], DB_EV_ANGSTROM / experiment->beam.wavelength);
    else if (status == DB_OK)
        status = db_fail(context, DB_ERROR_INPUT,
                         "the model predicts no reflection down to %.4g A whose shoebox is on a "
                         "panel",
                         list->d_min);
    if (status != DB_OK) db_shoeboxes_clear(boxes);
    return status;
}
