/* Bands of a tile of spots in closed form, and their groups of pixels. A region is a tile of at most
 * DB_SPOT_TILE_FAST pixels along a row, with a list of its spots. */
#ifndef DB_KERNEL_SPOT_BAND_H
#define DB_KERNEL_SPOT_BAND_H

#include "kernel/pixel_store.h"

/* A group is a block of pixels, since a spot meets fewer blocks than runs along rows. A tile is handled in bands
 * of rows of groups: a spot's numbers are read once for many groups, whose directions stay in the level-1 cache.
 * (With slopes they would not.) */
enum {
    GROUP_FAST = LANES < 4 ? LANES : 4, /* pixels of a group along a row */
    GROUP_SLOW = LANES / GROUP_FAST,
    SPOT_GROUPS = DB_SPOT_TILE_FAST / GROUP_FAST, /* of a row of groups */
#if DB_INSTANCE_KIND > 0
    SPOT_ROWS = GROUP_SLOW > 1 ? 1 : 2, /* of groups */
#else
    SPOT_ROWS = SPOT_GROUPS * DB_SPOT_TILE_SLOW / GROUP_SLOW <= 64 ? DB_SPOT_TILE_SLOW / GROUP_SLOW
                                                                   : 64 / SPOT_GROUPS,
#endif
    SPOT_BAND = SPOT_ROWS * SPOT_GROUPS
};
_Static_assert(SPOT_BAND <= 64, "a bit for each group");

/* A band of a tile. */
typedef struct {
    size_t region;             /* of the list of spots */
    int fast, slow;            /* number of its first pixel */
    int top;                   /* its row from the region's corner */
    int width, height;         /* of the region, from there on */
    int rows, groups;          /* rows of groups, and groups of a row */
    int summed;                /* 1: spot by spot, see kernel/spot_products.h */
    unsigned long wanted;      /* bit row * SPOT_GROUPS + group: spots or background reach it */
    uint8_t number[SPOT_BAND]; /* of each of these groups, among those summed together */
} spot_band;

AD_INLINE int band_wants(const spot_band *band, int place) { return band->wanted >> place & 1; }

/* Groups of a band that a spot reaches, a bit for each. */
AD_INLINE unsigned long spot_reach(db_spot_part part, const spot_band *band) {
    const int above = part.slow[0] - band->top,
              below = (part.slow[1] - band->top + GROUP_SLOW - 1) / GROUP_SLOW,
              first = above > 0 ? above / GROUP_SLOW : 0,
              last = below < band->rows ? below : band->rows, left = part.fast[0] / GROUP_FAST,
              right = (part.fast[1] + GROUP_FAST - 1) / GROUP_FAST;
    if (last <= first) return 0;
    const unsigned long row = ((1UL << (right - left)) - 1) << left;
    unsigned long all = 0;
    for (int r = 0; r < SPOT_ROWS; r++)
        all |= r >= first && r < last ? row << (r * SPOT_GROUPS) : 0;
    return all;
}

/* 1 if all pixels of the group are in the region. */
AD_INLINE int is_whole(const spot_band *band, int g) {
    return g % SPOT_GROUPS * GROUP_FAST + GROUP_FAST <= band->width &&
           g / SPOT_GROUPS * GROUP_SLOW + GROUP_SLOW <= band->height;
}

/* 1 if lane i of the group is a pixel of the region. */
AD_INLINE int is_pixel(const spot_band *band, int g, int i) {
    return g % SPOT_GROUPS * GROUP_FAST + i % GROUP_FAST < band->width &&
           g / SPOT_GROUPS * GROUP_SLOW + i / GROUP_FAST < band->height;
}

/* Pixels of a group, numbered from the band's first; beyond the region's end its last ones again. */
AD_INLINE void group_pixels(const spot_band *band, int g, int fast[LANES], int slow[LANES]) {
    const int left = g % SPOT_GROUPS * GROUP_FAST, top = g / SPOT_GROUPS * GROUP_SLOW;
    for (int i = 0; i < LANES; i++) {
        const int column = left + i % GROUP_FAST, row = top + i / GROUP_FAST;
        fast[i] = column < band->width ? column : band->width - 1;
        slow[i] = row < band->height ? row : band->height - 1;
    }
}

/* The group's pixels as find_site takes them. */
AD_INLINE void group_places(const spot_band *band, int g, wide *fast, wide *slow) {
    const int left = g % SPOT_GROUPS * GROUP_FAST, top = g / SPOT_GROUPS * GROUP_SLOW;
    double f[LANES], s[LANES];
    if (is_whole(band, g)) {
        for (int i = 0; i < LANES; i++) {
            f[i] = i % GROUP_FAST;
            s[i] = i / GROUP_FAST;
        }
        *fast = w_add(w_load(f), w_set(band->fast + left));
        *slow = w_add(w_load(s), w_set(band->slow + top));
        return;
    }
    int column[LANES], row[LANES];
    group_pixels(band, g, column, row);
    for (int i = 0; i < LANES; i++) {
        f[i] = band->fast + column[i];
        s[i] = band->slow + row[i];
    }
    *fast = w_load(f);
    *slow = w_load(s);
}

#endif
