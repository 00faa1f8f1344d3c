#define _POSIX_C_SOURCE 200809L
/* Reading fit configurations: values arrive, mistakes are named with file, line, key and what was
 * meant. */

#include "support/context.h"
#include "fit/config/algorithms.h"
#include "fit/config/config_print.h"
#include "fit/scratch_file.h"
#include "support/notices.h"

#include <dualbragg/fit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static db_fit_config config;

#define READ(text, ...) read_with(text, (const char *const[]){ __VA_ARGS__, NULL })

static db_status read_with(const char *text, const char *const *overrides) {
    size_t count = 0;
    while (overrides[count]) count++;
    return db_fit_config_read(context, scratch_file("fit.yaml", text), overrides, count, &config);
}

static const char complete[] =
    "# a comment\n"
    "image: frame.cbf\n"
    "model:\n"
    "  matrix: crystal.mat\n"
    "  cell: [58.4, 58.4, 152.2, 90, 90, 90]\n"
    "  shape: round\n"
    "  Ncells: [30, 31, 12.5]\n"
    "  mosaic_spread: 0.1\n"
    "  dispersion: 0.5\n"
    "intensity: free\n"
    "refine:\n"
    "  misset_x: {range: 0.5, scale: 0.02}\n"
    "  cell_a: {min: 57, max: 60}\n"
    "  cell_b: {follows: cell_a}\n"
    "  distance:\n"
    "stages:\n"
    "  - {name: coarse, refine: [misset_x], dmin: 6, blur: 3, algorithm: LD_SLSQP}\n"
    "  - name: fine\n"
    "    refine: all\n"
    "    max_evaluations: 7\n"
    "data:\n"
    "  dmin: 2.5\n"
    "  roi: [10, 20, 30, 40]\n"
    "output: out/thau\n";

/* What a later list of the cell leaves out is open, and no longer what an earlier one said. */
static void a_cell_may_leave_angles_and_edges_out(void **state) {
    (void)state;
    static const char *const lists[] = { "model.cell=[57.5, 58]", "model.cell=57.5 58" };
    for (size_t i = 0; i < 2; i++) {
        const char *const overrides[] = { lists[i], NULL };
        assert_int_equal(read_with(complete, overrides), DB_OK);
        assert_true(config.setup.cell[0] == 57.5 && config.setup.cell[1] == 58);
        for (int k = 2; k < 6; k++) assert_true(isnan(config.setup.cell[k]));
        char *text = NULL;
        size_t length;
        FILE *const stream = open_memstream(&text, &length);
        db_fit_config_print(&config, DB_CONFIG_PLAIN, stream);
        assert_int_equal(fclose(stream), 0);
        assert_non_null(strstr(text, "  cell: [57.5, 58]\n"));
        free(text);
    }
}

