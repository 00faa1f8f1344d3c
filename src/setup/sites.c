/* Kinds of sites of a set-up: which atoms they are, and their curves of f' and f''. The text is
 * KIND[,KIND...], each SITES=CURVE, where CURVE is a file, or table[:SHIFT]. */
#include "setup/sites.h"

#include "base/context_internal.h"
#include "base/photon_energy.h"
#include "model/model.h"
#include "model/site_kinds.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keeps a text without the blanks around it. */
static db_status keep_text(db_context *context, const char *from, size_t length, size_t room,
                           const char *what, char *to) {
    while (length > 0 && isspace((unsigned char)*from)) from++, length--;
    while (length > 0 && isspace((unsigned char)from[length - 1])) length--;
    if (length == 0 || length >= room)
        return db_fail(context, DB_ERROR_USAGE,
                       "sites: expected SITES=FILE or SITES=table[:SHIFT], %s of 1 to %zu "
                       "characters, found '%.*s'",
                       what, room - 1, (int)length, from);
    memcpy(to, from, length);
    to[length] = 0;
    return DB_OK;
}

/* No name of an atom, residue or chain has a blank. */
static void remove_blanks(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++)
        if (!isspace((unsigned char)*from)) *to++ = *from;
    *to = 0;
}

static db_status read_kind(db_context *context, const char *from, size_t length,
                           db_setup_site_kind *kind) {
    const char *const equals = memchr(from, '=', length);
    const size_t before = equals ? (size_t)(equals - from) : length;
    DB_TRY(keep_text(context, from, before, sizeof kind->sites, "SITES", kind->sites));
    remove_blanks(kind->sites);
    return keep_text(context, from + before + !!equals, length - before - !!equals,
                     sizeof kind->curve, "a file's name or table", kind->curve);
}

db_status db_setup_read_sites(db_context *context, const char *text, db_setup_sites *sites) {
    sites->count = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (sites->count == DB_MOST_SITE_KINDS)
            return db_fail(context, DB_ERROR_USAGE, "sites: expected at most %d kinds, found more",
                           DB_MOST_SITE_KINDS);
        db_setup_site_kind *const kind = &sites->kind[sites->count];
        DB_TRY(read_kind(context, at, length, kind));
        for (int k = 0; k < sites->count; k++)
            if (strcmp(kind->sites, sites->kind[k].sites) == 0)
                return db_fail(context, DB_ERROR_USAGE, "sites: %s has two curves, %s and %s",
                               kind->sites, sites->kind[k].curve, kind->curve);
        sites->choice[sites->count++] = (db_site_choice){ .sites = kind->sites };
        at += length;
        if (!*at) return DB_OK;
    }
}

static const char TABLE[] = "table";
enum { TABLE_LENGTH = sizeof TABLE - 1 };

int db_setup_is_table(const char *curve) {
    for (int i = 0; i < TABLE_LENGTH; i++)
        if (tolower((unsigned char)curve[i]) != TABLE[i]) return 0;
    return !curve[TABLE_LENGTH] || curve[TABLE_LENGTH] == ':';
}

/* Has an element an edge between two energies? f'' rises there alone. */
static int has_edge(const db_site_choice *choice, double from, double to) {
    db_site_kind ends; /* two points */
    if (db_make_site_curve(NULL, choice->element, 0, from, to, to - from, &ends) != DB_OK) return 0;
    const int rises = ends.f_second[1] > ends.f_second[0];
    free(ends.energy);
    return rises;
}

/* Energies in keV that were taken for wavelengths: few beams have such wavelengths, an edge of the element is near these
 * energies, and none near those of the wavelengths. range: wavelengths of the sources (A). */
static db_status check_unit(db_context *context, const db_site_choice *choice,
                            const double range[2]) {
    const double near = 0.05, longest = 6.2; /* A: 2 keV */
    const double low = (1 - near) * DB_EV_ANGSTROM / range[1],
                 high = (1 + near) * DB_EV_ANGSTROM / range[0];
    DB_TRY(db_site_check_photons(context, choice->sites, range[1]));
    if (range[0] < longest || has_edge(choice, low, high) ||
        !has_edge(choice, (1 - near) * 1000 * range[0], (1 + near) * 1000 * range[1]))
        return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "sites %s: a source has %.7g A, which is %.7g eV, where %s has no edge; %.7g "
                   "looks like keV: expected energies in eV",
                   choice->sites, range[0], DB_EV_ANGSTROM / range[0], choice->element, range[0]);
}

