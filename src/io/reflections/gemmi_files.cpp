// Everything that gemmi does for us, behind C (gemmi_files.h). No exception leaves this file, and
// nothing is allocated by sizes that a file merely claims.
extern "C" {
#include "base/context_internal.h"
#include "io/cif.h"
#include "io/reflections/gemmi_files.h"
#include "model/site_kinds.h"
#include "model/amplitude_box.h"
}
#include "io/reflections/gemmi_guard.hpp"

#include <dualbragg/expert/symmetry.h>
#include <gemmi/dencalc.hpp>
#include <gemmi/fourier.hpp>
#include <gemmi/fprime.hpp>
#include <gemmi/it92.hpp>
#include <gemmi/mmcif.hpp>
#include <gemmi/mtz.hpp>
#include <gemmi/numb.hpp>
#include <gemmi/pdb.hpp>
#include <gemmi/solmask.hpp>
#include <gemmi/util.hpp>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <strings.h>
#include <vector>

namespace {

std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

// ---- symmetry

void add_operator(db_space_group *group, const gemmi::Op &op) {
    int rotation[9];
    for (int i = 0; i < 9; i++) {
        const int entry = op.rot[i / 3][i % 3];
        rotation[i] = entry / gemmi::Op::DEN;
        if (entry % gemmi::Op::DEN != 0)
            fail("expected an operator of a space group, found " + op.triplet());
    }
    if (!db_space_group_add(group, rotation, op.tran.data()))
        fail("expected at most 192 operators of a space group, found " + op.triplet());
}

void take_group(const gemmi::SpaceGroup &found, db_space_group *group) {
    std::memset(group, 0, sizeof *group);
    std::snprintf(group->name, sizeof group->name, "%s", found.xhm().c_str());
    std::snprintf(group->hall, sizeof group->hall, "%s", found.hall);
    group->number = found.number;
    for (const gemmi::Op &op : found.operations()) add_operator(group, op);
}

std::string without(const std::string &text, char unwanted) {
    std::string kept;
    for (const char c : text)
        if (c != unwanted) kept += c;
    return kept;
}

// Does a name fit several settings? A number does, a short monoclinic symbol ("P 21"), and R without axes.
bool is_open(const std::string &name, const gemmi::SpaceGroup &found) {
    const bool is_number = name.find_first_not_of("0123456789 ") == std::string::npos,
               is_monoclinic = found.number >= 3 && found.number <= 15,
               has_axes = name.find(':') != std::string::npos;
    if (is_number) return true;
    if (is_monoclinic) return without(name, ' ').size() < without(found.hm, ' ').size();
    return found.hm[0] == 'R' && name[0] != 'H' && name[0] != 'h' && !has_axes;
}

// The setting of the group that a cell can have: with the same letter of the lattice, else, for a number, any.
void choose_setting(const gemmi::SpaceGroup &found, bool any_lattice, const double cell[6],
                    db_space_group *group) {
    db_space_group other;
    for (const bool same_lattice : { true, false })
        for (const gemmi::SpaceGroup &setting : gemmi::spacegroup_tables::main) {
            if (setting.number != found.number || (setting.hm[0] == found.hm[0]) != same_lattice ||
                (!same_lattice && !any_lattice))
                continue;
            take_group(setting, &other);
            if (!db_space_group_fits(&other, cell)) continue;
            *group = other;
            return;
        }
}

// ---- reflection files

enum { RECORD = 80 }; // bytes of a record of an MTZ file's header, and of its beginning

// Since 0.7 it can keep the records.
template <typename Mtz, typename Stream>
auto read_main_headers(Mtz &mtz, Stream &stream, int) -> decltype(mtz.read_main_headers(stream)) {
    mtz.read_main_headers(stream);
}
template <typename Mtz, typename Stream> void read_main_headers(Mtz &mtz, Stream &stream, ...) {
    mtz.read_main_headers(stream, nullptr);
}

void allocate(db_reflection_columns *columns, const std::vector<db_reflection_column> &taken,
              size_t rows) {
    columns->column = static_cast<db_reflection_column *>(
        std::calloc(taken.size(), sizeof(db_reflection_column)));
    columns->value = static_cast<double *>(std::calloc(taken.size() * rows + 1, sizeof(double)));
    if (!columns->column || !columns->value) throw std::bad_alloc();
    columns->count = taken.size();
    columns->rows = rows;
    std::copy(taken.begin(), taken.end(), columns->column);
}

double known(double value) { return std::isfinite(value) && value > 0 ? value : NAN; }

db_reflection_column column_of(const gemmi::Mtz &mtz, const gemmi::Mtz::Column &from) {
    db_reflection_column column = {};
    std::snprintf(column.label, sizeof column.label, "%s", from.label.c_str());
    column.type = from.type;
    column.wavelength = NAN;
    for (const gemmi::Mtz::Dataset &set : mtz.datasets)
        if (set.id == from.dataset_id) column.wavelength = known(set.wavelength);
    return column;
}

// h, k, l by name, else the first three columns of indices; then what belongs to amplitudes.
std::vector<size_t> choose_columns(const gemmi::Mtz &mtz) {
    std::vector<size_t> indices, chosen;
    for (size_t c = 0; c < mtz.columns.size(); c++)
        if (mtz.columns[c].type == 'H') indices.push_back(c);
    for (const char *name : { "Hh", "Kk", "Ll" })
        for (const size_t c : indices) {
            const std::string &label = mtz.columns[c].label;
            if (chosen.size() < 3 && label.size() == 1 && std::strchr(name, label[0]))
                chosen.push_back(c);
        }
    if (chosen.size() < 3) chosen = indices;
    if (chosen.size() < 3)
        fail("expected three columns of indices (type H), found " + std::to_string(chosen.size()));
    chosen.resize(3);
    for (size_t c = 0; c < mtz.columns.size(); c++)
        if (mtz.columns[c].type && std::strchr("FGJKQLMY", mtz.columns[c].type))
            chosen.push_back(c);
    return chosen;
}

void take_cell(const gemmi::UnitCell &cell, double out[6]) {
    const double found[6] = { cell.a, cell.b, cell.c, cell.alpha, cell.beta, cell.gamma };
    for (int i = 0; i < 6; i++) out[i] = found[0] > 1 ? known(found[i]) : NAN;
}

// "NCOL columns reflections batches": written again without the last one; any white space separates them.
std::string without_batches(const std::string &record) {
    char text[RECORD + 1];
    char *end = nullptr;
    const long columns = std::strtol(record.c_str() + std::strlen("NCOL"), &end, 10),
               reflections = std::strtol(end, nullptr, 10);
    const auto whole = [](long number) { return number < 0 || number > INT_MAX ? 0 : (int)number; };
    std::snprintf(text, sizeof text, "NCOL %d %d 0", whole(columns), whole(reflections));
    std::string shown(text);
    shown.resize(RECORD, ' ');
    return shown;
}

// The quoted name of "SYMINF 4 4 P 19 'P 21 21 21' PG222", whose numbers reserve memory.
std::string group_name(const std::string &record) {
    const size_t open = record.find('\''), close = record.find('\'', open + 1);
    return open == std::string::npos || close == std::string::npos
               ? ""
               : record.substr(open + 1, close - open - 1);
}

// Has gemmi read an MTZ file's header, of which it gets to see the records that are needed, none that reserves memory.
void read_header(const db_file_content &content, gemmi::Mtz &mtz) {
    std::string name;
    bool has_sets = false;          // of data, of which the next records speak
    std::string shown(RECORD, ' '); // what stands for the beginning of the file
    for (size_t at = 4 * (static_cast<size_t>(mtz.header_offset) - 1); at + RECORD <= content.size;
         at += RECORD) {
        const std::string record(content.bytes + at, RECORD);
        if (record.compare(0, 6, "SYMINF") == 0) name = group_name(record);
        has_sets = has_sets || record.compare(0, 4, "PROJ") == 0;
        for (const char *key :
             { "NCOL", "CELL", "SYMM", "VALM", "COLU", "PROJ", "DCEL", "DWAV", "END" })
            if (*key == 'D' && !has_sets)
                continue;
            else if (record.compare(0, std::strlen(key), key) == 0)
                shown += *key == 'N' ? without_batches(record) : record;
        if (record.compare(0, 3, "END") == 0) break;
    }
    gemmi::MemoryStream stream(shown.data(), shown.size());
    char beginning[RECORD];
    stream.read(beginning, RECORD);
    mtz.header_offset = 1 + RECORD / 4;
    read_main_headers(mtz, stream, 0);
    mtz.spacegroup_name = name;
}

void read_mtz(const db_file_content &content, db_reflection_columns *columns) {
    gemmi::Mtz mtz;
    gemmi::MemoryStream start(content.bytes, content.size);
    mtz.read_first_bytes(start);
    if (mtz.header_offset < 21 ||
        mtz.header_offset > static_cast<std::int64_t>(content.size / 4 + 1))
        fail("truncated: expected the header at word " + std::to_string(mtz.header_offset) +
             " of " + std::to_string(content.size / 4));
    read_header(content, mtz);
    const size_t width = mtz.columns.size();
    if (width < 4 || mtz.symops.empty())
        fail("expected a header with NCOL, SYMM and as many COLUMN, found " +
             std::to_string(width) + " columns, " + std::to_string(mtz.symops.size()) +
             " operators");
    const double bytes = 4.0 * static_cast<double>(width) * mtz.nreflections + 80;
    if (mtz.nreflections < 1 || bytes > static_cast<double>(content.size))
        fail("truncated: " + std::to_string(mtz.nreflections) + " reflections of " +
             std::to_string(width) + " columns do not fit into " + std::to_string(content.size) +
             " bytes");

    std::snprintf(columns->group.name, sizeof columns->group.name, "%s",
                  mtz.spacegroup_name.c_str());
    for (const gemmi::Op &op : mtz.symops) add_operator(&columns->group, op);
    take_cell(mtz.cell, columns->cell);
    const std::vector<size_t> from = choose_columns(mtz);
    std::vector<db_reflection_column> taken;
    for (const size_t c : from) taken.push_back(column_of(mtz, mtz.columns[c]));
    const size_t rows = static_cast<size_t>(mtz.nreflections);
    allocate(columns, taken, rows);
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < from.size(); c++) {
            float value;
            std::memcpy(&value, content.bytes + RECORD + 4 * (row * width + from[c]), sizeof value);
            if (!mtz.same_byte_order) gemmi::swap_four_bytes(&value);
            const bool none = !std::isfinite(value) || (c >= 3 && value == mtz.valm);
            columns->value[row * from.size() + c] = none ? NAN : static_cast<double>(value);
        }
}

