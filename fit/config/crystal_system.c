/* Crystal systems of space groups, numbers and names, with their free edges and angles. */
#include "fit/config/crystal_system.h"

#include "base/context_internal.h"
#include "fit/config/config_refine.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the table, by kind of lattice. */
typedef enum lattice {
    TRICLINIC,
    MONOCLINIC_A,
    MONOCLINIC_B,
    MONOCLINIC_C,
    ORTHORHOMBIC,
    TETRAGONAL,
    HEXAGONAL,
    RHOMBOHEDRAL,
    CUBIC,
    /* decided by the cell */
    MONOCLINIC,
    EITHER_TRIGONAL,
    UNKNOWN
} lattice;

#define FREE -1
// clang-format off
#define ALL_FREE { FREE, FREE, FREE, FREE, FREE, FREE }
#define B_AS_A { FREE, 0, FREE, FREE, FREE, FREE }
// clang-format on
/* International Tables A, 2.1.1: cell parameters of the crystal families, in their usual axes. */
static const db_cell_ties table[] = {
    // clang-format off
    [TRICLINIC] = { "triclinic", "P 1", ALL_FREE, { 0 } },
    [MONOCLINIC_A] = { "monoclinic, unique axis a", "P 2 1 1", ALL_FREE, { 0, 0, 0, 0, 90, 90 } },
    [MONOCLINIC_B] = { "monoclinic, unique axis b", "P 1 2 1", ALL_FREE, { 0, 0, 0, 90, 0, 90 } },
    [MONOCLINIC_C] = { "monoclinic, unique axis c", "P 1 1 2", ALL_FREE, { 0, 0, 0, 90, 90, 0 } },
    [ORTHORHOMBIC] = { "orthorhombic", "P 2 2 2", ALL_FREE, { 0, 0, 0, 90, 90, 90 } },
    [TETRAGONAL] = { "tetragonal", "P 4", B_AS_A, { 0, 0, 0, 90, 90, 90 } },
    [HEXAGONAL] = { "hexagonal axes", "P 3", B_AS_A, { 0, 0, 0, 90, 90, 120 } },
    [RHOMBOHEDRAL] = { "rhombohedral axes", "R 3:R", { FREE, 0, 0, FREE, 3, 3 }, { 0 } },
    [CUBIC] = { "cubic", "P 2 3", { FREE, 0, 0, FREE, FREE, FREE }, { 0, 0, 0, 90, 90, 90 } },
    // clang-format on
};

static const struct {
    const char *name;
    lattice kind;
} names[] = {
    { "triclinic", TRICLINIC },
    { "anorthic", TRICLINIC },
    { "monoclinic", MONOCLINIC },
    { "tetragonal", TETRAGONAL },
    { "orthorhombic", ORTHORHOMBIC },
    { "trigonal", EITHER_TRIGONAL },
    { "hexagonal", HEXAGONAL },
    { "rhombohedral", EITHER_TRIGONAL },
    { "cubic", CUBIC },
    /* symbols of CCP4 for settings with another origin */
    { "P21212(a)", ORTHORHOMBIC },
    { "C2221a)", ORTHORHOMBIC },
    { "I23a", CUBIC },
};

/* Lattice symbols: family and centring. */
static lattice of_lattice_symbol(const char *s) {
    static const struct {
        char family;
        const char *centrings;
        lattice kind;
    } families[] = { { 'a', "P", TRICLINIC },
                     { 'm', "PABCI", MONOCLINIC },
                     { 'o', "PABCIF", ORTHORHOMBIC },
                     { 't', "PI", TETRAGONAL },
                     { 'c', "PIF", CUBIC } };
    if (strcmp(s, "hP") == 0) return HEXAGONAL;
    if (strcmp(s, "hR") == 0) return EITHER_TRIGONAL;
    for (size_t i = 0; strlen(s) == 2 && i < sizeof families / sizeof *families; i++)
        if (s[0] == families[i].family && strchr(families[i].centrings, s[1]))
            return families[i].kind;
    return UNKNOWN;
}

