// MTZ files, written by gemmi. No exception leaves this file.
extern "C" {
#include "base/atomic_file.h"
#include "base/c_locale.h"
#include <dualbragg/reflections.h>
#include <dualbragg/version.h>
#include <dualbragg/expert/reflection_tables.h>
}
#include "io/reflections/gemmi_guard.hpp"

#define GEMMI_WRITE_IMPLEMENTATION
#define USE_STD_SNPRINTF // not stb_sprintf.h, which Debian's gemmi leaves out
#include <gemmi/mtz.hpp>

#include <cstdio>
#include <limits>

namespace {

enum { INDICES = 3, OF_BATCHES = 2 }; // H K L; M/ISYM BATCH

const gemmi::SpaceGroup &find_group(const char *name) {
    std::string bare;
    for (const char *c = *name ? name : "P 1"; *c; c++)
        if (*c != '\'') bare += *c;
    const gemmi::SpaceGroup *const found = gemmi::find_spacegroup_by_name(bare);
    if (!found)
        fail("expected a number or symbol of the International Tables, found '" + bare + "'");
    return *found;
}

void describe(const db_mtz_content &content, gemmi::Mtz &mtz) {
    const double *const c = content.cell;
    mtz.title = content.title;
    mtz.spacegroup = &find_group(content.group);
    mtz.spacegroup_name = mtz.spacegroup->hm;
    mtz.spacegroup_number = mtz.spacegroup->ccp4;
    mtz.datasets[0].wavelength = 0;
    gemmi::Mtz::Dataset &dataset = mtz.add_dataset("dualbragg");
    dataset.wavelength = content.wavelength;
    mtz.set_cell_for_all(gemmi::UnitCell(c[0], c[1], c[2], c[3], c[4], c[5]));
    mtz.history.push_back(std::string("From dualbragg ") + db_version());
    if (content.batch) {
        mtz.add_column("M/ISYM", 'Y', -1, -1, false);
        mtz.add_column("BATCH", 'B', -1, -1, false);
    }
    for (size_t i = 0; i < content.column_count; i++)
        mtz.add_column(content.columns[i].label, content.columns[i].type, -1, -1, false);
    mtz.valm = NAN;
}

// Rows as they are, then in the asymmetric unit.
void fill(const db_mtz_content &content, gemmi::Mtz &mtz) {
    const size_t width = mtz.columns.size(), first = width - content.column_count;
    const gemmi::GroupOps operations = mtz.spacegroup->operations();
    const gemmi::ReciprocalAsu asu(mtz.spacegroup);
    mtz.data.resize(content.rows * width);
    mtz.nreflections = static_cast<int>(content.rows);
    for (size_t r = 0; r < content.rows; r++) {
        const gemmi::Miller given{ { content.hkl[r][0], content.hkl[r][1], content.hkl[r][2] } };
        const auto moved = asu.to_asu(given, operations);
        float *const row = &mtz.data[r * width];
        for (int i = 0; i < INDICES; i++) row[i] = static_cast<float>(moved.first[i]);
        for (size_t i = 0; i < content.column_count; i++)
            row[first + i] = content.values[r * content.column_count + i];
        if (content.batch) {
            row[INDICES] = static_cast<float>(moved.second);
            row[INDICES + 1] = static_cast<float>(content.batch[r]);
        }
        if (moved.second % 2 == 1 || operations.is_reflection_centric(given)) continue;
        for (size_t i = 0; i < content.column_count; i++) {
            const int mate = content.columns[i].mate;
            if (mate > static_cast<int>(i)) std::swap(row[first + i], row[first + mate]);
        }
    }
    mtz.sort();
}

void add_batches(const db_mtz_content &content, gemmi::Mtz &mtz) {
    mtz.batches.reserve(content.batches);
    for (uint32_t b = 1; b <= content.batches; b++) {
        gemmi::Mtz::Batch batch;
        batch.number = static_cast<int>(b);
        batch.title = "shot " + std::to_string(b);
        batch.set_dataset_id(mtz.datasets.back().id);
        batch.set_cell(mtz.cell);
        batch.set_wavelength(static_cast<float>(content.wavelength));
        for (int i = 6; i < 15; i += 4) batch.floats[i] = 1; // the orientation is not told
        mtz.batches.push_back(std::move(batch));
    }
}

void check_size(const db_mtz_content &content) {
    const double width = static_cast<double>(content.column_count) + INDICES + OF_BATCHES,
                 most = std::numeric_limits<int>::max();
    if (!content.hkl || (content.column_count > 0 && (!content.columns || !content.values)))
        fail("expected columns, indices and values, found NULL for one of them");
    if (content.column_count > 100) fail("expected at most 100 columns");
    if (width * static_cast<double>(content.rows) > most)
        fail("expected at most 2^31 values, found " + std::to_string(content.rows) + " rows");
    if (content.rows == 0) fail("there are no reflections to write");
}

void write_to(db_context *context, const char *path, const gemmi::Mtz &mtz) {
    db_pending_file pending = {};
    try_to(db_pending_begin(context, path, &pending));
    db_status status = DB_OK;
    std::FILE *const stream = std::fopen(pending.temporary->path, "wb");
    const db_c_locale locale = db_c_locale_enter();
    try {
        if (!stream) fail("cannot be written");
        mtz.write_to_cstream(stream);
    } catch (const std::exception &e) {
        status = db_fail(context, DB_ERROR_FILE, "%s: %.600s", path, e.what());
    }
    db_c_locale_leave(locale);
    if (stream && std::fclose(stream) != 0 && status == DB_OK)
        status = db_fail(context, DB_ERROR_FILE, "%s: cannot be written", path);
    try_to(db_pending_end(context, path, &pending, status));
}

} // namespace

extern "C" db_status db_mtz_write(db_context *context, const char *path,
                                  const db_mtz_content *content) {
    return guarded(context, path, [&] {
        check_size(*content);
        gemmi::Mtz mtz(true);
        describe(*content, mtz);
        fill(*content, mtz);
        if (content->batch) add_batches(*content, mtz);
        write_to(context, path, mtz);
    });
}
