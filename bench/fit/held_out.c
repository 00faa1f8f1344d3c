#include "held_out.h"

#include "fit/objective/stage_data.h"
#include "base/context_internal.h"
#include "fit/objective/statistics.h"

#include <dualbragg/spots.h>
#include <dualbragg/expert/spot_places.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const db_held_out_name[DB_HELD_FIGURES] = {
    "position, rms of the best 90 % (pixels)",
    "position, median (pixels)",
    "turn, rms (degree)",
    "rendered position, rms (pixels)",
    "chi2/dof",
    "correlation",
    "strong pixels explained (%)",
    "ranking (area under ROC curve)",
    "strongest are observed (%)",
};

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where reflections whose hkl and panel are known appear: spots in closed form where the formula that
 * renders them puts them; others, and those of centroids, as if turned onto the Ewald sphere. */
static db_status place(db_context *context, const db_held_out *held, const db_experiment *model,
                       db_spot *spot) {
    const size_t count = held->spots->count;
    db_fit_geometry geometry;
    for (size_t i = 0; i < count; i++) {
        const db_observed_spot *const observed = &held->spots->spot[i];
        spot[i] = (db_spot){ .panel = observed->panel };
        memcpy(spot[i].hkl, observed->hkl, sizeof spot[i].hkl);
    }
    const int closed = model->spread.spots == DB_SPOTS_CLOSED && !held->on_sphere;
    db_experiment all_shown = *model; /* borrows; amplitudes are not known */
    all_shown.structure_factors = (db_structure_factors){ .default_F = 1 };
    if (closed) DB_TRY(db_spots_place(context, &all_shown, 0, spot, count));
    DB_TRY(db_fit_geometry_of(context, model, &geometry));
    for (size_t i = 0; i < count; i++) {
        db_reflection r = { .panel = spot[i].panel };
        memcpy(r.hkl, spot[i].hkl, sizeof r.hkl);
        const int there = db_predict_on_panel(&geometry, &r);
        spot[i].turn = there ? r.excitation : (double)NAN;
        for (int k = 0; k < 2 && !closed; k++) spot[i].position[k] = r.position[k];
    }
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

static db_status predictions(db_context *context, const db_held_out *held,
                             const db_experiment *model, double *figure) {
    const size_t all = held->spots->count;
    double *const distance = malloc((all + 1) * sizeof *distance);
    db_spot *const spot = malloc((all + 1) * sizeof *spot);
    double square = 0, turn = 0;
    size_t count = 0;
    const db_status status = distance && spot ? place(context, held, model, spot) : DB_ERROR_MEMORY;
    for (size_t i = 0; i < all && status == DB_OK; i++) {
        const db_observed_spot *const observed = &held->spots->spot[i];
        if (!held->is_held_out(held->user, observed->hkl) || !isfinite(spot[i].turn) ||
            !isfinite(spot[i].position[0]))
            continue;
        distance[count++] = hypot(observed->position[0] - spot[i].position[0],
                                  observed->position[1] - spot[i].position[1]);
        turn += spot[i].turn * spot[i].turn;
    }
    if (status == DB_OK) qsort(distance, count, sizeof *distance, ascending);
    const size_t best = count * 9 / 10;
    for (size_t i = 0; i < best; i++) square += distance[i] * distance[i];
    figure[DB_HELD_POSITION] = best ? sqrt(square / (double)best) : NAN;
    figure[DB_HELD_TURN] = sqrt(turn / (double)count);
    figure[DB_HELD_MEDIAN] = best ? distance[count / 2] : NAN;
    free(distance);
    free(spot);
    return status;
}

/* Renders the model in boxes, with the best intensities and backgrounds. */
static db_status render(db_context *context, const db_fit_data *data, const db_experiment *model,
                        db_stage_data *taken, db_objective *shot) {
    const db_objective_options request = { .target = DB_FIT_WEIGHTED };
    const db_status made = db_stage_data_objective(context, model, data, taken, &request, shot);
    if (made != DB_OK) return made;
    const db_status status = db_stage_data_solve(taken, data, shot, NULL);
    if (status != DB_OK) db_objective_destroy(shot);
    return status;
}

static size_t strong_in(const db_shoeboxes *boxes) {
    size_t strong = 0;
    for (size_t i = 0; i < boxes->count * boxes->pixels; i++) strong += boxes->strong[i];
    return strong;
}

/* The held-out half of the spots as a list of reflections, in their order. */
static db_fit_spots listed(const db_held_out *held) {
    db_fit_spots list = { .spot = calloc(held->spots->count + 1, sizeof *list.spot) };
    for (size_t i = 0; i < held->spots->count && list.spot; i++) {
        const int *const hkl = held->spots->spot[i].hkl;
        if (held->is_held_out(held->user, hkl))
            memcpy(list.spot[list.count++].hkl, hkl, 3 * sizeof *hkl);
    }
    return list;
}

static db_status pixels(db_context *context, const db_held_out *held, const db_experiment *model,
                        double *figure) {
    db_fit_settings settings = *held->data->settings;
    db_fit_spots list = listed(held);
    settings.spots = &list;
    const db_fit_data data = { held->data->image, held->data->strong, &settings };
    db_stage_data taken = { .blur = 1 };
    db_objective shot;
    db_status status = list.spot ? db_stage_data_take(context, held->placed_by, &data, 0, 1,
                                                      DB_SHOEBOXES_STRONG, &taken)
                                 : DB_ERROR_MEMORY;
    if (status == DB_OK) status = render(context, &data, model, &taken, &shot);
    if (status == DB_OK) {
        db_fit_statistics s = { 0 };
        db_statistics_residuals(&shot, &s);
        db_statistics_centroids(&shot, &taken.boxes, &s);
        figure[DB_HELD_CHI2] = s.chi2_reduced;
        figure[DB_HELD_CORRELATION] = s.correlation;
        figure[DB_HELD_RENDERED] = s.centroid_rms;
        figure[DB_HELD_EXPLAINED] =
            100 * (double)db_statistics_explained(&shot, &data) / (double)strong_in(&taken.boxes);
        db_objective_destroy(&shot);
    }
    db_stage_data_clear(&taken);
    free(list.spot);
    return status;
}

/* A reflection that might be seen: its rendered light, and whether it is observed. */
typedef struct candidate {
    double light;
    int observed;
} candidate;

static int more_light_first(const void *a, const void *b) {
    const candidate *const x = a;
    const candidate *const y = b;
    return (x->light < y->light) - (x->light > y->light);
}

static int by_hkl(const void *key, const void *element) {
    const int *const hkl = key;
    const db_observed_spot *const spot = element;
    for (int i = 0; i < 3; i++)
        if (hkl[i] != spot->hkl[i]) return hkl[i] < spot->hkl[i] ? -1 : 1;
    return 0;
}

static size_t candidates(const db_held_out *held, const db_objective *shot,
                         const db_shoeboxes *boxes, candidate *list) {
    size_t count = 0;
    for (size_t b = 0; b < boxes->count; b++) {
        const int *const hkl = boxes->reflection[b].hkl;
        if (!held->is_held_out(held->user, hkl)) continue;
        double light = 0;
        for (size_t i = b * boxes->pixels; i < (b + 1) * boxes->pixels; i++)
            if (boxes->own[i]) light += (double)shot->shape[i];
        list[count++] =
            (candidate){ light,
                         held->spots->count && bsearch(hkl, held->spots->spot, held->spots->count,
                                                       sizeof *held->spots->spot, by_hkl) != NULL };
    }
    return count;
}

/* Candidates with the same light count half, wherever the sort has put them. */
static void rank(candidate *list, size_t count, double *figure) {
    double observed = 0, pairs = 0, found = 0, seen = 0;
    qsort(list, count, sizeof *list, more_light_first);
    for (size_t i = 0; i < count; i++) observed += list[i].observed;
    for (size_t first = 0, next; first < count; first = next) {
        double here = 0;
        for (next = first; next < count && list[next].light == list[first].light; next++)
            here += list[next].observed;
        const double number = (double)(next - first);
        pairs += (number - here) * (seen + 0.5 * here);
        const double room = fmin(fmax(observed - (double)first, 0), number);
        found += room * here / number;
        seen += here;
    }
    figure[DB_HELD_RANKING] = pairs / (observed * ((double)count - observed));
    figure[DB_HELD_PRECISION] = 100 * found / observed;
}

static db_status excitation(db_context *context, const db_held_out *held,
                            const db_experiment *model, double *figure) {
    db_stage_data taken;
    db_objective shot;
    db_status status =
        db_stage_data_take(context, held->placed_by, held->data, 0, 1, DB_SHOEBOXES_ALL, &taken);
    if (status != DB_OK) return status;
    candidate *const list = malloc((taken.boxes.count + 1) * sizeof *list);
    status = list ? render(context, held->data, model, &taken, &shot) : DB_ERROR_MEMORY;
    if (status == DB_OK) {
        rank(list, candidates(held, &shot, &taken.boxes, list), figure);
        db_objective_destroy(&shot);
    }
    free(list);
    db_stage_data_clear(&taken);
    return status;
}

db_status db_held_out_measure(db_context *context, const db_held_out *held,
                              const db_experiment *model, double figure[DB_HELD_FIGURES]) {
    db_status status = predictions(context, held, model, figure);
    if (status == DB_OK) status = pixels(context, held, model, figure);
    if (status == DB_OK) status = excitation(context, held, model, figure);
    return status;
}
