#define _POSIX_C_SOURCE 200809L /* strcasecmp */
/* Edit distance between names, for suggestions in messages. */
#include "base/nearest_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 63 };

static int least(int a, int b) { return a < b ? a : b; }

/* Restricted Damerau-Levenshtein distance, doubled, over the first LONGEST characters. */
static int edit_distance(const char *a, const char *b) {
    int rows[3][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST) n = LONGEST;
    if (m > LONGEST) m = LONGEST;
    int *before = rows[0];
    int *above = rows[1];
    int *row = rows[2];
    for (size_t j = 0; j <= m; j++) above[j] = before[j] = 2 * (int)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = 2 * (int)i;
        for (size_t j = 1; j <= m; j++) {
            const char x = a[i - 1], y = b[j - 1];
            const int same_letter = tolower((unsigned char)x) == tolower((unsigned char)y);
            const int substitution = x == y ? 0 : same_letter ? 1 : 2;
            row[j] = least(above[j - 1] + substitution, least(above[j], row[j - 1]) + 2);
            if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y)
                row[j] = least(row[j], before[j - 2] + 2);
        }
        int *const spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[m];
}

static const char *without_dashes(const char *name) {
    while (*name == '-') name++;
    return name;
}

/* Names of one or two letters are near only if they differ in case. */
static int is_near(const char *wanted, const char *name, int distance) {
    enum { SHORTEST_STEM = 3 };
    const size_t n = strlen(wanted), m = strlen(name);
    if (m >= SHORTEST_STEM && n > m && strncmp(wanted, name, m) == 0) return 1;
    const int edits = (int)((n > m ? n : m) / 3);
    return distance <= (edits ? 2 * edits : 1) || strcasecmp(wanted, name) == 0;
}

const char *db_nearest_name(const char *wanted, const char *const *names, size_t count) {
    const char *best = NULL;
    int best_distance = 0;
    wanted = without_dashes(wanted);
    for (size_t i = 0; i < count; i++) {
        const char *const name = without_dashes(names[i]);
        const int distance = edit_distance(wanted, name);
        if ((best && distance >= best_distance) || !is_near(wanted, name, distance)) continue;
        best = names[i];
        best_distance = distance;
    }
    return best;
}

db_name_hint db_hint_at_names(const char *wanted, const char *const *names, size_t count,
                              const char *otherwise) {
    const char *const nearest = db_nearest_name(wanted, names, count);
    db_name_hint hint = { "" };
    if (nearest)
        snprintf(hint.text, sizeof hint.text, "; the nearest known one is '%s'", nearest);
    else if (otherwise)
        snprintf(hint.text, sizeof hint.text, "; %s", otherwise);
    return hint;
}
