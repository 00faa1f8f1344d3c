/* Structure factors that depend on the photon energy: memory, checks, and the amplitudes that single
 * numbers are reported from. */
#include "model/site_kinds.h"

#include "base/context_internal.h"
#include "base/given.h"
#include "base/photon_energy.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define REAL double
#define DIRS 0
#include "model/site_scattering.h"

_Static_assert((int)DB_MOST_SITE_CURVES == 2 * (int)DB_MOST_SITE_KINDS, "two of each kind");

static size_t points_of(const db_site_kinds *sites) {
    size_t points = 0;
    for (int k = 0; k < sites->count; k++) points += sites->kind[k].count;
    return points;
}

/* Copies `count` numbers to the block, and moves *block past them. */
static double *put_numbers(const double *from, size_t count, double **block) {
    double *const to = *block;
    if (count) memcpy(to, from, count * sizeof *to); /* a curve may have no points yet */
    *block += count;
    return to;
}

db_site_kinds *db_site_kinds_copy(const db_site_kinds *sites, size_t entries) {
    const size_t parts = entries * db_site_part(sites->count);
    db_site_kinds *const copy =
        malloc(sizeof *copy + (3 * points_of(sites) + parts) * sizeof(double));
    if (!copy) return NULL;
    double *block = (double *)(void *)(copy + 1);
    *copy = *sites;
    for (int k = 0; k < sites->count; k++) {
        const db_site_kind *const from = &sites->kind[k];
        db_site_kind *const to = &copy->kind[k];
        to->energy = put_numbers(from->energy, from->count, &block);
        to->f_prime = put_numbers(from->f_prime, from->count, &block);
        to->f_second = put_numbers(from->f_second, from->count, &block);
    }
    copy->part = put_numbers(sites->part, parts, &block);
    return copy;
}

int db_site_kinds_alike(const db_site_kinds *a, const db_site_kinds *b) {
    if (!a || !b) return !a && !b;
    if (a->count != b->count) return 0;
    for (int k = 0; k < a->count; k++)
        if (a->kind[k].count != b->kind[k].count) return 0;
    return 1;
}

void db_site_kinds_take_curves(const db_site_kinds *from, db_site_kinds *to) {
    for (int k = 0; k < to->count; k++) {
        const db_site_kind *const given = &from->kind[k];
        db_site_kind *const own = &to->kind[k];
        const size_t bytes = own->count * sizeof(double);
        memcpy(own->name, given->name, sizeof own->name);
        memcpy(own->energy, given->energy, bytes);
        memcpy(own->f_prime, given->f_prime, bytes);
        memcpy(own->f_second, given->f_second, bytes);
    }
}

static db_status check_points(db_context *context, const db_site_kind *kind) {
    for (size_t i = 0; i < kind->count; i++) {
        if (!(kind->energy[i] > 0 && isfinite(kind->energy[i])) || !isfinite(kind->f_prime[i]) ||
            !isfinite(kind->f_second[i]))
            return db_fail(
                context, DB_ERROR_INPUT,
                "sites %s: point %zu of the curve: expected an energy above 0 eV, f' and "
                "f'', found %g, %g, %g",
                kind->name, i, kind->energy[i], kind->f_prime[i], kind->f_second[i]);
        if (i > 0 && !(kind->energy[i] > kind->energy[i - 1]))
            return db_fail(context, DB_ERROR_INPUT,
                           "sites %s: the curve's energies: expected ascending ones, found %.10g "
                           "after %.10g eV",
                           kind->name, kind->energy[i], kind->energy[i - 1]);
    }
    return DB_OK;
}

static db_status check_kind(db_context *context, const db_site_kinds *sites, int number) {
    const db_site_kind *const kind = &sites->kind[number];
    if (!memchr(kind->name, 0, sizeof kind->name) || !kind->name[0])
        return db_fail(context, DB_ERROR_INPUT,
                       "sites: kind %d: expected a name of 1 to %d characters", number,
                       DB_SITE_KIND_NAME - 1);
    for (int k = 0; k < number; k++)
        if (strcmp(kind->name, sites->kind[k].name) == 0)
            return db_fail(context, DB_ERROR_INPUT, "sites %s: this kind is given twice",
                           kind->name);
    if (kind->count < 2)
        return db_fail(context, DB_ERROR_INPUT,
                       "sites %s: expected a curve of 2 or more points, found %zu", kind->name,
                       kind->count);
    DB_TRY(db_need_list(context, "energies of a curve", kind->energy, kind->count));
    DB_TRY(db_need_list(context, "f' of a curve", kind->f_prime, kind->count));
    DB_TRY(db_need_list(context, "f'' of a curve", kind->f_second, kind->count));
    return check_points(context, kind);
}

db_status db_site_check_photons(db_context *context, const char *name, double longest) {
    const double energy = DB_EV_ANGSTROM / longest;
    if (energy >= DB_LEAST_X_RAY_EV) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "sites %s: a source has %.7g eV (%.6g A): expected X-rays of at least %d eV; "
                   "%.7g looks like keV: energies are in eV",
                   name, energy, longest, DB_LEAST_X_RAY_EV, energy);
}

