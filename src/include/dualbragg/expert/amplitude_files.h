/** @file
 * Files of structure factors, and of the amplitudes of amorphous matter. */
#ifndef DUALBRAGG_EXPERT_AMPLITUDE_FILES_H
#define DUALBRAGG_EXPERT_AMPLITUDE_FILES_H

#include <dualbragg/context.h>
#include <dualbragg/experiment.h>
#include <dualbragg/setup.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads "h k l F" lines ('#' comments, blank lines and columns after the fourth ignored; malformed
 * lines are errors; the last of repeated entries wins; entries of the box not listed get
 * default_F). Replaces the list; keeps default_F. Miller indices must be whole numbers and F
 * finite.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param factors its list is replaced
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_read_hkl(db_context *context, const char *path, db_structure_factors *factors);

/** A kind of sites in coordinates, whose scattering is to be kept apart from the rest (db_site_kinds). */
typedef struct db_site_choice {
    /** sites of the kind; borrowed. With a '+' between them: [CHAIN/]RESIDUE[.NUMBER]:ATOM, such as FES:FE1
     * or A/FES.104:FE1; all conformers count */
    const char *sites;
    char element[4]; /**< receives the chemical element; "" where there are several */
    size_t found;    /**< receives the number of sites in the asymmetric unit */
} db_site_choice;

/** How to read structure factors. dmin, k_sol, b_sol and anomalous scattering are for a model's
 * coordinates. */
typedef struct db_structure_factor_options {
    /** labels of an MTZ file or items of a CIF file (one, or two of Friedel mates with
     * a comma between; "BLOCK/ITEM" or "BLOCK/" also names the data block of a CIF
     * file); for text "F" or "I", the meaning of the fourth column; NULL: chosen */
    const char *columns;
    /** number or symbol of the space group that expands a text
     * list (or a CIF file); NULL: a text list is not expanded */
    const char *space_group;
    double dmin;       /**< A: resolution to which structure factors are calculated */
    double wavelength; /**< A: of the anomalous scattering; 0: none, Friedel mates are equal */
    double k_sol;      /**< e/A^3: density of the bulk solvent; 0: none */
    double b_sol;      /**< A^2: its B factor */
    /** A, degree: cell of the crystal. The cell of a model must be close to it, and space_group
     * must agree with it; a notice compares cells and groups of other files. NULL: any */
    const double *cell;
    double beam; /**< A: wavelength to compare with that of the file; 0: no comparison */
    /** Of coordinates: [choice_count] kinds of sites that are kept apart, without their f' and f'', in
     * db_structure_factors.sites, whose curves have no points yet. Each site has one kind. NULL: none */
    db_site_choice *choice;
    int choice_count; /**< at most DB_MOST_SITE_KINDS */
} db_structure_factor_options;

/** Reads structure factors from an MTZ file, a CIF file of reflections, a list of SHELX, or lines as
 * db_read_hkl, or calculates them from coordinates in a PDB or mmCIF file;
 * recognized by content. All files except text without a space group need gemmi.
 *
 * Lists of reflections are expanded to the whole sphere (text with a space group only): by the
 * operators, and to Friedel mates where the file has no values for them (an MTZ pair X(+), X(-)
 * has). Repeated and equivalent entries are averaged, with weights 1/sigma^2 if the
 * file has sigmas; systematic absences become 0. Intensities become amplitudes after
 * that: the square root, 0 for negative ones. Without columns the first amplitudes with sigmas are
 * taken, else a pair of mates, else the first amplitudes that are no map coefficients, else
 * intensities; from CIF measured values (F_meas, F_squared_meas, intensity_meas), else
 * F_calc, and only observed reflections. In text the fourth column is F, in SHELX's
 * layout with its end mark F squared; if both are possible, columns must choose.
 *
 * Of coordinates (docs/theory/pixel.md, Structure factors of coordinates): |F| of all reflections to dmin, 0 0 0 left
 * out, in electrons per unit cell; needs options->dmin > 0.
 *
 * Replaces the list; keeps default_F; listed counts the reflections of the whole sphere. The function of
 * db_context_set_notices gets notices about means, absences, reflections that are left out, and a cell, group or
 * wavelength of the file that contradicts the options.
 * options may be NULL. chosen (may be NULL): columns that were taken, such as "FP" or "F(+), F(-)", or the
 * calculation; "" for text.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param options NULL: defaults
 * @param factors its list is replaced
 * @param chosen receives the columns that were taken; may be NULL
 * @param chosen_size room there, in bytes
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED without
 *     gemmi; DB_ERROR_USAGE for options that the file has no room for; the list then stays */
