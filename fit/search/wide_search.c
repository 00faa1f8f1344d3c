/* Wide search for an orientation. The sum of exp(2 pi i q.t) over spots at q has the number of spots as modulus if
 * t is a translation of the crystal, wherever the beam is: a shift of all q only changes its phase. So
 * translations with the lengths of the cell's edges, times a scale, are searched in all directions (a Fourier
 * transform along directions, as in Steller, Bolotovsky and Rossmann, J. Appl. Cryst. 30, 1036, 1997, but of its
 * modulus); two of them that enclose the cell's angle give an orientation (docs/theory/refinement.md, Search for
 * the orientation). */
#include "fit/search/orientation_search.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/threads.h"
#include "base/vector.h"
#include "fit/config/certain.h"
#include "fit/linear/cholesky.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EDGES = 3,
    NUMBERS = 6, /* numbers of a pose: turns about the laboratory's axes, scale, beam */
    WITH_EDGES = NUMBERS + EDGES, /* and of the edges */
    MOST_PROBED = 250,            /* spots at the lowest angles, which find translations */
    FEWEST_PROBED = 60,
    ROWS = 24,      /* translations kept for each edge */
    CANDIDATES = 32 /* poses to refine */
};
static const double two_pi = 2 * 3.14159265358979323846;
static const double most_cycles =
    30; /* cycles along an edge in the probed spots, if they are enough */
static const double step_cycles = 0.35; /* cycles of the farthest spot between directions */
static const double same_scale = 0.02;  /* difference of the scales of two edges */
static const double same_angle = 3;     /* degree, difference of the angle between them */
static const double beam_step = 2;      /* pixels between tried beams */
static const double angles[] = {
    0.8, 0.8, 0.6, 0.45, 0.35, 0.3, 0.3, 0.3
}; /* degree: tolerances */
/* Prior standard deviations of scale and edges, which decide where spots do not. */
static const double LIKELY_SCALE = 0.01, LIKELY_EDGE = 0.02;
static const double STRETCH_BY_CHANCE = 0.05; /* most probability that chance prefers other edges */
static const double SAME_EDGE = 1e-3;         /* difference of two edges that are equal */

typedef struct row_list {
    size_t count;
    double row[ROWS][3]; /* angstrom */
} row_list;

typedef struct wide {
    db_context *context;
    const db_search_lattice *lattice;
    size_t count, probed;
    const db_search_spot *spots;
    const db_search_room *room;
    float *q[3];            /* of the probed spots */
    unsigned char *near[2]; /* [count] spots near nodes of two lattices */
    row_list rows[EDGES];
    int leader[EDGES]; /* the first edge that has the length of this one, and changes with it */
    db_search_candidates candidates;
} wide;

int db_search_room_is_open(const db_search_room *room) {
    return room->scale[1] > room->scale[0] || room->beam[0][1] > room->beam[0][0] ||
           room->beam[1][1] > room->beam[1][0];
}

/* Modulus of the sum over probed spots for a translation; cos and sin of 2 pi x by their series, to 0.002. */
static double sum_at(const wide *w, const double t[3]) {
    const float tx = (float)t[0], ty = (float)t[1], tz = (float)t[2];
    const float *const qx = w->q[0], *const qy = w->q[1], *const qz = w->q[2];
    float real = 0, imaginary = 0;
#pragma omp simd reduction(+ : real, imaginary)
    for (size_t n = 0; n < w->probed; n++) {
        const float shift = 0x1.8p23F, cycles = tx * qx[n] + ty * qy[n] + tz * qz[n],
                    x = cycles - ((cycles + shift) - shift), y = x * x;
        real += 1 + y * (-19.739209F +
                         y * (64.939394F + y * (-85.456817F + y * (60.244641F - y * 26.426257F))));
        imaginary +=
            x * (6.2831853F +
                 y * (-41.341702F +
                      y * (81.605249F + y * (-76.705860F + y * (42.058694F - y * 15.094643F)))));
    }
    return hypot((double)real, (double)imaginary);
}

/* Directions that cover half a sphere evenly, by the golden angle. */
static void direction_of(size_t i, size_t count, double u[3]) {
    const double z = ((double)i + 0.5) / (double)count, across = sqrt(1 - z * z),
                 turn = 3.88322207745093 * ((double)i + 0.5);
    u[0] = across * cos(turn);
    u[1] = across * sin(turn);
    u[2] = z;
}

