#include "core/nearest_name.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63 };

static int least(int a, int b) { return a < b ? a : b; }

/* Restricted Damerau-Levenshtein distance, doubled, over the first LONGEST characters. */
static int edit_distance(const char *a, const char *b) {
    int rows[3][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST) n = LONGEST;
    if (m > LONGEST) m = LONGEST;
    int *before = rows[0], *above = rows[1], *row = rows[2];
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

size_t db_nearest_name(const char *wanted, const char *const *names, size_t count) {
    size_t best = 0;
    int best_distance = edit_distance(wanted, names[0]);
    for (size_t i = 1; i < count; i++) {
        const int distance = edit_distance(wanted, names[i]);
        if (distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}
