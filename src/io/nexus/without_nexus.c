/* NXmx files in builds that do not write HDF5. */
#include "io/nexus/nexus_write.h"

#if !defined(DB_HAVE_HDF5)
#include "io/hdf5/without_hdf5.h"

db_status db_nexus_create(db_context *context, const char *path, const db_experiment *experiment,
                          const db_nexus_format *format, db_nexus_writer **writer) {
    (void)experiment;
    (void)format;
    *writer = NULL;
    return db_fail_without_hdf5(context, path, "write");
}

db_status db_nexus_resume(db_context *context, const char *path, const db_experiment *experiment,
                          const db_nexus_format *format, db_nexus_writer **writer) {
    return db_nexus_create(context, path, experiment, format, writer);
}

db_status db_nexus_count_images(db_context *context, const char *path, size_t *count) {
    *count = 0;
    return db_fail_without_hdf5(context, path, "write");
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
    return db_fail_without_hdf5(context, "", "write");
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