static lattice of_number(const char *s) {
    static const int rhombohedral[] = { 146, 148, 155, 160, 161, 166, 167 };
    static const struct {
        int last;
        lattice kind;
    } ranges[] = { { 2, TRICLINIC },    { 15, MONOCLINIC }, { 74, ORTHORHOMBIC },
                   { 142, TETRAGONAL }, { 194, HEXAGONAL }, { 230, CUBIC } };
    const int number = atoi(s);
    if (strspn(s, "0123456789") != strlen(s) || strlen(s) > 3 || number < 1) return UNKNOWN;
    for (size_t i = 0; i < sizeof rhombohedral / sizeof *rhombohedral; i++)
        if (number == rhombohedral[i]) return EITHER_TRIGONAL;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (number <= ranges[i].last) return ranges[i].kind;
    return UNKNOWN;
}

/* Length of a symmetry element of a monoclinic group ("2", "21", "m", "c", "21/c", "2/m") at the start of a text;
 * 0 if there is none. */
static size_t element_length(const char *s) {
    size_t n = 0;
    if (*s == '2') {
        n = s[1] == '1' ? 2 : 1;
        return s[n] == '/' && s[n + 1] && strchr("mabcnd", s[n + 1]) ? n + 2 : n;
    }
    return *s && strchr("mabcnd", *s) ? 1 : 0;
}

/* Are these characters one symmetry element? */
static int is_element(const char *s, size_t length) {
    return length > 0 && element_length(s) == length;
}

/* Monoclinic symbols name the unique axis: "1 2 1", "1 1 2", "2 1 1"; short symbols leave it open. Without blanks,
 * "2111" is 21 1 1, "121" is 1 2 1. */
static lattice of_monoclinic(const char *s) {
    const size_t n = strlen(s);
    if (n > 2 && strncmp(s, "11", 2) == 0 && is_element(s + 2, n - 2)) return MONOCLINIC_C;
    if (is_element(s, n)) return MONOCLINIC;
    char inner[10];
    if (n < 3 || n > 9 || s[n - 1] != '1') return UNKNOWN;
    const int second = s[0] == '1'; /* else "first 1 1" */
    const size_t length = n - 2;
    memcpy(inner, s + second, length);
    inner[length] = '\0';
    if (second && is_element(inner, length)) return MONOCLINIC_B;
    return s[n - 2] == '1' && is_element(inner, length) ? MONOCLINIC_A : UNKNOWN;
}

static int is_cubic(const char *s) {
    const char *second = s + 1;
    if (*s == '2') { /* 23, 213 */
        if (*second == '1') second++;
        return strcmp(second, "3") == 0;
    }
    if (*s == '-') return strncmp(s, "-43", 3) == 0 && s[3] && strchr("mncd", s[3]);
    if (*s == '4') { /* 432, 4132, 4232, 4332 */
        const size_t length = strlen(s);
        return length >= 3 && length <= 4 && strcmp(s + length - 2, "32") == 0 &&
               (length == 3 || strchr("123", s[1]));
    }
    return isalpha((unsigned char)*s) && (*second == '3' || (*second == '-' && second[1] == '3'));
}

/* Lattice of a Hermann-Mauguin symbol, from the text behind the lattice letter. */
static lattice of_symbol(char letter, const char *s) {
    const char *const first = *s == '-' ? s + 1 : s;
    static const char allowed[] = "0123456789-/abcdemn";
    if (!strchr("PABCIFRH", letter) || !*first || strspn(s, allowed) != strlen(s)) return UNKNOWN;
    if (letter == 'R') return *first == '3' ? EITHER_TRIGONAL : UNKNOWN;
    if (letter == 'H') return *first == '3' ? HEXAGONAL : UNKNOWN;
    if (is_cubic(s)) return CUBIC;
    if (strcmp(s, "1") == 0 || strcmp(s, "-1") == 0) return TRICLINIC;
    if (*first == '3' || *first == '6') return HEXAGONAL;
    if (*first == '4') return TETRAGONAL;
    const lattice monoclinic = of_monoclinic(s);
    if (monoclinic != UNKNOWN) return monoclinic;
    return *first == '2' || isalpha((unsigned char)*first) ? ORTHORHOMBIC : UNKNOWN;
}