/* Length of a translation along a direction with the largest sum; returns the sum. */
static double best_length(const wide *w, double edge, double step, const double u[3],
                          double *length) {
    const double least = edge * w->room->scale[0], most = edge * w->room->scale[1];
    const int steps = (int)ceil((most - least) / step);
    double best = -1;
    for (int k = 0; k <= steps; k++) {
        const double l = steps ? least + (most - least) * k / steps : least;
        const double t[3] = { l * u[0], l * u[1], l * u[2] }, sum = sum_at(w, t);
        if (!(sum > best)) continue;
        best = sum;
        *length = l;
    }
    return best;
}

/* Moves a translation to the maximum of the sum. */
static void climb_to_top(const wide *w, double step, double t[3]) {
    const double last = step / 16;
    double best = sum_at(w, t);
    while (step > last) {
        int better = 0;
        for (int k = 0; k < 6; k++) {
            double at[3] = { t[0], t[1], t[2] };
            at[k / 2] += k % 2 ? step : -step;
            const double sum = sum_at(w, at);
            if (!(sum > best)) continue;
            best = sum;
            memcpy(t, at, sizeof at);
            better = 1;
        }
        if (!better) step /= 2;
    }
}

/* Takes the highest sums of all directions, without neighbours of higher ones. */
static void take_highest(const wide *w, double edge, double step, float *sums, size_t count,
                         row_list *rows) {
    const double beside = cos(fmin(0.5, 2.5 * step / edge));
    for (rows->count = 0; rows->count < ROWS; rows->count++) {
        size_t highest = 0;
        double u[3], v[3], length = edge;
        for (size_t i = 1; i < count; i++)
            if (sums[i] > sums[highest]) highest = i;
        if (!(sums[highest] > 0)) return;
        direction_of(highest, count, u);
        (void)best_length(w, edge, step, u, &length);
        for (size_t i = 0; i < count; i++) {
            direction_of(i, count, v);
            if (fabs(db_dot(u, v)) > beside) sums[i] = 0;
        }
        double *const t = rows->row[rows->count];
        for (int i = 0; i < 3; i++) t[i] = length * u[i];
        climb_to_top(w, step / 2, t);
    }
}

/* Number of spots, at the lowest angles, for translations of a length. */
static size_t probes_for(const wide *w, double edge) {
    size_t n = 0;
    while (n < w->count && n < MOST_PROBED &&
           (n < FEWEST_PROBED || w->spots[n].length * edge < most_cycles))
        n++;
    return n;
}

static int are_equal(const db_search_lattice *lattice, int i, int k) {
    return fabs(db_length(lattice->real + 3 * i) / db_length(lattice->real + 3 * k) - 1) <
           SAME_EDGE;
}

static db_status find_rows(wide *w, int number) {
    const double edge = db_length(w->lattice->real + 3 * number);
    for (int k = 0; k < EDGES; k++)
        if (are_equal(w->lattice, k, number) && w->rows[k].count) {
            w->rows[number] = w->rows[k];
            return DB_OK;
        }
    w->probed = probes_for(w, edge);
    const double step = step_cycles / w->spots[w->probed - 1].length;
    const size_t count = (size_t)fmin(4e5, two_pi * edge * edge / (step * step) + 1);
    const int threads = db_threads_for(w->context, (long)count);
    float *const sums = malloc(count * sizeof *sums);
    if (!sums) return db_fail_memory(w->context, "the directions of the search");
#pragma omp parallel for schedule(static) num_threads(threads)
    for (long i = 0; i < (long)count; i++) {
        double u[3], length;
        direction_of((size_t)i, count, u);
        sums[i] = (float)best_length(w, edge, step, u, &length);
    }
    take_highest(w, edge, step, sums, count, &w->rows[number]);
    free(sums);
    return DB_OK;
}

/* The beam that brings most of the spots at the lowest angles near nodes. */
static void try_beams(wide *w, const db_search_pose *pose) {
    const double(*const room)[2] = w->room->beam;
    const size_t some = w->count < FEWEST_PROBED ? w->count : FEWEST_PROBED;
    db_search_candidate best = { -1, *pose };
    int steps[2];
    for (int k = 0; k < 2; k++) steps[k] = (int)ceil((room[k][1] - room[k][0]) / beam_step);
    for (int i = 0; i <= steps[0]; i++)
        for (int k = 0; k <= steps[1]; k++) {
            db_search_candidate here = { 0, *pose };
            const int at[2] = { i, k };
            for (int d = 0; d < 2; d++)
                here.pose.beam[d] =
                    room[d][0] + (steps[d] ? (room[d][1] - room[d][0]) * at[d] / steps[d] : 0);
            here.score =
                db_search_agreement(w->lattice, &here.pose, 1, angles[0], w->spots, some, NULL)
                    .score;
            if (here.score > best.score) best = here;
        }
    db_search_candidates *const all = &w->candidates;
    all->count = db_search_keep(&best, sizeof best, all->list, all->count, all->most);
}

