/* Noise on a context's device, and images that are in its memory. */
#include "noise/device_noise.h"

#include "noise/expected_check.h"

#include "engine/device_plan.h"

#include <stdlib.h>

static db_status in_device_memory(db_context *context, const void *memory, int *there) {
    *there = 0;
    return context->device.backend ? db_device_ask(context, &context->device, memory, there)
                                   : db_device_check_left(context, &context->device, memory);
}

static size_t pixels_of(const db_noise_frame *f) {
    return (size_t)f->fast_pixels * (size_t)f->slow_pixels;
}

static db_status copy_image(db_context *context, void *to, const void *from, size_t bytes) {
    const db_device *const device = &context->device;
    return device->backend->operations->memory_copy(context, device->number, to, from, bytes);
}

static db_status refuse_pixel(db_context *context, const db_noise_frame *f, int fast, int slow) {
    const size_t pixel = (size_t)slow * (size_t)f->fast_pixels + (size_t)fast;
    float value = 0;
    int there;
    DB_TRY(in_device_memory(context, f->expected, &there));
    if (there)
        DB_TRY(copy_image(context, &value, f->expected + pixel, sizeof value));
    else
        value = f->expected[pixel];
    return noise_refuse_pixel(context, fast, slow, value);
}

/* The processor's checks, on rows that the device has looked at. */
static db_status check_rows(db_context *context, double scale, const noise_work *work) {
    float most = 0;
    for (int slow = 0; slow < work->frame.slow_pixels; slow++) {
        const noise_row *const row = &work->row[slow];
        if (row->bad >= 0) return refuse_pixel(context, &work->frame, row->bad, slow);
        most = row->brightest > most ? row->brightest : most;
    }
    return noise_check_brightest(context, scale, (double)most);
}

static void add_rows(const noise_work *work, db_noise_summary *summary) {
    for (int slow = 0; slow < work->frame.slow_pixels; slow++) {
        const noise_row *const row = &work->row[slow];
        summary->photons += row->photons;
        summary->overloads += (size_t)row->overloads;
        summary->underflows += (size_t)row->underflows;
        summary->negative += (size_t)row->negative;
    }
}

/* With "auto" the processor takes over from a failing device, unless images are in its memory. Asked before it is
 * used: later it may not answer. */
static db_status may_move(db_context *context, const db_noise_frame *f, int *may) {
    const void *const memory[] = { f->expected, f->signal, f->number };
    int there, any = 0;
    *may = 0;
    if (!context->device.automatic) return DB_OK;
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        DB_TRY(in_device_memory(context, memory[i], &there));
        any |= there;
    }
    *may = !any;
    return DB_OK;
}

db_status noise_on_device(db_context *context, double scale, const noise_chain *chain,
                          const db_noise_frame *frame, db_noise_summary *summary, int *done) {
    const db_device *const device = &context->device;
    int may;
    *done = 0;
    if (!device->backend || !device->backend->operations->noise) return DB_OK;
    *done = 1;
    DB_TRY(may_move(context, frame, &may));
    noise_work work = { .chain = *chain,
                        .frame = *frame,
                        .row = calloc((size_t)frame->slow_pixels, sizeof *work.row) };
    if (!work.row) return db_fail_memory(context, "the noise image");
    db_enter_stage(context, "noise");
    db_status status = device->backend->operations->noise(context, device->number, &work);
    db_leave_stage(context, "noise");
    *done = status == DB_OK || status == DB_ERROR_INPUT || !may;
    if (!*done) db_device_leave(context, status);
    if (status == DB_OK) {
        status = check_rows(context, scale, &work);
        add_rows(&work, summary);
    }
    free(work.row);
    return *done ? status : DB_OK;
}

static void *room_for(int wanted, size_t bytes, int *failed) {
    void *const memory = wanted ? malloc(bytes) : NULL;
    *failed |= wanted && !memory;
    return memory;
}

db_status noise_bring(db_context *context, db_noise_frame *frame, noise_copies *copies) {
    const size_t bytes = pixels_of(frame) * sizeof(float);
    int there[3], failed = 0;
    *copies = (noise_copies){ .given = *frame };
    DB_TRY(in_device_memory(context, frame->expected, &there[0]));
    DB_TRY(in_device_memory(context, frame->signal, &there[1]));
    DB_TRY(in_device_memory(context, frame->number, &there[2]));
    copies->expected = room_for(there[0], bytes, &failed);
    copies->signal = room_for(there[1], bytes, &failed);
    copies->number = room_for(there[2], bytes, &failed);
    db_status status = failed ? db_fail_memory(context, "the noise image") : DB_OK;
    if (status == DB_OK && copies->expected)
        status = copy_image(context, copies->expected, frame->expected, bytes);
    if (status != DB_OK) return noise_return(context, status, copies);
    if (copies->expected) frame->expected = copies->expected;
    if (copies->signal) frame->signal = copies->signal;
    if (copies->number) frame->number = copies->number;
    return DB_OK;
}

db_status noise_return(db_context *context, db_status status, noise_copies *copies) {
    const size_t bytes = pixels_of(&copies->given) * sizeof(float);
    if (status == DB_OK && copies->signal)
        status = copy_image(context, copies->given.signal, copies->signal, bytes);
    if (status == DB_OK && copies->number)
        status = copy_image(context, copies->given.number, copies->number, bytes);
    free(copies->expected);
    free(copies->signal);
    free(copies->number);
    return status;
}
