/* Pixels of spots in closed form: each pixel sums the spots that reach it. A region is a tile of at
 * most a few thousand pixels, with a list of its spots.
 *
 * A spot's Gaussian is worked out in z = W (d - c), whose components are of the order of 1 wherever
 * it counts: so float suffices once z is known, for slopes, too. With the values g = exp(-z^2/2), e =
 * amplitude g, and what a parameter does to W and c as dz = G z + b, the derivative is
 *
 *   g d(amplitude) - e (z.G z + z.b),
 *
 * columns g, e z_i, e z_i z_j times coefficients that the engine gets from wide duals
 * (engine/spot_slopes.c). Of a spot that moves through the range from..to,
 *
 *   e = amplitude exp(-(z_1^2 + z_2^2)/2) h(z_3),   h = Phi(to - z_3) - Phi(from - z_3),
 *
 * Phi being the normal distribution. */
#ifndef DB_KERNEL_SPOT_PIXELS_H
#define DB_KERNEL_SPOT_PIXELS_H

#include "kernel/pixel_group.h"
#if !defined(DB_SPOTS_OF_BLOCK)
#include "kernel/pixel_store.h"

/* Spots that reach a group of pixels, in the order of sources. Devices have their own list and
 * spot_slopes (cuda/spot_list.h), and define DB_SPOTS_OF_BLOCK. */
typedef struct {
    const uint32_t *number;
    int count;
} spot_list;

AD_INLINE const db_kernel_spot *spot_of(const db_kernel_job *job, const spot_list *list, int i) {
    return &job->spots.spot[list->number[i]];
}
/* 0: of the list, but it does not reach the pixels. */
AD_INLINE int spot_reaches(const spot_list *list, int i) {
    (void)list, (void)i;
    return 1;
}
/* 1: the background is to be added, too. */
AD_INLINE int with_background(const db_kernel_job *job, const spot_list *list) {
    (void)list;
    return job->water != 0 || job->amorphous.bins > 0;
}
#endif

/* A spot in lanes. */
typedef struct {
    fine z[3];
    fine g;                     /* without the amplitude; 0 where the spot does not count */
    fine by_z3, by_from, by_to; /* slopes of g, of a job whose crystal turns */
} lane_spot;

typedef enum { SPOTS_REST, SPOTS_MOVE } spot_motion;

#define REAL SHAPE_REAL
#if DB_INSTANCE_KIND > 0
#define DIRS 3
#else
#define DIRS 0
#endif
#include "kernel/spot_shape.h"
/* The part of the range in which a spot that moves is seen; slopes by z_3, from and to. */
AD_INLINE void spot_seen(const SHAPE_REAL *v, lane_spot *s, fine z3) {
    const fine from = f_set(v[DB_SPOT_FROM]), to = f_set(v[DB_SPOT_TO]);
    const int narrow = v[DB_SPOT_TO] - v[DB_SPOT_FROM] < (SHAPE_REAL)DB_SPOT_NARROW;
    const num part = spot_passed(narrow, n_seed(from, 1), n_seed(to, 2), n_seed(z3, 0));
#if DB_INSTANCE_KIND > 0
    s->by_z3 = f_mul(s->g, part.d[0]);
    s->by_from = f_mul(s->g, part.d[1]);
    s->by_to = f_mul(s->g, part.d[2]);
#endif
    s->g = f_mul(s->g, part.v);
}
#undef DIRS
#undef REAL

/* z; of a spot at rest W is a lower triangle. */
AD_INLINE void spot_place(spot_motion motion, const db_kernel_spot *spot, wide_vec3 d, fine z[3]) {
    const double *w = spot->white;
    const double *o = spot->offset;
    const int moves = motion == SPOTS_MOVE;
    for (int i = 0; i < 3; i++) {
        wide sum = w_fma(w_set(w[3 * i]), d.x.v, w_set(o[i]));
        if (moves || i > 0) sum = w_fma(w_set(w[3 * i + 1]), d.y.v, sum);
        if (moves || i > 1) sum = w_fma(w_set(w[3 * i + 2]), d.z.v, sum);
        z[i] = narrow(sum);
    }
}

