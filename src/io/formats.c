#define _POSIX_C_SOURCE 200809L
/* The table of formats. */
#include "io/formats.h"

#include "base/context_internal.h"
#include "base/frame_name.h"
#include "base/gzip.h"
#include "io/experiments/geom.h"
#include "io/experiments/xparm.h"
#include "io/format_readers.h"
#include "io/images/cbf.h"
#include "io/images/smv.h"
#include "io/images/tiff.h"
#include "io/nexus/nexus.h"

#include <dualbragg/expert/file_kind.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int begins_with(const db_file_head *head, const char *magic, size_t length) {
    return head->start.size >= length && memcmp(head->start.bytes, magic, length) == 0;
}
#define BEGINS(magic) begins_with(head, magic, sizeof(magic) - 1)

static int is_smv(const db_file_head *head) { return db_is_smv(&head->start); }
static int is_cbf(const db_file_head *head) { return db_is_cbf(&head->start); }
static int is_hdf5(const db_file_head *head) { return BEGINS("\x89HDF\r\n\x1a\n"); }
static int is_mar_ccd(const db_file_head *head) { return db_is_mar_ccd(&head->start); }
static int is_mar345(const db_file_head *head) { return db_is_mar345(&head->start); }
static int is_tiff(const db_file_head *head) {
    return BEGINS("II*\0") || BEGINS("MM\0*") || BEGINS("II+\0") || BEGINS("MM\0+");
}
static int is_mtz(const db_file_head *head) { return BEGINS("MTZ "); }
static int is_table(const db_file_head *head) {
    return db_is_reflection_table(head->start.bytes, head->start.size);
}
static int is_stream(const db_file_head *head) { return BEGINS("CrystFEL stream format"); }
static int is_geom(const db_file_head *head) { return db_is_geom(head->start.bytes); }
static int is_xparm(const db_file_head *head) { return db_is_xparm(&head->start); }
static int is_xds_list(const db_file_head *head) {
    return BEGINS("!FORMAT=XDS_ASCII") || BEGINS("!OUTPUT_FILE=INTEGRATE.HKL");
}
static int is_compressed(const db_file_head *head) {
    return BEGINS("\x1f\x8b") || BEGINS("BZh") ||
           BEGINS("\xfd"
                  "7zXZ") ||
           BEGINS("\x28\xb5\x2f\xfd");
}
static int is_archive(const db_file_head *head) {
    return BEGINS("PK\3\4") ||
           (head->start.size > 262 && !memcmp(head->start.bytes + 257, "ustar", 5));
}
static int is_picture(const db_file_head *head) {
    return BEGINS("\x89PNG") || BEGINS("\xff\xd8\xff") || BEGINS("GIF8");
}
static int is_pickle(const db_file_head *head) {
    return head->start.size > 2 && head->start.bytes[0] == '\x80' && head->start.bytes[1] > 1 &&
           head->start.bytes[1] < 6;
}