/* Tries all pairs of translations that can be two edges of the cell, either way. */
static void try_row_pairs(wide *w, int i, int k) {
    const double *const a = w->lattice->real + 3 * i, *const b = w->lattice->real + 3 * k;
    const double edge[2] = { db_length(a), db_length(b) },
                 angle = acos(db_dot(a, b) / (edge[0] * edge[1]));
    double axes[9], back[9], measured[9];
    db_search_frame(a, b, axes);
    db_transpose(axes, back);
    for (size_t m = 0; m < w->rows[i].count; m++)
        for (size_t n = 0; n < 4 * w->rows[k].count; n++) {
            const double *const row[2] = { w->rows[i].row[m], w->rows[k].row[n / 4] };
            const double sign[2] = { n % 2 ? 1 : -1, n % 4 / 2 ? 1 : -1 },
                         length[2] = { db_length(row[0]), db_length(row[1]) },
                         scale[2] = { length[0] / edge[0], length[1] / edge[1] },
                         enclosed =
                             acos(fmax(-1, fmin(1, sign[0] * sign[1] * db_dot(row[0], row[1]) /
                                                       (length[0] * length[1]))));
            db_search_pose pose = { .scale = 0.5 * (scale[0] + scale[1]) };
            if (fabs(scale[0] - scale[1]) > same_scale ||
                fabs(enclosed - angle) > same_angle * DB_DEGREE)
                continue;
            double t[2][3];
            for (int j = 0; j < 6; j++) t[j / 3][j % 3] = sign[j / 3] * row[j / 3][j % 3];
            db_search_frame(t[0], t[1], measured);
            db_multiply(measured, back, pose.turn);
            pose.scale = fmax(w->room->scale[0], fmin(w->room->scale[1], pose.scale));
            try_beams(w, &pose);
        }
}

static int leading_edge(const db_search_lattice *lattice, int edge) {
    for (int k = 0; k < edge; k++)
        if (are_equal(lattice, k, edge)) return k;
    return edge;
}

/* Slopes of a spot's residual, moved - node, by each number of its pose. */
static void slopes_of(const db_search_pose *pose, const db_search_spot *s, const double q[3],
                      const double node[3], double slope[WITH_EDGES][3]) {
    for (int k = 0; k < 3; k++) {
        const double axis[3] = { k == 0, k == 1, k == 2 };
        db_cross(node, axis, slope[k]);
        slope[3][k] = q[k];
        for (int d = 0; d < 2; d++) slope[4 + d][k] = pose->scale * s->by_beam[d][k];
    }
}

/* And by edges. */
static void slopes_by_edges(const wide *w, const double a_star[9], const double to_index[9],
                            const double node[3], double slope[WITH_EDGES][3]) {
    double index[3];
    db_apply(to_index, node, index);
    for (int k = 0; k < 3; k++)
        for (int e = 0; e < EDGES; e++)
            slope[NUMBERS + w->leader[e]][k] += rint(index[e]) * a_star[3 * k + e];
}

static void stretch_edges(const wide *w, const double by[EDGES], db_search_lattice *lattice) {
    double longer[EDGES];
    for (int e = 0; e < EDGES; e++) longer[e] = expm1(by[w->leader[e]]);
    db_search_lattice_stretch(longer, lattice);
}

/* A least-squares step with spots nearer to nodes than a tolerance. stretched: a lattice whose edges change as well;
 * NULL: the given one. */