// ---- structure factors of a model

std::string cif_text(db_word word) {
    if (word.length == 0) return "?";
    const std::string text(word.start, word.length);
    return text.find_first_of(" \t\n'\"") == std::string::npos ? text : "\"" + text + "\"";
}

struct cif_table : db_cif_table {
    cif_table() : db_cif_table() {}
    cif_table(const cif_table &) = delete;
    ~cif_table() { db_cif_table_clear(this); }
};

// Numbers of a record of a PDB file, side by side, that we use.
struct record_numbers {
    const char *record;
    size_t column, width; // from 0
    const char *names[7]; // NULL behind the last
    enum { NEEDED, MAY_END_BEFORE, WHOLE } kind;
};
const record_numbers numbers_of_records[] = {
    { "ATOM", 30, 8, { "x", "y", "z" }, record_numbers::NEEDED },
    { "ATOM", 54, 6, { "occupancy", "B factor" }, record_numbers::MAY_END_BEFORE },
    { "HETATM", 30, 8, { "x", "y", "z" }, record_numbers::NEEDED },
    { "HETATM", 54, 6, { "occupancy", "B factor" }, record_numbers::MAY_END_BEFORE },
    { "ANISOU", 28, 7, { "U11", "U22", "U33", "U12", "U13", "U23" }, record_numbers::WHOLE },
    { "CRYST1", 6, 9, { "a", "b", "c" }, record_numbers::NEEDED },
    { "CRYST1", 33, 7, { "alpha", "beta", "gamma" }, record_numbers::NEEDED },
    { "SCALE", 10, 10, { "S1", "S2", "S3" }, record_numbers::NEEDED },
    { "SCALE", 45, 10, { "U" }, record_numbers::NEEDED },
    { "MTRIX", 10, 10, { "M1", "M2", "M3" }, record_numbers::NEEDED },
    { "MTRIX", 45, 10, { "V" }, record_numbers::NEEDED },
};

