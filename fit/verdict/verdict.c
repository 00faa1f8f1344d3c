/* Verdict on a refined model by spots that were found without it: are they likelier with the model than with its
 * rivals (docs/theory/verdict.md, Rivals)? */
#include "fit/verdict/verdict.h"

#include "base/context_internal.h"
#include "fit/config/certain.h"
#include "fit/objective/model_image.h"
#include "fit/pixels/shoeboxes.h"
#include "fit/search/agreement.h"
#include "fit/verdict/verdict_tests.h"

#include <math.h>
#include <stdlib.h>

typedef struct judge {
    db_context *context;
    const db_experiment *model;
    const db_fit_data *data;
    float *model_image; /* the model's own image; NULL: rendered if it is wanted and if `renders` */
    int renders;
    const db_observed_spots *spots;
    const db_evidence *evidence;
    db_fit_verdict *verdict;
    db_other_indices
        *other; /* gets the likeliest other indices, which are then not tested; or NULL */
} judge;

/* The direction of rows with the least margin, and this margin. */
typedef struct row_margin {
    int direction;
    double least;
} row_margin;

static db_status over_rows(db_context *context, const db_evidence *e, db_rivalry how,
                           row_margin *row) {
    double margins[DB_ROW_DIRECTIONS];
    DB_TRY(db_margins_over_rows(context, e, how, margins));
    *row = (row_margin){ 0, margins[0] };
    for (int d = 1; d < DB_ROW_DIRECTIONS; d++)
        if (margins[d] < row->least) *row = (row_margin){ d, margins[d] };
    return DB_OK;
}

/* Margins over rows for the spots of the model's own image, found like the measured ones, for both ways of
 * comparing. */
static db_status look_at_own(const judge *j, row_margin *instead, row_margin *alone,
                             double *spots) {
    db_measured_image image = *j->data->image; /* borrows */
    db_strong_pixels strong;
    db_observed_spots found;
    db_evidence own;
    const db_fit_data own_data = { &image, &strong, j->data->settings };
    image.value = j->model_image;
    DB_TRY(db_strong_pixels_find(j->context, &image, j->data->settings, &strong));
    db_status status = db_judged_spots_find(j->context, j->model, &own_data, &found);
    db_strong_pixels_clear(&strong);
    DB_TRY(status);
    status = db_evidence_make(j->context, j->model, &found, &own);
    db_observed_spots_clear(&found);
    DB_TRY(status);
    *spots = (double)own.judged;
    status = over_rows(j->context, &own, DB_RIVAL_INSTEAD, instead);
    if (status == DB_OK) status = over_rows(j->context, &own, DB_RIVAL_ALONE, alone);
    db_evidence_clear(&own);
    return status;
}

/* Renders the model's own image, each reflection with its best intensity. */
static db_status look_at_rendered(const judge *j, row_margin *instead, row_margin *alone,
                                  double *spots) {
    const db_measured_image *const image = j->data->image;
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    size_t explained;
    judge with_image = *j;
    db_fit_settings settings = *j->data->settings; /* borrows */
    db_fit_data data = *j->data;
    data.settings = &settings;
    if (settings.shoebox_half_width < 1) /* of stages of moments alone */
        DB_TRY(db_shoebox_size_choose(j->context, j->model, &settings));
    float *const planes = calloc(2 * pixels, sizeof *planes);
    if (!planes) return db_fail_memory(j->context, "the model's own image");
    db_model_images images = { .whole = planes, .background = planes + pixels, .scale = 1 };
    with_image.model_image = planes;
    db_status status = db_model_image(j->context, j->model, &data, &explained, &images);
    free(images.reflection);
    if (status == DB_OK) status = look_at_own(&with_image, instead, alone, spots);
    free(planes);
    return status;
}

/* If spots overlap, they are at random places in a row even for a right model, as in its own image. Then the model
 * must explain spots that rows alone do not, at least half as many as in its own image; of a shot of many, half are
 * enough even if they are too few to prove the cell. */
