#include <dualbragg/expert/site_curves.h>
#include <dualbragg/parameters.h>

#include "base/context_internal.h"
#include "base/nearest_name.h"
#include "model/amplitude_box.h"
#include "model/beam_spectrum.h"
#include "model/crystal_position.h"
#include "model/not_differentiable.h"
#include "model/parameter_slots.h"
#include "model/spread_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>

static const db_parameter_facts facts[DB_KIND_COUNT] = {
#define DB_KIND_ENTRY(kind, moves, least, most, reach, amount, lever, settling, owner, choosing)   \
    { DB_KIND_##kind,                                                                              \
      DB_MOVES_##moves,                                                                            \
      least,                                                                                       \
      most,                                                                                        \
      DB_REACH_##reach,                                                                            \
      amount,                                                                                      \
      DB_LEVER_##lever,                                                                            \
      DB_SETTLING_##settling,                                                                      \
      DB_OWNER_##owner,                                                                            \
      DB_CHOOSING_##choosing },
    DB_PARAMETER_KIND_LIST(DB_KIND_ENTRY)
#undef DB_KIND_ENTRY
};

static const db_parameter_info table[DB_PARAMETER_COUNT] = {
#define DB_PARAMETER_ENTRY(id, name, member, unit, scale, kind, text)                              \
    { name, unit, text, scale, &facts[DB_KIND_##kind] },
    DB_PARAMETER_LIST(DB_PARAMETER_ENTRY)
#undef DB_PARAMETER_ENTRY
};

static const db_parameter_info source_weight = { "source_weight:J", "1",
                                                 "weight of source number J, the first one being 0",
                                                 0.1, &facts[DB_KIND_SOURCE_WEIGHT] };
static const db_parameter_info site_curve[2] = {
    { "fp:KIND:POINT", "electrons", "f' of a kind of sites at a point of its curve, both from 0", 1,
      &facts[DB_KIND_SITE_CURVE] },
    { "fdp:KIND:POINT", "electrons", "f'' of a kind of sites at a point of its curve, both from 0",
      1, &facts[DB_KIND_SITE_CURVE] }
};
static const db_parameter_info amplitude = { "F:H:K:L", "electrons",
                                             "structure factor of the listed reflection H K L", 1,
                                             &facts[DB_KIND_AMPLITUDE] };

/* Points of a curve; f' of kind 0, f'' of kind 0, f' of kind 1 ... come one after the other. */
enum { POINT_BITS = 24 };

/* Miller indices in ten bits each, around 0. */
enum { INDEX_BITS = 10, INDEX_HALF = 1 << (INDEX_BITS - 1), INDEX_MASK = (1 << INDEX_BITS) - 1 };

static int is_table_entry(db_parameter p) { return (unsigned)p < DB_PARAMETER_COUNT; }
static int is_source_weight(db_parameter p) {
    return (unsigned)p >= DB_SOURCE_WEIGHT_FIRST && (unsigned)p < DB_SITE_CURVE_FIRST;
}
static int is_site_curve(db_parameter p) {
    return (unsigned)p >= DB_SITE_CURVE_FIRST &&
           (unsigned)p < DB_SITE_CURVE_FIRST + (2u * DB_MOST_SITE_KINDS << POINT_BITS);
}
static int is_amplitude(db_parameter p) {
    return (unsigned)p >= DB_AMPLITUDE_FIRST && (unsigned)p < 2u * DB_AMPLITUDE_FIRST;
}

static size_t source_of(db_parameter p) { return (size_t)p - DB_SOURCE_WEIGHT_FIRST; }

void db_parameter_node(db_parameter parameter, int node[3]) {
    const unsigned packed = (unsigned)parameter - DB_AMPLITUDE_FIRST;
    for (int j = 0; j < 3; j++)
        node[j] = (int)(packed >> (INDEX_BITS * (2 - j)) & INDEX_MASK) - INDEX_HALF;
}

db_parameter db_parameter_source_weight(size_t source) {
    return source < DB_SITE_CURVE_FIRST - DB_SOURCE_WEIGHT_FIRST
               ? (db_parameter)(DB_SOURCE_WEIGHT_FIRST + source)
               : DB_PARAMETER_COUNT;
}

/* Number of the curve to which a point belongs: 2 kind for f', 2 kind + 1 for f''. */
static int curve_of(db_parameter p) {
    return (int)(((unsigned)p - DB_SITE_CURVE_FIRST) >> POINT_BITS);
}
static size_t point_of(db_parameter p) { return (unsigned)p & ((1u << POINT_BITS) - 1); }

db_parameter db_parameter_site_curve(int kind, int second, size_t point) {
    if (kind < 0 || kind >= DB_MOST_SITE_KINDS || point >> POINT_BITS) return DB_PARAMETER_COUNT;
    return (db_parameter)(DB_SITE_CURVE_FIRST + (2 * kind + !!second) * (1 << POINT_BITS) +
                          (int)point);
}

int db_parameter_is_site_curve(db_parameter parameter, int *kind, int *second, size_t *point) {
    if (!is_site_curve(parameter)) return 0;
    *kind = curve_of(parameter) / 2;
    *second = curve_of(parameter) % 2;
    *point = point_of(parameter);
    return 1;
}

db_parameter db_parameter_amplitude(int h, int k, int l) {
    const int node[3] = { h, k, l };
    unsigned packed = 0;
    for (int j = 0; j < 3; j++) {
        if (node[j] < -INDEX_HALF || node[j] >= INDEX_HALF) return DB_PARAMETER_COUNT;
        packed = packed << INDEX_BITS | (unsigned)(node[j] + INDEX_HALF);
    }
    return (db_parameter)(DB_AMPLITUDE_FIRST + packed);
}

static double *place_on_curve(const db_site_kinds *sites, db_parameter p) {
    const int curve = curve_of(p);
    if (!sites || curve / 2 >= sites->count) return NULL;
    const db_site_kind *const kind = &sites->kind[curve / 2];
    if (point_of(p) >= kind->count) return NULL;
    return (curve % 2 ? kind->f_second : kind->f_prime) + point_of(p);
}

/* Pointer to a listed amplitude; NULL outside the box, or if structure factors depend on the energy. */
static double *listed_amplitude(const db_structure_factors *f, db_parameter p) {
    int node[3];
    size_t entry;
    if (f->sites) return NULL;
    db_parameter_node(p, node);
    return f->amplitude && db_amplitude_entry(f, node, &entry) ? &f->amplitude[entry] : NULL;
}

/* Pointer to a parameter's value in the experiment; NULL if the experiment has no such parameter. */
static double *place_of(const db_experiment *experiment, db_parameter parameter) {
    if (is_source_weight(parameter))
        return source_of(parameter) < experiment->beam.source_count
                   ? &experiment->beam.sources[source_of(parameter)].weight
                   : NULL;
    if (is_site_curve(parameter))
        return place_on_curve(experiment->structure_factors.sites, parameter);
    if (is_amplitude(parameter)) return listed_amplitude(&experiment->structure_factors, parameter);
    switch (parameter) {
#define DB_PARAMETER_PLACE(id, name, member, unit, scale, kind, text)                              \
    case DB_##id: return (double *)(uintptr_t)&experiment->member;
        /* an isotropic halo's length is the first of an anisotropic one:
         * NOLINTNEXTLINE(bugprone-branch-clone) */
        DB_PARAMETER_LIST(DB_PARAMETER_PLACE)
#undef DB_PARAMETER_PLACE
    default: return NULL;
    }
}

const db_parameter_info *db_parameter_describe(db_parameter parameter) {
    return is_table_entry(parameter)     ? &table[parameter]
           : is_source_weight(parameter) ? &source_weight
           : is_site_curve(parameter)    ? &site_curve[curve_of(parameter) % 2]
           : is_amplitude(parameter)     ? &amplitude
                                         : NULL;
}

unsigned db_parameter_moves(const db_experiment *experiment, db_parameter parameter) {
    const db_parameter_facts *const own = db_parameter_describe(parameter)->facts;
    const unsigned moves = own->moves;
    const unsigned carried = db_turns_spindle(own->kind) && db_spindle_may_carry(experiment)
                                 ? (unsigned)DB_MOVES_PANELS
                                 : 0;
    const int closed = experiment->spread.spots == DB_SPOTS_CLOSED;
    /* a halo depends on orientation, lattice and, in closed form, numbers of cells: one column serves all */
    if (db_has_halo(&experiment->crystal) &&
        moves & (DB_MOVES_ORIENTATION | DB_MOVES_LATTICE | (closed ? DB_MOVES_CELLS : 0)))
        return DB_MOVES_ROTATIONS;
    if (!(moves & DB_MOVES_ORIENTATION)) return moves | carried;
    return carried |
           (experiment->crystal.mosaic_anisotropic && !closed ? (unsigned)DB_MOVES_ROTATIONS
                                                              : (unsigned)DB_MOVES_LATTICE);
}

/* Is this a parameter of the crystal's halo, which has one number for all axes or one for each? */
static int halo_has(const db_crystal *crystal, db_parameter p) {
    const int of_all = p == DB_DIFFUSE_SIGMA || p == DB_DIFFUSE_GAMMA;
    return db_has_halo(crystal) && of_all == !crystal->diffuse_anisotropic;
}

int db_parameter_exists(const db_experiment *experiment, db_parameter parameter) {
    const db_parameter_info *const info = db_parameter_describe(parameter);
    const db_spread *spread = &experiment->spread;
    const int closed = spread->spots == DB_SPOTS_CLOSED;
    if (!info) return 0;
    switch (info->facts->kind) {
    /* at thickness 0 the image is not a smooth function of it: without a sensor every photon counts */
    case DB_KIND_SENSOR: return experiment->detector.sensor_thickness != 0;
    case DB_KIND_STRAIN_TENSOR:
        return closed && db_free_strains(spread->strain_ties) >> (parameter - DB_STRAIN_XX) & 1;
    case DB_KIND_TAIL_FRACTION:
    case DB_KIND_TAIL_WIDTH:
        return closed && (int)(parameter - DB_TAIL_FRACTION_1) / 2 < spread->tails;
    case DB_KIND_MOSAIC_CAP:
        return !closed &&
               (parameter == DB_MOSAIC_SPREAD) == !experiment->crystal.mosaic_anisotropic;
    case DB_KIND_DIFFUSE_SIGMA:
    case DB_KIND_DIFFUSE_GAMMA: return halo_has(&experiment->crystal, parameter);
    case DB_KIND_PHI:
    case DB_KIND_SPINDLE_TILT:
        return db_spindle_may_carry(experiment) || !db_is_off_origin(&experiment->crystal);
    case DB_KIND_CRYSTAL_POSITION: return !experiment->detector.curved;
    case DB_KIND_SPECTRUM_STRETCH: return db_beam_has_spectrum(&experiment->beam);
    case DB_KIND_WATER: return experiment->background.water_size != 0;
    case DB_KIND_AMORPHOUS: return experiment->background.count > 0;
    default:
        return (closed || !(info->facts->moves & DB_MOVES_SPREAD)) &&
               place_of(experiment, parameter) != NULL;
    }
}

void db_parameter_name(db_parameter parameter, char *name, size_t size) {
    int node[3];
    if (is_source_weight(parameter)) {
        snprintf(name, size, "source_weight:%zu", source_of(parameter));
    } else if (is_site_curve(parameter)) {
        const int curve = curve_of(parameter);
        snprintf(name, size, "%s:%d:%zu", curve % 2 ? "fdp" : "fp", curve / 2, point_of(parameter));
    } else if (is_amplitude(parameter)) {
        db_parameter_node(parameter, node);
        snprintf(name, size, "F:%d:%d:%d", node[0], node[1], node[2]);
    } else {
        snprintf(name, size, "%s", is_table_entry(parameter) ? table[parameter].name : "?");
    }
}

/* Whole numbers after colons to the end of the text. */
static int read_indices(const char *text, int count, long index[]) {
    for (int i = 0; i < count; i++) {
        char *end;
        if (*text != ':') return 0;
        index[i] = strtol(text + 1, &end, 10);
        if (end == text + 1 || labs(index[i]) > DB_AMPLITUDE_FIRST) return 0;
        text = end;
    }
    return *text == 0;
}

static db_status find_indexed(db_context *context, const char *name, db_parameter *parameter) {
    long index[3] = { 0, 0, 0 };
    *parameter = DB_PARAMETER_COUNT;
    if (name[0] == 'F' && read_indices(name + 1, 3, index))
        *parameter = db_parameter_amplitude((int)index[0], (int)index[1], (int)index[2]);
    else if (name[0] == 's' && read_indices(strchr(name, ':'), 1, index) && index[0] >= 0)
        *parameter = db_parameter_source_weight((size_t)index[0]);
    else if (name[0] == 'f' && read_indices(strchr(name, ':'), 2, index) && index[0] >= 0 &&
             index[0] < DB_MOST_SITE_KINDS && index[1] >= 0)
        *parameter = db_parameter_site_curve((int)index[0], name[1] == 'd', (size_t)index[1]);
    if (*parameter != DB_PARAMETER_COUNT) return DB_OK;
    return db_fail(
        context, DB_ERROR_USAGE,
        "parameter '%s': expected source_weight:J, fp:KIND:POINT or fdp:KIND:POINT with whole "
        "numbers from 0 (kinds below %d), or F:H:K:L with three from -512 to 511",
        name, DB_MOST_SITE_KINDS);
}

/* Former names of parameters: the field "dispersion" is in percent, the parameter is not. */
static const struct {
    const char *former;
    db_parameter now;
} renamed[] = { { "dispersion", DB_DISPERSION } };

static const char *present_name(db_context *context, const char *name) {
    for (size_t r = 0; r < sizeof renamed / sizeof *renamed; r++) {
        if (strcmp(renamed[r].former, name) != 0) continue;
        const db_parameter_info *const now = &table[renamed[r].now];
        db_notice(context, "the parameter %s is called %s now (%s)", name, now->name, now->unit);
        return now->name;
    }
    return name;
}

db_status db_parameter_find(db_context *context, const char *given, db_parameter *parameter) {
    const char *const name = present_name(context, given), *names[DB_PARAMETER_COUNT];
    static const char *const indexed[] = { "F:", "source_weight:", "fp:", "fdp:" };
    for (size_t i = 0; i < sizeof indexed / sizeof *indexed; i++)
        if (strncmp(name, indexed[i], strlen(indexed[i])) == 0)
            return find_indexed(context, name, parameter);
    for (int p = 0; p < DB_PARAMETER_COUNT; p++) {
        names[p] = table[p].name;
        if (strcmp(name, names[p]) == 0) {
            *parameter = (db_parameter)p;
            return DB_OK;
        }
    }
    const char *const reason = db_not_differentiable(name);
    if (reason)
        return db_fail(context, DB_ERROR_USAGE, "there is no derivative by %s: %s", name, reason);
    return db_fail(
        context, DB_ERROR_USAGE, "unknown parameter '%s'%s", name,
        db_hint_at_names(name, names, DB_PARAMETER_COUNT, "dualbragg grad --list-params lists them")
            .text);
}

double db_parameter_get(const db_experiment *experiment, db_parameter parameter) {
    const double *place = place_of(experiment, parameter);
    return place ? *place : 0;
}

void db_parameter_set(db_experiment *experiment, db_parameter parameter, double value) {
    double *place = place_of(experiment, parameter);
    if (place) *place = value;
}
