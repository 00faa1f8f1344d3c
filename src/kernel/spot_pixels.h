/* Pixels of spots in closed form: each pixel sums the spots that reach it. A region is a tile of at
 * most DB_SPOT_TILE_FAST pixels along a row, with a list of its spots. */
#ifndef DB_KERNEL_SPOT_PIXELS_H
#define DB_KERNEL_SPOT_PIXELS_H

#include "kernel/pixel_store.h"
#include "kernel/spot_lanes.h"
#include "kernel/spot_products.h"

/* A tile is worked on in bands: so many rows together that a spot's numbers are read once for many
 * groups of pixels, whose directions stay in the level-1 cache. With slopes they would not. */
enum {
    SPOT_GROUPS = DB_SPOT_TILE_FAST / LANES, /* of a row */
#if DB_INSTANCE_KIND > 0
    SPOT_ROWS = 2,
#else
    SPOT_ROWS = SPOT_GROUPS * DB_SPOT_TILE_SLOW <= 64 ? DB_SPOT_TILE_SLOW : 64 / SPOT_GROUPS,
#endif
    SPOT_BAND = SPOT_ROWS * SPOT_GROUPS
};
_Static_assert(SPOT_BAND <= 64, "a bit for each group");

/* A band of a tile. */
typedef struct {
    int fast, slow;       /* number of its first pixel */
    int top;              /* the same from the region's corner */
    int rows, groups;     /* groups: of a row */
    int summed;           /* 1: spot by spot, see kernel/spot_products.h */
    unsigned long wanted; /* bit row * SPOT_GROUPS + group: spots or background reach it */
} spot_band;

