/* Shoeboxes: selection of predicted reflections, and their data. */
#include "fit/pixels/shoeboxes.h"

#include "base/context_internal.h"
#include "base/large_memory.h"
#include "base/rounding.h"
#include "base/threads.h"
#include "fit/pixels/measured_image.h"
#include "fit/pixels/rendering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_STRONG = 3 }; /* strong pixels that make a reflection strong */

/* A candidate for a box: its reflection and its strength. */
typedef struct candidate {
    size_t reflection;
    double excess; /* counts over the background in strong pixels, or the model's light */
    int chosen;
} candidate;

db_region db_shoebox_square(const db_spot *reflection, int half_width) {
    const int width = 2 * half_width + 1;
    return (db_region){ .panel = reflection->panel,
                        .fast_start = db_floor(reflection->position[0]) - half_width,
                        .slow_start = db_floor(reflection->position[1]) - half_width,
                        .fast_count = width,
                        .slow_count = width,
                        .stride = (size_t)width };
}

/* Inputs of the placing of boxes. */
typedef struct placing {
    const db_fit_data *data;
    const db_reflection_grid *grid;
    db_shoebox_choice choice;
    const double *light; /* of each reflection; NULL: not used */
    /* box of each reflection, NULL: none; NULL: all boxes are squares */
    const db_fit_spot *const *given;
    int threads;
    uint8_t *
        own; /* own pixels of a box: for every reflection, if most get one; else room for each thread */
} placing;

/* Are boxes placed without a look at strong pixels? */
static int takes_all(db_shoebox_choice choice) {
    return choice == DB_SHOEBOXES_ALL || choice == DB_SHOEBOXES_LIGHT;
}

/* Square of pixels of a reflection's box. Around a given box, and for light, it stays on the panel, because spots
 * at an edge have some, too. */
static db_region region_of(const placing *p, size_t reflection) {
    const db_spot *const r = &p->grid->prediction->spot[reflection];
    const int half_width = p->data->settings->shoebox_half_width;
    const int pixels[2] = { p->data->image->fast_pixels,
                            db_measured_rows(p->data->image, r->panel) };
    if (p->given && p->given[reflection])
        return db_given_box_region(p->given[reflection], half_width, pixels);
    if (p->choice != DB_SHOEBOXES_LIGHT) return db_shoebox_square(r, half_width);
    const int fast = db_floor(r->position[0]), slow = db_floor(r->position[1]);
    const db_fit_spot pixel = { .panel = r->panel, .box = { fast, fast, slow, slow } };
    return db_given_box_region(&pixel, half_width, pixels);
}

static int is_inside(const db_region *r, const db_measured_image *image) {
    return db_is_on_panel(r, image->fast_pixels, db_measured_rows(image, r->panel));
}

static size_t count_marks(const uint8_t *marks, size_t count) {
    enum { MOST = 255 }; /* limit of a byte */
    size_t sum = 0;
    for (size_t first = 0; first < count; first += MOST) {
        const size_t end = first + MOST < count ? first + MOST : count;
        uint8_t some = 0;
        for (size_t i = first; i < end; i++) some = (uint8_t)(some + marks[i]);
        sum += some;
    }
    return sum;
}

/* Marks the own pixels of a reflection's box; returns whether they are enough. */
static int own_pixels(const placing *p, size_t reflection, const db_region *region,
                      uint8_t *restrict own) {
    const db_fit_data *const data = p->data;
    const size_t width = region->stride, pixels = width * width;
    for (size_t s = 0; s < width; s++) {
        const uint8_t *const mask =
            data->image->mask + db_measured_index(data->image, region, 0, (int)s);
        for (size_t f = 0; f < width; f++) own[s * width + f] = mask[f] == DB_MASK_TRUSTED;
    }
    if (p->given && p->given[reflection])
        return db_given_box_pixels(p->given[reflection], region, own);
    db_reflection_grid_share(p->grid, reflection, region, own);
    return (double)count_marks(own, pixels) >= DB_SHOEBOX_USABLE * (double)pixels;
}

