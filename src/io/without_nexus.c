/* NXmx files in builds that do not write HDF5. */
#include "io/nexus_write.h"

#include "base/context_internal.h"

#if !defined(DB_HAVE_HDF5)
static db_status refuse(db_context *context, const char *path) {
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build does not write HDF5: it needs libhdf5, lz4, zstd and zlib when "
                   "it is configured (Debian: libhdf5-dev liblz4-dev libzstd-dev zlib1g-dev)",
                   path);
}

db_status db_nexus_create(db_context *context, const char *path, const db_experiment *experiment,
                          const db_nexus_format *format, db_nexus_writer **writer) {
    (void)experiment;
    (void)format;
    *writer = NULL;
    return refuse(context, path);
}

db_status db_nexus_resume(db_context *context, const char *path, const db_experiment *experiment,
                          const db_nexus_format *format, db_nexus_writer **writer) {
    return db_nexus_create(context, path, experiment, format, writer);
}

db_status db_nexus_count_images(db_context *context, const char *path, size_t *count) {
    *count = 0;
    return refuse(context, path);
}

db_status db_nexus_expect_last(db_nexus_writer *writer, const db_packed *packed) {
    (void)writer;
    (void)packed;
    return DB_ERROR_UNSUPPORTED;
}

db_status db_nexus_pack(db_context *context, const db_nexus_writer *writer, const void *pixels,
                        db_packed *packed) {
    (void)writer;
    (void)pixels;
    (void)packed;
    return refuse(context, "");
}

db_status db_nexus_append(db_nexus_writer *writer, const db_experiment *experiment,
                          const db_packed *packed) {
    (void)writer;
    (void)experiment;
    (void)packed;
    return DB_ERROR_UNSUPPORTED;
}

db_status db_nexus_finish(db_nexus_writer **writer, db_status status) {
    (void)writer;
    return status;
}
#else
typedef int db_with_nexus_write;
#endif