/* What makes a curve reach a wavelength (A) that it misses as numbers stand: another unit of the curve, or energies in keV that
 * were taken for wavelengths. "": nothing. */
static const char *mistaken_unit(double wavelength, double first, double last) {
    const double most = 3, energy = DB_EV_ANGSTROM / wavelength,
                 stands = db_factor_to_range(energy, first, last),
                 curve = db_factor_to_range(energy, 1000 * first, 1000 * last),
                 source = db_factor_to_range(1000 * wavelength, first, last),
                 same = db_factor_to_range(wavelength, first, last),
                 least = fmin(curve, fmin(source, same));
    if (least >= stands || least > most) return "";
    if (least == source) return "; the source's wavelength looks like keV: expected energies in eV";
    if (least == same)
        return wavelength > DB_MOST_EITHER
                   ? "; these and the source's wavelength look like keV: energies are in eV"
               : wavelength < DB_LEAST_EITHER
                   ? "; these look like wavelengths in A: energies are in eV"
                   : "; these look like wavelengths in A, or like keV: energies are in eV";
    return "; these look like keV: energies are in eV";
}

/* Checks that a curve reaches a source, up to rounding: energies are computed back from wavelengths (for -energy with another
 * factor, 1.3e-8, which seven digits do not show). */
static db_status check_reach(db_context *context, const db_site_kind *kind, double wavelength) {
    const double energy = DB_EV_ANGSTROM / wavelength, rounding = 1e-7 * energy,
                 first = kind->energy[0], last = kind->energy[kind->count - 1];
    if (energy >= first - rounding && energy <= last + rounding) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "sites %s: a source has %.7g eV (%.7g A): expected a curve that reaches there, "
                   "found one from %.7g to %.7g eV%s",
                   kind->name, energy, wavelength, first, last,
                   mistaken_unit(wavelength, first, last));
}

db_status db_site_kinds_check(db_context *context, const db_experiment *e) {
    const db_site_kinds *const sites = e->structure_factors.sites;
    if (!sites) return DB_OK;
    if (sites->count < 1 || sites->count > DB_MOST_SITE_KINDS)
        return db_fail(context, DB_ERROR_INPUT, "sites: expected 1 to %d kinds, found %d",
                       DB_MOST_SITE_KINDS, sites->count);
    if (!e->structure_factors.amplitude || !sites->part)
        return db_fail(context, DB_ERROR_INPUT,
                       "sites: expected a list of structure factors that they belong to, found "
                       "none");
    if (e->structure_factors.interpolate)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "sites: structure factors by energy are those of the nearest reflection: "
                       "expected no interpolation");
    if (e->reference.on)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "sites: nanoBragg's arithmetic (compat) has the same structure factors "
                       "at all energies");
    double range[2];
    db_model_wavelengths(e, range);
    for (int k = 0; k < sites->count; k++) {
        DB_TRY(check_kind(context, sites, k));
        DB_TRY(db_site_check_photons(context, sites->kind[k].name, range[1]));
        for (int end = 0; end < 2; end++) DB_TRY(check_reach(context, &sites->kind[k], range[end]));
    }
    return DB_OK;
}

double db_site_largest_square(const db_site_kinds *sites, const double *part) {
    double most = hypot(part[0], part[1]);
    for (int k = 0; k < sites->count; k++) {
        const db_site_kind *const kind = &sites->kind[k];
        double f = 0;
        for (size_t i = 0; i < kind->count; i++)
            f = fmax(f, hypot(kind->f_prime[i], kind->f_second[i]));
        most += f * hypot(part[2 + 2 * k], part[3 + 2 * k]);
    }
    return most * most;
}

/* |F| at the beam's wavelength. */
static void fill_amplitudes(const db_experiment *e, double *amplitude) {
    const db_site_kinds *const sites = e->structure_factors.sites;
    const int *const extent = e->structure_factors.extent;
    const size_t entries = (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2],
                 each = db_site_part(sites->count);
    num curve[DB_MOST_SITE_CURVES] = { { 0 } };
    double value[DB_MOST_SITE_CURVES];
    db_model_site_curves(e, e->beam.wavelength, value);
    for (int i = 0; i < 2 * sites->count; i++) curve[i] = n_constant(value[i]);
    for (size_t i = 0; i < entries; i++)
        amplitude[i] = sqrt(site_square(sites->count, sites->part + i * each, curve).v);
}

db_status db_experiment_set_site_kinds(db_context *context, db_experiment *experiment,
                                       const db_site_kinds *sites) {
    db_structure_factors *const own = &experiment->structure_factors;
    db_site_kinds *copy = NULL;
    if (sites) {
        const int *const extent = own->extent;
        const size_t entries = (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2];
        db_experiment with = *experiment;
        with.structure_factors.sites = (db_site_kinds *)(uintptr_t)sites;
        DB_TRY(db_site_kinds_check(context, &with));
        copy = db_site_kinds_copy(sites, entries);
        if (!copy) return db_fail_memory(context, "the structure factors by energy");
    }
    free(own->sites);
    own->sites = copy;
    if (copy) fill_amplitudes(experiment, own->amplitude);
    return DB_OK;
}
