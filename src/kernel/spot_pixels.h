/* Pixels of spots in closed form: each pixel sums the spots that reach it. A region is a tile of at
 * most DB_SPOT_TILE_FAST pixels along a row, with a list of its spots. */
#ifndef DB_KERNEL_SPOT_PIXELS_H
#define DB_KERNEL_SPOT_PIXELS_H

#include "kernel/pixel_store.h"
#include "kernel/spot_lanes.h"
#include "kernel/spot_products.h"

/* A group is a block of pixels, since fewer blocks than runs along rows meet a spot. A tile is worked
 * on in bands: so many rows of groups together that a spot's numbers are read once for many groups,
 * whose directions stay in the level-1 cache. With slopes they would not. */
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
    int fast, slow;       /* number of its first pixel */
    int top;              /* the same from the region's corner */
    int width, height;    /* of the region, from there on */
    int rows, groups;     /* rows of groups, and groups of a row */
    int summed;           /* 1: spot by spot, see kernel/spot_products.h */
    unsigned long wanted; /* bit row * SPOT_GROUPS + group: spots or background reach it */
} spot_band;

/* Of a thread. */
typedef struct {
    uint32_t *number;     /* spots that reach the band: [most] */
    unsigned long *reach; /* likewise: groups of the band, a bit for each */
    wide_vec3 *direction; /* [SPOT_BAND], likewise: packed, since each spot reads them */
    fine *sum;            /* of a beam's spots, without its factors */
    site *place;
    beam_point *beam;
    pixel_sums *sums;
    fine *slope;             /* [SPOT_BAND][parameters] */
    spot_products *products; /* or NULL */
} spot_room;

AD_INLINE int band_wants(const spot_band *band, int place) { return band->wanted >> place & 1; }

#if DB_INSTANCE_KIND > 0
/* Number of the band's group g among those that are summed together. */
AD_INLINE int product_group(const spot_band *band, const spot_products *products, int g) {
    return products->groups + g / SPOT_GROUPS * band->groups + g % SPOT_GROUPS;
}

AD_INLINE void spot_slopes(spot_motion motion, const db_kernel_spots *spots, size_t number,
                           const fine *column, fine *slope) {
    enum { REST = DB_SPOT_COLUMNS, MOVE = DB_SPOT_COLUMNS_MOVING };
    const size_t count = spots->parameters, length = motion == SPOTS_MOVE ? MOVE : REST;
    const SHAPE_REAL *c = spots->FINE(slope) + number * count * length;
    for (size_t k = 0; k < count; k++, c += length) {
        fine sum = slope[k];
#pragma GCC unroll 14
        for (size_t i = 0; i < length; i++) sum = f_fma(f_set(c[i]), column[i], sum);
        slope[k] = sum;
    }
}
#endif

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

/* Pixels of a group, numbered from the band's first: those that the region has, and the last one
 * again in the rest of the lanes. Returns how many there are. */
AD_INLINE int group_pixels(const spot_band *band, int g, int fast[LANES], int slow[LANES]) {
    const int left = g % SPOT_GROUPS * GROUP_FAST, top = g / SPOT_GROUPS * GROUP_SLOW,
              across = band->width - left < GROUP_FAST ? band->width - left : (int)GROUP_FAST,
              down = band->height - top < GROUP_SLOW ? band->height - top : (int)GROUP_SLOW,
              count = across * down;
    for (int i = 0; i < LANES; i++) {
        const int n = i < count ? i : count - 1;
        fast[i] = left + n % across;
        slow[i] = top + n / across;
    }
    return count;
}