/* 0 if no lane counts. */
AD_INLINE int spot_in_lanes(spot_motion motion, const db_kernel_spot *spot, wide_vec3 d,
                            lane_spot *s) {
    const SHAPE_REAL *v = spot->FINE(value);
    const int moves = motion == SPOTS_MOVE;
    spot_place(motion, spot, d, s->z);
    fine square = f_fma(s->z[0], s->z[0], f_mul(s->z[1], s->z[1]));
    const fine z3 = s->z[2], rest = f_set(v[DB_SPOT_AT_REST]);
    square = f_fma(moves ? f_mul(rest, z3) : z3, z3, square);
    fine nearest = square; /* within the range */
    if (moves) {
        const fine outside = f_max(
            f_max(f_sub(f_set(v[DB_SPOT_FROM]), z3), f_sub(z3, f_set(v[DB_SPOT_TO]))), f_set(0));
        nearest = f_fma(outside, outside, nearest);
    }
    const fine_mask counts = f_lt(nearest, f_set(v[DB_SPOT_CUT]));
    if (!f_any(counts)) return 0;
    s->g = f_keep(counts, f_exp(f_mul(f_set(-0.5), square)));
    if (!moves) return 1;
    spot_seen(v, s, f_fnma(rest, z3, z3)); /* of one at rest the whole range */
#if DB_INSTANCE_KIND > 0
    s->by_z3 = f_fnma(rest, f_add(s->by_z3, f_mul(z3, s->g)), s->by_z3);
#endif
    return 1;
}

#if DB_INSTANCE_KIND > 0
/* Columns, times u. by_d: adds the slope by the direction. */
AD_INLINE void spot_columns(spot_motion motion, const db_kernel_spot *spot, const lane_spot *s,
                            fine u, fine *column, fine by_d[3]) {
    const SHAPE_REAL *v = spot->FINE(value);
    const fine *z = s->z;
    const fine amplitude = f_set(v[DB_SPOT_AMPLITUDE]);
    column[0] = f_mul(u, s->g);
    const fine e = f_mul(amplitude, column[0]);
    fine by_z[3];
    for (int i = 0; i < 3; i++) by_z[i] = f_neg(f_mul(e, z[i]));
    if (motion == SPOTS_MOVE) by_z[2] = f_mul(f_mul(amplitude, u), s->by_z3);
    for (int i = 0; i < 3; i++) column[1 + i] = by_z[i];
    int c = 4;
    if (motion == SPOTS_REST) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j <= i; j++) column[c++] = f_mul(by_z[i], z[j]);
    } else {
        column[4] = f_mul(by_z[0], z[0]);
        column[5] = f_mul(by_z[1], z[0]);
        column[6] = f_mul(by_z[1], z[1]);
        column[7] = f_mul(by_z[0], z[2]);
        column[8] = f_mul(by_z[1], z[2]);
        for (int j = 0; j < 3; j++) column[9 + j] = f_mul(by_z[2], z[j]);
        column[12] = f_mul(f_mul(amplitude, u), s->by_to);
        column[13] = f_mul(f_mul(amplitude, u), s->by_from);
    }
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            if (motion == SPOTS_MOVE || k <= i)
                by_d[k] = f_fma(by_z[i], f_set(v[DB_SPOT_WHITE + 3 * i + k]), by_d[k]);
}

#if !defined(DB_SPOTS_OF_BLOCK)
AD_INLINE void spot_slopes(spot_motion motion, const db_kernel_job *job, const spot_list *list,
                           int n, const fine *column, fine *slope) {
    enum { REST = DB_SPOT_COLUMNS, MOVE = DB_SPOT_COLUMNS_MOVING };
    const db_kernel_spots *spots = &job->spots;
    const size_t number = list->number[n], count = spots->parameters,
                 length = motion == SPOTS_MOVE ? MOVE : REST;
    const SHAPE_REAL *c = spots->FINE(slope) + number * count * length;
    for (size_t k = 0; k < count; k++, c += length) {
        fine sum = slope[k];
#pragma GCC unroll 14
        for (size_t i = 0; i < length; i++) sum = f_fma(f_set(c[i]), column[i], sum);
        slope[k] = sum;
    }
}
#endif
#endif

/* What spots contribute: in gradient instances slopes by parameters, too. */
typedef struct {
    fine sum; /* without factors of the pixel */
#if DB_INSTANCE_KIND > 0
    fine by_d[3]; /* with the factor u */
    fine *slope;  /* with the factor u: [parameters] */
#endif
} spot_sums;

/* Spots number begin to end - 1 of the list. */
AD_INLINE void add_spots(spot_motion motion, const db_kernel_job *job, const spot_list *list,
                         int begin, int end, wide_vec3 d, fine u, spot_sums *sums) {
    for (int i = begin; i < end; i++) {
        if (!spot_reaches(list, i)) continue;
        const db_kernel_spot *spot = spot_of(job, list, i);
        lane_spot s;
        if (!spot_in_lanes(motion, spot, d, &s)) continue;
        sums->sum = f_fma(f_set(spot->FINE(value)[DB_SPOT_AMPLITUDE]), s.g, sums->sum);
#if DB_INSTANCE_KIND > 0
        fine column[DB_SPOT_COLUMNS_MOVING];
        spot_columns(motion, spot, &s, u, column, sums->by_d);
        spot_slopes(motion, job, list, i, column, sums->slope);
#else
        (void)u;
#endif
    }
}

