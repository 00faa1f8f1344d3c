/* Pixels of spots in closed form: each pixel sums the spots that reach it. */
#ifndef DB_KERNEL_SPOT_PIXELS_H
#define DB_KERNEL_SPOT_PIXELS_H

#include "kernel/spot_band.h"
#include "kernel/spot_lanes.h"
#include "kernel/spot_products.h"

/* Groups of a band in which a spot counts, or that have a background, a bit for each: of a beam at one
 * point of the pixels, of all beams there, and at all points. */
typedef struct {
    unsigned long beam, site, band;
} spot_hits;

/* A thread's arrays. */
typedef struct {
    uint32_t *number;     /* [most]: spots that reach the band */
    unsigned long *reach; /* [most]: groups of the band that each spot reaches, as bits */
    wide_vec3 *direction; /* [SPOT_BAND]: of groups; side by side, since each spot reads them */
    fine *sum;            /* of a beam's spots, without its factors */
    site *place;
    beam_point *beam;
    pixel_sums *sums;
#if DB_INSTANCE_KIND > 0
    fine (*by_d)[3]; /* slopes by direction and solid angle, at one point of each pixel */
    fine *by_omega;
    spot_hits *hits;
    fine *cotangent;  /* [SPOT_BAND], where the job has them */
    double *gradient; /* then its sums */
#endif
    fine *slope;             /* [SPOT_BAND][parameters] */
    spot_products *products; /* or NULL */
} spot_room;

#if DB_INSTANCE_KIND > 0
AD_INLINE void spot_slopes(spot_motion motion, const db_kernel_spots *spots, size_t number,
                           const fine *column, fine *slope) {
    enum { REST = DB_SPOT_COLUMNS, MOVE = DB_SPOT_COLUMNS_MOVING };
    const size_t count = spots->each, length = motion == SPOTS_MOVE ? MOVE : REST;
    const uint16_t *const which = spot_parameters(spots, number);
    const SHAPE_REAL *c = spots->FINE(slope) + number * count * length;
    for (size_t k = 0; k < count; k++, c += length) {
        fine *const to = slope + (which ? which[k] : k);
        fine sum = *to;
#pragma GCC unroll 14
        for (size_t i = 0; i < length; i++) sum = f_fma(f_set(c[i]), column[i], sum);
        *to = sum;
    }
}
#endif

#if DB_INSTANCE_KIND > 0
/* Begins with beam j in group g. */
static __attribute__((noinline)) void begin_group(const db_kernel_job *job, const spot_band *band,
                                                  size_t j, int g, const spot_room *room) {
    const unsigned long bit = 1UL << g;
    spot_hits *const hits = room->hits;
    begin_beam(job, &room->place[g], j, &room->beam[g]);
    room->sum[g] = f_set(0);
    hits->beam |= bit;
    if (hits->site & bit) return;
    for (int c = 0; c < 3; c++) room->by_d[g][c] = f_set(0);
    room->by_omega[g] = f_set(0);
    hits->site |= bit;
    if (hits->band & bit) return;
    clear_sums(0, job, &room->sums[g]);
    for (size_t k = 0; k < job->spots.parameters && !band->summed; k++)
        room->slope[(size_t)g * job->spots.parameters + k] = f_set(0);
    hits->band |= bit;
}

AD_INLINE void add_cotangent_columns(spot_motion motion, fine cotangent, const fine *column,
                                     fine *adjoint) {
    const int length = motion == SPOTS_MOVE ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS;
    const fine_mask none = f_eq(cotangent, f_set(0));
    for (int e = 0; e < length; e++)
        adjoint[e] = f_fma(f_select(none, f_set(0), column[e]), cotangent, adjoint[e]);
}