bool is_record(const std::string &line, const char *name) {
    return strncasecmp(line.c_str(), name, std::strlen(name)) == 0;
}

// Fails where gemmi would take 0 for what is no number. A line may end before occupancy or B factor; one that ends within them
// is made longer, else gemmi would not read them.
void check_record(db_context *context, const char *path, size_t number, std::string &line) {
    for (const record_numbers &n : numbers_of_records) {
        if (!is_record(line, n.record)) continue;
        for (size_t i = 0; n.names[i]; i++) {
            const size_t from = n.column + i * n.width;
            if (n.kind == record_numbers::MAY_END_BEFORE && line.size() <= from) break;
            line.resize(std::max(line.size(), from + n.width), ' ');
            const std::string field = gemmi::trim_str(line.substr(from, n.width));
            const db_word word = { field.data(), field.size() };
            double value;
            const bool whole = n.kind == record_numbers::WHOLE;
            if (!db_word_number(word, &value) ||
                (whole && field.find_first_of(".eE") != std::string::npos))
                try_to(db_fail(context, DB_ERROR_INPUT,
                               "%s:%zu: expected a %snumber as %s, found '%.*s'", path, number,
                               whole ? "whole " : "", n.names[i], DB_WORD_ARGUMENTS(word)));
        }
    }
}

// The records of a PDB file that a model needs; other lines are empty, so that errors have their numbers. gemmi reads numbers
// of others, such as LINK, beyond the ends of their lines.
std::string needed_records(db_context *context, const char *path, const db_file_content &content) {
    static const char *const needed[] = {
        "ATOM",  "HETATM", "ANISOU", "CRYST1", "SCALE", "MTRIX",
        "ORIGX", "MODEL",  "TER",    "END",    "data",  "{\"da"
    }; // the last two: gemmi says what they are
    std::string records;
    const char *const end = content.bytes + content.size;
    size_t number = 0;
    for (const char *start = content.bytes; start < end;) {
        const char *const stop = std::find(start, end, '\n');
        std::string line(start, stop);
        if (!line.empty() && line.back() == '\r') line.pop_back();
        number++;
        for (const char *name : needed) {
            if (!is_record(line, name)) continue;
            check_record(context, path, number, line);
            records += line;
            break;
        }
        records += '\n';
        start = stop == end ? end : stop + 1;
    }
    return records;
}

gemmi::Structure read_pdb(db_context *context, const char *path, const db_file_content &content) {
    const std::string records = needed_records(context, path, content);
    return gemmi::read_pdb_from_memory(records.data(), records.size(), path);
}

// Items of a model whose values are numbers, by their beginnings; others are deviations ("Cartn_x_esd") or words.
bool is_number_item(const std::string &category, const std::string &item) {
    static const char *const beginnings[][2] = {
        { "cell", "length_" },
        { "cell", "angle_" },
        { "atom_site", "Cartn_" },
        { "atom_site", "occupancy" },
        { "atom_site", "B_iso" },
        { "atom_site_anisotrop", "U[" },
        { "atom_sites", "fract_" },
        { "struct_ncs_oper", "matrix[" },
        { "struct_ncs_oper", "vector[" },
    };
    const size_t end = item.size() < 4 ? 0 : item.size() - 4;
    if (strcasecmp(item.c_str() + end, "_esd") == 0) return false;
    for (const auto &b : beginnings)
        if (category == b[0] && strncasecmp(item.c_str(), b[1], std::strlen(b[1])) == 0)
            return true;
    return false;
}

// Fails where gemmi would take a default for what is no number.
void check_numbers(const std::string &category, const cif_table &table) {
    for (size_t c = 0; c < table.columns; c++) {
        const std::string item(table.item[c].start, table.item[c].length);
        if (!is_number_item(category, item)) continue;
        for (size_t row = 0; row < table.rows; row++) {
            const db_word word = db_cif_value(&table, row, static_cast<int>(c));
            const std::string text(word.start, word.length);
            if (!text.empty() && !std::isfinite(gemmi::cif::as_number(text)))
                fail("_" + category + "." + item + ", row " + std::to_string(row + 1) +
                     ": expected a number, found '" + text.substr(0, 40) + "'");
        }
    }
}

// gemmi takes no atoms from a table that lacks one of these.
void check_items(const cif_table &atoms) {
    for (const char *item : { "Cartn_x", "Cartn_y", "Cartn_z", "occupancy", "B_iso_or_equiv", "id",
                              "type_symbol", "label_asym_id", "auth_seq_id" })
        if (atoms.rows && db_cif_column(&atoms, item) < 0)
            fail(std::string("expected atoms with _atom_site.") + item + ", found no such item");
}

// B factors (A^2): what stands for one that an mmCIF file does not know, and what is taken for it.
const char *const unknown_b_text = "-1e9";
const float unknown_b = -1e9F, usual_b = 50;
const char WITHOUT_B = '?'; // flag of such an atom