/* The crystal's and the background's part of a beam at one point: factors of the pixel, spots, and
 * slopes by all else. j: the source; of one_beam any. */
AD_INLINE void add_beam(spot_motion motion, const db_kernel_job *job, const site *s, size_t j,
                        const spot_list *list, int begin, int end, pixel_sums *sums, fine *slope,
                        fine by_d[3], fine *by_omega) {
    const fine_source *source = &job->FINE(source)[j];
    const int background = with_background(job, list);
    const fine omega = f_mul(s->omega.v, s->capture);
    const wide_vec3 wide_q = q_of(&job->source_double[j], s->wide_d);
    spot_sums spots = { .sum = f_set(0) };
    fine thermal_value = f_set(1), p_by_d[3] = { omega, omega, omega };
#if DB_INSTANCE_KIND > 0
    fine q[3];
    struct thermal thermal;
    narrow_vector(wide_q, q);
    if (job->debye_waller) thermal_value = thermal_at(job, q[0], q[1], q[2], &thermal);
#else
    if (job->debye_waller) thermal_value = thermal_sum(job, w3_square(wide_q).v, thermal_value);
#endif
    const fine p = polarization_of(s->d, source, p_by_d), u = f_mul(omega, p);
#if DB_INSTANCE_KIND > 0
    for (int c = 0; c < 3; c++) spots.by_d[c] = f_set(0);
    spots.slope = slope;
#endif
    add_spots(motion, job, list, begin, end, s->wide_d, f_mul(u, thermal_value), &spots);
    const fine crystal = f_mul(spots.sum, thermal_value);
    fine total = crystal;
    lattice_free free_matter;
    if (background) {
        free_matter = lattice_free_scattering(job, wide_q);
        total = f_fma(f_set(source->weight), free_matter.sum, total);
    }
    sums->intensity = f_fma(u, total, sums->intensity);
#if DB_INSTANCE_KIND > 0
    fine by_q[3] = { f_set(0), f_set(0), f_set(0) };
    if (job->debye_waller) {
        const fine weight = f_mul(u, spots.sum);
        fine *const column = &sums->column[DB_COLUMN_DEBYE_WALLER];
        *column = f_fma(weight, thermal.by_b, *column);
        for (int c = 0; c < 3; c++) by_q[c] = f_mul(weight, thermal.by_q[c]);
    }
    if (background) {
        const fine weight = f_mul(u, f_set(source->weight));
        sums->column[DB_COLUMN_WATER] = f_add(sums->column[DB_COLUMN_WATER], weight);
        sums->column[DB_COLUMN_MOLECULES] =
            f_fma(weight, free_matter.per_molecule, sums->column[DB_COLUMN_MOLECULES]);
        for (int c = 0; c < 3; c++) by_q[c] = f_fma(weight, free_matter.by_q[c], by_q[c]);
    }
    const fine by_p = f_mul(omega, total), kappa = f_set(source->kappa);
    for (int c = 0; c < 3; c++)
        by_d[c] =
            f_add(by_d[c], f_add(spots.by_d[c], f_fma(by_q[c], kappa, f_mul(by_p, p_by_d[c]))));
    *by_omega = f_fma(p, total, *by_omega);
    /* weights of sources are in the spots' amplitudes */
    const source_sums moved = { .sum = total, .by_q = { by_q[0], by_q[1], by_q[2] } };
    const fine of_background = background ? f_mul(u, free_matter.sum) : f_set(0);
    add_source_slopes(job, j, s->d, q, omega, f_set(1), &moved, of_background, sums);
#else
    (void)slope, (void)by_d, (void)by_omega;
#endif
}

/* All beams at one point of each pixel. */
AD_INLINE void add_spot_site(spot_motion motion, const db_kernel_job *job,
                             const db_kernel_panel *panel, const site *s, const spot_list *list,
                             pixel_sums *sums, fine *slope) {
    const size_t beams = job->spots.one_beam ? 1 : job->source_count;
    const int background = with_background(job, list);
    fine by_d[3] = { f_set(0), f_set(0), f_set(0) }, by_omega = f_set(0);
    int begin = 0;
    for (size_t j = 0; j < beams; j++) {
        int end = begin;
        while (end < list->count && (job->spots.one_beam || spot_of(job, list, end)->source == j))
            end++;
        if (end > begin || background)
            add_beam(motion, job, s, j, list, begin, end, sums, slope, by_d, &by_omega);
        begin = end;
    }
#if DB_INSTANCE_KIND > 0
    add_site_slopes(0, job, panel, s, by_d, by_omega, sums);
#else
    (void)panel, (void)by_d, (void)by_omega;
#endif
}

