/* Numbers of a NeXus file in the units of this program. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus/nexus_numbers.h"

#include "base/context_internal.h"
#include "io/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A number and the name of its units; found 0: there is none. */
typedef struct stated {
    int found;
    double value;
    char unit[64]; /* "" */
    char name[200];
} stated;

static db_status read(const db_hdf5_object *from, const char *path, size_t index, stated *s) {
    db_hdf5_object data;
    *s = (stated){ .value = NAN };
    if (from->id < 0) return DB_OK;
    DB_TRY(db_hdf5_find(from, path, &data));
    s->found = db_hdf5_number(&data, index, &s->value);
    db_hdf5_attribute_text(&data, "units", s->unit, sizeof s->unit);
    snprintf(s->name, sizeof s->name, "%.199s", data.name);
    db_hdf5_close(&data);
    return DB_OK;
}

/* 0: it is not known. */
static int is_usable(const db_hdf5_object *from, const stated *s) {
    if (!s->found || fabs(s->value) <= 0) return 0;
    if (s->value > 0 && isfinite(s->value)) return 1;
    db_notice(from->context, "%s: %s is %g, which makes no sense and is not used", from->file,
              s->name, s->value);
    return 0;
}

static db_status fail_units(const db_hdf5_object *from, const stated *s, const char *expected) {
    return db_fail(from->context, DB_ERROR_INPUT, "%s: %s: expected units of %s, found '%.60s'",
                   from->file, s->name, expected, s->unit);
}

static double guess_length(const db_hdf5_object *from, const stated *s, db_length_range usual) {
    const char *const unit = db_unit_guess(s->value, usual);
    db_notice(from->context, "%s: %s is %g without units, taken as %s", from->file, s->name,
              s->value, unit);
    return s->value * db_unit_of(DB_UNIT_LENGTH, unit);
}

db_status db_nexus_length(const db_hdf5_object *from, const char *path, db_length_range usual,
                          double *length) {
    stated s;
    *length = NAN;
    DB_TRY(read(from, path, 0, &s));
    if (!is_usable(from, &s)) return DB_OK;
    const double factor = db_unit_of(DB_UNIT_LENGTH, s.unit);
    if (*s.unit && !(factor > 0)) return fail_units(from, &s, "a length (m, mm, um)");
    *length = *s.unit ? s.value * factor : guess_length(from, &s, usual);
    return DB_OK;
}

db_status db_nexus_positive(const db_hdf5_object *from, const char *path, double *value) {
    stated s;
    DB_TRY(read(from, path, 0, &s));
    if (s.found && s.value > 0 && isfinite(s.value)) *value = s.value;
    return DB_OK;
}

db_status db_nexus_time(const db_hdf5_object *from, const char *path, double *time) {
    stated s;
    *time = NAN;
    DB_TRY(read(from, path, 0, &s));
    if (!is_usable(from, &s)) return DB_OK;
    const double factor = *s.unit ? db_unit_of(DB_UNIT_TIME, s.unit) : 1;
    if (!(factor > 0)) return fail_units(from, &s, "a time (s, ms)");
    *time = s.value * factor;
    return DB_OK;
}

db_status db_nexus_wavelength(const db_hdf5_object *from, const char *path, const char *units,
                              size_t index, double *wavelength) {
    stated s;
    *wavelength = NAN;
    DB_TRY(read(from, path, index, &s));
    const char *const unit = *s.unit ? s.unit : units;
    if (!is_usable(from, &s)) return DB_OK;
    *wavelength = db_wavelength_in(s.value, unit, strlen(unit));
    return isnan(*wavelength) ? fail_units(from, &s, "a length or an energy (angstrom, nm, keV)")
                              : DB_OK;
}

static int is_pixel(const char *unit) {
    static const char *const names[] = { "", "pixel", "pixels", "px", "1", "dimensionless" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(unit, names[i]) == 0) return 1;
    return 0;
}

/* Some writers state 0, 0 for an unknown centre. */
db_status db_nexus_beam_centre(const db_hdf5_object *from, const double pixel_size[2],
                               double centre[2]) {
    static const char *const names[2] = { "beam_center_x", "beam_center_y" };
    centre[0] = centre[1] = NAN;
    stated s[2];
    double found[2];
    for (int i = 0; i < 2; i++) {
        DB_TRY(read(from, names[i], 0, &s[i]));
        if (!s[i].found || !isfinite(s[i].value)) return DB_OK;
        const double mm = db_unit_of(DB_UNIT_LENGTH, s[i].unit);
        if (!is_pixel(s[i].unit) && !(mm > 0)) return fail_units(from, &s[i], "pixels or a length");
        found[i] = is_pixel(s[i].unit) ? s[i].value : s[i].value * mm / pixel_size[i];
    }
    if (fabs(found[0]) <= 0 && fabs(found[1]) <= 0) return DB_OK;
    memcpy(centre, found, sizeof found);
    return DB_OK;
}
#else
typedef int db_without_nexus_numbers;
#endif