static void improve_pose(const wide *w, double angle, db_search_lattice *stretched,
                         db_search_pose *pose) {
    const size_t numbers = stretched ? WITH_EDGES : NUMBERS;
    const db_search_lattice *const lattice = stretched ? stretched : w->lattice;
    double a_star[9], to_index[9], q[3], node[3], factor[WITH_EDGES * WITH_EDGES];
    double normal[WITH_EDGES][WITH_EDGES] = { 0 },
           step[WITH_EDGES] = { 0 }; /* first the right side */
    const double known[WITH_EDGES] = {
        0, 0, 0, LIKELY_SCALE, DB_LIKELY_BEAM, DB_LIKELY_BEAM, LIKELY_EDGE, LIKELY_EDGE, LIKELY_EDGE
    };
    double from[WITH_EDGES] = { 0, 0, 0, log(pose->scale), pose->beam[0], pose->beam[1] };
    for (int e = 0; e < EDGES; e++)
        if (w->leader[e] == e)
            from[NUMBERS + e] =
                log(db_length(lattice->real + 3 * e) / db_length(w->lattice->real + 3 * e));
    db_search_lattice_turn(lattice, pose->turn, a_star, to_index);
    for (size_t n = 0; n < w->count; n++) {
        const db_search_spot *const s = &w->spots[n];
        const double limit = db_search_tolerance(s, angle);
        double slope[WITH_EDGES][3] = { 0 };
        db_search_spot_at(pose, s, q);
        if (db_search_chance(lattice, limit) >= 0.5 ||
            db_search_nearest(a_star, to_index, q, node) >= limit)
            continue;
        slopes_of(pose, s, q, node, slope);
        if (stretched) slopes_by_edges(w, a_star, to_index, node, slope);
        for (size_t i = 0; i < numbers; i++) {
            for (int k = 0; k < 3; k++) step[i] += slope[i][k] * (node[k] - q[k]) / (limit * limit);
            for (size_t k = 0; k < numbers; k++)
                normal[i][k] += db_dot(slope[i], slope[k]) / (limit * limit);
        }
    }
    for (size_t i = 0; i < numbers; i++) {
        const double weight = known[i] > 0 ? 1 / (known[i] * known[i]) : 1;
        normal[i][i] += weight;
        if (known[i] > 0) step[i] -= weight * from[i];
    }
    db_cholesky_factor(numbers, *normal, WITH_EDGES, 0, NULL, DB_LEAST_FOR_STEP, factor);
    db_cholesky_solve(numbers, factor, step);
    double axis[3] = { step[0], step[1], step[2] };
    const double size = db_length(axis);
    if (db_normalize(axis)) db_turn_columns(axis, size, pose->turn);
    pose->scale = fmin(w->room->scale[1], fmax(w->room->scale[0], pose->scale * (1 + step[3])));
    for (int d = 0; d < 2; d++)
        pose->beam[d] =
            fmin(w->room->beam[d][1], fmax(w->room->beam[d][0], pose->beam[d] + step[4 + d]));
    if (stretched) stretch_edges(w, step + NUMBERS, stretched);
}

/* ln of the number of scales and beams that differ by more than a tolerance. */
static double ln_tried(const wide *w) {
    const double last = angles[sizeof angles / sizeof *angles - 1] * DB_DEGREE;
    double sum = log1p((w->room->scale[1] - w->room->scale[0]) / last);
    for (int d = 0; d < 2; d++) sum += log1p(w->room->beam[d][1] - w->room->beam[d][0]);
    return sum;
}

static db_agreement agree_as_given(const wide *w, const db_search_pose *pose, unsigned char *near) {
    const size_t last = sizeof angles / sizeof *angles - 1;
    db_agreement found =
        db_search_agreement(w->lattice, pose, 1, angles[last], w->spots, w->count, near);
    found.tried = ln_tried(w);
    return found;
}

/* Refines a pose with the given edges. */
static db_agreement improve_as_given(const wide *w, db_search_pose *pose, unsigned char *near) {
    const size_t rounds = sizeof angles / sizeof *angles;
    for (size_t r = 0; r < rounds; r++) improve_pose(w, angles[r], NULL, pose);
    return agree_as_given(w, pose, near);
}

/* Refines a pose, and takes it if it is less probable by chance than the best so far. */
static int take_better(const wide *w, db_search_pose own, db_search_pose *pose,
                       db_agreement *agreement) {
    const db_agreement found = improve_as_given(w, &own, NULL);
    if (!db_agreement_is_better(&found, agreement)) return 0;
    *agreement = found;
    *pose = own;
    return 1;
}

