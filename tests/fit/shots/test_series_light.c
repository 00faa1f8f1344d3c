/* Reflections of a series from boxes with known numbers: sums and means worked out again from their definitions, and wrong
 * mosaic spreads that the light of frames tells. */
#include "support/context.h"
#include "fit/shots/series.h"
#include "fit/shots/series_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 8,
    REFLECTIONS = 60,
    MOST_REFLECTIONS = 2000,
    PIXELS = 6 /* strong ones of a box */
};

static uint32_t seed;

/* Evenly distributed. */
static double between(double low, double high) {
    seed = seed * 1664525u + 1013904223u;
    return low + (high - low) * ((double)(seed >> 8) + 0.5) / 16777216;
}

/* A series of reflections on FRAMES frames, with room for a box of each on every frame. */
typedef struct boxes {
    db_part_light light[FRAMES][MOST_REFLECTIONS];
    db_series_part part[FRAMES * MOST_REFLECTIONS];
    size_t first[MOST_REFLECTIONS + 1];
    double best[MOST_REFLECTIONS], curvature[MOST_REFLECTIONS];
    void *of_frame[FRAMES];
    db_series series;
    db_shot_summary summary[FRAMES];
    db_fit_shots_options options;
    db_series_crystal crystal;
    db_shots all;
} boxes;

static boxes *begin(size_t count) {
    boxes *const b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->series = (db_series){ .count = count,
                             .first = b->first,
                             .part = b->part,
                             .best = b->best,
                             .curvature = b->curvature,
                             .light = b->of_frame };
    b->options.series = 1;
    b->crystal.count = FRAMES;
    b->all = (db_shots){ .context = context,
                         .team = { .size = 1 },
                         .options = &b->options,
                         .series = &b->series,
                         .count = FRAMES,
                         .frames = { .crystals = 1, .crystal = &b->crystal },
                         .summary = b->summary };
    for (size_t k = 0; k < FRAMES; k++) {
        b->of_frame[k] = b->light[k];
        b->summary[k].used = 1;
    }
    return b;
}

/* A strong pixel: frame, place (fast, slow), counts and their variance. */
typedef struct strong_pixel {
    size_t frame;
    double at[2], counts, variance;
} strong_pixel;

/* A centroid by counts, and its variance by those of the counts. */
static void centroid(const double *x, const double *counts, const double *variance, size_t count,
                     double *mean, double *of_mean) {
    double sum = 0;
    *mean = *of_mean = 0;
    for (size_t i = 0; i < count; i++) sum += counts[i];
    for (size_t i = 0; i < count; i++) *mean += counts[i] * x[i] / sum;
    for (size_t i = 0; i < count; i++)
        *of_mean += variance[i] * (x[i] - *mean) * (x[i] - *mean) / (sum * sum);
}