// The tables that a model needs, by the reader of CIF that images have; gemmi's own takes much
// longer to compile, and other tables can claim assemblies of any size.
gemmi::Structure read_mmcif(db_context *context, const char *path, const db_file_content &content) {
    gemmi::cif::Block block("model");
    for (const char *category : { "cell", "symmetry", "space_group", "atom_site", "atom_sites",
                                  "atom_site_anisotrop", "struct_ncs_oper" }) {
        cif_table table;
        try_to(db_cif_table_read(context, path, content.bytes, content.bytes + content.size,
                                 category, &table));
        check_numbers(category, table);
        const bool atoms = std::strcmp(category, "atom_site") == 0;
        if (atoms) check_items(table);
        const int b_column = atoms ? db_cif_column(&table, "B_iso_or_equiv") : -1;
        const std::string prefix = std::string("_") + category + ".";
        std::vector<std::string> tags;
        for (size_t c = 0; c < table.columns; c++)
            tags.emplace_back(table.item[c].start, table.item[c].length);
        // gemmi asks for it also where no atom has alternatives
        if (atoms && db_cif_column(&table, "label_alt_id") < 0) tags.emplace_back("label_alt_id");
        std::vector<std::string> values;
        values.reserve(table.rows * tags.size());
        for (size_t row = 0; row < table.rows; row++) {
            for (size_t c = 0; c < table.columns; c++) {
                const bool unknown = static_cast<int>(c) == b_column &&
                                     db_cif_value(&table, row, b_column).length == 0;
                values.push_back(unknown ? unknown_b_text
                                         : cif_text(table.value[row * table.columns + c]));
            }
            if (tags.size() > table.columns) values.emplace_back(".");
        }
        if (table.rows > 1) block.init_loop(prefix, tags).values = std::move(values);
        for (size_t c = 0; c < tags.size() && table.rows == 1; c++)
            block.set_pair(prefix + tags[c], values[c]);
    }
    return gemmi::make_structure_from_block(block);
}

// ---- sites that are kept apart

// A list of "[CHAIN/]RESIDUE[.NUMBER]:ATOM" with '+' between, one of them.
struct site_name {
    std::string chain, residue, number, atom, text;
};

std::vector<site_name> names_of_sites(const std::string &list) {
    std::vector<site_name> names;
    for (size_t at = 0; at <= list.size();) {
        const size_t end = std::min(list.find('+', at), list.size());
        site_name n;
        n.text = list.substr(at, end - at);
        const size_t colon = n.text.find(':'), slash = n.text.find('/');
        const size_t begin = slash == std::string::npos ? 0 : slash + 1;
        if (colon == std::string::npos || colon <= begin || colon + 1 == n.text.size() ||
            slash == 0)
            fail("sites: expected [CHAIN/]RESIDUE[.NUMBER]:ATOM, such as FES:FE1, found '" +
                 n.text + "'");
        if (begin) n.chain = n.text.substr(0, slash);
        n.residue = n.text.substr(begin, colon - begin);
        n.atom = n.text.substr(colon + 1);
        const size_t dot = n.residue.find('.');
        if (dot != std::string::npos) {
            n.number = n.residue.substr(dot + 1);
            n.residue.resize(dot);
            if (n.number.empty())
                fail("sites: expected a number after the dot of [CHAIN/]RESIDUE.NUMBER:ATOM, "
                     "found '" +
                     n.text + "'");
        }
        names.push_back(n);
        at = end + 1;
    }
    return names;
}

bool is_named(const site_name &n, const gemmi::Chain &chain, const gemmi::Residue &residue,
              const gemmi::Atom &atom) {
    return atom.name == n.atom && residue.name == n.residue &&
           (n.chain.empty() || n.chain == chain.name) &&
           (n.number.empty() || n.number == residue.seqid.str());
}

// An atom, and its f' + i f'' where it has one of its own.
struct placed_site {
    gemmi::Fractional at;
    gemmi::Atom atom;
    std::complex<double> scattering;
};

// Of all symmetry mates: sum of occupancy x Debye-Waller factor x exp(2 pi i h.x), each times its scattering.
std::complex<double> geometric_factor(const std::vector<placed_site> &sites,
                                      const gemmi::UnitCell &cell, const gemmi::GroupOps &group,
                                      const gemmi::Miller &hkl) {
    std::complex<double> sum = 0;
    for (const gemmi::Op &op : group) {
        const gemmi::Miller own = op.apply_to_hkl(hkl);
        const double shift = -op.phase_shift(hkl), square = cell.calculate_1_d2(own);
        gemmi::Vec3 s; // of the mate, in the frame of the coordinates
        for (int j = 0; j < 3; j++)
            s.at(j) = own[0] * cell.frac.mat.a[0][j] + own[1] * cell.frac.mat.a[1][j] +
                      own[2] * cell.frac.mat.a[2][j];
        for (const placed_site &site : sites) {
            const double phase =
                2 * gemmi::pi() * (own[0] * site.at.x + own[1] * site.at.y + own[2] * site.at.z) +
                shift;
            const gemmi::SMat33<float> &u = site.atom.aniso;
            const double exponent =
                u.nonzero() ? 2 * gemmi::pi() * gemmi::pi() *
                                  (u.u11 * s.x * s.x + u.u22 * s.y * s.y + u.u33 * s.z * s.z +
                                   2 * (u.u12 * s.x * s.y + u.u13 * s.x * s.z + u.u23 * s.y * s.z))
                            : site.atom.b_iso * square / 4;
            sum += site.scattering * (site.atom.occ * std::exp(-exponent)) *
                   std::complex<double>(std::cos(phase), std::sin(phase));
        }
    }
    return sum;
}

class model_transform {
  public:
    model_transform(const db_structure_factor_options &options, gemmi::Structure &&structure)
        : options_(options), structure_(std::move(structure)) {}

    void prepare();
    void calculate(db_context *context, const char *path, db_structure_factors *factors);
    std::string summary() const;

  private:
    typedef gemmi::DensityCalculator<gemmi::IT92<double>, float> density;
    typedef gemmi::FPhiGrid<float> transform;