/* The beam that moves spots by a reciprocal vector as nearly as possible; 0 if it moves them elsewhere. */
static int beam_of(const wide *w, const db_search_pose *pose, const double vector[3],
                   double beam[2]) {
    const double along = 0.3; /* fraction of the vector that may remain, along the ray */
    const db_search_spot *const s = &w->spots[0];
    const double a = db_dot(s->by_beam[0], s->by_beam[0]), b = db_dot(s->by_beam[0], s->by_beam[1]),
                 c = db_dot(s->by_beam[1], s->by_beam[1]), det = a * c - b * b,
                 u = db_dot(s->by_beam[0], vector), v = db_dot(s->by_beam[1], vector);
    double left[3];
    if (!(det > 0)) return 0;
    const double by[2] = { (c * u - b * v) / det, (a * v - b * u) / det };
    for (int i = 0; i < 3; i++)
        left[i] = vector[i] - by[0] * s->by_beam[0][i] - by[1] * s->by_beam[1][i];
    for (int d = 0; d < 2; d++) {
        beam[d] = pose->beam[d] + by[d];
        if (beam[d] < w->room->beam[d][0] || beam[d] > w->room->beam[d][1]) return 0;
    }
    return db_length(left) < along * db_length(vector);
}

/* Refines a pose with a lattice whose edges change each by itself. */
static db_agreement improve_edges(const wide *w, db_search_lattice *lattice, db_search_pose *pose,
                                  unsigned char *near) {
    enum { ROUNDS = 12 };
    const size_t last = sizeof angles / sizeof *angles - 1;
    for (size_t r = 0; r < ROUNDS; r++) improve_pose(w, angles[r < last ? r : last], lattice, pose);
    return db_search_agreement(lattice, pose, 1, angles[last], w->spots, w->count, near);
}

/* Agreement of a pose if each edge of the cell may have its own scale, with the prior of its beam. */
static db_agreement agree_stretched(const wide *w, db_search_pose pose) {
    db_search_lattice lattice = *w->lattice;
    db_agreement found = improve_edges(w, &lattice, &pose, NULL);
    found.tried = (pose.beam[0] * pose.beam[0] + pose.beam[1] * pose.beam[1]) /
                  (2 * DB_LIKELY_BEAM * DB_LIKELY_BEAM);
    found.score -= found.tried;
    return found;
}

/* Tries beams displaced by a node. All indices then differ by it, and about as many spots may be near nodes; if the
 * ratios of edges are wrong, only other edges decide. */
static void try_other_nodes(const wide *w, db_search_pose *pose, db_agreement *agreement) {
    enum { FAR = 3 };
    db_agreement best = agree_stretched(w, *pose);
    for (int again = 1; again;) {
        const db_search_pose from = *pose;
        double a_star[9], to_index[9];
        again = 0;
        db_search_lattice_turn(w->lattice, from.turn, a_star, to_index);
        for (int n = 0; n < (2 * FAR + 1) * (2 * FAR + 1) * (2 * FAR + 1); n++) {
            const int side = 2 * FAR + 1, at[3] = { n % side, n / side % side, n / side / side };
            const double index[3] = { at[0] - FAR, at[1] - FAR, at[2] - FAR };
            double vector[3];
            db_search_pose other = from;
            db_apply(a_star, index, vector);
            if (!beam_of(w, &from, vector, other.beam)) continue;
            const db_agreement found = agree_stretched(w, other);
            if (!db_agreement_is_better(&found, &best)) continue;
            best = found;
            memset(agreement, 0, sizeof *agreement);
            again |= take_better(w, other, pose, agreement);
        }
    }
}

static void choose_pose(wide *w, db_search_pose *pose, db_agreement *agreement) {
    int better = 0;
    for (size_t c = 0; c < w->candidates.count; c++)
        better |= take_better(w, w->candidates.list[c].pose, pose, agreement);
    w->candidates.count = 0;
    if (better) try_other_nodes(w, pose, agreement);
}

/* ln of the number of lattices that were tried if edges differ by more than a tolerance. */
static double ln_edges_tried(const wide *w) {
    const double last = angles[sizeof angles / sizeof *angles - 1] * DB_DEGREE;
    double sum = ln_tried(w);
    for (int e = 0; e < EDGES; e++)
        sum += w->leader[e] == e ? log1p((w->room->edge[e][1] - w->room->edge[e][0]) / last) : 0;
    return sum;
}

/* Takes how much longer the edges of a lattice are; 0: one is outside the room. */
static int take_edges(const wide *w, const db_search_lattice *lattice, db_search_pose *pose) {
    int inside = 1;
    for (int e = 0; e < EDGES; e++) {
        const double factor =
            db_length(lattice->real + 3 * e) / db_length(w->lattice->real + 3 * e);
        pose->longer[e] = factor - 1;
        inside &= pose->scale * factor >= w->room->edge[e][0] &&
                  pose->scale * factor <= w->room->edge[e][1];
    }
    return inside;
}

/* Have other edges brought more spots to nodes than they have taken away, beyond chance? With edges as good as the given ones
 * one is as likely as the other (Q. McNemar, Psychometrika 12, 153, 1947). */