/* First the surest signs; texts come last. */
static const db_format formats[] = {
    { .label = "SMV",
      .name = "an SMV image",
      .holds = DB_HOLDS_IMAGES,
      .begins = is_smv,
      .image = db_smv_decode,
      .header = db_smv_image_geometry },
    { .label = "CBF",
      .name = "a CBF image",
      .holds = DB_HOLDS_IMAGES | DB_HOLDS_GEOMETRY,
      .begins = is_cbf,
      .image = db_cbf_decode,
      .header = db_cbf_geometry,
      .geometry = db_cbf_experiment,
      .circles = db_cbf_circles },
    { .label = "HDF5",
      .name = "an HDF5 file",
      .holds = DB_HOLDS_IMAGES | DB_HOLDS_GEOMETRY,
      .begins = is_hdf5,
      .by_name = 1,
      .frame = db_nexus_read,
      .header = db_nexus_geometry,
      .geometry = db_nexus_experiment,
      .circles = db_nexus_circles,
      .count = db_nexus_count },
    { .label = "MarCCD",
      .name = "an image of a MarCCD or Rayonix detector",
      .holds = DB_HOLDS_IMAGES,
      .begins = is_mar_ccd,
      .image = db_mar_ccd_decode },
    { .label = "TIFF",
      .name = "a TIFF image",
      .holds = DB_HOLDS_IMAGES,
      .begins = is_tiff,
      .by_name = 1,
      .frame = db_tiff_read,
      .count = db_tiff_count },
    { .label = "mar345",
      .name = "an image of a mar345",
      .holds = DB_HOLDS_IMAGES,
      .begins = is_mar345,
      .image = db_mar345_decode },
    { .label = ".expt",
      .name = "an experiment list of DIALS",
      .holds = DB_HOLDS_GEOMETRY | DB_HOLDS_CRYSTALS,
      .begins = db_is_experiment_list,
      .geometry = db_expt_read,
      .count = db_expt_count,
      .shots = db_expt_shots },
    { .label = ".refl",
      .name = "a reflection table of DIALS",
      .holds = DB_HOLDS_SPOTS,
      .begins = is_table },
    { .label = "MTZ",
      .name = "an MTZ file",
      .holds = DB_HOLDS_AMPLITUDES,
      .begins = is_mtz,
      .amplitudes = DB_AMPLITUDES_MTZ },
    { .label = "mmCIF",
      .name = "a CIF file",
      .holds = DB_HOLDS_AMPLITUDES,
      .begins = db_is_cif,
      .amplitudes = DB_AMPLITUDES_CIF },
    { .label = "PDB",
      .name = "coordinates (PDB)",
      .holds = DB_HOLDS_AMPLITUDES,
      .begins = db_is_pdb,
      .amplitudes = DB_AMPLITUDES_PDB },
    { .label = "Fdump",
      .name = "a structure factor cache (Fdump.bin)",
      .holds = DB_HOLDS_AMPLITUDES,
      .begins = db_is_amplitude_cache,
      .amplitudes = DB_AMPLITUDES_CACHE },
    { .label = ".geom",
      .name = "a geometry of CrystFEL",
      .holds = DB_HOLDS_GEOMETRY,
      .begins = is_geom,
      .geometry = db_geom_read },
    { .label = ".stream",
      .name = "a stream of CrystFEL",
      .holds = DB_HOLDS_GEOMETRY | DB_HOLDS_CRYSTALS,
      .begins = is_stream,
      .by_name = 1,
      .geometry = db_stream_read,
      .count = db_stream_count,
      .shots = db_stream_shots },
    { .label = "XPARM.XDS",
      .name = "parameters of XDS (XPARM.XDS)",
      .holds = DB_HOLDS_GEOMETRY | DB_HOLDS_CRYSTALS,
      .begins = is_xparm,
      .geometry = db_xparm_read },
    { .label = "XDS", .name = "reflections of XDS", .begins = is_xds_list },
    { .label = "compressed", .name = "a compressed file", .begins = is_compressed },
    { .label = "archive", .name = "an archive of files", .begins = is_archive },
    { .label = "picture", .name = "a picture (PNG, JPEG or GIF)", .begins = is_picture },
    { .label = "pickle", .name = "a pickle of Python", .begins = is_pickle },
    { .label = "JSON", .name = "a JSON file", .begins = db_is_json_object, .uncertain = 1 },
    { .label = "matrix",
      .name = "nine numbers of an orientation matrix",
      .holds = DB_HOLDS_CRYSTALS,
      .begins = db_is_matrix,
      .uncertain = 1,
      .matrix = db_mosflm_matrix_read },
    { .label = "h k l F",
      .name = "lines of h k l F",
      .holds = DB_HOLDS_AMPLITUDES,
      .begins = db_is_reflection_lines,
      .uncertain = 1,
      .amplitudes = DB_AMPLITUDES_LINES },
    { .label = "columns",
      .name = "columns of numbers",
      .holds = DB_HOLDS_SPOTS,
      .begins = db_is_columns,
      .uncertain = 1 },
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const db_format *find_format(const db_file_head *head, unsigned wanted) {
    for (int pass = wanted ? 0 : 1; pass < 2; pass++)
        for (size_t i = 0; i < FORMATS; i++)
            if ((pass || (formats[i].holds & wanted)) && formats[i].begins(head))
                return &formats[i];
    return NULL;
}

const db_format *db_format_of_content(const char *path, const db_file_content *content,
                                      unsigned wanted) {
    const db_file_head head = { path, *content };
    return find_format(&head, wanted);
}

enum { HEAD = 1 << 15 };

static db_status read_head(db_context *context, const char *path, char bytes[HEAD + 1],
                           size_t *size) {
    FILE *const file = fopen(path, "rb");
    *size = file ? fread(bytes, 1, HEAD, file) : 0;
    const int failed = !file || ferror(file);
    const int reason = errno;
    if (file) fclose(file);
    if (failed)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot %s: %s", path, file ? "read" : "open",
                       strerror(reason));
    bytes[*size] = '\0';
    return DB_OK;
}