static void is_close(const char *what, double found, double expected) {
    if (!(fabs(found - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%s: %.12g, expected %.12g", what, found, expected);
}

/* A box of random numbers with some strong pixels, which are returned; weak: it has none, or no light. */
static size_t fill_box(db_part_light *box, size_t frame, int weak, strong_pixel *strong) {
    const size_t count = weak == 1 ? 0 : 2 + (size_t)between(0, PIXELS - 2);
    *box = (db_part_light){ .intensity = 3,
                            .listed = 1,
                            .shape = between(2, 9),
                            .recorded = between(0.1, 0.2),
                            .from = { (int)between(10, 20), (int)between(30, 40) },
                            .to = { (int)between(21, 28), (int)between(41, 49) },
                            .background = between(50, 90),
                            .gain = between(1.5, 2.5),
                            .dark_variance = between(10, 20),
                            .light = weak == 2 ? -4 : between(20, 40),
                            .light_variance = between(30, 60),
                            .chi2 = between(60, 90),
                            .position = { between(14, 18), between(34, 38) },
                            .panel = 2,
                            .pixels = 30 + (uint32_t)between(0, 9),
                            .strong = (uint32_t)count };
    for (size_t i = 0; i < count; i++) {
        strong_pixel *const s = &strong[i];
        *s = (strong_pixel){
            frame, { between(12, 20), between(32, 40) }, between(5, 20), between(6, 25)
        };
        for (int k = 0; k < 2; k++)
            db_strong_place_add(&box->seen[k], s->counts, s->variance, s->at[k]);
    }
    return weak ? 0 : count;
}

/* Observed place: of the strong pixels on the panel; on frames of the light of boxes, which is anywhere within its frame. */
static void observed_is_right(const db_fit_passage *p, const strong_pixel *strong, size_t count,
                              const db_part_light *const *lit, const size_t *frame, size_t frames) {
    double x[FRAMES * PIXELS], counts[FRAMES * PIXELS], variance[FRAMES * PIXELS], mean, of_mean;
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < count; i++) {
            x[i] = strong[i].at[k];
            counts[i] = strong[i].counts;
            variance[i] = strong[i].variance;
        }
        centroid(x, counts, variance, count, &mean, &of_mean);
        is_close("place of strong pixels", p->observed[k], mean);
        is_close("its variance", p->observed_variance[k], of_mean);
    }
    double all = 0, within = 0;
    for (size_t i = 0; i < frames; i++) {
        x[i] = (double)frame[i] + 0.5;
        counts[i] = lit[i]->light;
        variance[i] = lit[i]->light_variance;
        all += counts[i];
    }
    for (size_t i = 0; i < frames; i++) within += pow(counts[i] / all, 2) / 12;
    centroid(x, counts, variance, frames, &mean, &of_mean);
    is_close("frame of the light", p->observed[2], mean);
    is_close("its variance", p->observed_variance[2], of_mean + within);
}

/* The last two boxes of most have no strong pixels, or no light. */
static void passages_are_sums_and_means_of_boxes(void **state) {
    (void)state;
    enum { COUNT = 3 };
    boxes *const b =
        begin(COUNT + 2); /* one without light of the model, one of frames that are not there */
    strong_pixel strong[COUNT][FRAMES * PIXELS];
    const db_part_light *lit[COUNT][FRAMES];
    size_t strongs[COUNT] = { 0 }, frame[COUNT][FRAMES], frames[COUNT] = { 0 }, at = 0;
    seed = 5;
    for (size_t r = 0; r < COUNT + 2; r++) {
        const size_t from = r % 3, to = r == 3 ? 2 : 4 + r;
        b->first[r] = at;
        b->best[r] = r == 1 ? -7 : between(50, 90); /* faint ones are not cut at 0 */
        b->curvature[r] = between(0.01, 0.02);
        for (size_t k = from; k < to; k++, at++) {
            strong_pixel room[PIXELS];
            const int weak = r == 1 ? 0 : k + 2 == to ? 1 : k + 1 == to ? 2 : 0;
            b->part[at] = (db_series_part){ { (int)r, 2, -3 }, (uint32_t)k, (uint32_t)r };
            const size_t more = fill_box(&b->light[k][r], k, weak, room);
            if (r == COUNT) b->light[k][r].shape = 0;
            if (r >= COUNT || weak) continue;
            memcpy(&strong[r][strongs[r]], room, more * sizeof *room);
            strongs[r] += more;
            frame[r][frames[r]] = k;
            lit[r][frames[r]++] = &b->light[k][r];
        }
    }
    b->first[COUNT + 2] = at;
    b->of_frame[FRAMES - 1] = NULL; /* of the last reflection alone */
    db_fit_shots_result result = { .passages = NULL };
    assert_int_equal(db_series_passages(&b->all, &result), DB_OK);
    assert_int_equal(result.passage_count, COUNT);
    for (size_t r = 0; r < COUNT; r++) {
        const db_fit_passage *const p = &result.passages[r];
        const size_t from = b->part[b->first[r]].shot, to = b->part[b->first[r + 1] - 1].shot;
        double shape = 0, photons = 0, recorded = 0, light = 0, variance = 0, chi2 = 0, dark = 0;
        double place[3] = { 0 };
        size_t pixels = 0, strong_ones = 0;
        int box[4] = { 1000, 1000, 0, 0 };
        for (size_t k = from; k <= to; k++) {
            const db_part_light *const one = &b->light[k][r];
            shape += one->shape;
            photons += one->shape / one->gain;
            recorded += one->recorded;
            light += one->light;
            variance += one->light_variance;
            chi2 += one->chi2;
            dark += one->background;
            pixels += one->pixels;
            strong_ones += one->strong;
            place[0] += one->shape * one->position[0];
            place[1] += one->shape * one->position[1];
            place[2] += one->shape * ((double)k + 0.5);
            for (int i = 0; i < 2; i++) {
                box[i] = one->from[i] < box[i] ? one->from[i] : box[i];
                box[2 + i] = one->to[i] > box[2 + i] ? one->to[i] : box[2 + i];
            }
        }
        assert_true(p->first == from && p->last == to && p->panel == 2);
        assert_true(p->hkl[0] == (int)r && p->hkl[1] == 2 && p->hkl[2] == -3);
        assert_true(p->pixels == pixels && p->strong == strong_ones);
        assert_memory_equal(p->box, box, sizeof box);
        is_close("F^2", p->square, b->best[r]);
        is_close("model", p->model, b->best[r] * shape);
        is_close("photons", p->photons, photons);
        is_close("recorded", p->recorded, recorded);
        is_close("light", p->light, light);
        is_close("its error", p->light_sigma, sqrt(variance));
        is_close("chi2", p->chi2, chi2);
        is_close("background", p->background, dark / (double)pixels);
        for (int k = 0; k < 3; k++) is_close("place", p->position[k], place[k] / shape);
        /* boxes fit worse than by noise: chi2 is twice the number of pixels */
        is_close("error of F^2", p->square_sigma,
                 sqrt(chi2 / ((double)pixels - 1) / b->curvature[r]));
        assert_true(chi2 > 1.5 * (double)pixels);
        observed_is_right(p, strong[r], strongs[r], lit[r], frame[r], frames[r]);
    }
    free(result.passages);
    free(b);
}

/* Light of a reflection that passes in a Gaussian, on a frame. */
static double passing(double centre, size_t frame, double width) {
    const double off = ((double)frame + 0.5 - centre) / width;
    return exp(-0.5 * off * off) / width;
}

/* What boxes of a reflection say of another width: squares of what the model leaves of their light less those that the other
 * leaves, each with its best intensity, from 0. */
/* Half of the squares that an even light leaves, which takes its mean from all boxes with pixels; less what noise adds. */
static void add_even(const boxes *b, size_t r, double excess[FRAMES]) {
    double sum = 0, count = 0;
    for (size_t k = 0; k < FRAMES; k++) {
        sum += b->light[k][r].pixels ? b->light[k][r].light : 0;
        count += b->light[k][r].pixels > 0;
    }
    for (size_t k = 0; k < FRAMES; k++) {
        const db_part_light *const one = &b->light[k][r];
        const db_compared_light p = db_light_compare(one);
        const double off = one->light - one->intensity * one->shape,
                     other = one->light - fmax(0, sum / count),
                     noise = p.variance - 0.5 * p.variance * (1 - 1 / count);
        if (one->pixels) excess[k] += p.weight * (off * off - 0.5 * other * other - noise);
    }
}

static void add_margins(const boxes *b, size_t r, int rival, double excess[FRAMES],
                        double variance[FRAMES]) {
    double sum[2] = { 0 }, square[2] = { 0 };
    for (int step = 0; step < 2; step++)
        for (size_t k = 0; k < FRAMES; k++) {
            const db_part_light *const one = &b->light[k][r];
            if (!one->pixels) continue;
            const db_compared_light p = db_light_compare(one);
            const double shape[2] = { one->shape, one->of_rival[rival] };
            double left[2];
            for (int i = 0; i < 2; i++) {
                if (step == 0) {
                    sum[i] += p.weight * shape[i] * one->light;
                    square[i] += p.weight * shape[i] * shape[i];
                } else
                    left[i] = one->light - fmax(0, sum[i] / square[i]) * shape[i];
            }
            if (step == 0) continue;
            excess[k] += p.weight * (left[0] * left[0] - left[1] * left[1]);
            variance[k] += pow(2 * p.weight * (left[1] - left[0]), 2) * p.expected;
        }
}

/* The truth has `wider` times the width of the model; rivals are half and twice as wide. Returns the number of frames whose
 * reason has these words. known: what other widths would show is known. */
static size_t judge_width(double wider, int known, const char *words) {
    boxes *const b = begin(REFLECTIONS);
    double excess[2][FRAMES] = { { 0 } }, variance[2][FRAMES] = { { 0 } }, even[FRAMES] = { 0 };
    size_t count = 0;
    for (size_t r = 0; r < REFLECTIONS; r++) {
        const double centre = between(0, FRAMES), bright = between(1000, 4000);
        b->first[r] = r * FRAMES;
        for (size_t k = 0; k < FRAMES; k++) {
            const double photons = bright * passing(centre, k, wider), off = between(-1.7, 1.7);
            b->part[r * FRAMES + k] =
                (db_series_part){ { (int)r, 0, 0 }, (uint32_t)k, (uint32_t)r };
            b->light[k][r] =
                (db_part_light){ .intensity = 1,
                                 .listed = 1,
                                 .shape = bright * passing(centre, k, 1),
                                 .of_rival = { known * bright * passing(centre, k, 0.5),
                                               known * bright * passing(centre, k, 2) },
                                 .gain = 1,
                                 .dark_variance = 3,
                                 .light = photons + sqrt(photons + 3) * off,
                                 .light_variance = photons + 3,
                                 .pixels = (k + r) % 11 ? 9 : 0, /* some have none in use */
                                 .strong = photons > 15 };
        }
        for (int rival = 0; rival < 2 && known; rival++)
            add_margins(b, r, rival, excess[rival], variance[rival]);
    }
    for (size_t r = 0; r < REFLECTIONS; r++) add_even(b, r, even);
    b->first[REFLECTIONS] = REFLECTIONS * FRAMES;
    assert_int_equal(db_series_compare_light(&b->all), DB_OK);
    db_series_judge_light(&b->all);
    for (size_t k = 0; k < FRAMES; k++) {
        for (int rival = 0; rival < 2; rival++) {
            is_close("margin", b->summary[k].light.spread[rival].excess, excess[rival][k]);
            is_close("its variance", b->summary[k].light.spread[rival].variance,
                     variance[rival][k]);
        }
        is_close("margin of an even light", b->summary[k].light.even.excess, even[k]);
        assert_int_equal(b->summary[k].wrong != 0, b->summary[k].reason[0] != 0);
        count += b->summary[k].wrong && strstr(b->summary[k].reason, words);
    }
    free(b);
    return count;
}

static void wrong_mosaic_spreads_are_named(void **state) {
    (void)state;
    for (uint32_t n = 1; n < 6; n++) {
        seed = n;
        assert_int_equal(judge_width(1, 1, ""), 0);
        assert_int_equal(judge_width(1.2, 1, ""), 0);
        assert_in_range(judge_width(2, 1, "with twice this spread"), FRAMES - 2, FRAMES);
        assert_in_range(judge_width(0.5, 1, "with half this spread"), FRAMES - 2, FRAMES);
        assert_int_equal(judge_width(2, 0, "the mosaic spread is wrong"), 0);
    }
}

/* The light is that of frames that meet, or the model's. Without a mosaic spread no wider one exists. */
static void wrong_widths_are_told_without_a_mosaic_spread(void **state) {
    (void)state;
    for (int meeting = 0; meeting < 2; meeting++)
        for (int spread = 0; spread < 2; spread++) {
            boxes *const b = begin(REFLECTIONS);
            double step[FRAMES];
            seed = 5;
            for (size_t k = 0; k < FRAMES; k++) step[k] = 0.5;
            b->all.frames.step = step;
            for (size_t r = 0; r < REFLECTIONS; r++) {
                const double centre = between(0, FRAMES), bright = between(1000, 4000);
                b->first[r] = r * FRAMES;
                for (size_t k = 0; k < FRAMES; k++) {
                    const double shape = bright * passing(centre, k, 1),
                                 other = bright * passing(centre, k, 0.5),
                                 photons = meeting ? other : shape, off = between(-1.7, 1.7);
                    b->part[r * FRAMES + k] =
                        (db_series_part){ { (int)r, 0, 0 }, (uint32_t)k, (uint32_t)r };
                    b->light[k][r] = (db_part_light){
                        .intensity = 1,
                        .listed = 1,
                        .shape = shape,
                        .of_rival = { [DB_RIVAL_MEETING] = other,
                                      [DB_RIVAL_WIDER] =
                                          spread ? bright * passing(centre, k, 1.25) : 0 },
                        .gain = 1,
                        .dark_variance = 3,
                        .light = photons + sqrt(photons + 3) * off,
                        .light_variance = photons + 3,
                        .pixels = 9,
                        .strong = photons > 15
                    };
                }
            }
            b->first[REFLECTIONS] = REFLECTIONS * FRAMES;
            assert_int_equal(db_series_judge_width(&b->all), DB_OK);
            assert_int_equal(
                strstr(b->all.frames.turns, "osc or the steps of phi are wrong") != NULL, meeting);
            free(b);
        }
}

/* Part of a Gaussian passage on a frame `at` from its middle. */
static double recorded_part(double at, double width, double spread) {
    const double scale = spread * sqrt(2);
    return 0.5 * (erf((at + 0.5 * width) / scale) - erf((at - 0.5 * width) / scale));
}

/* Whole reflections of Wilson's distribution on frames that are as wide as their steps, narrower, or wider. */
static void add_passage(boxes *b, size_t r, double width, double bright) {
    const double centre = between(2, FRAMES - 2), spread = 0.1,
                 intensity = -bright * log(between(0, 1));
    b->first[r] = r * FRAMES;
    for (size_t k = 0; k < FRAMES; k++) {
        const double at = centre - ((double)k + 0.5), meets = recorded_part(at, 1, spread),
                     light = intensity * recorded_part(at, width, spread) / width;
        b->part[r * FRAMES + k] = (db_series_part){ { (int)r, 0, 0 }, (uint32_t)k, (uint32_t)r };
        b->light[k][r] = (db_part_light){
            .listed = 1,
            .shape = meets,
            .third = 0.2 * meets,
            .of_rival = { [DB_RIVAL_NARROWER] =
                              recorded_part(at, DB_NARROWER, spread) / DB_NARROWER },
            .resolution = between(2, 9),
            .recorded = meets,
            .gain = 1,
            .dark_variance = 3,
            .excess = light + sqrt(light + 3) * between(-1.7, 1.7),
            .light = intensity * meets, /* as a background that follows the model makes it */
            .pixels = 9
        };
    }
}

static void gaps_between_frames_that_meet_are_told(void **state) {
    (void)state;
    static const struct gap {
        double width, bright;
        const char *says;
    } gap[] = { { 1, 2e4, "" },
                { 0.97, 2e4, "" },
                { 0.8, 2e4, "frames leave gaps" },
                { 0.8, 20, "" },
                { 1.2, 2e4, "frames overlap" } };
    for (size_t n = 0; n < sizeof gap / sizeof *gap; n++) {
        boxes *const b = begin(MOST_REFLECTIONS);
        double step[FRAMES];
        seed = 5;
        for (size_t k = 0; k < FRAMES; k++) step[k] = 0.5;
        b->all.frames.step = step;
        b->all.settings.strong_sigma = 5;
        for (size_t r = 0; r < MOST_REFLECTIONS; r++)
            add_passage(b, r, gap[n].width, gap[n].bright);
        b->first[MOST_REFLECTIONS] = MOST_REFLECTIONS * FRAMES;
        assert_int_equal(db_series_judge_width(&b->all), DB_OK);
        if (*gap[n].says)
            assert_non_null(strstr(b->all.frames.turns, gap[n].says));
        else
            assert_string_equal(b->all.frames.turns, "");
        free(b);
    }
}

/* Frames with this light beside none, in squares of errors: margin, variance, number of spots. All are in use. */
static void set_light(boxes *b, const double (*light)[3]) {
    for (size_t k = 0; k < FRAMES; k++) {
        db_frame_light *const l = &b->summary[k].light;
        *l = (db_frame_light){ .missed = 70, .all = 100 };
        l->none = (db_light_margin){ light[k][0], light[k][1] };
        l->spots = l->alike = (size_t)light[k][2];
        b->summary[k].used = 1;
        b->summary[k].wrong = 0;
        b->summary[k].reason[0] = '\0';
    }
    db_series_judge_light(&b->all);
}

/* Frames that are wrong, as bits. */
static unsigned wrong_ones(const boxes *b) {
    unsigned bits = 0;
    for (size_t k = 0; k < FRAMES; k++) bits |= (unsigned)(b->summary[k].wrong != 0) << k;
    return bits;
}

static void neighbours_are_nearest_first(void **state) {
    (void)state;
    boxes *const b = begin(0);
    static const int expected[] = { 5, 4, 6, 3, 7, 2, -1, 1, -1, 0 };
    for (size_t n = 0; n < sizeof expected / sizeof *expected; n++) {
        size_t near = 99;
        const int there = db_series_near(&b->all, 5, n, &near);
        assert_int_equal(there, expected[n] >= 0);
        if (there) assert_int_equal(near, expected[n]);
    }
    b->summary[4].used = 0;
    assert_false(db_series_near(&b->all, 5, 1, &(size_t){ 0 }));
    free(b);
}

/* Five standard deviations, of a frame and as many neighbours as bring twenty spots. */
static void dark_frames_are_sure(void **state) {
    (void)state;
    boxes *const b = begin(0);
    double light[FRAMES][3];
    for (size_t k = 0; k < FRAMES; k++) light[k][0] = -9, light[k][1] = 1, light[k][2] = 30;
    light[3][0] = 4.9;
    set_light(b, light);
    assert_int_equal(wrong_ones(b), 0);
    light[3][0] = 5.1;
    set_light(b, light);
    assert_int_equal(wrong_ones(b), 1 << 3);
    assert_string_equal(
        b->summary[3].reason,
        "the model explains 30 % of the light of its spots; expected at least 50 %: mosaic "
        "spread, size of the blocks or orientation is wrong");
    strcpy(b->summary[3].reason, "known"); /* it stays */
    db_series_judge_light(&b->all);
    assert_string_equal(b->summary[3].reason, "known");
    light[3][2] = 19; /* neighbours count, too: 5.1 - 9 */
    set_light(b, light);
    assert_int_equal(wrong_ones(b), 0);
    /* ten spots each: a frame and the one before; the first has only those after it */
    for (size_t k = 0; k < FRAMES; k++) light[k][0] = k < 4 ? 3.6 : -9, light[k][2] = 10;
    set_light(b, light); /* 2 x 3.6 beside 5 x sqrt(2) */
    assert_int_equal(wrong_ones(b), 0xf);
    /* the first one needs six after it */
    for (size_t k = 0; k < FRAMES; k++) light[k][0] = 2, light[k][2] = 3;
    set_light(b, light);
    assert_true(wrong_ones(b) & 1);
    for (size_t k = 0; k < FRAMES; k++) light[k][0] = k < 4 ? 3.6 : -9, light[k][2] = 10;
    b->options.series = 0; /* without neighbours */
    set_light(b, light);
    assert_int_equal(wrong_ones(b), 0);
    b->options.series = 1;
    light[2][0] = -0.1; /* itself it has its light */
    light[1][0] = 9;
    set_light(b, light);
    assert_int_equal(wrong_ones(b) & 1 << 2, 0);
    b->summary[1].light.missed = 150; /* more than there is */
    b->summary[1].wrong = 0;
    db_series_judge_light(&b->all);
    assert_non_null(strstr(b->summary[1].reason, "the model explains 0 % of"));
    free(b);
}

/* Margins of all frames in use together mark those of them that have one. */
static void frames_are_judged_together(void **state) {
    (void)state;
    boxes *const b = begin(0);
    double light[FRAMES][3];
    for (size_t k = 0; k < FRAMES; k++) light[k][0] = -9, light[k][1] = 1, light[k][2] = 30;
    for (int which = 0; which < 3; which++) /* as bright on all frames; two mosaic spreads */
        for (int sure = 0; sure < 2; sure++)
            for (int poor = 0; poor < 2; poor++) {
                set_light(b, light);
                for (size_t k = 0; k < FRAMES; k++) {
                    db_frame_light *const l = &b->summary[k].light;
                    db_light_margin *const m = which ? &l->spread[which - 1] : &l->even;
                    *m = (db_light_margin){ k == 2 ? -1 : 3, 2 };
                    if (poor) l->alike = 19; /* of 30: intensities are not usable */
                }
                b->summary[4].used = 0;
                (which ? &b->summary[4].light.spread[which - 1] : &b->summary[4].light.even)
                    ->excess = sure ? -100 : 100;
                b->summary[4].light.alike = poor ? 30 * FRAMES : 0; /* is not asked */
                b->summary[6].used = 0;
                b->summary[5].wrong = DB_SHOT_WRONG;
                strcpy(b->summary[5].reason, "known");
                /* 5 x 3 - 1 = 14, beside 5 x sqrt(6 x variance) = 17.3 or 12.2 */
                for (size_t k = 0; k < FRAMES && sure; k++)
                    (which ? &b->summary[k].light.spread[which - 1] : &b->summary[k].light.even)
                        ->variance = 1;
                db_series_judge_light(&b->all);
                const int judged = sure && (which == 0 || poor);
                assert_int_equal(wrong_ones(b),
                                 judged ? 0xff & ~(1 << 2 | 1 << 4 | 1 << 6) : 1 << 5);
                assert_string_equal(b->summary[5].reason, "known");
                if (!judged) continue;
                assert_non_null(strstr(b->summary[0].reason, which == 0 ? "hardly better than"
                                                             : which == 1
                                                                 ? "with half this spread"
                                                                 : "with twice this spread"));
                if (which)
                    assert_non_null(strstr(b->summary[0].reason,
                                           "is lower by 14 (standard deviation by chance 2)"));
            }
    free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passages_are_sums_and_means_of_boxes),
        cmocka_unit_test(wrong_mosaic_spreads_are_named),
        cmocka_unit_test(wrong_widths_are_told_without_a_mosaic_spread),
        cmocka_unit_test(gaps_between_frames_that_meet_are_told),
        cmocka_unit_test(neighbours_are_nearest_first),
        cmocka_unit_test(dark_frames_are_sure),
        cmocka_unit_test(frames_are_judged_together),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