/* Of a thread. */
typedef struct {
    uint32_t *number;   /* spots that reach the band: [most] */
    db_spot_part *part; /* likewise: of the region */
    site *place;        /* [SPOT_BAND], likewise: */
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

/* Groups and rows of a band that a spot reaches, each from, to without that. */
AD_INLINE void spot_reach(db_spot_part part, const spot_band *band, int group[2], int row[2]) {
    const int above = part.slow[0] - band->top, below = part.slow[1] - band->top;
    group[0] = part.fast[0] / LANES;
    group[1] = (part.fast[1] + LANES - 1) / LANES;
    row[0] = above > 0 ? above : 0;
    row[1] = below < band->rows ? below : band->rows;
}

#if DB_INSTANCE_KIND > 0
/* What a spot adds to the slopes of group g. i: its number among the band's. */
AD_INLINE void add_spot_slopes(spot_motion motion, const db_kernel_job *job, const spot_band *band,
                               int i, const lane_spot *s, int g, const spot_room *room) {
    const uint32_t number = room->number[i];
    beam_point *const beam = &room->beam[g];
    fine column[DB_SPOT_COLUMNS_MOVING];
    spot_columns(motion, &job->spots.spot[number], s, beam->factor, column, beam->by_d);
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
    int group[2], row[2];
    spot_reach(room->part[i], band, group, row);
    for (int r = row[0]; r < row[1]; r++)
        for (int g = r * SPOT_GROUPS + group[0]; g < r * SPOT_GROUPS + group[1]; g++) {
            beam_point *const beam = &room->beam[g];
            lane_spot s;
            if (!band_wants(band, g) || !spot_in_lanes(motion, spot, room->place[g].wide_d, &s))
                continue;
            beam->sum = f_fma(amplitude, s.g, beam->sum);
#if DB_INSTANCE_KIND > 0
            add_spot_slopes(motion, job, band, i, &s, g, room);
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
            for (int g = 0; g < SPOT_BAND; g++)
                if (band_wants(band, g)) begin_beam(job, &room->place[g], j, &room->beam[g]);
            for (int i = begin; i < end; i++) add_spot(motion, job, band, i, room);
            for (int g = 0; g < SPOT_BAND; g++)
                if (band_wants(band, g))
                    end_beam(job, &room->place[g], j, background, &room->beam[g], &room->sums[g],
                             by_d[g], &by_omega[g]);
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
                const int fast = band->fast + g % SPOT_GROUPS * LANES,
                          slow = band->slow + g / SPOT_GROUPS;
                const wide pixel = w_add(w_iota(), w_set(fast + (j + 0.5) * step));
                find_site(job, panel, 0, w_mul(pixel, w_set(panel->pixel_size[0])),
                          w_set((slow + (i + 0.5) * step) * panel->pixel_size[1]), &room->place[g]);
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

/* count: of the band's spots */
static __attribute__((noinline)) void finish_spots(const db_kernel_job *job,
                                                   const db_region *region, const spot_band *band,
                                                   int count, int g, const spot_room *room,
                                                   const group_target *target, normal_run *run) {
    const store_kind kind = store_kind_of(job, target);
    const pixel_sums *sums = band_wants(band, g) ? &room->sums[g] : NULL;
#if DB_INSTANCE_KIND > 0
    const db_kernel_contraction *contraction =
        job->contraction + region->panel * job->parameter_count;
    const fine *slope = room->slope + (size_t)g * job->spots.parameters;
    if (run && sums) {
        if (band->summed)
            weigh_group(job, contraction, sums, target, count,
                        product_group(band, room->products, g), room->products);
        else
            add_spot_row(job, contraction, sums, slope, target, run);
        return;
    }
    if (run) {
        add_empty_row(job, target, run);
        return;
    }
    for (size_t k = 0; k < job->parameter_count; k++)
        store_group(kind, job, target, job->derivative[k],
                    sums ? spot_derivative(job, contraction, sums, slope, k) : f_set(0));
#else
    (void)region, (void)count, (void)run;
#endif
    store_group(kind, job, target, job->image,
                sums ? f_mul(sums->intensity, f_set(job->scale)) : f_set(0));
}

/* Spots of a region that reach a band of it; sets what they want of it. */
static int spots_of_band(const db_kernel_spots *spots, size_t region, spot_band *band,
                         const spot_room *room, int *visits) {
    int count = 0;
    *visits = 0;
    for (uint32_t i = spots->first[region]; i < spots->first[region + 1]; i++) {
        int group[2], row[2];
        spot_reach(spots->part[i], band, group, row);
        if (row[1] <= row[0]) continue;
        /* a tile's spots are all over the list: they come from memory meanwhile */
        const db_kernel_spot *spot = &spots->spot[spots->number[i]];
        __builtin_prefetch(spot->FINE(value));
        __builtin_prefetch(spot->white);
        __builtin_prefetch(spot->offset);
        room->part[count] = spots->part[i];
        room->number[count++] = spots->number[i];
        const unsigned long reached = ((1UL << (group[1] - group[0])) - 1) << group[0];
        for (int r = row[0]; r < row[1]; r++) band->wanted |= reached << (r * SPOT_GROUPS);
        *visits += (row[1] - row[0]) * (group[1] - group[0]);
    }
    return count;
}

/* Where group g of a band goes. */
AD_INLINE group_target target_of(const db_region *region, const spot_band *band, int g) {
    const int column = g % SPOT_GROUPS * LANES, left = region->fast_count - column;
    group_target target = { left < LANES ? left : LANES, 1, { 0 } };
    target.element[0] =
        region->offset +
        (size_t)(band->slow - region->slow_start + g / SPOT_GROUPS) * region->stride +
        (size_t)column;
    return target;
}

/* A band of region number `index`, which its list of spots belongs to. */
static void render_region_band(const db_kernel_job *job, size_t index, spot_band band,
                               const spot_room *room, normal_run *run) {
    const db_region *region = &job->region[index];
    const int background = has_background(job);
    unsigned long in_use = 0;
    for (int r = 0; r < band.rows; r++)
        for (int g = 0; g < band.groups; g++) {
            const group_target target = target_of(region, &band, r * SPOT_GROUPS + g);
            if (group_wanted(job, &target, run)) in_use |= 1UL << (r * SPOT_GROUPS + g);
        }
    int visits;
    const int count = spots_of_band(&job->spots, index, &band, room, &visits);
    band.wanted = background ? in_use : band.wanted & in_use;
#if DB_INSTANCE_KIND > 0
    const int groups = band.rows * band.groups;
    band.summed = room->products && band.wanted &&
                  products_take(job, room->products, room->number, count, visits, groups);
#endif
    if (band.wanted) render_spot_band(job, &job->panel[region->panel], &band, count, room);
    for (int g = 0; g < SPOT_BAND; g++) {
        if (!(in_use >> g & 1)) continue;
        const group_target target = target_of(region, &band, g);
        finish_spots(job, region, &band, count, g, room, &target, run);
    }
#if DB_INSTANCE_KIND > 0
    if (band.summed) room->products->groups += groups;
#endif
}

static void render_spot_rows(const db_kernel_job *job, size_t index, int row_begin, int row_end,
                             const spot_room *room, normal_run *run) {
    const db_region *region = &job->region[index];
    for (int row = row_begin; row < row_end; row += SPOT_ROWS) {
        const spot_band band = { .fast = region->fast_start,
                                 .slow = region->slow_start + row,
                                 .top = row,
                                 .rows = row_end - row < SPOT_ROWS ? row_end - row : SPOT_ROWS,
                                 .groups = (region->fast_count + LANES - 1) / LANES };
        render_region_band(job, index, band, room, run);
    }
}

#endif