DB_API db_status db_read_structure_factors(db_context *context, const char *path,
                                           const db_structure_factor_options *options,
                                           db_structure_factors *factors, char *chosen,
                                           size_t chosen_size);

/** Reads a curve of a kind of sites: lines of three columns, photon energy (eV, ascending), f' and f''
 * (electrons). '#' comments, blank lines and columns after the third are ignored; commas and semicolons
 * separate too. Replaces kind's curve, whose three arrays are one block, freed by free(kind->energy);
 * keeps the name.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param kind its curve is overwritten
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the curve then has no points */
DB_API db_status db_read_site_curve(db_context *context, const char *path, db_site_kind *kind);

/** f' and f'' of a free atom by the method of Cromer and Liberman, as gemmi has them, whose edges lie
 * `shift` eV higher. Replaces kind's curve as db_read_site_curve does.
 *
 * @param context receives the message of a failure
 * @param element chemical symbol
 * @param shift eV
 * @param from first energy (eV)
 * @param to last energy, above the first
 * @param step between points (eV), at most; the energies are 1000 to 70000 eV
 * @param kind its curve is overwritten
 * @return DB_OK; DB_ERROR_INPUT; DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED without gemmi */
DB_API db_status db_make_site_curve(db_context *context, const char *element, double shift,
                                    double from, double to, double step, db_site_kind *kind);

/** Puts a curve on evenly spaced points. f'' has the values of the curve there. Straight lines between the new
 * points change the integral of Kramers and Kronig (db_kramers_kronig); f' gets this change, so that f' and
 * f'' still belong together. Replaces kind's curve, also after a failure,
 * as db_read_site_curve does.
 *
 * @param context receives the message of a failure
 * @param points first and last energy (eV), and how many
 * @param kind with a curve that reaches there
 * @return DB_OK; DB_ERROR_INPUT for a curve that does not; DB_ERROR_USAGE for points that are none;
 *     DB_ERROR_MEMORY */
DB_API db_status db_site_curve_onto(db_context *context, const double points[3],
                                    db_site_kind *kind);

/** Writes a list as a binary file, which is read much faster, in the layout of nanoBragg's
 * Fdump.bin: a box of amplitudes.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param factors with a list
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_write_structure_factor_cache(db_context *context, const char *path,
                                                 const db_structure_factors *factors);

/** Reads a file of db_write_structure_factor_cache or nanoBragg: replaces the list; keeps
 * default_F, which entries of the box not listed had when the file was written. A file whose size
 * does not match its own limits, or with amplitudes that are not finite, is DB_ERROR_INPUT.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param factors its list is replaced
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_read_structure_factor_cache(db_context *context, const char *path,
                                                db_structure_factors *factors);

/** Reads amplitudes of amorphous matter into background->stol and amplitude, replacing their content:
 * lines of two columns, sin(theta)/lambda (1/angstrom, or what `abscissa` says) and F of one
 * molecule (electrons; may be negative). '#' comments, blank lines and columns after the second are
 * ignored; commas and semicolons separate too. The first column is 0 or more, each value once;
 * lines are sorted by it. There must be at least two. *out_of_order (may be NULL): number of lines
 * that stood below a larger one.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param abscissa meaning of the first column
 * @param background its lists are replaced
 * @param out_of_order receives the number of lines that stood below a larger one; may be NULL
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the lists then stay */
DB_API db_status db_read_stol(db_context *context, const char *path, db_stol_abscissa abscissa,
                              db_background *background, size_t *out_of_order);

#ifdef __cplusplus
}
#endif
#endif
