/* The plate of a detector whose panels are placed by a file. */
#include "io/experiments/panel_plate.h"

#include "base/vector.h"

#include <math.h>
#include <string.h>

/* The beam must meet the plate at more than this cosine for the spot to be its centre. */
static const double GRAZING = 0.02;

void db_frame_complete(db_frame *frame) {
    db_cross(frame->fast, frame->slow, frame->normal);
    db_normalize(frame->normal);
    db_cross(frame->normal, frame->fast, frame->slow); /* perpendicular to the last digit */
}

static void middle_of(const db_panel *panel, const db_frame *f, double middle[3]) {
    for (int i = 0; i < 3; i++)
        middle[i] = f->origin[i] + 0.5 * panel->fast_pixels * panel->pixel_size[0] * f->fast[i] +
                    0.5 * panel->slow_pixels * panel->pixel_size[1] * f->slow[i];
}

/* Axes of the plate, and a point on it. */
static const char *choose_plate(const db_frame *placed, const db_frame *outer,
                                const db_detector *detector, db_frame *plate) {
    const size_t count = detector->panel_count;
    memset(plate, 0, sizeof *plate);
    for (size_t p = 0; p < count; p++) {
        double middle[3];
        middle_of(&detector->panels[p], &placed[p], middle);
        const int away = db_dot(middle, placed[p].normal) > 0;
        for (int i = 0; i < 3; i++) {
            plate->normal[i] += away ? placed[p].normal[i] : -placed[p].normal[i];
            plate->origin[i] += middle[i] / (double)count;
        }
    }
    if (!db_normalize(plate->normal)) return "panels on one side";
    if (count == 1) {
        memcpy(plate->fast, placed[0].fast, sizeof plate->fast);
        memcpy(plate->slow, placed[0].slow, sizeof plate->slow);
        memcpy(plate->origin, placed[0].origin, sizeof plate->origin);
        const double shear = db_dot(plate->fast, plate->slow);
        if (fabs(shear) < 1e-9) return NULL;
        for (int i = 0; i < 3; i++) plate->slow[i] -= shear * plate->fast[i];
        db_normalize(plate->slow);
        return NULL;
    }
    const double *const candidates[] = { outer->fast, outer->slow };
    for (int c = 0; c < 2; c++) {
        const double along = db_dot(candidates[c], plate->normal);
        for (int i = 0; i < 3; i++) plate->fast[i] = candidates[c][i] - along * plate->normal[i];
        if (db_dot(plate->fast, plate->fast) > 0.01) break;
    }
    db_normalize(plate->fast);
    db_cross(plate->normal, plate->fast, plate->slow);
    return NULL;
}

/* Chooses the pivot of the plate: the point where the beam meets it, else the point closest to the sample. With
 * several panels it is the plate's origin, too. */
static const char *hang_up(const db_beam *beam, int single, db_frame *plate,
                           db_detector *detector) {
    const double near = db_dot(plate->origin, plate->normal),
                 cosine = db_dot(beam->direction, plate->normal);
    if (!(near > 0)) return "a detector that is not behind the sample";
    double spot[3];
    const int hit = cosine > GRAZING;
    const double *const leg = hit ? beam->direction : plate->normal;
    detector->pivot = hit ? DB_PIVOT_BEAM : DB_PIVOT_SAMPLE;
    detector->distance_is_close = !hit;
    detector->distance = hit ? near / cosine : near;
    for (int i = 0; i < 3; i++) spot[i] = detector->distance * leg[i];
    if (!single) memcpy(plate->origin, spot, sizeof spot);
    for (int i = 0; i < 3; i++) spot[i] -= plate->origin[i];
    detector->centre[0] = db_dot(spot, plate->fast);
    detector->centre[1] = db_dot(spot, plate->slow);
    return NULL;
}

static void onto_plate(const db_frame *plate, const double v[3], double local[3]) {
    local[0] = db_dot(v, plate->fast);
    local[1] = db_dot(v, plate->slow);
    local[2] = db_dot(v, plate->normal);
}

static void attach_panels(const db_frame *plate, const db_frame *placed, db_panel *panel) {
    double offset[3], normal[3], middle[3];
    middle_of(panel, placed, middle);
    const double sign = db_dot(middle, placed->normal) > 0 ? 1 : -1;
    for (int i = 0; i < 3; i++) {
        offset[i] = placed->origin[i] - plate->origin[i];
        normal[i] = sign * placed->normal[i];
    }
    onto_plate(plate, offset, panel->origin);
    onto_plate(plate, placed->fast, panel->fast_axis);
    onto_plate(plate, placed->slow, panel->slow_axis);
    onto_plate(plate, normal, panel->normal);
}

const char *db_hang_panels(const db_frame *placed, const db_frame *outer, const db_beam *beam,
                           db_detector *detector) {
    db_frame plate;
    const char *expected = choose_plate(placed, outer, detector, &plate);
    if (!expected) expected = hang_up(beam, detector->panel_count == 1, &plate, detector);
    if (expected) return expected;
    for (size_t p = 0; p < detector->panel_count; p++)
        attach_panels(&plate, &placed[p], &detector->panels[p]);
    memcpy(detector->fast_axis, plate.fast, sizeof plate.fast);
    memcpy(detector->slow_axis, plate.slow, sizeof plate.slow);
    memcpy(detector->normal, plate.normal, sizeof plate.normal);
    return NULL;
}