    void check_cell() const;
    void check_atom(gemmi::Atom &atom, const std::string &where);
    void apply_ncs();
    void check_volume(double points) const;
    void choose_grid(density &d, const std::array<int, 3> &most) const;
    transform of_electrons(density &d);
    transform of_absorption(density &d);
    transform of_solvent(const density &d) const;
    void find_dispersion();
    void choose_sites();
    void make_site_parts(const double *rest, size_t entries, const std::array<int, 3> &most,
                         double limit, db_structure_factors *factors) const;

    const db_structure_factor_options &options_;
    gemmi::Structure structure_;
    const gemmi::SpaceGroup *group_ = nullptr;
    size_t atoms_ = 0;
    double least_b_ = 1e4;
    bool anomalous_ = false;
    gemmi::Addends real_, imaginary_; // f' and f'' of each element
    std::vector<placed_site> kind_[DB_MOST_SITE_KINDS];
    std::vector<placed_site> beside_; // the others of their elements
};

void model_transform::check_cell() const {
    const gemmi::UnitCell &c = structure_.cell;
    const double found[6] = { c.a, c.b, c.c, c.alpha, c.beta, c.gamma };
    std::string text;
    bool good = c.is_crystal() && c.volume > 1;
    bool alike = true;
    for (int i = 0; i < 6; i++) {
        text += (i ? " " : "") + short_number(found[i]);
        good = good && std::isfinite(found[i]) && found[i] > 1 && found[i] < (i < 3 ? 1e4 : 180);
        if (!options_.cell) continue;
        const double expected = options_.cell[i];
        alike = alike && std::fabs(found[i] - expected) <= (i < 3 ? 0.05 * expected : 3);
    }
    if (!good) fail("expected the unit cell of a crystal, found " + text);
    if (alike) return;
    std::string wanted;
    for (int i = 0; i < 6; i++) wanted += " " + short_number(options_.cell[i]);
    fail("its cell is " + text + ", the crystal's is" + wanted +
         ": indices of the one do not belong to the other (more than 5 % or 3 degree apart)");
}

void model_transform::check_atom(gemmi::Atom &atom, const std::string &where) {
    const std::string name = "atom " + atom.name + " of " + where;
    const gemmi::Fractional at = structure_.cell.fractionalize(atom.pos);
    if (!(std::fabs(at.x) < 1000 && std::fabs(at.y) < 1000 && std::fabs(at.z) < 1000))
        fail(name + ": expected coordinates (A) within 1000 cells of the origin");
    if (!(atom.occ >= 0 && atom.occ <= 10))
        fail(name + ": expected an occupancy of 0 to 1, found " + short_number(atom.occ));
    if (atom.b_iso == unknown_b) {
        atom.b_iso = usual_b;
        atom.flag = WITHOUT_B;
    }
    if (!(atom.b_iso >= 0 && atom.b_iso <= 9999))
        fail(name + ": expected a B factor of 0 to 9999 A^2, found " + short_number(atom.b_iso));
    if (atom.element == gemmi::El::X || !gemmi::IT92<double>::has(atom.element.elem))
        fail(name + ": its chemical element is not known");
    double least = atom.b_iso;
    const double all = atom.aniso.u11 + atom.aniso.u22 + atom.aniso.u33 + atom.aniso.u12 +
                       atom.aniso.u13 + atom.aniso.u23;
    if (!std::isfinite(all)) atom.aniso = { 0, 0, 0, 0, 0, 0 }; // one of them is not known
    if (atom.aniso.nonzero()) {
        double lowest = 1e9, highest = 0;
        for (double u : atom.aniso.calculate_eigenvalues()) {
            lowest = std::min(lowest, u * gemmi::u_to_b());
            highest = std::max(highest, u * gemmi::u_to_b());
        }
        if (lowest > 0 && highest < 9999)
            least = lowest;
        else // no ellipsoid
            atom.aniso = { 0, 0, 0, 0, 0, 0 };
    }
    least_b_ = std::min(least_b_, least);
    atoms_++;
}

// Copies that a file leaves to its operators of non-crystallographic symmetry (MTRIX).
void model_transform::apply_ncs() {
    std::vector<gemmi::Chain> &chains = structure_.models[0].chains;
    const size_t given = chains.size();
    size_t own = 0, all = 0;
    for (const gemmi::Chain &chain : chains)
        for (const gemmi::Residue &residue : chain.residues) own += residue.atoms.size();
    for (const gemmi::NcsOp &op : structure_.ncs) {
        if (op.given) continue;
        all += own + given;
        if (all > 10000000) fail("expected at most 10000000 atoms with all copies by MTRIX");
        for (size_t c = 0; c < given; c++) {
            gemmi::Chain copy = chains[c];
            for (gemmi::Residue &residue : copy.residues)
                for (gemmi::Atom &atom : residue.atoms) {
                    atom.pos = gemmi::Position(op.tr.apply(atom.pos));
                    if (atom.aniso.nonzero())
                        atom.aniso = atom.aniso.transformed_by<float>(op.tr.mat);
                }
            chains.push_back(std::move(copy));
        }
    }
}

void model_transform::find_dispersion() {
    const double energy = options_.wavelength > 0 ? gemmi::hc() / options_.wavelength : 0;
    anomalous_ = energy >= 1000 && energy <= 70000; // where the tables hold
    for (int z = 3; anomalous_ && z <= 92; z++) {
        double imaginary = 0;
        const gemmi::Element element(static_cast<gemmi::El>(z));
        real_.set(element, static_cast<float>(gemmi::cromer_liberman(z, energy, &imaginary)));
        imaginary_.set(element, static_cast<float>(imaginary));
    }
}