/* Removes spaces and setting from "P 61 2 2" and "R 3 :H"; *setting: 'H', 'R' or 0. */
static int compact(const char *text, char out[64], char *setting) {
    size_t n = 0;
    *setting = 0;
    for (; *text && *text != ':'; text++) {
        if (isspace((unsigned char)*text)) continue;
        if (n == 63) return 0;
        out[n++] = *text;
    }
    out[n] = '\0';
    if (*text == ':') *setting = text[1];
    return n > 0;
}

static lattice kind_of(const char *symmetry, char *setting) {
    char s[64];
    if (!compact(symmetry, s, setting)) return UNKNOWN;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(s, names[i].name) == 0) return names[i].kind;
    lattice kind = of_number(s);
    if (kind == UNKNOWN) kind = of_lattice_symbol(s);
    return kind == UNKNOWN ? of_symbol((char)toupper((unsigned char)s[0]), s + 1) : kind;
}

int db_lattice_letter(const char *symmetry) {
    char s[64], setting;
    if (!compact(symmetry, s, &setting)) return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(s, names[i].name) == 0) return isupper((unsigned char)*s) ? *s : 0;
    if (of_lattice_symbol(s) != UNKNOWN) return s[1];
    const char letter = (char)toupper((unsigned char)*s);
    if (of_symbol(letter, s + 1) == UNKNOWN) return 0;
    return letter == 'H' ? 'R' : letter;
}

/* Unique axis: of the angle farthest from 90 degree; beta if all are 90. */
static lattice unique_axis(const double cell[6]) {
    const double off[3] = { fabs(cell[3] - 90), fabs(cell[4] - 90), fabs(cell[5] - 90) };
    if (off[0] > off[1] && off[0] > off[2]) return MONOCLINIC_A;
    return off[2] > off[1] ? MONOCLINIC_C : MONOCLINIC_B;
}

static lattice trigonal_axes(const double cell[6], char setting) {
    if (setting == 'H') return HEXAGONAL;
    if (setting == 'R') return RHOMBOHEDRAL;
    const double to_hexagonal = fabs(cell[5] - 120) + fabs(cell[3] - 90) + fabs(cell[4] - 90),
                 to_rhombohedral = fabs(cell[5] - cell[3]) + fabs(cell[4] - cell[3]);
    return to_hexagonal <= to_rhombohedral ? HEXAGONAL : RHOMBOHEDRAL;
}

const db_cell_ties *db_cell_ties_of(const char *symmetry, const double cell[6]) {
    char setting;
    lattice kind = kind_of(symmetry, &setting);
    if (kind == MONOCLINIC) kind = unique_axis(cell);
    if (kind == EITHER_TRIGONAL) kind = trigonal_axes(cell, setting);
    return kind < MONOCLINIC ? &table[kind] : NULL;
}

static int is_even(int n) { return n % 2 == 0; }

int db_centring_forbids(int centring, const int hkl[3]) {
    const int h = hkl[0], k = hkl[1], l = hkl[2];
    switch (centring) {
    case 'A': return !is_even(k + l);
    case 'B': return !is_even(h + l);
    case 'C': return !is_even(h + k);
    case 'I': return !is_even(h + k + l);
    case 'F': return !is_even(h + k) || !is_even(k + l);
    case 'R': return (k - h + l) % 3 != 0;
    case 'r': return (h - k + l) % 3 != 0;
    default: return 0;
    }
}

int db_centring_nodes(int centring) {
    return centring == 'F' ? 4 : centring == 'R' || centring == 'r' ? 3 : 2;
}

