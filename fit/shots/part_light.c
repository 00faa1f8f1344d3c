/* Light of a box at the minimum: measured, and of the model. */
#include "fit/shots/part_light.h"

#include "fit/verdict/verdict_of_light.h"
#include "loss/block.h"

#include <math.h>

void db_strong_place_add(db_strong_place *to, double counts, double variance, double x) {
    to->counts += counts;
    to->first += counts * x;
    to->noise += variance;
    to->across += variance * x;
    to->square += variance * x * x;
}

double db_box_shape(const db_objective *objective, size_t b) {
    const db_block block = db_objective_block(objective, b);
    const db_region *const r = &block.region;
    double sum = 0;
    for (int s = 0; s < r->slow_count; s++)
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
            if (block.weight[i] > 0) sum += (double)block.shape[i];
        }
    return sum;
}

/* Keeps the three largest values, the largest first. */
static void add_brightest(double value, double brightest[3]) {
    for (int k = 0; k < 3; k++) {
        const double before = brightest[k];
        if (!(value > before)) continue;
        brightest[k] = value;
        value = before;
    }
}

db_part_light db_part_light_of(const db_objective *objective, const db_stored *pixels, size_t b) {
    const db_block block = db_objective_block(objective, b);
    const db_region *const r = &block.region;
    const db_shoeboxes *const boxes = &pixels->boxes;
    const db_loss *const loss = block.loss;
    db_part_light part = { .panel = (uint32_t)r->panel,
                           .intensity = objective->solution[b].linear[0],
                           .listed = db_objective_trust(objective, b) > 0,
                           .gain = loss->gain,
                           .from = { r->fast_start, r->slow_start },
                           .to = { r->fast_start + r->fast_count, r->slow_start + r->slow_count },
                           .resolution = boxes->count ? boxes->reflection[b].resolution : 0,
                           .recorded = boxes->count ? boxes->reflection[b].recorded : 1 };
    double fast = 0, slow = 0, brightest[3] = { 0 };
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
            if (!(block.weight[i] > 0)) continue;
            const db_pixel_report pixel =
                db_block_pixel(&block, objective->solution[b].linear, f, s);
            const double shape = (double)block.shape[i],
                         rest = (double)block.value[i] - pixel.expected;
            part.shape += shape;
            add_brightest(shape, brightest);
            if (boxes->count) part.excess += (double)boxes->value[i] - (double)boxes->background[i];
            part.dark_variance +=
                loss->gain * (pixel.expected - pixel.spot) + loss->readout_variance;
            part.background += pixel.expected - pixel.spot;
            part.light += rest + pixel.spot;
            part.light_variance += pixel.variance;
            part.chi2 += pixel.trust * rest * rest / pixel.variance;
            if (boxes->count && boxes->strong[i]) {
                const double counts = rest + pixel.spot;
                db_strong_place_add(&part.seen[0], counts, pixel.variance, r->fast_start + f + 0.5);
                db_strong_place_add(&part.seen[1], counts, pixel.variance, r->slow_start + s + 0.5);
                part.strong++;
            }
            part.pixels++;
            fast += shape * (f + 0.5);
            slow += shape * (s + 0.5);
        }
    }
    part.third = brightest[2];
    part.position[0] = r->fast_start + (part.shape > 0 ? fast / part.shape : 0.5 * r->fast_count);
    part.position[1] = r->slow_start + (part.shape > 0 ? slow / part.shape : 0.5 * r->slow_count);
    return part;
}

db_compared_light db_light_compare(const db_part_light *part) {
    const double gain = part->gain, dark = fmax(0, part->dark_variance);
    db_compared_light p = { .measured = part->light, .model = part->intensity * part->shape };
    p.variance = part->dark_variance + gain * p.measured;
    p.expected = fmax(p.variance, dark + gain * p.model);
    p.weight = 1 / (dark + gain * fmax(gain, fmax(p.measured, p.model)));
    return p;
}

void db_light_add_margin(const db_compared_light *p, double rival, double share,
                         db_light_margin *m) {
    const double half = 0.5, off = p->measured - p->model, other = p->measured - rival,
                 slope = 2 * off - 2 * half * share * other, bend = 1 - half * share;
    m->excess += p->weight * (off * off - half * other * other - bend * p->variance);
    m->variance +=
        p->weight * p->weight * p->expected * (slope * slope + 2 * bend * bend * p->expected);
}

void db_frame_light_add(const db_part_light *part, db_frame_light *frame) {
    const db_compared_light p = db_light_compare(part);
    const double off = p.measured - p.model;
    if (part->pixels == 0 || !part->listed) return;
    db_light_add_margin(&p, 0, 1, &frame->none);
    frame->missed += p.weight * (off * off - p.variance);
    frame->all += p.weight * (p.measured * p.measured - p.variance);
    if (part->strong == 0 || !(p.measured > 0)) return;
    frame->spots++;
    frame->alike += (size_t)db_light_is_alike(p.model, p.measured);
}