/* Number of a box's own strong pixels. Bits find them, because most boxes have few. */
static int strong_pixels(const db_fit_data *data, const db_region *region, const uint8_t *own,
                         double *excess) {
    const int top = db_measured_first_row(data->image, region->panel) + region->slow_start,
              width = region->fast_count;
    int count = 0;
    *excess = 0;
    for (int s = 0; s < width; s++) {
        const size_t start = db_measured_index(data->image, region, 0, s);
        for (int first = 0; first < width; first += DB_STRONG_WORD) {
            uint64_t some =
                db_strong_bits(data->strong, top + s, region->fast_start + first, width - first);
            for (; some; some &= some - 1) {
                const size_t f = (size_t)first + (size_t)__builtin_ctzll(some), at = start + f;
                if (!own[(size_t)s * region->stride + f] || !data->strong->strong[at]) continue;
                count++;
                *excess += (double)data->image->value[at] - (double)data->strong->background[at];
            }
        }
    }
    return count;
}

/* Can a box have this many own strong pixels? Counts all strong pixels in and around it, far less work than
 * finding the nearest reflection of each. */
static int may_have(const db_fit_data *data, const db_region *region, size_t least) {
    const int first = db_measured_first_row(data->image, region->panel) + region->slow_start;
    const int fast[2] = { region->fast_start, region->fast_start + region->fast_count - 1 };
    const int slow[2] = { first, first + region->slow_count - 1 };
    return db_strong_pixels_at_most(data->strong, fast, slow) >= least;
}

static int stronger_first(const void *a, const void *b) {
    const candidate *const x = a;
    const candidate *const y = b;
    if (x->excess != y->excess) return x->excess < y->excess ? 1 : -1;
    return x->reflection < y->reflection ? -1 : 1;
}

static int prediction_order(const void *a, const void *b) {
    const candidate *const x = a;
    const candidate *const y = b;
    return x->reflection < y->reflection ? -1 : x->reflection > y->reflection;
}

/* Is the reflection in the list, or within half a box of a spot in it? */
static int is_listed(const db_fit_spots *list, const db_spot *reflection, int half_width) {
    if (list->listing == DB_FIT_LISTED_BY_INDEX) {
        const db_fit_spot key = { .hkl = { reflection->hkl[0], reflection->hkl[1],
                                           reflection->hkl[2] } };
        return list->count &&
               bsearch(&key, list->spot, list->count, sizeof *list->spot, db_spots_by_hkl) != NULL;
    }
    for (size_t i = 0; i < list->count; i++) {
        const db_fit_spot *const s = &list->spot[i];
        if (s->panel == reflection->panel &&
            hypot(s->position[0] - reflection->position[0],
                  s->position[1] - reflection->position[1]) <= half_width)
            return 1;
    }
    return 0;
}

/* Is a box of the only panel in the region of interest? */
static int of_interest(const db_fit_data *data, const db_region *region) {
    const int *const roi = data->settings->roi;
    return (roi[0] < 0 || region->fast_start >= roi[0]) &&
           (roi[1] < 0 || region->fast_start + region->fast_count - 1 <= roi[1]) &&
           (roi[2] < 0 || region->slow_start >= roi[2]) &&
           (roi[3] < 0 || region->slow_start + region->slow_count - 1 <= roi[3]);
}