static db_status judge_overlap(const judge *j, row_margin *row) {
    const double part_of_own = 0.5, judged = (double)j->evidence->judged;
    double *const limit = &j->verdict->test[DB_FIT_TEST_ROWS].least;
    row_margin instead = { .least = 0 }, own = { .least = 0 }, alone;
    double spots = 1;
    if (j->model_image)
        DB_TRY(look_at_own(j, &instead, &own, &spots));
    else if (j->renders)
        DB_TRY(look_at_rendered(j, &instead, &own, &spots));
    if (instead.least * judged >= *limit * spots) return DB_OK;
    DB_TRY(over_rows(j->context, j->evidence, DB_RIVAL_ALONE, &alone));
    const double enough = part_of_own * own.least * judged / spots;
    if (!(alone.least > enough)) return DB_OK;
    *row = alone;
    if (j->renders) *limit = fmin(*limit, enough);
    return DB_OK;
}

static void test_rows(const judge *j, const row_margin *row) {
    const char edge = "abc"[row->direction];
    db_verdict_test(
        j->verdict, DB_FIT_TEST_ROWS, row->least,
        "spots lie along the rows of the lattice parallel to %c*, but not at its nodes: the log "
        "likelihood of the nodes exceeds the one of random places in these rows by %.1f; expected "
        "at least %.1f: edge %c of the cell, the orientation, the beam centre or the distance is "
        "wrong, or spots are farther from their predicted places than from each other",
        edge, row->least, j->verdict->test[DB_FIT_TEST_ROWS].least, edge);
}

static db_status test_quarters(const judge *j) {
    double least;
    DB_TRY(db_margin_in_quarters(j->context, j->evidence, &least));
    db_verdict_test(
        j->verdict, DB_FIT_TEST_QUARTERS, least,
        "one quarter of the spots, in one part of the detector, does not lie at nodes of the "
        "lattice: the log likelihood of the nodes exceeds the one of random places by "
        "%.1f; expected at least %.1f: the model fits only another part of the "
        "detector: cell, beam centre or orientation are wrong",
        least, j->verdict->test[DB_FIT_TEST_QUARTERS].least);
    return DB_OK;
}

static void test_cell(const judge *j, db_fit_test_kind kind, const char *what, double margin,
                      const double cell[6], const char *wrong) {
    db_verdict_test(j->verdict, kind, margin,
                    "%s (%.4g, %.4g, %.4g A, %.4g, %.4g, %.4g degree): the log likelihood of the "
                    "spots exceeds the one with that cell by %.1f; expected at least %.1f: an edge "
                    "is too %s",
                    what, cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], margin,
                    j->verdict->test[kind].least, wrong);
}

static void test_moved(const judge *j, const db_moved_model *moved, double margin) {
    static const char *const what[] = { "the model", "half of the model's nodes",
                                        "a third of the model's nodes",
                                        "a quarter of the model's nodes" };
    db_verdict_test(
        j->verdict, DB_FIT_TEST_MOVED, margin,
        "%s, turned by %.2g degree and shifted by %.1f, %.1f pixels (fast, slow), raises the log "
        "likelihood of the spots by %.1f; expected at most %.1f: the orientation or the beam "
        "centre "
        "is wrong%s",
        what[moved->times - 1], moved->turn, moved->shift[0], moved->shift[1], -margin,
        -j->verdict->test[DB_FIT_TEST_MOVED].least,
        moved->times > 1 ? ", and an edge is too long" : "");
}

/* A test with moved models, unless one of these is a likelier rival. */
static void test_renumbered(const judge *j, const db_renumbered_model *r, double margin) {
    if (!(margin < fmin(0, j->verdict->test[DB_FIT_TEST_MOVED].found))) return;
    db_verdict_test(
        j->verdict, DB_FIT_TEST_MOVED, margin,
        "the model with indices that differ by %d, %d, %d, turned by %.2g degree and with the beam "
        "centre moved by %.1f, %.1f pixels (fast, slow), raises the log likelihood of the spots by "
        "%.1f; expected at most %.1f: the orientation and the beam centre are wrong",
        r->by[0], r->by[1], r->by[2], r->turn, r->shift[0], r->shift[1], -margin,
        -j->verdict->test[DB_FIT_TEST_MOVED].least);
}

static void test_lattice(const judge *j) {
    const double margin = db_margin_over_none(j->evidence);
    db_verdict_test(
        j->verdict, DB_FIT_TEST_LATTICE, margin,
        "of the %zu strongest spots only %zu lie at nodes of the lattice that the model excites: "
        "the log likelihood of the nodes exceeds the one of random places by %.1f; expected at "
        "least %.1f: the orientation or the cell is wrong (model.find_orientation: yes looks for "
        "the orientation), the spots belong to another crystal, or there are too few",
        j->verdict->spots, j->verdict->at, margin, j->verdict->test[DB_FIT_TEST_LATTICE].least);
}