static int is_clearly_nearer(const wide *w) {
    unsigned brought = 0, taken = 0;
    for (size_t n = 0; n < w->count; n++) {
        brought += w->near[1][n] && !w->near[0][n];
        taken += w->near[0][n] && !w->near[1][n];
    }
    const double tried = ln_edges_tried(w) - ln_tried(w);
    return brought > taken && log(gsl_cdf_binomial_Q(brought - 1, 0.5, brought + taken)) + tried <
                                  log(STRETCH_BY_CHANCE);
}

/* The spots of a pose may lack most of the crystal's since one edge of the cell is wrong: tries each edge from other
 * lengths. */
static void stretch_pose(const wide *w, db_search_pose *pose, db_agreement *agreement) {
    enum { STEPS = 2 };
    const double step = 0.02; /* steps of least squares find the way from half of it */
    const db_search_pose from = *pose;
    const int is_cubic = w->leader[1] == 0 && w->leader[2] == 0; /* its edges are the scale */
    if (is_cubic || !(w->room->edge[0][1] > w->room->edge[0][0])) return;
    db_search_pose given = from;
    const db_agreement with_given = improve_as_given(w, &given, w->near[0]);
    const int is_found = db_agreement_log_probability(&with_given) < -DB_CERTAIN;
    for (int e = 0; e < EDGES; e++)
        for (int n = -STEPS; n <= STEPS && w->leader[e] == e; n++) {
            double by[EDGES] = { 0 };
            db_search_lattice lattice = *w->lattice;
            db_search_pose own = from;
            if (n == 0 && e > 0) continue; /* is the same for each edge */
            by[e] = n * step;
            stretch_edges(w, by, &lattice);
            db_agreement found = improve_edges(w, &lattice, &own, w->near[1]);
            found.tried = ln_edges_tried(w);
            if (!take_edges(w, &lattice, &own) || !db_agreement_is_better(&found, agreement) ||
                (is_found && !is_clearly_nearer(w)))
                continue;
            *agreement = found;
            *pose = own;
        }
}

/* Searches with the two shortest edges, which need the fewest directions; with all edges if these do not suffice. */
static db_status search_edges(wide *w, db_search_pose *pose, db_agreement *agreement) {
    int longest = 0;
    for (int i = 1; i < EDGES; i++)
        if (db_length(w->lattice->real + 3 * i) > db_length(w->lattice->real + 3 * longest))
            longest = i;
    const int i = (longest + 1) % EDGES, k = (longest + 2) % EDGES;
    DB_TRY(find_rows(w, i < k ? i : k));
    DB_TRY(find_rows(w, i < k ? k : i));
    try_row_pairs(w, i, k);
    choose_pose(w, pose, agreement);
    if (!db_agreement_is_sure(agreement)) stretch_pose(w, pose, agreement);
    if (2 * agreement->near > agreement->count) return DB_OK;
    DB_TRY(find_rows(w, longest));
    try_row_pairs(w, i, longest);
    try_row_pairs(w, k, longest);
    choose_pose(w, pose, agreement);
    if (!db_agreement_is_sure(agreement)) stretch_pose(w, pose, agreement);
    return DB_OK;
}

db_status db_wide_search(db_context *context, const db_search_lattice *lattice,
                         const db_search_spot *spots, size_t count, const db_search_room *room,
                         db_search_pose *pose, db_agreement *agreement) {
    wide *const w = calloc(1, sizeof *w);
    float *const q = malloc(3 * MOST_PROBED * sizeof *q);
    unsigned char *const near = malloc(2 * count + 1);
    db_status status = db_need_memory(context, w && q && near, "the search with a scale");
    memset(agreement, 0, sizeof *agreement);
    if (status == DB_OK && count > 1) {
        *w = (wide){ .context = context,
                     .lattice = lattice,
                     .count = count,
                     .spots = spots,
                     .room = room,
                     .near = { near, near + count },
                     .candidates = { .most = CANDIDATES } };
        for (int e = 0; e < EDGES; e++) w->leader[e] = leading_edge(lattice, e);
        for (int i = 0; i < 3; i++) {
            w->q[i] = q + i * MOST_PROBED;
            for (size_t n = 0; n < count && n < MOST_PROBED; n++) w->q[i][n] = (float)spots[n].q[i];
        }
        status = search_edges(w, pose, agreement);
    }
    free(w);
    free(q);
    free(near);
    return status;
}