/* Shifts of an edge by another valence are below 30 eV, by the scale of a monochromator below 1 %. A smaller one than of a tenth of
 * the table's steps is in keV, up to what rounding leaves of 0. */
static db_status check_shift(db_context *context, const char *sites, double shift) {
    const double rounding = 1e-6, least = 0.05, usual = 50, most = 200; /* eV */
    const double size = fabs(shift);
    if (size > most)
        return db_fail(
            context, DB_ERROR_INPUT,
            "sites %s: expected a shift of the edge of at most %g eV, found table:%g; it is "
            "relative to the edge of the free atom",
            sites, most, shift);
    if (size > rounding && size < least)
        return db_fail(context, DB_ERROR_INPUT,
                       "sites %s: expected a shift of the edge of at least %g eV, or 0, found "
                       "table:%g; if it is in keV, give %g",
                       sites, least, shift, 1000 * shift);
    if (size > usual)
        db_notice(context,
                  "sites %s: table:%g moves the edge by more than the %g eV that valence and "
                  "monochromators do",
                  sites, shift, usual);
    return DB_OK;
}

/* The curve from the element's table, at the energies of all sources and a margin for refinements and other shots. */
static db_status table_curve(db_context *context, const db_experiment *e,
                             const db_site_choice *choice, const char *shift_text,
                             const db_setup *setup, db_site_kind *kind) {
    const double *const points = setup->site_points;
    char *end;
    const double shift = *shift_text ? strtod(shift_text + 1, &end) : 0;
    if (*shift_text && (shift_text[0] != ':' || !shift_text[1] || *end || !isfinite(shift)))
        return db_fail(context, DB_ERROR_USAGE,
                       "sites %s: expected table, or table:SHIFT with a number of eV, found "
                       "table%s",
                       choice->sites, shift_text);
    DB_TRY(check_shift(context, choice->sites, shift));
    if (!*choice->element)
        return db_fail(context, DB_ERROR_INPUT,
                       "sites %s: expected atoms of one chemical element for its table, found "
                       "several",
                       choice->sites);
    const double margin = 0.02, longest_list = 40000, finest = 0.5; /* eV */
    double range[2];
    db_model_wavelengths(e, range);
    const double ends[2] = { DB_EV_ANGSTROM / range[1], DB_EV_ANGSTROM / range[0] },
                 other = 1 + setup->site_reach;
    const double low = points ? points[0] : ends[0] * fmin(1 - margin, 1 / other),
                 high = points ? points[1] : ends[1] * fmax(1 + margin, other);
    if (!points) DB_TRY(check_unit(context, choice, range));
    return db_make_site_curve(context, choice->element, shift, low, high,
                              fmax(finest, (high - low) / longest_list), kind);
}

static db_status read_curve(db_context *context, const db_experiment *e,
                            const db_site_choice *choice, const char *curve, const db_setup *setup,
                            db_site_kind *kind) {
    DB_TRY(db_setup_is_table(curve)
               ? table_curve(context, e, choice, curve + TABLE_LENGTH, setup, kind)
               : db_read_site_curve(context, curve, kind));
    return setup->site_points ? db_site_curve_onto(context, setup->site_points, kind) : DB_OK;
}

db_status db_setup_site_curves(db_context *context, const db_setup_sites *sites,
                               const db_setup *setup, db_experiment *experiment) {
    db_site_kinds with = *experiment->structure_factors.sites;
    db_status status = DB_OK;
    int read = 0;
    for (int k = 0; k < with.count; k++) with.kind[k].energy = NULL; /* of no points yet */
    for (; status == DB_OK && read < with.count; read++)
        status = read_curve(context, experiment, &sites->choice[read], sites->kind[read].curve,
                            setup, &with.kind[read]);
    if (status == DB_OK) status = db_experiment_set_site_kinds(context, experiment, &with);
    for (int k = 0; k < read; k++) free(with.kind[k].energy);
    return status;
}
