/* Lists of predicted spots as text and as JSON. */
#include <dualbragg/expert/spot_places.h>
#include <dualbragg/io.h>

#include "base/text_stream.h"
#include "base/context_internal.h"
#include "base/given.h"

#include <string.h>

static void print_text(FILE *out, const db_predicted_spots *list) {
    fputs(
        "# spots: their middles and variances in pixels, excitation in standard deviations from "
        "the Ewald sphere, turn and angle in degree, resolution and wavelength (mean and spread) "
        "in A\n"
        "#   h    k    l panel       fast       slow   fast_var   slow_var covariance      photons "
        "excitation     turn recorded    angle resolution wavelength wave_width source\n",
        out);
    for (size_t i = 0; i < list->count; i++) {
        const db_spot *const s = &list->spot[i];
        fprintf(out,
                "%5d %4d %4d %5zu %10.3f %10.3f %10.4g %10.4g %10.3g %12.6g %10.4f %8.4f %8.4f "
                "%8.4f %10.4f %10.7f %10.3g %6zu\n",
                s->hkl[0], s->hkl[1], s->hkl[2], s->panel, s->position[0], s->position[1],
                s->covariance[0], s->covariance[1], s->covariance[2], s->photons, s->excitation,
                s->turn, s->recorded, s->angle, s->resolution, s->wavelength, s->wavelength_width,
                s->source);
    }
}

static void print_json(FILE *out, const db_predicted_spots *list) {
    fputs("{\"spots\": [", out);
    for (size_t i = 0; i < list->count; i++) {
        const db_spot *const s = &list->spot[i];
        fprintf(out,
                "%s\n{\"hkl\": [%d, %d, %d], \"panel\": %zu, \"position\": [%.9g, %.9g], "
                "\"covariance\": [%.9g, %.9g, %.9g], \"photons\": %.9g, \"excitation\": %.9g, "
                "\"turn\": %.9g, \"recorded\": %.9g, \"angle\": %.9g, \"resolution\": %.9g, "
                "\"wavelength\": %.10g, \"wavelength_width\": %.4g, \"source\": %zu}",
                i ? "," : "", s->hkl[0], s->hkl[1], s->hkl[2], s->panel, s->position[0],
                s->position[1], s->covariance[0], s->covariance[1], s->covariance[2], s->photons,
                s->excitation, s->turn, s->recorded, s->angle, s->resolution, s->wavelength,
                s->wavelength_width, s->source);
    }
    fputs("\n]}\n", out);
}

db_status db_write_spots(db_context *context, const char *path, const db_predicted_spots *list) {
    const char *const end = strrchr(path, '.');
    db_text_stream text;
    DB_TRY(db_need_list(context, "spots", list->spot, list->count));
    const db_status status = db_text_stream_open(context, &text);
    if (status != DB_OK) return status;
    if (end && strcmp(end, ".json") == 0)
        print_json(text.stream, list);
    else
        print_text(text.stream, list);
    return db_text_stream_write(context, &text, DB_OK, path);
}