/* Does a reflection get a box? own: room for one box. */
static int is_chosen(const placing *p, size_t reflection, uint8_t *own, double *excess) {
    const db_fit_data *const data = p->data;
    const db_shoebox_choice choice = p->choice;
    const db_region region = region_of(p, reflection);
    const db_fit_spots *const spots = choice == DB_SHOEBOXES_STRONG ? data->settings->spots : NULL;
    const int least = takes_all(choice) || spots       ? 0
                      : choice == DB_SHOEBOXES_TOUCHED ? 1
                                                       : FEWEST_STRONG;
    if (p->given && !p->given[reflection]) return 0;
    if (!is_inside(&region, data->image)) return 0;
    if (choice == DB_SHOEBOXES_BRIGHT)
        return of_interest(data, &region) && own_pixels(p, reflection, &region, own);
    if (least > 0 && !may_have(data, &region, (size_t)least)) return 0;
    const int enough = own_pixels(p, reflection, &region, own);
    if (!enough && choice != DB_SHOEBOXES_SEEN && choice != DB_SHOEBOXES_LIGHT) return 0;
    if (takes_all(choice)) return 1;
    if (strong_pixels(data, &region, own, excess) < least) return 0;
    return !spots || p->given ||
           is_listed(spots, &p->grid->prediction->spot[reflection],
                     data->settings->shoebox_half_width);
}

static const double faint = 1e-4; /* negligible light, relative to the brightest reflection */

static void keep_bright(const double *light, size_t count, candidate *list) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].chosen) most = fmax(most, light[i]);
    for (size_t i = 0; i < count; i++) {
        list[i].excess = light[i];
        list[i].chosen = list[i].chosen && light[i] > faint * most;
    }
}

/* Fills list with the reflections that get a box; returns their number. Neighbours follow each other, for the
 * cache. */
static size_t choose_reflections(const placing *p, candidate *list) {
    const db_fit_data *const data = p->data;
    const db_shoebox_choice choice = p->choice;
    const size_t width = 2 * (size_t)data->settings->shoebox_half_width + 1;
    const long predicted = (long)p->grid->prediction->count;
    size_t count = 0;
#pragma omp parallel for schedule(dynamic, 64) num_threads(p->threads)
    for (long k = 0; k < predicted; k++) {
        const size_t i = p->grid->entry[k],
                     place = takes_all(choice) ? i : (size_t)db_thread_number();
        uint8_t *const mine = p->own + place * width * width;
        list[i].excess = 0;
        list[i].chosen = is_chosen(p, i, mine, &list[i].excess);
    }
    if (p->light) keep_bright(p->light, (size_t)predicted, list);
    for (long i = 0; i < predicted; i++)
        if (list[i].chosen) list[count++] = (candidate){ (size_t)i, list[i].excess, 1 };
    const int ranked = choice == DB_SHOEBOXES_STRONG || choice == DB_SHOEBOXES_BRIGHT;
    if (ranked && count > (size_t)data->settings->max_shoeboxes) {
        qsort(list, count, sizeof *list, stronger_first);
        count = (size_t)data->settings->max_shoeboxes;
        qsort(list, count, sizeof *list, prediction_order);
    }
    return count;
}

/* How the chosen boxes are filled. */
typedef enum filling { COUNTED, BARE, FILLED } filling;

static db_status allocate_boxes(db_context *context, filling to, db_shoeboxes *boxes) {
    const size_t count = boxes->count + 1, all = boxes->count * boxes->pixels + 1;
    boxes->reflection = malloc(count * sizeof *boxes->reflection);
    boxes->region = malloc(count * sizeof *boxes->region);
    boxes->ridge = calloc(count, sizeof *boxes->ridge);
    boxes->own = db_allocate_large(all);
    int enough = boxes->reflection && boxes->region && boxes->ridge && boxes->own;
    if (to == BARE) {
        boxes->excess = malloc(count * sizeof *boxes->excess);
        boxes->by_place = malloc(count * sizeof *boxes->by_place);
        enough = enough && boxes->excess && boxes->by_place;
    } else {
        boxes->value = db_allocate_large(all * sizeof *boxes->value);
        boxes->background = db_allocate_large(all * sizeof *boxes->background);
        boxes->strong = db_allocate_large(all);
        enough = enough && boxes->value && boxes->background && boxes->strong;
    }
    return db_need_memory(context, enough, "the shoeboxes");
}