static void values_arrive(void **state) {
    (void)state;
    assert_int_equal(READ(complete, NULL), DB_OK);
    const db_fit_settings *const s = &config.settings;
    const char *const folder_end = strrchr(config.config_file, '/');
    char expected[256];
    snprintf(expected, sizeof expected, "%.*s/out/thau", (int)(folder_end - config.config_file),
             config.config_file);
    assert_string_equal(config.output_prefix, expected); /* relative to the YAML file */
    assert_string_equal(strrchr(config.image_file, '/'), "/frame.cbf");
    assert_ptr_equal(config.setup.matrix_file, config.matrix_file);
    assert_true(config.setup.cell[2] == 152.2);
    assert_int_equal(config.setup.shape, DB_SHAPE_ROUND);
    assert_true(config.setup.Ncells[2] == 12.5);
    assert_true(config.setup.dispersion == 0.5 * 0.01);
    assert_true(isnan(config.setup.wavelength) && config.header_geometry);
    assert_int_equal(s->intensity, DB_FIT_FREE);
    assert_int_equal(s->parameter_count, 4);
    assert_int_equal(s->parameters[0].parameter, DB_MISSET_X);
    assert_true(config.settings.parameters[0].range == 0.5 && s->parameters[0].scale == 0.02);
    assert_true(s->parameters[1].lower == 57 && s->parameters[1].upper == 60 &&
                isnan(s->parameters[1].scale));
    assert_int_equal(s->parameters[2].follows.number, DB_CELL_A);
    assert_true(isinf(s->parameters[3].lower) && isnan(config.settings.parameters[3].range));
    assert_int_equal(s->stage_count, 2);
    assert_string_equal(s->stages[0].name, "coarse");
    enum { MISSET_X, CELL_A, CELL_B, DISTANCE };
    assert_int_equal(s->parameters[CELL_A].parameter, DB_CELL_A);
    assert_int_equal(s->parameters[CELL_B].parameter, DB_CELL_B);
    assert_int_equal(s->parameters[DISTANCE].parameter, DB_DISTANCE);
    assert_true(db_fit_parameter_in_stage(&s->parameters[MISSET_X], 0));
    assert_false(db_fit_parameter_in_stage(&s->parameters[CELL_A], 0));
    assert_true(s->stages[0].dmin == 6 && s->stages[0].blur == 3);
    assert_string_equal(db_stage_algorithm(&s->stages[0]), "LD_SLSQP");
    assert_true(db_fit_parameter_in_stage(&s->parameters[MISSET_X], 1));
    assert_true(db_fit_parameter_in_stage(&s->parameters[DISTANCE], 1));
    assert_true(db_fit_parameter_in_stage(&s->parameters[CELL_B], 1)); /* goes with cell_a */
    assert_false(db_fit_parameter_in_stage(&s->parameters[CELL_B], 0));
    assert_int_equal(s->stages[1].max_evaluations, 7);
    assert_true(s->dmin == 2.5);
    assert_int_equal(s->roi[3], 40);
}

/* Joint intensities bring the scale of each shot, and a stage, the last. */
static void joint_intensities(void **state) {
    (void)state;
    static const char text[] = "shots: {list: shots.txt}\n"
                               "model: {cell: [34, 34, 48, 90, 90, 90], symmetry: P43212}\n"
                               "intensity: joint\n"
                               "intensities: {dmin: 2.5, anomalous: no, reindex: no, passes: 7}\n"
                               "refine: {misset_x: {}, b_factor: {}}\n"
                               "stages: [{name: own, refine: all}]\n";
    assert_int_equal(READ(text, NULL), DB_OK);
    const db_fit_settings *const s = &config.settings;
    assert_int_equal(s->intensity, DB_FIT_FREE);
    assert_true(s->joint.wanted && !s->joint.anomalous && !s->joint.reindex &&
                s->joint.passes == 7);
    assert_true(s->joint.dmin == 2.5 && isnan(s->joint.restraint));
    assert_string_equal(s->amplitude_group, "P43212");
    assert_int_equal(s->parameter_count, 3);
    assert_int_equal(s->parameters[2].parameter, DB_SCALE);
    assert_int_equal(s->stage_count, 2);
    assert_string_equal(s->stages[1].name, "intensities");
    assert_int_equal(s->stages[1].kind, DB_STAGE_INTENSITIES);
    /* What free intensities would take is refined with the joint ones alone. */
    for (size_t i = 0; i < 3; i++) {
        const int degenerate = s->parameters[i].parameter != DB_MISSET_X;
        assert_int_equal(db_fit_parameter_in_stage(&s->parameters[i], 0), !degenerate);
        assert_true(db_fit_parameter_in_stage(&s->parameters[i], 1));
    }
}

/* What a stage does is no matter of its name; it may be written down, as in refined models. */
static void the_stage_of_joint_intensities_is_told_by_its_algorithm(void **state) {
    (void)state;
    const db_fit_settings *const s = &config.settings;
#define JOINT                                                                                      \
    "shots: {list: shots.txt}\nmodel: {cell: [34, 34, 48, 90, 90, 90], symmetry: P43212}\n"        \
    "intensity: joint\nrefine: {misset_x: {}}\n"
    assert_int_equal(READ(JOINT "stages: [{name: amplitudes, refine: all}]\n", NULL), DB_OK);
    assert_int_equal(s->stage_count, 2);
    assert_int_equal(s->stages[0].kind, DB_STAGE_PIXELS);
    assert_int_equal(s->stages[1].kind, DB_STAGE_INTENSITIES);
    assert_int_equal(READ(JOINT "stages: [{refine: all}, {algorithm: intensities}]\n", NULL),
                     DB_OK);
    assert_string_equal(s->stages[0].name, "no. 1"); /* messages say "stage no. 1" */
    assert_int_equal(s->stage_count, 2);
    assert_int_equal(s->stages[1].kind, DB_STAGE_INTENSITIES);
}