// Takes the scattering of those elements off the tables of all, and gives it to the sites that are not chosen.
void model_transform::choose_sites() {
    gemmi::Addends left_real = real_, left_imaginary = imaginary_;
    std::vector<std::vector<site_name>> names;
    std::vector<std::vector<bool>> used;
    for (int k = 0; k < options_.choice_count; k++) {
        names.push_back(names_of_sites(options_.choice[k].sites));
        used.emplace_back(names.back().size(), false);
        options_.choice[k].found = 0;
        options_.choice[k].element[0] = 0;
    }
    std::vector<bool> chosen_element(256, false);
    std::vector<std::pair<placed_site, int>> all;
    for (const gemmi::Chain &chain : structure_.models[0].chains)
        for (const gemmi::Residue &residue : chain.residues)
            for (const gemmi::Atom &atom : residue.atoms) {
                int kind = -1;
                for (size_t k = 0; k < names.size(); k++)
                    for (size_t n = 0; n < names[k].size(); n++) {
                        if (!is_named(names[k][n], chain, residue, atom)) continue;
                        used[k][n] = true;
                        if (kind >= 0 && kind != static_cast<int>(k))
                            fail("sites: atom " + atom.name + " of " + chain.name + " " +
                                 residue.str() + " is of two kinds, " +
                                 options_.choice[kind].sites + " and " + options_.choice[k].sites);
                        kind = static_cast<int>(k);
                    }
                if (kind >= 0 && atom.flag == WITHOUT_B && !atom.aniso.nonzero())
                    fail("sites: atom " + atom.name + " of " + chain.name + " " + residue.str() +
                         ": expected a B factor, found none");
                if (kind >= 0) chosen_element[atom.element.ordinal()] = true;
                all.push_back({ { structure_.cell.fractionalize(atom.pos), atom, 1 }, kind });
            }
    for (size_t k = 0; k < names.size(); k++)
        for (size_t n = 0; n < names[k].size(); n++)
            if (!used[k][n])
                fail("sites: expected atoms " + names[k][n].text + ", found none of them");
    for (auto &site : all) {
        const gemmi::Atom &atom = site.first.atom;
        if (!chosen_element[atom.element.ordinal()]) continue;
        if (site.second < 0) {
            site.first.scattering = { real_.get(atom.element), imaginary_.get(atom.element) };
            if (anomalous_) beside_.push_back(site.first);
            continue;
        }
        db_site_choice &choice = options_.choice[site.second];
        const char *const symbol = atom.element.name();
        if (choice.found++ == 0)
            std::snprintf(choice.element, sizeof choice.element, "%s", symbol);
        else if (std::strcmp(choice.element, symbol) != 0)
            choice.element[0] = 0;
        kind_[site.second].push_back(site.first);
    }
    for (int z = 1; anomalous_ && z <= 92; z++) {
        const gemmi::Element element(static_cast<gemmi::El>(z));
        if (!chosen_element[element.ordinal()]) continue;
        left_real.set(element, 0);
        left_imaginary.set(element, 0);
    }
    real_ = left_real;
    imaginary_ = left_imaginary;
}

void model_transform::prepare() {
    check_cell();
    group_ = structure_.find_spacegroup();
    if (!group_) fail("expected a space group, found '" + structure_.spacegroup_hm + "'");
    if (structure_.models.empty()) fail("expected atoms, found none");
    apply_ncs();
    for (gemmi::Chain &chain : structure_.models[0].chains)
        for (gemmi::Residue &residue : chain.residues)
            for (gemmi::Atom &atom : residue.atoms)
                check_atom(atom, chain.name + " " + residue.str());
    if (atoms_ == 0) fail("expected atoms, found none");
    find_dispersion();
    if (options_.choice_count) choose_sites();
}

// Rounded up is `true` of gemmi's versions before 0.6 and GridSizeRounding::Up of later ones: both are 1.
template <typename Limit, typename Rounding>
std::array<int, 3> finer_grid(std::array<int, 3> (*grid_size)(Limit, Rounding,
                                                              const gemmi::SpaceGroup *),
                              const std::array<double, 3> &limit, const gemmi::SpaceGroup *group) {
    return grid_size(limit, static_cast<Rounding>(1), group);
}

// A large grid of an almost empty cell is a mistyped cell. An atom of a crystal has some 20 A^3, of a model
// of C-alpha atoms some 400.
void model_transform::check_volume(double points) const {
    const double most_volume = 1e5, small_grid = 1e7;
    const double each =
        structure_.cell.volume / (static_cast<double>(atoms_) * group_->operations().order());
    if (points > small_grid && each > most_volume)
        fail("a cell of " + short_number(structure_.cell.volume) + " A^3 for " +
             std::to_string(atoms_) + " atoms in the asymmetric unit: " + short_number(each) +
             " A^3 for each atom, expected at most " + short_number(most_volume) +
             " (a mistyped cell?)");
}

// Fine enough for the resolution and for indices up to `most`; checked against the memory.
void model_transform::choose_grid(density &d, const std::array<int, 3> &most) const {
    d.grid.unit_cell = structure_.cell;
    d.grid.spacegroup = group_;
    const double spacing = d.requested_grid_spacing();
    const gemmi::UnitCell &c = structure_.cell;
    const double reciprocal[3] = { c.ar, c.br, c.cr };
    std::array<double, 3> limit;
    double points = 1;
    for (int i = 0; i < 3; i++) {
        limit[i] = std::max(1 / (reciprocal[i] * spacing), 2.0 * most[i] + 2);
        points *= limit[i] + 6;
    }
    check_volume(points);
    // a grid of floats and up to three half grids of complex numbers, rounded up to good sizes
    if (points > 4e9 || 16 * 1.5 * points > 0.8 * db_physical_memory())
        fail("a resolution of " + short_number(options_.dmin) + " A asks for " +
             short_number(points) + " points of density, more than fit into memory");
    const std::array<int, 3> size = finer_grid(gemmi::good_grid_size, limit, group_);
    d.grid.set_size_without_checking(size[0], size[1], size[2]);
}

model_transform::transform model_transform::of_electrons(density &d) {
    d.addends = real_;
    d.add_model_density_to_grid(structure_.models[0]);
    d.grid.symmetrize_sum();
    return gemmi::transform_map_to_f_phi(d.grid, true);
}