static void test_stretched(const judge *j, const db_moved_model *moved) {
    db_verdict_test(
        j->verdict, DB_FIT_TEST_STRETCHED, moved->margin,
        "edges that are %.4f, %.4f, %.4f times as long raise the log likelihood of the spots by "
        "%.1f; "
        "expected at most %.1f: an edge of the cell is wrong, or all edges and the distance",
        moved->edge[0], moved->edge[1], moved->edge[2], -moved->margin,
        -j->verdict->test[DB_FIT_TEST_STRETCHED].least);
}

/* If rows are likelier than this rival, it is not tested: NAN. */
static double beside_rows(double over_rival, double over_rows) {
    return over_rows < 0 && over_rival > over_rows ? (double)NAN : over_rival;
}

/* A named centring leaves some of the cell's nodes; with all of them the cell is a larger one. */
static db_status test_larger(const judge *j, double in_rows) {
    const int centring = j->data->settings->centring;
    db_other_cell larger;
    double centred;
    DB_TRY(db_margin_over_larger(j->context, j->evidence, &larger));
    DB_TRY(
        db_margin_of_centring(j->context, j->evidence, j->model->crystal.cell, centring, &centred));
    if (centred < larger.margin)
        db_verdict_test(
            j->verdict, DB_FIT_TEST_LARGER, beside_rows(centred, in_rows),
            "spots lie at reflections that the centring %c of the named symmetry forbids: "
            "their log likelihood with the centred lattice exceeds the one with all nodes of "
            "the cell by %.1f; expected at least %.1f: the symmetry or the orientation is wrong",
            centring, centred, j->verdict->test[DB_FIT_TEST_LARGER].least);
    else
        test_cell(j, DB_FIT_TEST_LARGER,
                  "spots lie between the nodes of the lattice, at nodes of a larger cell",
                  beside_rows(larger.margin, in_rows), larger.cell, "short");
    return DB_OK;
}

/* All places of a primitive cell are right for a centred lattice, too; the cell only has more. So this is no failed test. */
static db_status look_at_centrings(const judge *j, db_centrings *centrings) {
    return db_centrings_of_spots(j->context, j->evidence, j->model->crystal.cell,
                                 j->data->settings->centring, centrings);
}

static void test_smaller(const judge *j, const db_other_cell *smaller) {
    test_cell(j, DB_FIT_TEST_SMALLER, "a smaller cell explains all spots", smaller->margin,
              smaller->cell, "long");
}

/* Nodes of small blocks are thick: they stay on the Ewald sphere over larger turns near the beam than far from it. Other
 * indices may lessen the turns of nodes near the beam although the model is right. So they must be likelier with thick nodes,
 * too. */
static db_status look_at_thick(const judge *j, db_renumbered_model *renumbered) {
    const int has_failed = renumbered->margin < j->verdict->test[DB_FIT_TEST_MOVED].least;
    db_evidence thick;
    db_renumbered_model other;
    if (!has_failed && !j->other) return DB_OK;
    DB_TRY(db_evidence_make(j->context, j->model, j->spots, &thick));
    db_status status = db_evidence_thicken(j->context, &thick);
    if (status == DB_OK && j->other)
        j->other->own += db_margin_over_none(&thick) - db_margin_over_none(j->evidence);
    if (status == DB_OK && has_failed)
        status = db_margin_over_renumbered(j->context, j->model, j->data->settings, j->spots,
                                           &thick, &other);
    db_evidence_clear(&thick);
    if (status == DB_OK && has_failed && !(other.margin <= renumbered->margin)) *renumbered = other;
    return status;
}

