/* Units as files name them. */
#include "io/units.h"

#include "base/degree.h"
#include "base/photon_energy.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* prefixes: letters of those that files use before it. */
typedef struct named_unit {
    db_unit_kind kind;
    const char *symbol, *word;
    double factor;
    const char *prefixes;
} named_unit;

static const named_unit units[] = {
    { DB_UNIT_LENGTH, "m", "metre", 1e3, "cmunp" },
    { DB_UNIT_LENGTH, "m", "meter", 1e3, "cmunp" },
    { DB_UNIT_LENGTH, "micron", "micron", 1e-3, "" },
    { DB_UNIT_LENGTH, "A", "angstrom", 1e-7, "" },
    { DB_UNIT_LENGTH, "\xc3\x85", "\xc3\xa5ngstr\xc3\xb6m", 1e-7, "" },
    { DB_UNIT_LENGTH, "\xe2\x84\xab", "\xc3\x85ngstr\xc3\xb6m", 1e-7, "" }, /* the sign */
    { DB_UNIT_LENGTH, "\xc5", "ang", 1e-7, "" },                            /* Latin-1 */
    { DB_UNIT_ANGLE, "deg", "degree", 1, "" },
    { DB_UNIT_ANGLE, "\xc2\xb0", "degree", 1, "" },
    { DB_UNIT_ANGLE, "\xb0", "degree", 1, "" }, /* Latin-1 */
    { DB_UNIT_ANGLE, "rad", "radian", DB_RADIAN, "mu" },
    { DB_UNIT_ENERGY, "eV", "electronvolt", 1, "kMG" },
    { DB_UNIT_VOLTAGE, "V", "volt", 1, "kM" },
    { DB_UNIT_TIME, "s", "second", 1, "mun" },
    { DB_UNIT_TIME, "sec", "second", 1, "mun" },
};

/* The letter u stands for micro as well as the Greek one, of which there are two in Unicode. */
typedef struct prefix {
    char letter;
    const char *symbol, *word;
    double times, over;
} prefix;

static const prefix prefixes[] = {
    { 'G', "G", "giga", 1e9, 1 },         { 'M', "M", "mega", 1e6, 1 },
    { 'k', "k", "kilo", 1e3, 1 },         { 'c', "c", "centi", 1, 1e2 },
    { 'm', "m", "milli", 1, 1e3 },        { 'u', "u", "micro", 1, 1e6 },
    { 'u', "\xc2\xb5", "micro", 1, 1e6 }, { 'u', "\xce\xbc", "micro", 1, 1e6 },
    { 'u', "\xb5", "micro", 1, 1e6 }, /* Latin-1 */
    { 'n', "n", "nano", 1, 1e9 },         { 'p', "p", "pico", 1, 1e12 },
};

typedef struct text {
    const char *start;
    size_t length;
} text;

typedef int comparing(const char *a, const char *b, size_t n);

/* Takes a beginning off; 0: it has another. */
static int take_unit(text *t, const char *start, comparing *compare) {
    const size_t length = strlen(start);
    if (t->length < length || compare(t->start, start, length) != 0) return 0;
    t->start += length;
    t->length -= length;
    return 1;
}

static int is_plural_end(text t) {
    return t.length == 0 || (t.length == 1 && (*t.start == 's' || *t.start == 'S'));
}

/* Is what is left the unit itself, as a symbol or, in any case and number, as a word? */
static int is_unit(text t, const named_unit *u, int word, comparing *compare) {
    if (word) return take_unit(&t, u->word, strncasecmp) && is_plural_end(t);
    return take_unit(&t, u->symbol, compare) &&
           (t.length == 0 || (strlen(u->symbol) > 2 && is_plural_end(t)));
}

static double match(text t, const named_unit *u, comparing *compare) {
    for (int word = 0; word < 2; word++) {
        if (is_unit(t, u, word, compare)) return u->factor;
        for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
            const prefix *const x = &prefixes[p];
            text rest = t;
            if (strchr(u->prefixes, x->letter) &&
                take_unit(&rest, word ? x->word : x->symbol, word ? strncasecmp : compare) &&
                is_unit(rest, u, word, compare))
                return u->factor * x->times / x->over;
        }
    }
    return 0;
}

static int is_around(char c) { return strchr(" \t\r\n\v\f()[]{}.,;:\"'", c) != NULL; }

double db_unit_in(db_unit_kind kind, const char *name, size_t length) {
    text t = { name, length };
    for (; t.length && is_around(*t.start); t.length--) t.start++;
    while (t.length && is_around(t.start[t.length - 1])) t.length--;
    for (int any_case = 0; t.length && any_case < 2; any_case++)
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            if (units[i].kind != kind) continue;
            const double factor = match(t, &units[i], any_case ? strncasecmp : strncmp);
            if (factor > 0) return factor;
        }
    return 0;
}

double db_unit_of(db_unit_kind kind, const char *name) {
    return db_unit_in(kind, name, strlen(name));
}

double db_wavelength_in(double value, const char *unit, size_t length) {
    static const double ANGSTROM = 1e-7; /* mm */
    const double mm = length ? db_unit_in(DB_UNIT_LENGTH, unit, length) : ANGSTROM,
                 ev = mm > 0 ? 0 : db_unit_in(DB_UNIT_ENERGY, unit, length);
    const double wavelength = mm > 0 ? value * (mm / ANGSTROM) : DB_EV_ANGSTROM / (value * ev);
    return value > 0 && isfinite(wavelength) && wavelength > 0 ? wavelength : NAN;
}

const db_length_range db_usual_pixels = { 1e-3, 5 }, db_usual_distances = { 10, 20e3 },
                      db_usual_sensors = { 1e-3, 10 };

const char *db_unit_guess(double value, db_length_range usual) {
    static const char *const names[] = { "m", "mm", "um" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const double mm = value * db_unit_of(DB_UNIT_LENGTH, names[i]);
        if (mm >= usual.least && mm <= usual.most) return names[i];
    }
    return names[0];
}