model_transform::transform model_transform::of_absorption(density &d) {
    d.grid.fill(0);
    d.cutoff = 1e-7f;
    for (const gemmi::Chain &chain : structure_.models[0].chains)
        for (const gemmi::Residue &residue : chain.residues)
            for (const gemmi::Atom &atom : residue.atoms) {
                const float f = imaginary_.get(atom.element);
                const gemmi::SMat33<float> &u = atom.aniso;
                const double b = d.blur + (u.nonzero() ? gemmi::u_to_b() *
                                                             std::max(u.u11, std::max(u.u22, u.u33))
                                                       : atom.b_iso);
                // gemmi's radius asks for a peak above the cutoff
                if (std::fabs(f) * std::pow(4 * gemmi::pi() / b, 1.5) > 2e-7)
                    d.add_c_contribution_to_grid(atom, f);
            }
    d.grid.symmetrize_sum();
    return gemmi::transform_map_to_f_phi(d.grid, true);
}

model_transform::transform model_transform::of_solvent(const density &d) const {
    gemmi::Grid<float> mask;
    mask.copy_metadata_from(d.grid);
    mask.data.resize(d.grid.data.size());
    gemmi::Model heavy = structure_.models[0]; // radii of the others contain their hydrogens
    gemmi::SolventMasker masker(gemmi::AtomicRadiiSet::Cctbx);
    double radius = 0;
    for (gemmi::Chain &chain : heavy.chains)
        for (gemmi::Residue &residue : chain.residues) {
            gemmi::vector_remove_if(residue.atoms,
                                    [](const gemmi::Atom &atom) { return atom.is_hydrogen(); });
            for (const gemmi::Atom &atom : residue.atoms)
                radius = std::max(radius, gemmi::cctbx_vdw_radius(atom.element) + masker.rprobe);
        }
    // an atom's ball does not fit into the grid: older gemmi refuses, later ones give coarse masks
    const int size[3] = { mask.nu, mask.nv, mask.nw };
    for (int i = 0; i < 3; i++)
        if (2 * std::ceil(radius / mask.spacing[i]) >= size[i]) {
            const gemmi::UnitCell &c = structure_.cell;
            fail("a solvent around atoms does not fit into a cell of " + short_number(c.a) + " x " +
                 short_number(c.b) + " x " + short_number(c.c) + " A at a resolution of " +
                 short_number(options_.dmin) +
                 " A: expected a finer resolution, or no solvent (k_sol 0)");
        }
    masker.put_mask_on_grid(mask, heavy);
    return gemmi::transform_map_to_f_phi(mask, true);
}

std::complex<double> at(const gemmi::FPhiGrid<float> &grid, int h, int k, int l) {
    if (grid.data.empty()) return 0;
    const int sign = l < 0 ? -1 : 1;
    const std::complex<double> value(grid.data[grid.index_n(sign * h, sign * k, sign * l)]);
    return l < 0 ? std::conj(value) : value;
}

// rest: real and imaginary part of each entry. Mates have conjugate geometric factors.
void model_transform::make_site_parts(const double *rest, size_t entries,
                                      const std::array<int, 3> &most, double limit,
                                      db_structure_factors *factors) const {
    const gemmi::UnitCell &cell = structure_.cell;
    const gemmi::GroupOps group = group_->operations();
    const size_t each = db_site_part(options_.choice_count);
    db_site_kinds made = {};
    made.count = options_.choice_count;
    std::vector<double> part(entries * each);
    made.part = part.data();
    for (int k = 0; k < made.count; k++)
        std::snprintf(made.kind[k].name, sizeof made.kind[k].name, "%s", options_.choice[k].sites);
    size_t entry = 0;
    for (int h = -most[0]; h <= most[0]; h++)
        for (int k = -most[1]; k <= most[1]; k++)
            for (int l = -most[2]; l <= most[2]; l++, entry++) {
                const gemmi::Miller hkl = { { h, k, l } };
                double *const to = &part[entry * each];
                to[0] = rest[2 * entry];
                to[1] = rest[2 * entry + 1];
                if (cell.calculate_1_d2(hkl) > limit || (h == 0 && k == 0 && l == 0)) continue;
                const std::complex<double> own = geometric_factor(beside_, cell, group, hkl);
                to[0] += own.real();
                to[1] += own.imag();
                const double *const mate = &part[(entries - 1 - entry) * each];
                for (int n = 0; n < made.count; n++) {
                    const std::complex<double> g =
                        entry < entries / 2
                            ? geometric_factor(kind_[n], cell, group, hkl)
                            : std::complex<double>(mate[2 + 2 * n], -mate[3 + 2 * n]);
                    to[2 + 2 * n] = g.real();
                    to[3 + 2 * n] = g.imag();
                }
            }
    db_site_kinds *const copy = db_site_kinds_copy(&made, entries);
    if (!copy) throw std::bad_alloc();
    std::free(factors->sites);
    factors->sites = copy;
}

