/* Space groups, numbers and names to crystal systems, and the edges and angles that each leaves
 * free. */
#include "fit/config/crystal_system.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which table row a kind of lattice has. */
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
    [TRICLINIC] = { "triclinic", ALL_FREE, { 0 } },
    [MONOCLINIC_A] = { "monoclinic, unique axis a", ALL_FREE, { 0, 0, 0, 0, 90, 90 } },
    [MONOCLINIC_B] = { "monoclinic, unique axis b", ALL_FREE, { 0, 0, 0, 90, 0, 90 } },
    [MONOCLINIC_C] = { "monoclinic, unique axis c", ALL_FREE, { 0, 0, 0, 90, 90, 0 } },
    [ORTHORHOMBIC] = { "orthorhombic", ALL_FREE, { 0, 0, 0, 90, 90, 90 } },
    [TETRAGONAL] = { "tetragonal", B_AS_A, { 0, 0, 0, 90, 90, 90 } },
    [HEXAGONAL] = { "hexagonal axes", B_AS_A, { 0, 0, 0, 90, 90, 120 } },
    [RHOMBOHEDRAL] = { "rhombohedral axes", { FREE, 0, 0, FREE, 3, 3 }, { 0 } },
    [CUBIC] = { "cubic", { FREE, 0, 0, FREE, FREE, FREE }, { 0, 0, 0, 90, 90, 90 } },
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

/* One symmetry element of a monoclinic group ("2", "21", "m", "c", "21/c", "2/m"): its length; 0 if
 * there is none. */
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

/* Monoclinic symbols name the unique axis: "1 2 1", "1 1 2", "2 1 1"; short ones leave it open. Without
 * blanks, "2111" is 21 1 1, "121" is 1 2 1. */
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

/* Hermann-Mauguin symbols: what stands behind the lattice letter. */
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

/* "P 61 2 2" and "R 3 :H" without spaces and setting; *setting: 'H', 'R' or 0. */
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

/* The angle farthest from 90 degree; beta where none is. */
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
