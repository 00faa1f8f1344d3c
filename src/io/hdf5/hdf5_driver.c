/* A driver of libhdf5 for files that are written, which remembers failures. */
#define _POSIX_C_SOURCE 200809L
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h> /* of HDF5 1.14 */
#endif
#endif

typedef struct info {
    int *error;
} info;

typedef struct own_file {
    H5FD_t common; /* first, for libhdf5 */
    int descriptor;
    haddr_t end, written; /* the end of allocated and of written bytes */
    int *error;
} own_file;

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most) {
    const info *const given = H5Pget_driver_info(access);
    own_file *const file = calloc(1, sizeof *file);
    struct stat found;
    (void)most;
    if (!given || !file) {
        free(file);
        return NULL;
    }
    file->error = given->error;
    const int begin = flags & H5F_ACC_TRUNC ? O_CREAT | O_TRUNC : 0;
    file->descriptor = open(name, O_RDWR | O_CLOEXEC | begin, 0666);
    if (file->descriptor >= 0 && fstat(file->descriptor, &found) == 0) {
        file->written = (haddr_t)found.st_size;
        return &file->common;
    }
    *file->error = errno;
    if (file->descriptor >= 0) close(file->descriptor);
    free(file);
    return NULL;
}

static void keep_bytes(own_file *file, int error) {
    if (!*file->error) *file->error = error;
}

static herr_t close_file(H5FD_t *common) {
    own_file *const file = (own_file *)common;
    /* some file systems report a full disk only here */
    if (close(file->descriptor) != 0 && errno != EINTR) keep_bytes(file, errno);
    free(file);
    return 0;
}

static herr_t query(const H5FD_t *common, unsigned long *features) {
    (void)common;
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
                H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
                H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t get_end(const H5FD_t *common, H5FD_mem_t type) {
    (void)type;
    return ((const own_file *)common)->end;
}

static herr_t set_end(H5FD_t *common, H5FD_mem_t type, haddr_t end) {
    (void)type;
    ((own_file *)common)->end = end;
    return 0;
}

static haddr_t get_written(const H5FD_t *common, H5FD_mem_t type) {
    (void)type;
    return ((const own_file *)common)->written;
}

/* Reads bytes; those that were never written are 0. */
static herr_t read_bytes(H5FD_t *common, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                         void *buffer) {
    own_file *const file = (own_file *)common;
    char *to = buffer;
    (void)type;
    (void)transfer;
    while (size > 0) {
        const ssize_t got = pread(file->descriptor, to, size, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        to += got;
        at += (haddr_t)got;
        size -= (size_t)got;
    }
    memset(to, 0, size);
    return 0;
}

static herr_t write_bytes(H5FD_t *common, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                          const void *buffer) {
    own_file *const file = (own_file *)common;
    const char *from = buffer;
    (void)type;
    (void)transfer;
    while (size > 0 && !*file->error) {
        const ssize_t done = pwrite(file->descriptor, from, size, (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            keep_bytes(file, done < 0 ? errno : ENOSPC);
            break;
        }
        from += done;
        at += (haddr_t)done;
        size -= (size_t)done;
    }
    if (at + size > file->written) file->written = at + size;
    return 0;
}

static herr_t set_length(H5FD_t *common, hid_t transfer, hbool_t closing) {
    own_file *const file = (own_file *)common;
    (void)transfer;
    (void)closing;
    if (file->end == file->written) return 0;
    if (!*file->error && ftruncate(file->descriptor, (off_t)file->end) != 0)
        keep_bytes(file, errno);
    file->written = file->end;
    return 0;
}

static const H5FD_class_t driver = {
#if defined(H5FD_CLASS_VERSION)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)511, /* a number for private use */
#endif
    .name = "dualbragg",
    .maxaddr = ((haddr_t)1 << (8 * sizeof(off_t) - 1)) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(info),
    .open = open_file,
    .close = close_file,
    .query = query,
    .get_eoa = get_end,
    .set_eoa = set_end,
    .get_eof = get_written,
    .read = read_bytes,
    .write = write_bytes,
    .truncate = set_length,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t db_hdf5_driver(hid_t access, int *error) {
    const info given = { error };
    *error = 0;
    const hid_t id = H5FDregister(&driver);
    if (id < 0 || H5Pset_driver(access, id, &given) >= 0) return id;
    H5FDunregister(id);
    return -1;
}
#else
typedef int db_without_hdf5_driver;
#endif