int db_centring_of_cell(int centring, const double cell[6]) {
    const int hexagonal = fabs(cell[5] - 120) < DB_CELL_ANGLE_TOLERANCE;
    return centring == 'R' && !hexagonal ? 'P' : centring;
}

void db_cell_regularize(const db_cell_ties *ties, double cell[6], double *worst_edge,
                        double *worst_angle) {
    double regular[6];
    *worst_edge = *worst_angle = 0;
    for (int i = 0; i < 6; i++) {
        const int leader = ties->follows[i] >= 0 ? ties->follows[i] : i;
        double sum = 0;
        int count = 0;
        for (int k = 0; k < 6; k++) {
            if (k != leader && ties->follows[k] != leader) continue;
            sum += cell[k];
            count++;
        }
        regular[i] = ties->fixed[i] > 0 ? ties->fixed[i] : sum / count;
        const double change = fabs(regular[i] - cell[i]);
        if (i < 3)
            *worst_edge = fmax(*worst_edge, change / cell[i]);
        else
            *worst_angle = fmax(*worst_angle, change);
    }
    memcpy(cell, regular, sizeof regular);
}

/* Equal edges of a cell become ties, and angles fixed by symmetry leave the refinement. */

static const db_parameter cell_parameters[6] = { DB_CELL_A,     DB_CELL_B,    DB_CELL_C,
                                                 DB_CELL_ALPHA, DB_CELL_BETA, DB_CELL_GAMMA };

typedef struct tying {
    db_fit_config *config;
    const db_cell_ties *ties;
    db_notice_function line;
    void *user;
} tying;

static const char *name_of(int i) { return db_parameter_describe(cell_parameters[i])->name; }

static size_t index_of(const db_fit_settings *settings, db_parameter p) {
    return db_fit_parameter_index(settings, db_fit_quantity_make(p, -1));
}

static void drop_parameter(db_fit_settings *s, size_t at) {
    const size_t after = s->parameter_count - at - 1;
    memmove(&s->parameters[at], &s->parameters[at + 1], after * sizeof s->parameters[0]);
    s->parameter_count--;
}

/* A fixed angle is not refined, even if the configuration names it. */
static void drop_fixed(const tying *t, int i) {
    char text[160];
    const size_t at = index_of(&t->config->settings, cell_parameters[i]);
    if (!(t->ties->fixed[i] > 0) || at == t->config->settings.parameter_count) return;
    drop_parameter(&t->config->settings, at);
    snprintf(text, sizeof text, "%s: not refined, %s fixes it at %g degree", name_of(i),
             t->ties->name, t->ties->fixed[i]);
    if (t->line) t->line(t->user, text);
}

/* Has a follower a range, bounds or a prior that its leader does not have? A tie would drop them. */
static int has_own_limits(const db_fit_parameter *p, const db_fit_parameter *leader) {
    return !db_fit_parameter_is_tied(p) &&
           ((!isnan(p->range) && p->range != leader->range) ||
            (isfinite(p->lower) && p->lower != leader->lower) ||
            (isfinite(p->upper) && p->upper != leader->upper) ||
            (isfinite(p->prior[1]) &&
             (p->prior[0] != leader->prior[0] || p->prior[1] != leader->prior[1])));
}

static void tell_dropped_limits(const tying *t, int i, int leader) {
    char text[200];
    snprintf(
        text, sizeof text,
        "%s: follows %s (%s), so its own range, bounds and prior are not used; give them to %s",
        name_of(i), name_of(leader), t->ties->name, name_of(leader));
    if (t->line) t->line(t->user, text);
}