static void arguments_go_over_the_file(void **state) {
    (void)state;
    assert_int_equal(READ(complete, "data.dmin=3", "stages.fine.dmin=4", "stages.1.blur=2",
                          "model.Ncells=[5, 6, 7]", "refine.misset_y={range: 1}",
                          "intensity.hkl=F.hkl", "image=other.cbf", "data.gain=2"),
                     DB_OK);
    assert_true(config.settings.dmin == 3 && config.settings.gain == 2);
    assert_true(config.settings.stages[1].dmin == 4 && config.settings.stages[0].blur == 2);
    assert_true(config.setup.Ncells[2] == 7);
    assert_int_equal(config.settings.parameter_count, 5);
    assert_int_equal(config.settings.intensity, DB_FIT_KNOWN);
    assert_string_equal(config.hkl_file,
                        "F.hkl"); /* of the command line: relative to the working directory */
    assert_string_equal(config.image_file, "other.cbf");
}

static void a_photon_energy_is_a_wavelength(void **state) {
    (void)state;
    assert_int_equal(READ(complete, "model.energy=12800"), DB_OK);
    assert_true(fabs(config.setup.wavelength - 0.96862655) < 1e-8);
    assert_true(config.setup.wavelength_given && isnan(config.energy));
}

/* Keys that had other names once are read, and told; the command line wins whichever name it uses. */
static void former_keys_are_read(void **state) {
    (void)state;
    static const char file[] = "image: a.img\nmodel:\n  cells: [1, 2, 3]\nrefine: {misset_x: {}}\n",
                      known[] =
                          "image: a.img\nintensity: {known: F.hkl, columns: F, space_group: P 4}\n"
                          "refine: {misset_x: {}}\n",
                      joint[] = "shots: {list: shots.txt}\nmodel: {cell: [34, 34, 48, 90, 90, 90], "
                                "symmetry: P43212}\nintensity: joint\namplitudes: {d_min: 2.5}\n"
                                "refine: {misset_x: {}}\n",
                      now[] = "shots: {list: shots.txt}\nmodel: {cell: [34, 34, 48, 90, 90, 90], "
                              "symmetry: P43212}\nintensity: joint\nintensities: {dmin: 2.4}\n"
                              "refine: {misset_x: {}}\n";
    db_context_set_notices(context, keep_notice, NULL);
    notices[0] = '\0';
    assert_int_equal(READ(file, NULL), DB_OK);
    assert_true(config.setup.Ncells[2] == 3);
    assert_non_null(strstr(notices, "fit.yaml:3: model.cells is called model.Ncells now"));
    assert_int_equal(READ(known, NULL), DB_OK);
    assert_string_equal(strrchr(config.hkl_file, '/'), "/F.hkl");
    assert_string_equal(config.hkl_columns, "F");
    assert_string_equal(config.hkl_space_group, "P 4");
    assert_non_null(strstr(notices, "fit.yaml:2: intensity.known is called intensity.hkl now"));
    assert_non_null(strstr(notices, "intensity.columns is called intensity.hkl_columns now"));
    assert_non_null(
        strstr(notices, "intensity.space_group is called intensity.hkl_space_group now"));
    assert_int_equal(READ(known, "intensity.known=G.hkl"), DB_OK);
    assert_string_equal(config.hkl_file, "G.hkl");
    assert_int_equal(READ(joint, NULL), DB_OK);
    assert_true(config.settings.joint.dmin == 2.5);
    assert_non_null(strstr(notices, ": amplitudes is called intensities now"));
    assert_non_null(strstr(notices, "intensities.d_min is called intensities.dmin now"));
    assert_int_equal(READ(joint, "intensities.passes=7"), DB_OK);
    assert_true(config.settings.joint.dmin == 2.5 && config.settings.joint.passes == 7);
    assert_int_equal(READ(now, "amplitudes.passes=8"), DB_OK);
    assert_true(config.settings.joint.dmin == 2.4 && config.settings.joint.passes == 8);
    notices[0] = '\0';
    assert_int_equal(READ(now, "amplitudes.d_min=2.3"), DB_OK);
    assert_true(config.settings.joint.dmin == 2.3);
    const char *const told = strstr(notices, "amplitudes is called");
    assert_true(told && !strstr(told + 1, "amplitudes is called")); /* once */
    assert_int_equal(READ(now, "amplitudes={d_min: 2.2}"), DB_OK);
    assert_true(config.settings.joint.dmin == 2.2);
    assert_int_equal(READ(file, "model.Ncells=[4, 5, 6]"), DB_OK);
    assert_true(config.setup.Ncells[2] == 6);
    assert_int_equal(READ(file, "model.cells=[7, 8, 9]"), DB_OK);
    assert_true(config.setup.Ncells[2] == 9);
    assert_int_equal(READ(complete, "model.cells=[5, 6, 7]"), DB_OK);
    assert_true(config.setup.Ncells[2] == 7);
    assert_non_null(
        strstr(notices, "model.cells=[5, 6, 7]: model.cells is called model.Ncells now"));
    db_context_set_notices(context, NULL, NULL);
}

