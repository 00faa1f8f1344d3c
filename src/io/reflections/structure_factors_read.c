/* Structure factors of any kind of file: MTZ, CIF or text, merged and expanded by the space group; or calculated
 * from coordinates. */
#include <dualbragg/io.h>
#include <dualbragg/expert/file_kind.h>

#include "base/context_internal.h"
#include "base/file_content.h"
#include "io/cif.h"
#include "io/formats.h"
#include "io/reflections/amplitude_header.h"
#include "io/reflections/gemmi_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* *found: 1 if a CIF file has atoms and no reflections. */
static db_status has_atoms(db_amplitude_reading *r, const db_file_content *content, int *found) {
    const char *const end = content->bytes + content->size;
    db_cif_block block = { .end = NULL };
    db_cif_table table;
    int reflections = 0;
    while (!reflections) {
        DB_TRY(db_cif_next_block(r->context, r->path, content->bytes, end, &block));
        if (!block.start) break;
        DB_TRY(db_cif_block_table(r->context, r->path, content->bytes, &block, "refln", &table));
        reflections = table.rows > 0;
        db_cif_table_clear(&table);
    }
    DB_TRY(db_cif_table_read(r->context, r->path, content->bytes, end, "atom_site", &table));
    *found = table.rows > 0 && !reflections;
    db_cif_table_clear(&table);
    return DB_OK;
}

static db_status read_model(db_amplitude_reading *r, const db_file_content *content, int cif,
                            db_structure_factors *factors) {
    const db_structure_factor_options *const o = r->options;
    if (o->columns || o->space_group)
        return db_fail(
            r->context, DB_ERROR_USAGE,
            "%s: coordinates have no columns and their own space group; %s cannot be given",
            r->path, o->columns ? o->columns : o->space_group);
    if (!(o->dmin > 0 && isfinite(o->dmin)))
        return db_fail(
            r->context, DB_ERROR_USAGE,
            "%s: expected a resolution above 0 A to calculate structure factors to, found %g",
            r->path, o->dmin);
    if (!(o->k_sol >= 0 && o->k_sol <= 10 && o->b_sol >= 0 && o->b_sol <= 1e4))
        return db_fail(
            r->context, DB_ERROR_USAGE,
            "%s: expected a solvent of 0 to 10 e/A^3 with a B of 0 to 10000 A^2, found %g, %g",
            r->path, o->k_sol, o->b_sol);
    return db_gemmi_read_model(r->context, r->path, content, cif, o, factors, r->chosen,
                               r->chosen_size);
}

/* Refuses a choice of sites for a file without coordinates. */
static db_status refuse_choice(const db_amplitude_reading *r) {
    if (!r->options->choice_count) return DB_OK;
    return db_fail(
        r->context, DB_ERROR_USAGE,
        "%s: sites: expected coordinates (PDB, mmCIF), found structure factors: these do "
        "not say what each site contributes",
        r->path);
}

static db_status read_list(db_amplitude_reading *r, const db_file_content *content,
                           db_amplitude_file kind) {
    const char *const group = r->options->space_group;
    if (kind == DB_AMPLITUDES_MTZ && group)
        return db_fail(r->context, DB_ERROR_USAGE,
                       "%s: an MTZ file has its own space group; %s cannot be given", r->path,
                       group);
    if (kind == DB_AMPLITUDES_MTZ) return db_mtz_read(r, content);
    if (kind == DB_AMPLITUDES_CIF) return db_cif_list_read(r, content);
    DB_TRY(db_text_list_read(r));
    return group ? db_amplitude_reading_take_group(r) : DB_OK;
}

/* Notices of differences between the file's crystal and beam and the experiment's. */
static void compare_origin(const db_amplitude_reading *r) {
    const double *const own = r->cell, *const cell = r->options->cell, beam = r->options->beam;
    int alike = 1;
    for (int i = 0; i < 6 && cell && db_cell_is_stated(own); i++)
        alike &= !(fabs(own[i] - cell[i]) > (i < 3 ? 0.01 * cell[i] : 1));
    if (!alike)
        db_notice(r->context,
                  "%s: its cell is %.6g %.6g %.6g %.6g %.6g %.6g, the crystal's is %.6g %.6g %.6g "
                  "%.6g %.6g %.6g: more than 1 %% or 1 degree apart; the indices are taken as they "
                  "are",
                  r->path, own[0], own[1], own[2], own[3], own[4], own[5], cell[0], cell[1],
                  cell[2], cell[3], cell[4], cell[5]);
    const double *const of = cell && alike ? cell : own;
    if (db_cell_is_stated(of) && !db_space_group_fits(&r->list.group, of))
        db_notice(r->context, "%s: its space group %s contradicts %s cell", r->path,
                  r->list.group.name, of == own ? "its own" : "the crystal's");
    if (beam > 0 && fabs(r->wavelength - beam) > 0.01 * beam)
        db_notice(
            r->context,
            "%s: its amplitudes are of a wavelength of %.6g A, the beam's is %.6g A; anomalous "
            "scattering is as in the file",
            r->path, r->wavelength, beam);
}

static db_status read_cache(const db_amplitude_reading *r, db_structure_factors *factors) {
    const db_structure_factor_options *const o = r->options;
    if (o->columns || o->space_group)
        return db_fail(r->context, DB_ERROR_USAGE,
                       "%s: a structure factor cache has neither columns nor a space group; %s "
                       "cannot be given",
                       r->path, o->columns ? o->columns : o->space_group);
    return db_read_structure_factor_cache(r->context, r->path, factors);
}

static db_status read_any(db_amplitude_reading *r, const db_file_content *content,
                          db_structure_factors *factors) {
    const db_format *const format = db_format_of_content(r->path, content, DB_HOLDS_AMPLITUDES);
    const db_amplitude_file kind = format ? format->amplitudes : DB_NO_AMPLITUDES;
    int atoms = kind == DB_AMPLITUDES_PDB;
    if (format && !kind && !format->uncertain)
        return db_fail_format(r->context, r->path, format, content, DB_HOLDS_AMPLITUDES);
    if (kind == DB_AMPLITUDES_CIF) DB_TRY(has_atoms(r, content, &atoms));
    if (!atoms) DB_TRY(refuse_choice(r));
    if (kind == DB_AMPLITUDES_CACHE) return read_cache(r, factors);
    if (atoms) return read_model(r, content, kind == DB_AMPLITUDES_CIF, factors);
    DB_TRY(read_list(r, content, kind));
    compare_origin(r);
    DB_TRY(db_reflection_list_merge(r->context, r->path, &r->list));
    return db_reflection_list_box(r->context, r->path, &r->list, factors);
}

db_status db_read_structure_factors(db_context *context, const char *path,
                                    const db_structure_factor_options *options,
                                    db_structure_factors *factors, char *chosen,
                                    size_t chosen_size) {
    static const db_structure_factor_options nothing = { .columns = NULL };
    char scratch[1];
    db_amplitude_reading r = { .context = context,
                               .path = path,
                               .options = options ? options : &nothing,
                               .chosen = chosen ? chosen : scratch,
                               .chosen_size = chosen ? chosen_size : sizeof scratch,
                               .wavelength = NAN };
    db_file_content content;
    for (int i = 0; i < 6; i++) r.cell[i] = NAN;
    *r.chosen = '\0';
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status = read_any(&r, &content, factors);
    db_file_content_clear(&content);
    db_reflection_list_clear(&r.list);
    return status;
}