/* The same for find_site. */
AD_INLINE void group_places(const spot_band *band, int g, wide *fast, wide *slow) {
    const int left = g % SPOT_GROUPS * GROUP_FAST, top = g / SPOT_GROUPS * GROUP_SLOW;
    double f[LANES], s[LANES];
    if (left + GROUP_FAST <= band->width && top + GROUP_SLOW <= band->height) {
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

#if DB_INSTANCE_KIND > 0
/* What a spot adds to the slopes of group g. i: its number among the band's. */
AD_INLINE void add_spot_slopes(spot_motion motion, const db_kernel_job *job, const spot_band *band,
                               int i, const spot_constants *constants, const lane_spot *s, int g,
                               const spot_room *room) {
    const uint32_t number = room->number[i];
    beam_point *const beam = &room->beam[g];
    fine column[DB_SPOT_COLUMNS_MOVING];
    spot_columns(motion, &job->spots.spot[number], constants, s, beam->factor, column, beam->by_d);
    if (motion == SPOTS_REST && band->summed) {
        add_product_columns(room->products, room->products->slot[i],
                            product_group(band, room->products, g), column);
    } else {
        spot_slopes(motion, &job->spots, number, column,
                    room->slope + (size_t)g * job->spots.parameters);
    }
}
#endif

/* Adds a spot to the band. i: its number among the band's. */
AD_INLINE void add_spot(spot_motion motion, const db_kernel_job *job, const spot_band *band, int i,
                        const spot_room *room) {
    const db_kernel_spot *spot = &job->spots.spot[room->number[i]];
    const fine amplitude = f_set(spot->FINE(value)[DB_SPOT_AMPLITUDE]);
    const spot_constants constants = constants_of(motion, spot);
    for (unsigned long left = room->reach[i] & band->wanted; left; left &= left - 1) {
        const int g = __builtin_ctzl(left);
        lane_spot s;
        if (!spot_in_lanes(motion, spot, &constants, room->direction[g], &s)) continue;
        room->sum[g] = f_fma(amplitude, s.g, room->sum[g]);
#if DB_INSTANCE_KIND > 0
        add_spot_slopes(motion, job, band, i, &constants, &s, g, room);
#endif
    }
}

/* All beams at one point of each pixel. count: of the band's spots, in the order of sources. */
AD_INLINE void add_spot_sites(spot_motion motion, const db_kernel_job *job,
                              const db_kernel_panel *panel, const spot_band *band, int count,
                              const spot_room *room) {
    const size_t beams = job->spots.one_beam ? 1 : job->source_count;
    const int background = has_background(job);
    fine by_d[SPOT_BAND][3], by_omega[SPOT_BAND];
    for (int g = 0; g < SPOT_BAND; g++) {
        for (int c = 0; c < 3; c++) by_d[g][c] = f_set(0);
        by_omega[g] = f_set(0);
    }
    int begin = 0;
    for (size_t j = 0; j < beams; j++) {
        int end = begin;
        while (end < count &&
               (job->spots.one_beam || job->spots.spot[room->number[end]].source == j))
            end++;
        if (end > begin || background) {
            for (int g = 0; g < SPOT_BAND; g++) {
                room->sum[g] = f_set(0);
#if DB_INSTANCE_KIND > 0
                if (band_wants(band, g)) begin_beam(job, &room->place[g], j, &room->beam[g]);
#endif
            }
            for (int i = begin; i < end; i++) add_spot(motion, job, band, i, room);
            for (int g = 0; g < SPOT_BAND; g++) {
                if (!band_wants(band, g)) continue;
#if DB_INSTANCE_KIND > 0
                beam_point *const beam = &room->beam[g];
#else
                beam_point own;
                beam_point *const beam = &own;
                begin_beam(job, &room->place[g], j, beam);
#endif
                end_beam(job, &room->place[g], j, background, beam, room->sum[g], &room->sums[g],
                         by_d[g], &by_omega[g]);
            }
        }
        begin = end;
    }
#if DB_INSTANCE_KIND > 0
    for (int g = 0; g < SPOT_BAND; g++)
        if (band_wants(band, g))
            add_site_slopes(0, job, panel, &room->place[g], by_d[g], by_omega[g], &room->sums[g]);
#else
    (void)panel;
#endif
}

/* The band's pixels. */
DB_GROUP_FN void render_spot_band(const db_kernel_job *job, const db_kernel_panel *panel,
                                  const spot_band *band, int count, const spot_room *room) {
    for (int g = 0; g < SPOT_BAND; g++) {
        if (!band_wants(band, g)) continue;
        clear_sums(0, job, &room->sums[g]);
#if DB_INSTANCE_KIND > 0
        for (size_t k = 0; k < job->spots.parameters && !band->summed; k++)
            room->slope[(size_t)g * job->spots.parameters + k] = f_set(0);
#endif
    }
    const double step = job->sub_pixel;
    for (int i = 0; i < job->oversample; i++)
        for (int j = 0; j < job->oversample; j++) {
            for (int g = 0; g < SPOT_BAND; g++) {
                if (!band_wants(band, g)) continue;
                wide fast, slow;
                group_places(band, g, &fast, &slow);
                fast = w_mul(w_add(fast, w_set((j + 0.5) * step)), w_set(panel->pixel_size[0]));
                slow = w_mul(w_add(slow, w_set((i + 0.5) * step)), w_set(panel->pixel_size[1]));
                find_site(job, panel, 0, fast, slow, &room->place[g]);
                room->direction[g] = room->place[g].wide_d;
            }
            if (job->spots.moving)
                add_spot_sites(SPOTS_MOVE, job, panel, band, count, room);
            else
                add_spot_sites(SPOTS_REST, job, panel, band, count, room);
        }
#if DB_INSTANCE_KIND > 0
    for (int g = 0; g < SPOT_BAND; g++)
        if (band_wants(band, g))
            room->sums[g].column[DB_COLUMN_INTENSITY] = room->sums[g].intensity;
#endif
}

#if DB_INSTANCE_KIND > 0
/* The derivative by parameter k. */
AD_INLINE fine spot_derivative(const db_kernel_job *job, const db_kernel_contraction *contraction,
                               const pixel_sums *sums, const fine *slope, size_t k) {
    fine value = f_set(0);
    if (contraction[k].columns > 0) value = contract(&contraction[k], sums);
    return k < job->spots.parameters ? f_fma(f_set(job->scale), slope[k], value) : value;
}

/* Adds the group's row of the normal equations to the run. */
AD_INLINE void add_spot_row(const db_kernel_job *job, const db_kernel_contraction *contraction,
                            const pixel_sums *sums, const fine *slope, const group_target *target,
                            normal_run *run) {
    fine *const row = run->row + (size_t)run->rows * run->length;
    const pixel_weight w = pixel_weight_of(load_group(job->weight, target), job->weight != NULL);
    size_t k = 0;
    for (; k < job->parameter_count; k++)
        row[k] = weighted(
            w, f_mul(f_set(job->spots.step[k]), spot_derivative(job, contraction, sums, slope, k)));
    row[k] = weighted(w, residual_of(job, sums->intensity, load_group(job->data, target)));
    if (++run->rows == run->most) add_run(run);
}

/* Pixels that no spot reaches have their residual only: its square goes to the last sum. */
static void add_empty_row(const db_kernel_job *job, const group_target *target, normal_run *run) {
    const pixel_weight w = pixel_weight_of(load_group(job->weight, target), job->weight != NULL);
    const fine r = weighted(w, residual_of(job, f_set(0), load_group(job->data, target)));
    SHAPE_REAL square[LANES];
    f_store(square, f_mul(r, r));
    double sum = 0;
    for (int i = 0; i < LANES; i++) sum += (double)square[i];
    run->sums[db_normal_index(run->length - 1, run->length - 1)] += sum;
}
#endif

/* Where group g of a band goes. */
AD_INLINE group_target target_of(const db_region *region, const spot_band *band, int g) {
    const size_t first = region->offset + (size_t)band->top * region->stride;
    int fast[LANES], slow[LANES];
    group_target target = { .count = group_pixels(band, g, fast, slow) };
    for (int i = 0; i < LANES; i++)
        target.element[i] = first + (size_t)slow[i] * region->stride + (size_t)fast[i];
    return target;
}

#if DB_INSTANCE_KIND > 0
/* Adds a group to the normal equations. count: of the band's spots. */
static __attribute__((noinline)) void finish_group_sums(const db_kernel_job *job,
                                                        const db_region *region,
                                                        const spot_band *band, int count, int g,
                                                        const spot_room *room, normal_run *run) {
    const db_kernel_contraction *contraction =
        job->contraction + region->panel * job->parameter_count;
    const pixel_sums *sums = &room->sums[g];
    const group_target target = target_of(region, band, g);
    if (!band_wants(band, g))
        add_empty_row(job, &target, run);
    else if (band->summed)
        weigh_group(job, contraction, sums, &target, count, product_group(band, room->products, g),
                    room->products);
    else
        add_spot_row(job, contraction, sums, room->slope + (size_t)g * job->spots.parameters,
                     &target, run);
}
#endif

/* What image k, the derivatives first, has in group g. */
AD_INLINE fine spot_image(const db_kernel_job *job, const db_kernel_contraction *contraction,
                          const spot_room *room, int g, size_t k) {
    const pixel_sums *sums = &room->sums[g];
#if DB_INSTANCE_KIND > 0
    if (k < job->parameter_count)
        return spot_derivative(job, contraction, sums,
                               room->slope + (size_t)g * job->spots.parameters, k);
#else
    (void)contraction, (void)k;
#endif
    return f_mul(sums->intensity, f_set(job->scale));
}

/* A row of pixels of an image, from element `to` on. */
AD_INLINE void store_row(const db_kernel_job *job, void *image, size_t to, const SHAPE_REAL *pixel,
                         int count) {
    int i = 0;
    if (job->pixel_type == DB_FLOAT64) {
        for (; i < count; i++) ((double *)image)[to + (size_t)i] = (double)pixel[i];
        return;
    }
    float *const out = (float *)image + to;
#if defined(DB_INSTANCE_PRECISION_MIXED)
    for (; i + LANES <= count; i += LANES) {
        if (job->streaming)
            vec_stream_float(out + i, f_load(pixel + i));
        else
            f_store(out + i, f_load(pixel + i));
    }
#endif
    for (; i < count; i++) out[i] = (float)pixel[i];
}

/* The band of all images. */
static __attribute__((noinline)) void store_band(const db_kernel_job *job, const db_region *region,
                                                 const spot_band *band, const spot_room *room) {
    enum { TALL = SPOT_ROWS * GROUP_SLOW };
    SHAPE_REAL pixel[TALL][DB_SPOT_TILE_FAST] = { { 0 } };
    const db_kernel_contraction *contraction =
        job->contraction + region->panel * job->parameter_count;
    const size_t images = job->parameter_count + 1,
                 first = region->offset + (size_t)band->top * region->stride;
    const int rows = band->height < TALL ? band->height : (int)TALL;
    for (size_t k = DB_INSTANCE_KIND > 0 ? 0 : images - 1; k < images; k++) {
        for (unsigned long left = band->wanted; left; left &= left - 1) {
            const int g = __builtin_ctzl(left), column = g % SPOT_GROUPS * GROUP_FAST,
                      row = g / SPOT_GROUPS * GROUP_SLOW;
            SHAPE_REAL lane[LANES];
            f_store(lane, spot_image(job, contraction, room, g, k));
            if (column + GROUP_FAST <= band->width && row + GROUP_SLOW <= band->height) {
                for (int r = 0; r < GROUP_SLOW; r++)
                    memcpy(&pixel[row + r][column], lane + r * GROUP_FAST,
                           GROUP_FAST * sizeof *lane);
            } else {
                int fast[LANES], slow[LANES];
                const int count = group_pixels(band, g, fast, slow);
                for (int i = 0; i < count; i++) pixel[slow[i]][fast[i]] = lane[i];
            }
        }
        void *const image = k < images - 1 ? job->derivative[k] : job->image;
        for (int r = 0; r < rows; r++)
            store_row(job, image, first + (size_t)r * region->stride, pixel[r], band->width);
    }
}

/* Spots of a region that reach a band of it; sets what they want of it. */
static int spots_of_band(const db_kernel_spots *spots, size_t region, spot_band *band,
                         const spot_room *room, int *visits) {
    int count = 0;
    *visits = 0;
    for (uint32_t i = spots->first[region]; i < spots->first[region + 1]; i++) {
        const unsigned long reach = spot_reach(spots->part[i], band);
        if (!reach) continue;
        /* a tile's spots are all over the list: they come from memory meanwhile */
        const db_kernel_spot *spot = &spots->spot[spots->number[i]];
        __builtin_prefetch(spot->FINE(value));
        __builtin_prefetch(spot->white);
        __builtin_prefetch(spot->offset);
        room->reach[count] = reach;
        room->number[count++] = spots->number[i];
        band->wanted |= reach;
        *visits += __builtin_popcountl(reach);
    }
    return count;
}

/* A band of region number `index`, which its list of spots belongs to. */
static void render_region_band(const db_kernel_job *job, size_t index, spot_band band,
                               const spot_room *room, normal_run *run) {
    const db_region *region = &job->region[index];
    unsigned long in_use = 0;
    for (int r = 0; r < band.rows; r++)
        in_use |= ((1UL << (band.groups - 1) << 1) - 1) << (r * SPOT_GROUPS);
#if DB_INSTANCE_KIND > 0
    for (unsigned long left = run && job->weight ? in_use : 0; left; left &= left - 1) {
        const group_target target = target_of(region, &band, __builtin_ctzl(left));
        if (!group_wanted(job, &target, run)) in_use &= ~(left & -left);
    }
#endif
    int visits;
    const int count = spots_of_band(&job->spots, index, &band, room, &visits);
    band.wanted = has_background(job) ? in_use : band.wanted & in_use;
#if DB_INSTANCE_KIND > 0
    const int groups = band.rows * band.groups;
    band.summed = room->products && band.wanted &&
                  products_take(job, room->products, room->number, count, visits, groups);
#endif
    if (band.wanted) render_spot_band(job, &job->panel[region->panel], &band, count, room);
#if DB_INSTANCE_KIND > 0
    for (unsigned long left = run ? in_use : 0; left; left &= left - 1)
        finish_group_sums(job, region, &band, count, __builtin_ctzl(left), room, run);
    if (band.summed) room->products->groups += groups;
#endif
    if (!run) store_band(job, region, &band, room);
}

static void render_spot_rows(const db_kernel_job *job, size_t index, int row_begin, int row_end,
                             const spot_room *room, normal_run *run) {
    const db_region *region = &job->region[index];
    const int step = SPOT_ROWS * GROUP_SLOW;
    for (int row = row_begin; row < row_end; row += step) {
        const int rows = (row_end - row + GROUP_SLOW - 1) / GROUP_SLOW;
        const spot_band band = { .fast = region->fast_start,
                                 .slow = region->slow_start + row,
                                 .top = row,
                                 .width = region->fast_count,
                                 .height = row_end - row,
                                 .rows = rows < SPOT_ROWS ? rows : (int)SPOT_ROWS,
                                 .groups = (region->fast_count + GROUP_FAST - 1) / GROUP_FAST };
        render_region_band(job, index, band, room, run);
    }
}

#endif