#define MINIMAL "image: a.img\nrefine:\n  misset_x: {range: 1}\n"

static const struct {
    const char *text, *argument,
        *message; /* message: parts, separated by '|', that must all appear in this order */
} mistakes[] = {
    /* structure of the file */
    { "", NULL, "fit.yaml: empty" },
    { "image: [a\nrefine:\n", NULL, "fit.yaml:2: " },
    { "image: a\n\tmodel: b\n", NULL, "fit.yaml:2: " },
    { "model:\n\tcell: [1]\n", NULL, "fit.yaml:2: column 1: expected spaces|found a tab" },
    { "data: {image: a.img}\n", NULL,
      "fit.yaml:1: data.image: unknown key here; it belongs to the top level" },
    { MINIMAL "model: {dmin: 3}\n", NULL, "model.dmin: unknown key here; it belongs to data" },
    { "- a\n- b\n", NULL, "fit.yaml:1: expected 'key: value'" },
    { MINIMAL "image: b\n", NULL, "fit.yaml:4: 'image' is given twice, first in line 1" },
    { MINIMAL "---\nimage: b\n", NULL, "fit.yaml:5: a second document" },
    { "a: &x [*x]\n", NULL, "fit.yaml:1: nested too deeply" },
    /* intensities that many shots share */
    { "shots: {list: a.txt}\nintensity: joint\nrefine: {misset_x: {}}\n", NULL,
      "fit.yaml:2: intensity: joint needs the space group" },
    { MINIMAL "intensities: {dmin: 2}\n", NULL,
      "fit.yaml:4: intensities: |expected intensity: joint" },
    { "shots: {list: a.txt}\nmodel: {symmetry: P41}\nintensity: joint\n"
      "intensities: {dmin: 0}\nrefine: {misset_x: {}}\n",
      NULL, "fit.yaml:4: intensities.dmin: expected" },
    { "shots: {list: a.txt}\nmodel: {symmetry: P41}\nintensity: joint\n"
      "intensities: {energies: [7.1, 7.2]}\nrefine: {misset_x: {}}\n",
      NULL, "fit.yaml:4: intensities.energies: 7.1 to 7.2 look like keV: energies are in eV" },
    { "shots: {list: a.txt}\nmodel: {symmetry: P41}\nintensity: joint\n"
      "intensities: {energies: [7200, 7100]}\nrefine: {misset_x: {}}\n",
      NULL, "fit.yaml:4: intensities.energies: expected least < largest (eV), found 7200, 7100" },
    { MINIMAL "intensity: {hkl: F.mtz, refine_amplitudes: 0.3}\n", NULL,
      "fit.yaml:4: intensity.refine_amplitudes: |intensity: joint|{reference: F.mtz, "
      "reference_restraint: 0.3}" },
    { MINIMAL "intensity: {hkl: F.mtz}\n", "intensity.refine_amplitudes=0.2",
      "intensity.refine_amplitudes=0.2: intensity.refine_amplitudes: |shots.list" },
    { MINIMAL "intensity: shared\n", NULL, "expected free, joint or {hkl: FILE}, found 'shared'" },
    /* series */
    { MINIMAL "shots: {series: yes}\n", NULL,
      "fit.yaml:4: shots.series: needs many shots; expected shots.list" },
    { MINIMAL, "shots.knots=3",
      "argument 'shots.knots=3': shots.knots: needs a series; expected series: yes" },
    { "shots: {list: a.txt, knots: 3}\nrefine: {misset_x: {}}\n", NULL,
      "fit.yaml:1: shots.knots: needs a series" },
    /* unknown names */
    { MINIMAL "modell:\n  Ncells: [1, 2, 3]\n", NULL,
      "fit.yaml:4: modell: unknown key; the nearest known one is 'model'" },
    { MINIMAL "model: {cells: [1, 2, 3], Ncells: [1, 2, 3]}\n", NULL,
      "fit.yaml:4: model.cells and model.Ncells are one key" },
    { MINIMAL "model:\n  wavelenght: 1\n", NULL,
      "fit.yaml:5: model.wavelenght: unknown key|'wavelength'" },
    { MINIMAL "data: {shoebox_width: 3}\n", NULL,
      "fit.yaml:4: data.shoebox_width: |'shoebox_half_width'" },
    { "refine:\n  missetx: {range: 1}\n", NULL,
      "fit.yaml:2: refine.missetx: unknown parameter|'misset_x'" },
    { "refine:\n  fudge: {range: 1}\n", NULL,
      "fit.yaml:2: refine.fudge: there is no derivative by fudge: it is a factor of the spots'" },
    { "refine:\n  osc:\n    range: 1\n", NULL, "fit.yaml:2: refine.osc: there is no derivative" },
    { "refine:\n  bogus: {range: 1}\n", NULL, "unknown parameter 'bogus'; dualbragg grad --list" },
    { MINIMAL "bogus: 3\n", NULL, "bogus: unknown key; dualbragg fit --show-defaults lists all" },
    { "refine:\n  misset_x: {rnge: 1}\n", NULL, "fit.yaml:2: refine.misset_x.rnge: |'range'" },
    { MINIMAL "stages: [{refin: all}]\n", NULL, "fit.yaml:4: stages.1.refin: |'refine'" },
    { MINIMAL "model: {shape: gaus}\n", NULL,
      "model.shape: expected one of square, round, gauss, tophat, found 'gaus'|'gauss'" },
    { MINIMAL "stages: [{algorithm: LD_LBFG}]\n", NULL,
      "fit.yaml:4: stages.1.algorithm: unknown|'LD_LBFGS'" },
    { MINIMAL "stages: [{algorithm: LN_COBYLA}]\n", NULL, "unknown algorithm" },
    { MINIMAL, "data.dmn=3",
      "argument 'data.dmn=3': data.dmn: unknown key; the nearest known one is 'dmin'" },
    { MINIMAL, "dta.dmin=3",
      "argument 'dta.dmin=3': dta: unknown key; the nearest known one is 'data'" },
    { MINIMAL "stages: [{name: a}]\n", "stages.b.dmin=3",
      "argument 'stages.b.dmin=3': there is no element 'b'" },
    /* values */
    { MINIMAL "data: {dmin: 3x}\n", NULL,
      "fit.yaml:4: data.dmin: expected a number not below 0 (A), found '3x'" },
    { MINIMAL "data:\n  dmin:\n", NULL, "fit.yaml:5: data.dmin: |found nothing" },
    { MINIMAL "data: {dmin: nan}\n", NULL, "data.dmin: |found 'nan'" },
    { MINIMAL "data: {dmin: -1}\n", NULL, "data.dmin: |found '-1'" },
    { MINIMAL "data: {max_shoeboxes: 2.5}\n", NULL,
      "expected a whole number from 1 to 1e+06, found '2.5'" },
    { MINIMAL "data: [1, 2]\n", NULL,
      "fit.yaml:4: data: expected 'key: value' lines, found a list of 2" },
    { MINIMAL "model: {cell: [58, 58, 58, 90, 90, 90, 3]}\n", NULL,
      "expected a list of 1 to 6 numbers greater than 0 (A, deg), found a list of 7" },
    { MINIMAL "model: {cell: [1, 2, 3, 90, 90, x]}\n", NULL, "model.cell: |found 'x'" },
    { MINIMAL "model: {wavelength: 0}\n", NULL, "expected a number greater than 0 (A), found '0'" },
    { MINIMAL "model: {energy: 12.8}\n", NULL,
      "expected eV, found 12.8; if these are keV, give 12800" },
    { MINIMAL "model: {energy: 300000}\n", NULL,
      "expected photons of at most 247968 eV, found 300000" },
    { MINIMAL "model: {energy: 12800}\n", "model.wavelength=1",
      "found both: 12800 eV are 0.968627 A" },
    { MINIMAL "data: {dmin: 3, dmax: 2}\n", NULL,
      "fit.yaml:4: data.dmax: resolution range is empty" },
    { MINIMAL "data: {roi: [5, 4, 1, 2]}\n", NULL, "fit.yaml:4: data.roi: empty" },
    { MINIMAL "stages: 3\n", NULL, "expected a list of 1 to 16 stages, found '3'" },
    { "model: {cell: [58, 58, 152, 90, 90, 90]}\nrefine: all\n", NULL,
      "refine: expected parameters, each as 'name: {range: 0.5}' or 'name:' alone, found 'all'" },
    { MINIMAL "intensity: fixed\n", NULL,
      "fit.yaml:4: intensity: expected free, joint or {hkl: FILE}, found" },
    { MINIMAL "intensity: {default_F: 3}\n", NULL, "fit.yaml:4: intensity: expected the key hkl" },
    { MINIMAL "model: {fast_axis: [0, 0, 1]}\n", NULL,
      "fit.yaml:4: model.fast_axis: needs 'convention: custom'" },
    { MINIMAL, "data.dmin", "argument 'data.dmin': expected key.path=value" },
    { MINIMAL, "data.dmin=", "expected key.path=value" },
    { MINIMAL, "data.dmin=[1", "argument 'data.dmin=[1'" },
    { MINIMAL, "model.symmetry=tY",
      "argument 'model.symmetry=tY': model.symmetry: expected a crystal system|found 'tY'" },
    /* parameters */
    { "image: a.img\nintensity: {hkl: a.hkl}\n", NULL, "the section refine is missing" },
    { "image: a.img\nmodel: {spots: sampled}\n", NULL,
      "fit.yaml:2: model.spots: sampled spots need known structure factors|expected closed" },
    { MINIMAL, "model.spots=sampled", "model.spots: sampled spots need known structure factors" },
    { "refine: {}\n", NULL, "fit.yaml:1: refine: expected parameters" },
    { "refine:\n  misset_x: {min: 2, max: 1}\n", NULL,
      "fit.yaml:2: refine.misset_x: bounds cross: min 2 is not below max 1" },
    { "refine:\n  misset_x: {min: 1, max: 1}\n", NULL, "bounds cross" },
    { "refine:\n  misset_x: {range: 1, max: 1}\n", NULL,
      "expected either range or min and max, found both" },
    { "refine:\n  misset_x: {range: 0}\n", NULL,
      "refine.misset_x.range: expected a number greater than 0" },
    { "refine:\n  cell_a:\n  cell_b: {follows: cell_x}\n", NULL,
      "fit.yaml:3: refine.cell_b.follows: |'cell_" },
    { "refine:\n  cell_b: {follows: cell_a}\n", NULL,
      "fit.yaml:2: refine.cell_b: follows cell_a, which is not refined" },
    { "refine:\n  cell_b: {follows: cell_b}\n", NULL, "which is itself" },
    { "refine:\n  cell_a: {follows: cell_b}\n  cell_b: {follows: cell_a}\n", NULL,
      "follows another parameter" },
    { "refine:\n  cell_a:\n  cell_b: {follows: cell_a, range: 1}\n", NULL,
      "fit.yaml:3: refine.cell_b: follows another" },
    { MINIMAL "stages: [{refine: [misset_y]}]\n", NULL,
      "fit.yaml:4: stages.1.refine: misset_y is not among" },
    { MINIMAL "stages: [{refine: [misset_x, misset_x]}]\n", NULL, "'misset_x' is named twice" },
    { "refine:\n  misset_x:\n  sensor_thickness: {range: 1}\n", NULL,
      "fit.yaml:3: refine.sensor_thickness: sensor_thickness cannot be refined" },
    { "refine:\n  F:1:2:3: {range: 1}\n", NULL,
      "fit.yaml:2: refine.F:1:2:3: F:1:2:3 cannot be refined" },
    { "refine:\n  cell_a:\n  cell_b: {follows: water_size}\n", NULL,
      "fit.yaml:3: refine.cell_b.follows: water_size cannot be refined" },
    { MINIMAL "stages: [{refine: [source_weight:0]}]\n", NULL,
      "fit.yaml:4: stages.1.refine: source_weight:0 cannot be refined" },
    { MINIMAL "stages: [{refine: []}]\n", NULL, "expected all or a list of parameters" },
    { "refine:\n  cell_a:\n  cell_b: {follows: cell_a}\nstages:\n- refine: [cell_b]\n", NULL,
      "fit.yaml:5: stages.1.refine: cell_b follows cell_a, which this stage does not refine" },
};