/* Copies rows of an image one after the other, in equal steps, which the processor predicts. */
static void copy_rows(const float *restrict image, size_t step, size_t width,
                      float *restrict values) {
    for (size_t s = 0; s < width; s++)
        for (size_t f = 0; f < width; f++) values[s * width + f] = image[s * step + f];
}

/* Copies the data of a region, and marks of its own strong pixels. */
static void copy_data(const db_fit_data *data, const db_region *region, const uint8_t *own,
                      float *value, float *background, uint8_t *strong) {
    const size_t width = region->stride, step = (size_t)data->image->fast_pixels,
                 start = db_measured_index(data->image, region, 0, 0);
    copy_rows(data->image->value + start, step, width, value);
    copy_rows(data->strong->background + start, step, width, background);
    for (size_t s = 0; s < width; s++) {
        const uint8_t *const row = data->strong->strong + start + s * step;
        for (size_t f = 0; f < width; f++) strong[s * width + f] = own[s * width + f] & row[f];
    }
}

/* Counts over the background in own pixels. */
static double excess_of(const db_fit_data *data, const db_region *region, const uint8_t *own) {
    const size_t width = region->stride;
    double excess = 0;
    for (size_t s = 0; s < width; s++) {
        const size_t start = db_measured_index(data->image, region, 0, (int)s);
        const float *const value = data->image->value + start;
        const float *const background = data->strong->background + start;
        for (size_t f = 0; f < width; f++)
            if (own[s * width + f]) excess += (double)value[f] - (double)background[f];
    }
    return excess;
}

static void fill_box(const placing *p, size_t reflection, size_t b, db_shoeboxes *boxes) {
    const size_t first = b * boxes->pixels;
    db_region *const region = &boxes->region[b];
    uint8_t *const own = boxes->own + first;
    boxes->reflection[b] = p->grid->prediction->spot[reflection];
    *region = region_of(p, reflection);
    region->offset = first;
    if (takes_all(p->choice))
        memcpy(own, p->own + reflection * boxes->pixels, boxes->pixels);
    else
        own_pixels(p, reflection, region, own);
    if (boxes->excess)
        boxes->excess[b] = excess_of(p->data, region, own);
    else
        copy_data(p->data, region, own, boxes->value + first, boxes->background + first,
                  boxes->strong + first);
}

/* Order of the boxes by place, for the cache. box: room for a number of every reflection. */
static void order_by_place(const placing *p, const candidate *list, size_t count, size_t *box,
                           size_t *order) {
    const size_t predicted = p->grid->prediction->count;
    size_t found = 0;
    for (size_t i = 0; i < predicted; i++) box[i] = count;
    for (size_t b = 0; b < count; b++) box[list[b].reflection] = b;
    for (size_t k = 0; k < predicted; k++)
        if (box[p->grid->entry[k]] < count) order[found++] = box[p->grid->entry[k]];
}

static db_status fill_boxes(db_context *context, const placing *p, const candidate *list,
                            filling to, db_shoeboxes *boxes) {
    const size_t predicted = p->grid->prediction->count;
    size_t *const order = malloc((2 * predicted + 1) * sizeof *order);
    const db_status status = order ? allocate_boxes(context, to, boxes)
                                   : db_fail_memory(context, "the order of shoeboxes");
    const long count = status == DB_OK ? (long)boxes->count : 0;
    if (count) order_by_place(p, list, boxes->count, order + predicted, order);
    if (count && boxes->by_place) memcpy(boxes->by_place, order, boxes->count * sizeof *order);
#pragma omp parallel for schedule(dynamic, 16) num_threads(p->threads)
    for (long k = 0; k < count; k++) fill_box(p, list[order[k]].reflection, order[k], boxes);
    free(order);
    return status;
}