void model_transform::calculate(db_context *context, const char *path,
                                db_structure_factors *factors) {
    const gemmi::UnitCell &cell = structure_.cell;
    const double edge[3] = { cell.a, cell.b, cell.c };
    std::array<int, 3> most;
    int extent[3];
    size_t entries;
    const double longest = std::max(edge[0], std::max(edge[1], edge[2]));
    if (options_.dmin > longest)
        fail("expected a resolution below the longest edge of its cell, " + short_number(longest) +
             " A, found " + short_number(options_.dmin) +
             " A: give a finer one, or a detector that sees farther");
    for (int i = 0; i < 3; i++) {
        most[i] = static_cast<int>(std::min(1e6, edge[i] / options_.dmin));
        extent[i] = 2 * most[i] + 1;
    }
    try_to(db_amplitude_box_check(context, path, extent, db_physical_memory(), &entries));
    density d;
    d.d_min = options_.dmin;
    choose_grid(d, most);
    d.blur =
        std::max(0.0, gemmi::u_to_b() / 1.1 * gemmi::sq(d.requested_grid_spacing()) - least_b_);
    const transform electrons = of_electrons(d);
    const transform absorption = anomalous_ ? of_absorption(d) : transform();
    const transform solvent = options_.k_sol > 0 ? of_solvent(d) : transform();
    double *const amplitude = static_cast<double *>(std::calloc(entries, sizeof(double)));
    if (!amplitude) throw std::bad_alloc();
    std::vector<double> rest(options_.choice_count ? 2 * entries : 0);
    size_t listed = 0, entry = 0;
    const double limit = 1 / gemmi::sq(options_.dmin);
    for (int h = -most[0]; h <= most[0]; h++)
        for (int k = -most[1]; k <= most[1]; k++)
            for (int l = -most[2]; l <= most[2]; l++, entry++) {
                const double square = cell.calculate_1_d2({ { h, k, l } });
                amplitude[entry] = factors->default_F;
                if (!rest.empty()) rest[2 * entry] = factors->default_F;
                if (square > limit || (h == 0 && k == 0 && l == 0)) continue;
                const std::complex<double> i(0, 1);
                const std::complex<double> f =
                    (at(electrons, h, k, l) + i * at(absorption, h, k, l)) *
                        d.reciprocal_space_multiplier(square) +
                    options_.k_sol * std::exp(-options_.b_sol * square / 4) * at(solvent, h, k, l);
                amplitude[entry] = std::abs(f);
                if (!rest.empty()) {
                    rest[2 * entry] = f.real();
                    rest[2 * entry + 1] = f.imag();
                }
                listed++;
            }
    if (!rest.empty()) make_site_parts(rest.data(), entries, most, limit, factors);
    std::free(factors->amplitude);
    factors->amplitude = amplitude;
    factors->listed = listed;
    for (int i = 0; i < 3; i++) {
        factors->min[i] = -most[i];
        factors->extent[i] = extent[i];
    }
}

std::string model_transform::summary() const {
    std::string text = "F of " + std::to_string(atoms_) + " atoms, " + group_->xhm() + ", to " +
                       short_number(options_.dmin) + " A";
    text += options_.k_sol > 0 ? ", solvent " + short_number(options_.k_sol) + " e/A^3, B " +
                                     short_number(options_.b_sol) + " A^2"
                               : ", no solvent";
    text += anomalous_ ? ", f' and f'' at " + short_number(options_.wavelength) + " A"
                       : ", no anomalous scattering";
    for (int k = 0; k < options_.choice_count; k++)
        text += std::string(k ? ", " : "; ") + std::to_string(options_.choice[k].found) +
                " sites " + options_.choice[k].sites;
    if (structure_.models.size() > 1)
        text += ", the first of " + std::to_string(structure_.models.size()) + " models";
    return text;
}

} // namespace

extern "C" {

db_status db_gemmi_find_group(db_context *context, const char *name, const double cell[6],
                              db_space_group *group) {
    std::memset(group, 0, sizeof *group);
    return guarded(context, "space group", [&] {
        const std::string bare = without(name, '\'');
        const gemmi::SpaceGroup *const found = gemmi::find_spacegroup_by_name(bare);
        if (!found)
            fail(std::string("expected a number or symbol of the International Tables, found '") +
                 name + "'");
        take_group(*found, group);
        if (cell && is_open(bare, *found) && !db_space_group_fits(group, cell))
            choose_setting(*found, bare.find_first_not_of("0123456789 ") == std::string::npos, cell,
                           group);
    });
}

db_status db_space_group_of_list(db_context *context, const char *stated, db_space_group *group) {
    std::memset(group, 0, sizeof *group);
    if (*stated && !stated[std::strspn(stated, "0123456789")])
        return db_gemmi_find_group(context, stated, nullptr, group);
    const std::string what = std::string("Hall symbol '") + stated + "'";
    return guarded(context, what.c_str(), [&] {
        const gemmi::GroupOps operators = gemmi::symops_from_hall(stated);
        const gemmi::SpaceGroup *const found = gemmi::find_spacegroup_by_ops(operators);
        if (found) {
            take_group(*found, group);
            return;
        }
        std::snprintf(group->name, sizeof group->name, "%s", stated);
        std::snprintf(group->hall, sizeof group->hall, "%s", stated);
        for (const gemmi::Op &op : operators) add_operator(group, op);
    });
}

db_status db_gemmi_add_operator(db_context *context, const char *path, db_word text,
                                db_space_group *group) {
    return guarded(context, path, [&] {
        add_operator(group, gemmi::parse_triplet(std::string(text.start, text.length)));
    });
}

db_status db_gemmi_read_mtz(db_context *context, const char *path, const db_file_content *content,
                            db_reflection_columns *columns) {
    return guarded(context, path, [&] { read_mtz(*content, columns); });
}

db_status db_gemmi_dispersion(db_context *context, const char *element, double shift, size_t count,
                              const double *energy, double *f_prime, double *f_second) {
    return guarded(context, "f' and f''", [&] {
        const gemmi::Element found(element);
        if (found == gemmi::El::X || found.ordinal() < 3 || found.ordinal() > 92)
            fail(std::string("expected a chemical element from Li to U, found '") + element + "'");
        for (size_t i = 0; i < count; i++)
            f_prime[i] = gemmi::cromer_liberman(found.ordinal(), energy[i] - shift, &f_second[i]);
    });
}

db_status db_gemmi_read_model(db_context *context, const char *path, const db_file_content *content,
                              int is_cif, const db_structure_factor_options *options,
                              db_structure_factors *factors, char *told, size_t told_size) {
    return guarded(context, path, [&] {
        model_transform model(*options, is_cif ? read_mmcif(context, path, *content)
                                               : read_pdb(context, path, *content));
        model.prepare();
        model.calculate(context, path, factors);
        std::snprintf(told, told_size, "%s", model.summary().c_str());
    });
}
}