static void mistakes_are_named(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const db_status status = READ(mistakes[i].text, mistakes[i].argument);
        const char *message = db_context_message(context);
        assert_int_equal(status, DB_ERROR_USAGE);
        char parts[256];
        snprintf(parts, sizeof parts, "%s", mistakes[i].message);
        for (char *part = strtok(parts, "|"); part; part = strtok(NULL, "|")) {
            message = strstr(message, part);
            if (!message)
                fail_msg("case %zu: '%s' does not appear in: %s", i, part,
                         db_context_message(context));
        }
    }
}

/* Text of `count` copies of a part, which is to be refused at once: the YAML library's own time grows with
 * the square of the depth and of the number of anchors. */
static void expect_refused_at_once(const char *part, size_t count, const char *message) {
    const size_t length = strlen(part);
    char *const text = malloc(count * length + 1);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) memcpy(text + i * length, part, length);
    text[count * length] = '\0';
    const clock_t begin = clock();
    assert_int_equal(READ(text, NULL), DB_ERROR_USAGE);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    free(text);
    if (!strstr(db_context_message(context), message))
        fail_msg("%s...: %s", part, db_context_message(context));
    if (seconds > 0.5) fail_msg("%s...: %.2f s", part, seconds);
}

static void large_texts_are_refused_at_once(void **state) {
    (void)state;
    static const char *const nested[] = { "[", "{a: ", "- ", "? ", "[[{a: " };
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++)
        expect_refused_at_once(nested[i], 100000, "fit.yaml:1: nested too deeply");
    expect_refused_at_once("- &a b\n", 100000, ": expected at most 20000 values");
    expect_refused_at_once("- a\n", 300000, ": expected at most 20000 values");
}