/* If only a follower is refined, its leader is refined instead. */
static db_status tie(db_context *context, const tying *t, int i) {
    db_fit_settings *const s = &t->config->settings;
    const int leader = t->ties->follows[i];
    if (leader < 0) return DB_OK;
    const db_parameter own = cell_parameters[i], first = cell_parameters[leader];
    size_t at = index_of(s, own), led = index_of(s, first);
    if (led == s->parameter_count) {
        if (at == s->parameter_count) return DB_OK;
        led = at;
        s->parameters[led].parameter = first;
        s->parameters[led].follows.number = -1;
        at = s->parameter_count;
    }
    db_fit_parameter p = db_fit_parameter_free(own);
    p.follows = db_fit_quantity_make(first, -1);
    p.stages = s->parameters[led].stages;
    if (at == s->parameter_count) return db_fit_settings_add_parameter(context, s, &p);
    if (has_own_limits(&s->parameters[at], &s->parameters[led])) tell_dropped_limits(t, i, leader);
    p.line = s->parameters[at].line;
    s->parameters[at] = p;
    return DB_OK;
}

/* Removes former ties: of a follower of a follower, and of a fixed angle. */
static void untie(const tying *t) {
    db_fit_settings *const s = &t->config->settings;
    for (size_t k = 0; k < s->parameter_count; k++) {
        db_fit_parameter *const p = &s->parameters[k];
        if (!db_fit_parameter_is_tied(p)) continue;
        for (int i = 0; i < 6; i++)
            if (p->follows.number == db_fit_quantity_make(cell_parameters[i], -1).number &&
                t->ties->follows[i] >= 0)
                p->follows = db_fit_quantity_make(cell_parameters[t->ties->follows[i]], -1);
    }
}

/* The symmetry as given, with its system if that is another word. */
static void name_symmetry(const tying *t, char text[160]) {
    const char *const given = t->config->symmetry, *const system = t->ties->name;
    const int same = strcmp(given, system) == 0;
    snprintf(text, 160, "%s%s%s%s", given, same ? "" : " (", same ? "" : system, same ? "" : ")");
}

static db_status regularize(db_context *context, const tying *t, db_experiment *start) {
    double cell[6], edge, angle;
    char text[480], symmetry[160];
    const double *const was = start->crystal.cell;
    memcpy(cell, was, sizeof cell);
    db_cell_regularize(t->ties, cell, &edge, &angle);
    name_symmetry(t, symmetry);
    if (edge > DB_CELL_EDGE_TOLERANCE || angle > DB_CELL_ANGLE_TOLERANCE)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: model.symmetry: the starting cell %.6g %.6g %.6g %.6g %.6g %.6g "
                       "contradicts %s: edges are off by up to %.2g %%, angles by up to %.2g "
                       "degree; expected at most %g %% and %g degree",
                       t->config->config_file, was[0], was[1], was[2], was[3], was[4], was[5],
                       symmetry, 100 * edge, angle, 100 * DB_CELL_EDGE_TOLERANCE,
                       DB_CELL_ANGLE_TOLERANCE);
    if (t->line && (edge > 1e-6 || angle > 1e-4)) {
        snprintf(text, sizeof text,
                 "cell: made regular for %s, %.6g %.6g %.6g  %.6g %.6g %.6g; edges were off by "
                 "up to %.2g %%, angles by up to %.2g degree",
                 symmetry, cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], 100 * edge, angle);
        t->line(t->user, text);
    }
    memcpy(start->crystal.cell, cell, sizeof cell);
    return DB_OK;
}

db_status db_fit_tie_cell(db_context *context, db_fit_config *config, db_experiment *start,
                          db_notice_function notices, void *user) {
    if (!*config->symmetry) return DB_OK;
    const tying t = { config, db_cell_ties_of(config->symmetry, start->crystal.cell), notices,
                      user };
    if (!t.ties)
        return db_fail(context, DB_ERROR_USAGE, "%s: model.symmetry: '%s' is no symmetry",
                       config->config_file, config->symmetry);
    DB_TRY(regularize(context, &t, start));
    for (int i = 0; i < 6; i++) drop_fixed(&t, i);
    /* twice, because a follower may bring in a leader with followers of its own */
    for (int i = 0; i < 12; i++) DB_TRY(tie(context, &t, i % 6));
    untie(&t);
    return DB_OK;
}