/* The place of a spot in its region's list. */
static size_t place_in_list(const db_kernel_spots *spots, size_t region, uint32_t number) {
    size_t low = spots->first[region], high = spots->first[region + 1];
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (spots->number[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Adds a spot's part of the gradient: its columns times the cotangent, summed over pixels, times its slopes. The
 * first column is the derivative by its amplitude. */
static __attribute__((noinline)) void add_adjoint(spot_motion motion, const db_kernel_job *job,
                                                  size_t region, uint32_t number,
                                                  const fine *adjoint, double *gradient) {
    const size_t count = job->spots.each,
                 length = motion == SPOTS_MOVE ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS;
    const uint16_t *const which = spot_parameters(&job->spots, number);
    const SHAPE_REAL *slope = job->spots.FINE(slope) + number * count * length;
    double sum[DB_SPOT_COLUMNS_MOVING];
    for (size_t e = 0; e < length; e++) sum[e] = sum_of_lanes(adjoint[e]);
    if (job->spots.by_amplitude)
        job->spots.by_amplitude[place_in_list(&job->spots, region, number)] += sum[0];
    for (size_t i = 0; i < count; i++, slope += length) {
        const size_t k = which ? which[i] : i;
        double by_k = 0;
        for (size_t e = 0; e < length; e++) by_k += (double)slope[e] * sum[e];
        gradient[k] += job->scale * job->spots.step[k] * by_k;
    }
}

/* Adds a spot to the slopes of group g. i: the spot's number in the band. */
AD_INLINE void add_spot_slopes(spot_motion motion, const db_kernel_job *job, const spot_band *band,
                               int i, const spot_constants *constants, const lane_spot *s, int g,
                               const spot_room *room, fine *adjoint) {
    const uint32_t number = room->number[i];
    beam_point *const beam = &room->beam[g];
    fine column[DB_SPOT_COLUMNS_MOVING];
    spot_columns(motion, &job->spots.spot[number], constants, s, beam->factor, column, beam->by_d);
    if (job->cotangent) {
        add_cotangent_columns(motion, room->cotangent[g], column, adjoint);
    } else if (motion == SPOTS_REST && band->summed) {
        add_product_columns(room->products, room->products->slot[i], band->number[g], s->counts,
                            column);
    } else {
        spot_slopes(motion, &job->spots, number, column,
                    room->slope + (size_t)g * job->spots.parameters);
    }
}
#endif

/* Adds a spot of beam j to the band. i: its number among the band's. */
AD_INLINE void add_spot(spot_motion motion, const db_kernel_job *job, const spot_band *band,
                        size_t j, int i, const spot_room *room) {
    const db_kernel_spot *spot = &job->spots.spot[room->number[i]];
    const fine amplitude = f_set(spot->FINE(value)[DB_SPOT_AMPLITUDE]);
    const spot_constants constants = constants_of(spot);
#if DB_INSTANCE_KIND > 0
    fine adjoint[DB_SPOT_COLUMNS_MOVING];
    int added = 0;
    for (int e = 0; e < DB_SPOT_COLUMNS_MOVING && job->cotangent; e++) adjoint[e] = f_set(0);
#endif
    for (unsigned long left = room->reach[i] & band->wanted; left; left &= left - 1) {
        const int g = __builtin_ctzl(left);
        lane_spot s;
        if (!spot_in_lanes(motion, spot, &constants, room->direction[g], &s)) continue;
#if DB_INSTANCE_KIND > 0
        if (!(room->hits->beam >> g & 1)) begin_group(job, band, j, g, room);
#endif
        room->sum[g] = f_fma(amplitude, s.g, room->sum[g]);
#if DB_INSTANCE_KIND > 0
        add_spot_slopes(motion, job, band, i, &constants, &s, g, room, adjoint);
        added = 1;
#endif
    }
#if DB_INSTANCE_KIND > 0
    if (added && job->cotangent)
        add_adjoint(motion, job, band->region, room->number[i], adjoint, room->gradient);
#endif
    (void)j;
}

/* Beam j at one point of each pixel, with the band's spots from `begin` to `end`. */
AD_INLINE void add_spot_beam(spot_motion motion, const db_kernel_job *job, const spot_band *band,
                             size_t j, int begin, int end, const spot_room *room) {
    const int background = has_background(job);
#if DB_INSTANCE_KIND > 0
    room->hits->beam = 0;
    for (unsigned long left = background ? band->wanted : 0; left; left &= left - 1)
        begin_group(job, band, j, __builtin_ctzl(left), room);
#else
    for (int g = 0; g < SPOT_BAND; g++) room->sum[g] = f_set(0);
#endif
    for (int i = begin; i < end; i++) add_spot(motion, job, band, j, i, room);
#if DB_INSTANCE_KIND > 0
    for (unsigned long left = room->hits->beam; left; left &= left - 1) {
        const int g = __builtin_ctzl(left);
        end_beam(job, &room->place[g], j, background, &room->beam[g], room->sum[g], &room->sums[g],
                 room->by_d[g], &room->by_omega[g]);
    }
#else
    for (int g = 0; g < SPOT_BAND; g++) {
        beam_point own;
        if (!band_wants(band, g)) continue;
        begin_beam(job, &room->place[g], j, &own);
        end_beam(job, &room->place[g], j, background, &own, room->sum[g], &room->sums[g], NULL,
                 NULL);
    }
#endif
}

/* Adds all beams at one point of each pixel. count: the number of the band's spots, which are in the order of
 * sources. */
AD_INLINE void add_spot_sites(spot_motion motion, const db_kernel_job *job,
                              const db_kernel_panel *panel, const spot_band *band, int count,
                              const spot_room *room) {
    const size_t beams = job->spots.one_beam ? 1 : job->source_count;
    int begin = 0;
#if DB_INSTANCE_KIND > 0
    room->hits->site = 0;
#endif
    for (size_t j = 0; j < beams; j++) {
        int end = begin;
        while (end < count &&
               (job->spots.one_beam || job->spots.spot[room->number[end]].source == j))
            end++;
        if (end > begin || has_background(job))
            add_spot_beam(motion, job, band, j, begin, end, room);
        begin = end;
    }
#if DB_INSTANCE_KIND > 0
    for (unsigned long left = room->hits->site; left; left &= left - 1) {
        const int g = __builtin_ctzl(left);
        add_site_slopes(0, job, panel, &room->place[g], room->by_d[g], room->by_omega[g],
                        &room->sums[g]);
    }
#else
    (void)panel;
#endif
}

/* The band's pixels. */
DB_GROUP_FN void render_spot_band(const db_kernel_job *job, const db_kernel_panel *panel,
                                  const spot_band *band, int count, const spot_room *room) {
#if DB_INSTANCE_KIND > 0
    room->hits->band = 0;
#else
    for (int g = 0; g < SPOT_BAND; g++)
        if (band_wants(band, g)) clear_sums(0, job, &room->sums[g]);
#endif
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
    for (unsigned long left = room->hits->band; left; left &= left - 1) {
        pixel_sums *const sums = &room->sums[__builtin_ctzl(left)];
        sums->column[DB_COLUMN_INTENSITY] = sums->intensity;
    }
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
                            const pixel_sums *sums, const fine *slope, pixel_weight w, fine data,
                            normal_run *run) {
    fine *const row = run->row + (size_t)run->rows * run->length;
    size_t k = 0;
    for (; k < job->parameter_count; k++)
        row[k] = weighted(
            w, f_mul(f_set(job->spots.step[k]), spot_derivative(job, contraction, sums, slope, k)));
    row[k] = weighted(w, residual_of(job, sums->intensity, data));
    if (++run->rows == run->most) add_run(run);
}

/* Pixels of data or weights in group g; pixels NULL: 1. Lanes without a pixel have 0. */
AD_INLINE fine load_any_pixels(db_pixel_type type, const void *pixels, const db_region *region,
                               const spot_band *band, int g) {
    const size_t corner = region->offset +
                          (size_t)(band->top + g / SPOT_GROUPS * GROUP_SLOW) * region->stride +
                          (size_t)(g % SPOT_GROUPS * GROUP_FAST);
    const int whole = is_whole(band, g);
    SHAPE_REAL lane[LANES];
    if (whole && !pixels) return f_set(1);
    for (int i = 0; i < LANES; i++) {
        const size_t at =
            corner + (size_t)(i / GROUP_FAST) * region->stride + (size_t)(i % GROUP_FAST);
        const int counts = whole || is_pixel(band, g, i);
        lane[i] = !counts              ? 0
                  : !pixels            ? 1
                  : type == DB_FLOAT64 ? (SHAPE_REAL)((const double *)pixels)[at]
                                       : (SHAPE_REAL)((const float *)pixels)[at];
    }
    return f_load(lane);
}

/* Load the weights, and the data that the model is compared with (without the background). */
AD_INLINE fine load_weights(const db_kernel_job *job, const db_region *region,
                            const spot_band *band, int g) {
    return job->data_type == DB_FLOAT64 ? load_any_pixels(DB_FLOAT64, job->weight, region, band, g)
                                        : load_any_pixels(DB_FLOAT32, job->weight, region, band, g);
}

AD_INLINE fine load_band_data(const db_kernel_job *job, const db_region *region,
                              const spot_band *band, int g) {
    const fine data = job->data_type == DB_FLOAT64
                          ? load_any_pixels(DB_FLOAT64, job->data, region, band, g)
                          : load_any_pixels(DB_FLOAT32, job->data, region, band, g);
    if (!job->background) return data;
    return f_sub(data, load_any_pixels(job->pixel_type, job->background, region, band, g));
}

/* Leaves of the band's groups those where a cotangent is not 0, unless the image is wanted. */
static __attribute__((noinline)) void load_cotangents(const db_kernel_job *job,
                                                      const db_region *region, spot_band *band,
                                                      const spot_room *room) {
    for (unsigned long left = band->wanted; left; left &= left - 1) {
        const int g = __builtin_ctzl(left);
        const fine c = job->pixel_type == DB_FLOAT64
                           ? load_any_pixels(DB_FLOAT64, job->cotangent, region, band, g)
                           : load_any_pixels(DB_FLOAT32, job->cotangent, region, band, g);
        room->cotangent[g] = c;
        if (!job->image && all_zero(c)) band->wanted &= ~(left & -left);
    }
}

/* 1 if any weight in the group is not 0. */
AD_INLINE int group_counts_in(const db_kernel_job *job, const db_region *region,
                              const spot_band *band, int g) {
    return !all_zero(load_weights(job, region, band, g));
}

/* Pixels in groups that are not wanted have their residual only: its square goes to the last sum.
 * They are taken row by row, a vector of pixels at a time: of as many groups as a group has rows. */
static void add_empty_pixels(const db_kernel_job *job, const db_region *region,
                             const spot_band *band, normal_run *run) {
    const int rows =
        band->rows * GROUP_SLOW < band->height ? band->rows * GROUP_SLOW : band->height;
    const unsigned all = (1U << GROUP_SLOW) - 1;
    fine sum = f_set(0);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < band->width; column += LANES) {
            const int left = band->width - column;
            const group_target target = {
                left < LANES ? left : LANES,
                1,
                { region->offset + (size_t)(band->top + row) * region->stride + (size_t)column }
            };
            const unsigned empty =
                all &
                (unsigned)~(band->wanted >> (row / GROUP_SLOW * SPOT_GROUPS + column / GROUP_FAST));
            if (!empty) continue;
            fine weight = load_group(job->data_type, job->weight, &target);
            if (empty != all) {
                SHAPE_REAL counts[LANES];
                for (int i = 0; i < LANES; i++)
                    counts[i] = (SHAPE_REAL)(empty >> i / GROUP_FAST & 1);
                weight = f_mul(weight, f_load(counts));
            }
            const fine r = weighted(pixel_weight_of(weight, job->weight != NULL),
                                    residual_of(job, f_set(0), load_data(job, &target)));
            sum = f_fma(r, r, sum);
        }
    SHAPE_REAL lane[LANES];
    double square = 0;
    f_store(lane, sum);
    for (int i = 0; i < LANES; i++) square += (double)lane[i];
    run->sums[db_normal_index(run->length - 1, run->length - 1)] += square;
}

/* Adds the band to the normal equations. count: of its spots. */
static __attribute__((noinline)) void sum_band(const db_kernel_job *job, const db_region *region,
                                               const spot_band *band, int count,
                                               const spot_room *room, normal_run *run) {
    const db_kernel_contraction *contraction =
        job->contraction + region->panel * job->parameter_count;
    for (unsigned long left = band->wanted; left; left &= left - 1) {
        const int g = __builtin_ctzl(left);
        const pixel_sums *sums = &room->sums[g];
        if (job->cotangent) {
            add_cotangent_group(job, contraction, sums, room->cotangent[g], run);
            continue;
        }
        const fine data = load_band_data(job, region, band, g);
        const pixel_weight w =
            pixel_weight_of(load_weights(job, region, band, g), job->weight != NULL);
        if (band->summed)
            weigh_group(job, contraction, sums, w, !job->weight && is_whole(band, g), data, count,
                        band->number[g], room->products);
        else
            add_spot_row(job, contraction, sums, room->slope + (size_t)g * job->spots.parameters, w,
                         data, run);
    }
    if (!job->cotangent) add_empty_pixels(job, region, band, run);
}
#endif

/* The values of image k (derivatives come first) in group g. */
AD_INLINE fine spot_image(const db_kernel_job *job, const db_kernel_contraction *contraction,
                          const spot_room *room, int g, size_t k) {
    const pixel_sums *sums = &room->sums[g];
#if DB_INSTANCE_KIND > 0
    if (job->tangent && k == 0) {
        fine sum = f_set(0);
        for (size_t i = 0; i < job->parameter_count; i++)
            sum = f_add(sum, spot_derivative(job, contraction, sums,
                                             room->slope + (size_t)g * job->spots.parameters, i));
        return sum;
    }
    if (k < job->parameter_count && job->derivative && !job->tangent)
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
    const size_t derivatives = !job->derivative ? 0
                               : job->tangent   ? 1
                                                : job->parameter_count,
                 images = DB_INSTANCE_KIND > 0 ? derivatives + 1 : 1,
                 first = region->offset + (size_t)band->top * region->stride;
    const int rows = band->height < TALL ? band->height : (int)TALL;
    for (size_t k = 0; k < images; k++) {
        for (unsigned long left = band->wanted; left; left &= left - 1) {
            const int g = __builtin_ctzl(left), column = g % SPOT_GROUPS * GROUP_FAST,
                      row = g / SPOT_GROUPS * GROUP_SLOW;
            SHAPE_REAL lane[LANES];
            f_store(lane, spot_image(job, contraction, room, g, k));
            if (is_whole(band, g)) {
                for (int r = 0; r < GROUP_SLOW; r++)
                    memcpy(&pixel[row + r][column], lane + r * GROUP_FAST,
                           GROUP_FAST * sizeof *lane);
            } else {
                int fast[LANES], slow[LANES];
                group_pixels(band, g, fast, slow);
                for (int i = 0; i < LANES; i++) pixel[slow[i]][fast[i]] = lane[i];
            }
        }
        void *const image = k < images - 1 ? job->derivative[k] : job->image;
        for (int r = 0; r < rows; r++)
            store_row(job, image, first + (size_t)r * region->stride, pixel[r], band->width);
    }
}

/* Lists the spots of a region that reach a band of it; sets band->wanted. */
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
    int visits;
    const int count = spots_of_band(&job->spots, index, &band, room, &visits);
    if (has_background(job))
        for (int r = 0; r < band.rows; r++)
            band.wanted |= ((1UL << (band.groups - 1) << 1) - 1) << (r * SPOT_GROUPS);
#if DB_INSTANCE_KIND > 0
    for (unsigned long left = run && job->weight ? band.wanted : 0; left; left &= left - 1)
        if (!group_counts_in(job, region, &band, __builtin_ctzl(left)))
            band.wanted &= ~(left & -left);
    if (run && job->cotangent) load_cotangents(job, region, &band, room);
    band.summed = room->products && band.wanted &&
                  products_take(job, room->products, room->number, count, visits,
                                __builtin_popcountl(band.wanted));
    for (unsigned long left = band.summed ? band.wanted : 0; left; left &= left - 1)
        band.number[__builtin_ctzl(left)] = (uint8_t)room->products->groups++;
    if (run && job->cotangent) band.summed = 1; /* no slopes of pixels */
#endif
    if (band.wanted) render_spot_band(job, &job->panel[region->panel], &band, count, room);
#if DB_INSTANCE_KIND > 0
    if (band.wanted) band.wanted = room->hits->band;
    if (run) sum_band(job, region, &band, count, room, run);
#endif
    if (!run || (job->cotangent && job->image)) store_band(job, region, &band, room);
}

static void render_spot_rows(const db_kernel_job *job, size_t index, int row_begin, int row_end,
                             const spot_room *room, normal_run *run) {
    const db_region *region = &job->region[index];
    const int step = SPOT_ROWS * GROUP_SLOW;
    for (int row = row_begin; row < row_end; row += step) {
        const int rows = (row_end - row + GROUP_SLOW - 1) / GROUP_SLOW;
        const spot_band band = { .region = index,
                                 .fast = region->fast_start,
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