static void unreadable_files_are_named(void **state) {
    (void)state;
    assert_int_equal(db_fit_config_read(context, "no/such.yaml", NULL, 0, &config), DB_ERROR_FILE);
    assert_non_null(strstr(db_context_message(context), "no/such.yaml"));
    assert_int_equal(
        db_fit_config_read(context, scratch_file("bytes.yaml", "a: \x01\xff\n"), NULL, 0, &config),
        DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "bytes.yaml"));
}

static void the_default_output_stays_in_the_working_directory(void **state) {
    (void)state;
    assert_int_equal(READ(MINIMAL, NULL), DB_OK);
    assert_string_equal(config.output_prefix, "fit_refined");
    assert_int_equal(db_fit_config_make(context, "data/set.h5#12", NULL, 0, &config), DB_OK);
    assert_string_equal(config.output_prefix, "set_12_refined");
    assert_int_equal(db_fit_config_make(context, "data/set#12.cbf", NULL, 0, &config), DB_OK);
    assert_string_equal(config.output_prefix, "set#12_refined");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_may_leave_angles_and_edges_out),
        cmocka_unit_test(values_arrive),
        cmocka_unit_test(joint_intensities),
        cmocka_unit_test(the_stage_of_joint_intensities_is_told_by_its_algorithm),
        cmocka_unit_test(arguments_go_over_the_file),
        cmocka_unit_test(a_photon_energy_is_a_wavelength),
        cmocka_unit_test(former_keys_are_read),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(large_texts_are_refused_at_once),
        cmocka_unit_test(unreadable_files_are_named),
        cmocka_unit_test(the_default_output_stays_in_the_working_directory),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