/* What a file packed by gzip holds, if that can be read from there; else it is a compressed file. */
static db_status find_packed(db_context *context, const db_file_head *packed, unsigned wanted,
                             const db_format **format) {
    char *const bytes = malloc(HEAD + 1);
    if (!bytes) return db_fail_memory(context, packed->path);
    db_file_head head = { packed->path, { bytes, 0 } };
    head.start.size = db_gzip_start(packed->start.bytes, packed->start.size, bytes, HEAD);
    bytes[head.start.size] = '\0';
    *format = head.start.size ? find_format(&head, wanted) : NULL;
    if (!*format || (*format)->by_name) *format = find_format(packed, wanted);
    free(bytes);
    return DB_OK;
}

db_status db_format_of_file(db_context *context, const char *path, unsigned wanted,
                            const db_format **format) {
    char bytes[HEAD + 1];
    db_file_head head = { path, { bytes, 0 } };
    struct stat file;
    *format = NULL;
    if (!path || stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return DB_OK;
    DB_TRY_STAGE(context, "read files", read_head(context, path, bytes, &head.start.size));
    if (db_is_gzip(bytes, head.start.size)) return find_packed(context, &head, wanted, format);
    *format = find_format(&head, wanted);
    return DB_OK;
}

static int is_read_for(const db_format *format, unsigned wanted) {
    switch (wanted) {
    case DB_HOLDS_IMAGES: return format->image || format->frame;
    case DB_HOLDS_GEOMETRY: return format->geometry != NULL;
    case DB_HOLDS_CRYSTALS: return format->matrix != NULL;
    case DB_HOLDS_AMPLITUDES: return format->amplitudes != DB_NO_AMPLITUDES;
    default: return (format->holds & wanted) != 0;
    }
}

/* Labels of the formats that are read for it: "SMV, CBF, HDF5". */
static void list_labels(unsigned wanted, char text[160]) {
    size_t length = 0;
    *text = '\0';
    for (size_t i = 0; i < FORMATS && length < 120; i++)
        if (is_read_for(&formats[i], wanted))
            length += (size_t)snprintf(text + length, 160 - length, "%s%s", length ? ", " : "",
                                       formats[i].label);
}

static const char *wanted_name(unsigned wanted) {
    switch (wanted) {
    case DB_HOLDS_IMAGES: return "an image";
    case DB_HOLDS_GEOMETRY: return "the geometry of an experiment";
    case DB_HOLDS_CRYSTALS: return "an orientation";
    case DB_HOLDS_SPOTS: return "spots";
    default: return "structure factors";
    }
}

db_status db_fail_format(db_context *context, const char *path, const db_format *format,
                         const db_file_content *content, unsigned wanted) {
    char labels[160], start[3 * 8 + 1] = "";
    list_labels(wanted, labels);
    if (format)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected %s (%s), found %s%s", path,
                       wanted_name(wanted), labels, format->name,
                       format->holds ? "" : ", which is not read");
    if (content && content->size == 0)
        return db_fail(context, DB_ERROR_INPUT, "%s: the file is empty; expected %s (%s)", path,
                       wanted_name(wanted), labels);
    for (size_t i = 0; content && i < 8 && i < content->size; i++)
        snprintf(start + 3 * i, 4, " %02x", (unsigned)(unsigned char)content->bytes[i]);
    return db_fail(
        context, DB_ERROR_INPUT, "%s: expected %s (%s), found %zu bytes that begin with%s", path,
        wanted_name(wanted), labels, content ? content->size : 0, *start ? start : " nothing");
}

db_status db_recognize_file(db_context *context, const char *path, db_file_kind *kind) {
    const db_format *format;
    char file[4096];
    *kind = (db_file_kind){ .label = "" };
    db_frame_split(path, file, sizeof file);
    DB_TRY(db_format_of_file(context, file, 0, &format));
    if (!format) return DB_OK;
    snprintf(kind->label, sizeof kind->label, "%s", format->label);
    snprintf(kind->name, sizeof kind->name, "%s", format->name);
    kind->holds = format->holds;
    kind->uncertain = format->uncertain;
    return DB_OK;
}

db_status db_file_count(db_context *context, const char *path, size_t *count) {
    const db_format *format;
    *count = 1;
    DB_TRY(db_format_of_file(context, path, 0, &format));
    return format && format->count ? format->count(context, path, count) : DB_OK;
}