static db_status choose_and_fill(db_context *context, placing *p, filling to, db_shoeboxes *boxes) {
    const size_t predicted = p->grid->prediction->count,
                 kept = takes_all(p->choice) ? predicted : (size_t)p->threads;
    candidate *const list = malloc((predicted + 1) * sizeof *list);
    p->own = db_allocate_large(kept * boxes->pixels + 1);
    db_status status = db_need_memory(context, list && p->own, "the choice of shoeboxes");
    if (status == DB_OK) {
        boxes->count = choose_reflections(p, list);
        if (to != COUNTED) status = fill_boxes(context, p, list, to, boxes);
    }
    free(list);
    free(p->own);
    return status;
}

static db_status place_boxes(db_context *context, const db_detector *detector,
                             const db_fit_data *data, const db_predicted_spots *prediction,
                             db_shoebox_choice choice, const double *light, filling to,
                             db_shoeboxes *boxes) {
    const db_fit_spots *const spots = data->settings->spots;
    db_reflection_grid grid;
    const db_fit_spot **given = NULL;
    const double reach = db_shoebox_sharing_distance(data->settings->shoebox_half_width);
    DB_TRY(db_reflection_grid_make(context, prediction, detector, reach, &grid));
    db_status status = DB_OK;
    if (choice == DB_SHOEBOXES_STRONG && spots && spots->listing == DB_FIT_LISTED_BY_BOX)
        status = db_given_boxes_assign(context, spots, prediction, &given);
    placing how = { data, &grid, choice, light, given, db_threads(context), NULL };
    if (status == DB_OK) status = choose_and_fill(context, &how, to, boxes);
    free(given);
    db_reflection_grid_clear(&grid);
    return status;
}

/* Light of the model at its predicted reflections, which selects shoeboxes of known structure factors, bright or
 * not in the measured image. */
enum { LIGHT_HALF = 2, LIGHT_WIDTH = 2 * LIGHT_HALF + 1, LIGHT_PIXELS = LIGHT_WIDTH * LIGHT_WIDTH };

/* Regions of these within their panels; number: of their reflections. */
static size_t light_regions(const db_fit_data *data, const db_predicted_spots *prediction,
                            db_region *regions, size_t *number) {
    size_t count = 0;
    for (size_t i = 0; i < prediction->count; i++) {
        regions[count] = db_shoebox_square(&prediction->spot[i], LIGHT_HALF);
        regions[count].offset = count * LIGHT_PIXELS;
        if (is_inside(&regions[count], data->image)) number[count++] = i;
    }
    return count;
}

/* light: [prediction->count], photons in 5 x 5 pixels at each predicted position; 0 if these reach over an edge of
 * the panel. */
static db_status model_light(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, const db_predicted_spots *prediction,
                             double *light) {
    db_region *const regions = malloc((prediction->count + 1) * sizeof *regions);
    size_t *const number = malloc((prediction->count + 1) * sizeof *number);
    const size_t count = regions && number ? light_regions(data, prediction, regions, number) : 0;
    float *const image = malloc((count * LIGHT_PIXELS + 1) * sizeof *image);
    db_status status =
        db_need_memory(context, regions && number && image, "the light of predicted reflections");
    for (size_t i = 0; i < prediction->count; i++) light[i] = 0;
    if (status == DB_OK && count > 0)
        status =
            db_render_regions(context, experiment, data->settings, regions, count, NULL, 0, image);
    for (size_t n = 0; n < count && status == DB_OK; n++)
        for (size_t i = 0; i < LIGHT_PIXELS; i++)
            light[number[n]] += (double)image[n * LIGHT_PIXELS + i];
    free(regions);
    free(number);
    free(image);
    return status;
}