/* The first failed test gives the reason, so rivals that say what is wrong come before rows. */
static db_status judge_nodes(const judge *j, int may_be_moved) {
    db_context *const context = j->context;
    const db_evidence *const e = j->evidence;
    row_margin row;
    db_other_cell smaller;
    db_moved_model moved, stretched;
    db_renumbered_model renumbered;
    DB_TRY(over_rows(context, e, DB_RIVAL_INSTEAD, &row));
    DB_TRY(db_margin_over_smaller(context, e, j->model->crystal.cell, j->data->settings->centring,
                                  &smaller));
    DB_TRY(db_margin_over_moved(context, e, &moved));
    if (!may_be_moved) DB_TRY(db_margin_over_stretched(context, e, &stretched));
    DB_TRY(
        db_margin_over_renumbered(context, j->model, j->data->settings, j->spots, e, &renumbered));
    if (j->other) *j->other = renumbered.likeliest;
    DB_TRY(look_at_thick(j, &renumbered));
    const double in_rows = row.least;
    if (in_rows < j->verdict->test[DB_FIT_TEST_ROWS].least) DB_TRY(judge_overlap(j, &row));
    test_lattice(j);
    DB_TRY(test_larger(j, in_rows));
    if (!may_be_moved || moved.times > 1) test_moved(j, &moved, beside_rows(moved.margin, in_rows));
    if (!j->other) test_renumbered(j, &renumbered, beside_rows(renumbered.margin, in_rows));
    test_smaller(j, &smaller);
    test_rows(j, &row);
    if (!may_be_moved) test_stretched(j, &stretched);
    return test_quarters(j);
}

static void begin(const db_evidence *e, db_fit_verdict *v) {
    double square = 0;
    db_verdict_forget(v);
    v->spots = e->judged;
    for (size_t i = 0; i < e->judged; i++) v->at += (size_t)db_evidence_is_at(e, i);
    for (int half = 0; half < DB_HALVES; half++)
        square += 2 * e->width[half].place * e->width[half].place / DB_HALVES;
    v->position_rms = v->at ? sqrt(square) : (double)NAN;
}

db_status db_verdict_of_places(db_context *context, const db_experiment *model,
                               const db_experiment *start, const db_fit_data *data,
                               const db_observed_spots *spots, const db_evidence *evidence,
                               float *model_image, db_fit_verdict *verdict) {
    const judge j = { context, model, data, model_image, 0, spots, evidence, verdict, NULL };
    db_centrings centrings;
    db_evidence before;
    begin(evidence, verdict);
    DB_TRY(judge_nodes(&j, 0));
    DB_TRY(look_at_centrings(&j, &centrings));
    verdict->centring = db_unnamed_centring(&centrings, &verdict->centring_gain);
    if (!start) return DB_OK;
    DB_TRY(db_evidence_make(context, start, spots, &before));
    db_verdict_test(verdict, DB_FIT_TEST_START,
                    db_margin_over_none(evidence) - db_margin_over_none(&before), "%s", "");
    db_evidence_clear(&before);
    return DB_OK;
}

/* For a shot of many, whose orientation and shared parameters may still be wrong: not compared with rows. */
static db_status judge_orientation(const judge *j) {
    double margin;
    DB_TRY(db_margin_over_turned(j->context, j->evidence, &margin));
    db_verdict_test(
        j->verdict, DB_FIT_TEST_LATTICE, margin,
        "%zu of the %zu strongest spots lie at nodes of the lattice, and about as many do if it is "
        "turned by some degrees about one of its rows: the log likelihood is higher than of the "
        "turned lattice by %.1f; expected at least %.1f: the orientation or "
        "the cell is wrong",
        j->verdict->at, j->verdict->spots, margin, j->verdict->test[DB_FIT_TEST_LATTICE].least);
    return DB_OK;
}

/* For a shot of many. A right model has at least a quarter of its margin over random places also over a smaller
 * cell (docs/results/verdict.md); without enough spots for that, the test is left out. */
static db_status judge_multiples(const judge *j) {
    const double part_beside = 0.25;
    db_other_cell smaller;
    row_margin row;
    DB_TRY(over_rows(j->context, j->evidence, DB_RIVAL_INSTEAD, &row));
    DB_TRY(test_larger(j, row.least));
    if (!(part_beside * db_margin_over_none(j->evidence) >
          j->verdict->test[DB_FIT_TEST_SMALLER].least))
        return DB_OK;
    DB_TRY(db_margin_over_smaller(j->context, j->evidence, j->model->crystal.cell,
                                  j->data->settings->centring, &smaller));
    test_smaller(j, &smaller);
    return DB_OK;
}

/* For a shot of many, whose cell need not be confirmed by this shot alone. */
static db_status judge_shot(const judge *j, int may_be_moved) {
    const double most = DB_MARGIN_PER_SPOT * (double)j->evidence->judged;
    double *const rows = &j->verdict->test[DB_FIT_TEST_ROWS].least,
                  *const smaller = &j->verdict->test[DB_FIT_TEST_SMALLER].least;
    *rows = fmin(*rows, most);
    *smaller = fmin(*smaller, most);
    return judge_nodes(j, may_be_moved);
}