/* All points of a group of pixels; fast, slow: their numbers. */
AD_INLINE void add_spot_sites(spot_motion motion, const db_kernel_job *job,
                              const db_kernel_panel *panel, const spot_list *list, wide fast,
                              wide slow, pixel_sums *sums, fine *slope) {
    for (int i = 0; i < job->oversample; i++)
        for (int j = 0; j < job->oversample; j++) {
            const double step = job->sub_pixel;
            const wide f = w_mul(w_add(fast, w_set((j + 0.5) * step)), w_set(panel->pixel_size[0]));
            const wide s = w_mul(w_add(slow, w_set((i + 0.5) * step)), w_set(panel->pixel_size[1]));
            const site place = site_of(job, panel, 0, f, s);
            add_spot_site(motion, job, panel, &place, list, sums, slope);
        }
}

#if !defined(DB_SPOTS_OF_BLOCK)
static __attribute__((noinline)) void render_spot_group(const db_kernel_job *job,
                                                        const db_kernel_panel *panel,
                                                        const spot_list *list, wide fast, wide slow,
                                                        pixel_sums *sums, fine *slope) {
    clear_sums(0, job, sums);
#if DB_INSTANCE_KIND > 0
    for (size_t k = 0; k < job->spots.parameters; k++) slope[k] = f_set(0);
#endif
    if (job->spots.moving)
        add_spot_sites(SPOTS_MOVE, job, panel, list, fast, slow, sums, slope);
    else
        add_spot_sites(SPOTS_REST, job, panel, list, fast, slow, sums, slope);
#if DB_INSTANCE_KIND > 0
    sums->column[DB_COLUMN_INTENSITY] = sums->intensity;
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

/* Adds the group's row of the normal equations to the run. sums NULL: nothing reaches the group. */
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

/* sums NULL: nothing reaches the group */
static __attribute__((noinline)) void finish_spots(const db_kernel_job *job,
                                                   const db_region *region, const pixel_sums *sums,
                                                   const fine *slope, const group_target *target,
                                                   normal_run *run) {
    const store_kind kind = store_kind_of(job, target);
#if DB_INSTANCE_KIND > 0
    const db_kernel_contraction *contraction =
        job->contraction + region->panel * job->parameter_count;
    if (run && sums) {
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
    (void)region, (void)slope, (void)run;
#endif
    store_group(kind, job, target, job->image,
                sums ? f_mul(sums->intensity, f_set(job->scale)) : f_set(0));
}

/* Room of a thread: numbers of spots (of a row, of a group), slopes, rows of normal equations. */
typedef struct {
    uint32_t *row;
    uint32_t *group;
    fine *slope;
} spot_room;

static int spots_of_row(const db_kernel_spots *spots, size_t region, int slow, uint32_t *number) {
    int count = 0;
    for (uint32_t i = spots->first[region]; i < spots->first[region + 1]; i++) {
        const db_kernel_spot *s = &spots->spot[spots->number[i]];
        number[count] = spots->number[i];
        count += s->slow[0] <= slow && slow < s->slow[1];
    }
    return count;
}

static int spots_of_group(const db_kernel_spots *spots, const uint32_t *row, int count, int from,
                          int to, uint32_t *number) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        const db_kernel_spot *s = &spots->spot[row[i]];
        number[found] = row[i];
        found += s->fast[0] < to && from < s->fast[1];
    }
    return found;
}

/* Rows [row_begin, row_end) of region number `index`, which its list of spots belongs to. */
static void render_spot_rows(const db_kernel_job *job, size_t index, int row_begin, int row_end,
                             const spot_room *room, normal_run *run) {
    const db_region *region = &job->region[index];
    const db_kernel_panel *panel = &job->panel[region->panel];
    const int background = job->water != 0 || job->amorphous.bins > 0;
    group_target target = { 0, 1, { 0 } };
    for (int row = row_begin; row < row_end; row++) {
        const int slow = region->slow_start + row;
        const int in_row = spots_of_row(&job->spots, index, slow, room->row);
        for (int column = 0; column < region->fast_count; column += LANES) {
            const int left = region->fast_count - column;
            const int fast = region->fast_start + column;
            target.count = left < LANES ? left : LANES;
            target.element[0] = region->offset + (size_t)row * region->stride + (size_t)column;
            if (!group_wanted(job, &target, run)) continue;
            const int count = spots_of_group(&job->spots, room->row, in_row, fast,
                                             fast + target.count, room->group);
            if (count == 0 && !background) {
                finish_spots(job, region, NULL, NULL, &target, run);
                continue;
            }
            const spot_list list = { room->group, count };
            pixel_sums sums;
            render_spot_group(job, panel, &list, w_add(w_iota(), w_set(fast)), w_set(slow), &sums,
                              room->slope);
            finish_spots(job, region, &sums, room->slope, &target, run);
        }
    }
}

#endif

#endif
