/* Notices of what an experiment list says that is not used. */
#if defined(DB_HAVE_JANSSON)
#include "io/experiments/expt_unused.h"

#include "base/context_internal.h"

#include <stdio.h>
#include <string.h>

/* Names the beam's keys that are not used, unless they have the value that changes nothing. */
static void tell_of_beam(const db_json *beam) {
    static const struct {
        const char *key;
        double nothing;
    } keys[] = {
        { "divergence", 0 }, { "sigma_divergence", 0 }, { "flux", 0 }, { "transmission", 1 }
    };
    char text[200] = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const db_json at = db_json_member(beam, keys[i].key);
        const double value = json_number_value(at.value);
        const size_t length = strlen(text);
        if (!json_is_number(at.value) || value == keys[i].nothing) continue;
        snprintf(text + length, sizeof text - length, "%s%s %g", length ? ", " : "", keys[i].key,
                 value);
    }
    if (*text) db_notice(beam->context, "%s: %s: %s: not used", beam->path, beam->place, text);
    const char *const probe = db_json_text(beam, "probe");
    if (probe && strcmp(probe, "x-ray") != 0)
        db_notice(beam->context,
                  "%s: %s: the probe is %.20s: the model computes X-rays of that wavelength",
                  beam->path, beam->place, probe);
}

static int holds_value(const json_t *ranges, long number) {
    size_t i;
    json_t *range;
    json_array_foreach(ranges, i, range) {
        if (number >= json_integer_value(json_array_get(range, 0)) &&
            number <= json_integer_value(json_array_get(range, 1)))
            return 1;
    }
    return 0;
}

/* Ranges of each experiment that has the scan, by its identifier; an empty list: all images. */
static void tell_of_range(const db_json *scan, const char *identifier, long number) {
    const db_json all = db_json_member(scan, "valid_image_ranges"),
                  ranges = db_json_member(&all, identifier);
    if (number == 0 || json_array_size(ranges.value) == 0 || holds_value(ranges.value, number))
        return;
    db_notice(scan->context, "%s: %s: image %ld is not in valid_image_ranges, but is used",
              scan->path, scan->place, number);
}

void db_expt_tell_unused(const db_json *beam, const db_json *scan, const char *identifier,
                         long number) {
    tell_of_beam(beam);
    tell_of_range(scan, identifier, number);
}
#else
typedef int db_unused_without_jansson;
#endif