/* For a shot of many, before the joint refinement. */
static db_status judge_start(const judge *j) {
    test_lattice(j);
    DB_TRY(judge_orientation(j));
    DB_TRY(judge_multiples(j));
    return test_quarters(j);
}

static db_status judge_image(db_context *context, const db_experiment *model,
                             const db_fit_data *data, db_judgement how,
                             const db_shot_panels *panels, db_centrings *centrings,
                             db_fit_verdict *verdict, db_other_indices *other) {
    db_observed_spots spots;
    db_evidence evidence;
    DB_TRY(db_judged_spots_find(context, model, data, &spots));
    db_status status = db_evidence_make(context, model, &spots, &evidence);
    if (status != DB_OK) {
        db_observed_spots_clear(&spots);
        return status;
    }
    const judge j = { context, model,     data,    NULL, how == DB_JUDGE_SHOT,
                      &spots,  &evidence, verdict, other };
    begin(&evidence, verdict);
    status = how == DB_JUDGE_LATTICE ? judge_nodes(&j, 1)
             : how == DB_JUDGE_START ? judge_start(&j)
                                     : judge_shot(&j, how == DB_JUDGE_SHARING);
    if (status == DB_OK && centrings) status = look_at_centrings(&j, centrings);
    if (status == DB_OK && how == DB_JUDGE_SHOT && evidence.judged >= DB_ENOUGH_JUDGED)
        status = db_verdict_of_halves(context, &evidence, verdict);
    if (status == DB_OK && panels && verdict->test[DB_FIT_TEST_LATTICE].passed)
        status = db_panel_equations_add(context, model, data->settings, &spots, &evidence, panels);
    db_evidence_clear(&evidence);
    db_observed_spots_clear(&spots);
    return status;
}

db_status db_verdict_of_shot(db_context *context, const db_experiment *model,
                             const db_fit_data *data, db_judgement how,
                             const db_shot_panels *panels, db_centrings *centrings,
                             db_fit_verdict *verdict) {
    return judge_image(context, model, data, how, panels, centrings, verdict, NULL);
}

db_status db_verdict_of_lattice(db_context *context, const db_experiment *model,
                                const db_fit_data *data, db_fit_verdict *verdict,
                                db_other_indices *other) {
    return judge_image(context, model, data, DB_JUDGE_LATTICE, NULL, NULL, verdict, other);
}

db_status db_verdict_of_halves(db_context *context, const db_evidence *evidence,
                               db_fit_verdict *verdict) {
    double least;
    DB_TRY(db_margin_in_halves(context, evidence, &least));
    db_verdict_test(verdict, DB_FIT_TEST_HALVES, least,
                    "the lattice, fitted to the spots in one half of the detector, does not meet "
                    "those in the other half: their log likelihood at its nodes exceeds the one "
                    "at random places by %.1f; expected at least %.1f: the cell, the beam centre "
                    "or the geometry (an axis with the wrong sign, a displaced panel) is wrong",
                    least, verdict->test[DB_FIT_TEST_HALVES].least);
    return DB_OK;
}

/* A further parameter must raise the log likelihood of spots by half the ln of their number (G. Schwarz, Annals of
 * Statistics 6, 461, 1978). If only pixels ask for another distance, it must exceed the limit of the other tests,
 * unless they differ by many errors. */
void db_verdict_of_distance(int by_pixels, db_fit_result *result) {
    const double few = 5e-3; /* of the distance: images hardly ever have a better one */
    const double far = 10;   /* errors */
    const double held = result->experiment.detector.distance, step = result->distance_step,
                 error = result->distance_error, off = fabs(step) / error;
    db_fit_verdict *const v = &result->verdict;
    const double enough = by_pixels && off < far ? DB_CERTAIN : 0.5 * log((double)v->spots);
    db_verdict_test(v, DB_FIT_TEST_DISTANCE,
                    fabs(step) < few * held || !(result->distance_gain > enough) ? 0 * off : off,
                    "the distance was held at %.6g mm; the spots fit %.6g +- %.2g mm, where "
                    "their log likelihood is higher by %.1f; expected a difference of at most %g "
                    "errors: edges of the cell are wrong by the same factor; correct the distance, "
                    "or refine it with a range",
                    held, held + step, error, result->distance_gain,
                    v->test[DB_FIT_TEST_DISTANCE].most);
}
