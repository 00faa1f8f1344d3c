#include "table_scene.h"

#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

double *scene_numbers(size_t count) {
    double *made = calloc(count + 1, sizeof *made);
    assert_non_null(made);
    return made;
}

void scene_put_amplitudes(table_scene *s, const double *step, double factor) {
    for (size_t i = 0; i < s->entries; i++)
        s->e.structure_factors.amplitude[i] = s->amplitude[i] + factor * step[i];
    s->e.structure_factors.default_F = s->amplitude[s->entries] + factor * step[s->entries];
}

db_plan *scene_plan(table_scene *s, const db_parameter *parameters, size_t count,
                    db_precision precision) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    options.parameters = parameters;
    options.parameter_count = count;
    assert_int_equal(db_plan_create(s->context, &s->e, &options, &plan), DB_OK);
    return plan;
}

void scene_arrange(const configuration *which, table_scene *s) {
    assert_int_equal(db_context_create(&s->context), DB_OK);
    s->e = configured(s->context, which);
    const db_structure_factors *f = &s->e.structure_factors;
    s->entries =
        f->amplitude ? (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2] : 0;
    s->amplitude = scene_numbers(s->entries + 1);
    s->direction = scene_numbers(s->entries + 1);
    s->gradient = scene_numbers(s->entries + 1);
    if (s->entries) memcpy(s->amplitude, f->amplitude, s->entries * sizeof *s->amplitude);
    s->amplitude[s->entries] = f->default_F;
    for (size_t i = 0; i <= s->entries; i++)
        s->direction[i] = 3 + 0.5 * (double)(i * 104729 % 19) - (i % 3 == 0 ? 8 : 0);
    db_plan *plan = scene_plan(s, NULL, 0, DB_PRECISION_DOUBLE);
    s->pixels = db_plan_pixels(plan);
    db_plan_destroy(&plan);
    s->cotangent = scene_numbers(s->pixels);
    s->image = scene_numbers(s->pixels);
    s->tangent = scene_numbers(s->pixels);
    s->above = scene_numbers(s->pixels);
    s->below = scene_numbers(s->pixels);
    for (size_t i = 0; i < s->pixels; i++)
        s->cotangent[i] = i % 7 == 3 || i / 40 % 5 == 2 ? 0 : 0.35 - 0.1 * (double)(i * 7919 % 13);
}

void scene_clear(table_scene *s) {
    free(s->amplitude);
    free(s->direction);
    free(s->gradient);
    free(s->cotangent);
    free(s->image);
    free(s->tangent);
    free(s->above);
    free(s->below);
    db_experiment_clear(&s->e);
    db_context_destroy(&s->context);
}

db_plan_vector scene_vector(table_scene *s, double *numbers) {
    db_plan_vector v = DB_PLAN_VECTOR_INIT;
    v.amplitudes = s->entries ? numbers : NULL;
    v.default_F = numbers + s->entries;
    return v;
}

void scene_refuses(const table_scene *s, db_status found, db_status expected, const char *part) {
    assert_int_equal(found, expected);
    if (!strstr(db_context_message(s->context), part))
        print_error("expected '%s' in: %s\n", part, db_context_message(s->context));
    assert_non_null(strstr(db_context_message(s->context), part));
}

const configuration *configuration_named(const char *name) {
    for (size_t i = 0; i < configurations_and_closed(); i++)
        if (strcmp(configuration_or_closed(i)->name, name) == 0) return configuration_or_closed(i);
    fail_msg("no configuration %s", name);
    return NULL;
}