static db_status place_to(db_context *context, const db_experiment *experiment,
                          const db_fit_data *data, const db_predicted_spots *prediction,
                          db_shoebox_choice choice, filling to, db_shoeboxes *boxes) {
    double *light = NULL;
    db_status status = DB_OK;
    memset(boxes, 0, sizeof *boxes);
    boxes->width = 2 * data->settings->shoebox_half_width + 1;
    boxes->pixels = (size_t)boxes->width * (size_t)boxes->width;
    boxes->holds_light = data->strong->holds_light;
    boxes->holds_parts = data->settings->spots && data->settings->spots->are_parts;
    if (choice == DB_SHOEBOXES_BRIGHT) {
        light = malloc((prediction->count + 1) * sizeof *light);
        status = light ? model_light(context, experiment, data, prediction, light)
                       : db_fail_memory(context, "the choice of shoeboxes");
    }
    if (status == DB_OK)
        status =
            place_boxes(context, &experiment->detector, data, prediction, choice, light, to, boxes);
    free(light);
    if (status != DB_OK) db_shoeboxes_clear(boxes);
    return status;
}

/* Predicts the reflections of the experiment, and places boxes around them. */
static db_status predict_and_place(db_context *context, const db_experiment *experiment,
                                   const db_fit_data *data, double dmin, db_shoebox_choice choice,
                                   filling to, db_shoeboxes *boxes) {
    const db_prediction_range range = { fmax(dmin, data->settings->dmin), data->settings->dmax,
                                        data->settings->excitation_angle,
                                        data->settings->centring };
    db_predicted_spots prediction;
    memset(boxes, 0, sizeof *boxes);
    DB_TRY(db_predict(context, experiment, &range, &prediction));
    const db_status status = place_to(context, experiment, data, &prediction, choice, to, boxes);
    db_predicted_spots_clear(&prediction);
    return status;
}

db_status db_shoeboxes_place(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, double dmin, db_shoebox_choice choice,
                             db_shoeboxes *boxes) {
    return predict_and_place(context, experiment, data, dmin, choice, FILLED, boxes);
}

db_status db_shoeboxes_place_bare(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, db_shoebox_choice choice,
                                  db_shoeboxes *boxes) {
    return predict_and_place(context, experiment, data, 0, choice, BARE, boxes);
}

db_status db_shoeboxes_count(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, const db_predicted_spots *prediction,
                             db_shoebox_choice choice, size_t *count) {
    db_shoeboxes boxes;
    const db_status status =
        prediction ? place_to(context, experiment, data, prediction, choice, COUNTED, &boxes)
                   : predict_and_place(context, experiment, data, 0, choice, COUNTED, &boxes);
    *count = boxes.count;
    return status;
}

void db_shoeboxes_clear(db_shoeboxes *boxes) {
    free(boxes->reflection);
    free(boxes->region);
    free(boxes->ridge);
    free(boxes->value);
    free(boxes->background);
    free(boxes->weight);
    free(boxes->shape_variance);
    free(boxes->own);
    free(boxes->strong);
    free(boxes->excess);
    free(boxes->by_place);
    memset(boxes, 0, sizeof *boxes);
}

void db_shoeboxes_move(db_shoeboxes *boxes, size_t from, size_t to) {
    const size_t n = boxes->pixels, source = from * n, target = to * n;
    boxes->reflection[to] = boxes->reflection[from];
    boxes->region[to] = boxes->region[from];
    boxes->region[to].offset = target;
    memmove(boxes->value + target, boxes->value + source, n * sizeof *boxes->value);
    memmove(boxes->background + target, boxes->background + source, n * sizeof *boxes->background);
    memmove(boxes->own + target, boxes->own + source, n);
    memmove(boxes->strong + target, boxes->strong + source, n);
}

db_fit_blocks db_shoeboxes_blocks(const db_shoeboxes *boxes) {
    return (db_fit_blocks){ .count = boxes->count,
                            .holds_light = boxes->holds_light,
                            .region = boxes->region,
                            .value = boxes->value,
                            .weight = boxes->weight,
                            .shape_variance = boxes->shape_variance,
                            .background = boxes->background,
                            .ridge = boxes->ridge };
}
