#include "fit/pixels/box_window.h"

#include "base/context_internal.h"

#include <stdlib.h>
#include <string.h>

db_status db_box_window_make(db_context *context, const db_shoeboxes *boxes,
                             db_box_window *window) {
    const size_t pixels = boxes->pixels, weighing = db_shoebox_weigh_room((size_t)boxes->width);
    memset(window, 0, sizeof *window);
    window->room = calloc(weighing + 4 * pixels, sizeof *window->room);
    window->box.strong = malloc(pixels);
    if (!window->room || !window->box.strong) {
        db_box_window_clear(window);
        return db_fail_memory(context, "a shoebox");
    }
    window->box.value = window->room + weighing;
    window->box.background = window->box.value + pixels;
    window->box.weight = window->box.background + pixels;
    window->box.shape_variance = window->box.weight + pixels;
    return DB_OK;
}

void db_box_window_clear(db_box_window *window) {
    free(window->room);
    free(window->box.strong);
    memset(window, 0, sizeof *window);
}

void db_box_window_show(const db_fit_data *data, double model_error, const db_shoeboxes *boxes,
                        size_t b, db_box_window *window) {
    db_shoeboxes *const box = &window->box;
    window->reflection = boxes->reflection[b];
    window->region = boxes->region[b];
    window->region.offset = 0;
    box->count = 1;
    box->width = boxes->width;
    box->pixels = boxes->pixels;
    box->holds_light = boxes->holds_light;
    box->holds_parts = boxes->holds_parts;
    box->reflection = &window->reflection;
    box->region = &window->region;
    box->own = boxes->own + b * boxes->pixels;
    box->ridge = boxes->ridge + b;
    db_shoebox_copy(data, &window->region, box->own, box->value, box->background, box->strong);
    db_shoebox_weigh(data->settings, model_error, 0, window->room, box);
}
