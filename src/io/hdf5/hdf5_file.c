/* HDF5 files: objects by their paths, links, small numbers and texts. */
#define _POSIX_C_SOURCE 200809L
#if defined(DB_HAVE_HDF5)
#define H5_USE_110_API /* its H5Lget_info tells an object's address, in all later versions of libhdf5, too */
#include "io/hdf5/hdf5_file.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/path.h"
#include "io/hdf5/hdf5_check.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_LINKS = 32,    /* that one path may go through */
    LONGEST_TEXT = 4096 /* bytes of a fixed-size text */
};

/* The largest chunk (bytes) that is read of small data sets, those other than pixels. */
static const hsize_t LARGEST_SMALL_CHUNK = (hsize_t)64 << 20;

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void db_hdf5_enter(db_hdf5_guard *guard) {
    pthread_mutex_lock(&one_at_a_time);
    guard->print = NULL;
    guard->data = NULL;
    H5Eget_auto2(H5E_DEFAULT, &guard->print, &guard->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void db_hdf5_leave(const db_hdf5_guard *guard) {
    db_hdf5_check_end();
    H5Eset_auto2(H5E_DEFAULT, guard->print, guard->data);
    pthread_mutex_unlock(&one_at_a_time);
}

/* libhdf5's innermost reason of its last error. */
static herr_t first_reason(unsigned n, const H5E_error2_t *error, void *text) {
    if (n == 0 && error->desc) snprintf(text, 160, "%s", error->desc);
    return 0;
}

static db_status open_file(db_context *context, const char *path, hid_t *file) {
    struct stat status;
    char reason[160] = "";
    if (stat(path, &status) != 0)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot open: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return db_fail(context, DB_ERROR_FILE, "%s: expected a file, found none", path);
    DB_TRY(db_hdf5_check_file(context, path));
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, 0, 1); /* no locks: files are only read, on any file system */
    *file = H5Fopen(path, H5F_ACC_RDONLY, access);
    if (*file < 0) H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_reason, reason);
    H5Pclose(access); /* it forgets the reason */
    if (*file >= 0) return DB_OK;
    /* libhdf5 has it open, as a source of a virtual data set without end, and locked it */
    *file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (*file >= 0) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: expected an HDF5 file, found a damaged one: %s",
                   path, reason);
}

db_status db_hdf5_open(db_context *context, const char *path, db_hdf5_object *root) {
    hid_t file = -1;
    *root = (db_hdf5_object){ .context = context, .id = -1 };
    if (snprintf(root->file, sizeof root->file, "%s", path) >= DB_HDF5_PATH)
        return db_fail(context, DB_ERROR_USAGE, "%.80s...: the name has more than %d characters",
                       path, DB_HDF5_PATH - 1);
    strcpy(root->name, "/");
    DB_TRY(open_file(context, path, &file));
    root->id = H5Oopen(file, "/", H5P_DEFAULT);
    H5Fclose(file); /* stays open with its objects */
    if (root->id >= 0) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: damaged: the root cannot be read", path);
}

void db_hdf5_close(db_hdf5_object *object) {
    if (object->id >= 0) H5Oclose(object->id);
    object->id = -1;
}

/* A path that is being followed. */
typedef struct walk {
    db_hdf5_object *at;
    char rest[2 * DB_HDF5_PATH]; /* still to go */
    int links;
} walk;

static db_status fail_at(const walk *w, const char *name, const char *what, const char *detail) {
    return db_fail(w->at->context, DB_ERROR_INPUT, "%s: %s/%s: %s%s", w->at->file,
                   strcmp(w->at->name, "/") == 0 ? "" : w->at->name, name, what, detail);
}

/* Continues at `path`, followed by the rest of the path. */
static db_status turn(walk *w, const char *name, const char *path) {
    char whole[sizeof w->rest];
    if (++w->links > MOST_LINKS)
        return fail_at(w, name, "more than 32 links one after the other: they lead in a circle",
                       "");
    if (snprintf(whole, sizeof whole, "%s/%s", path, w->rest) >= (int)sizeof whole)
        return fail_at(w, name, "a link with a name that is too long", "");
    strcpy(w->rest, whole);
    return DB_OK;
}

static db_status go_to_root(walk *w, const char *name) {
    db_hdf5_object *const at = w->at;
    const hid_t file = H5Iget_file_id(at->id), root = H5Oopen(file, "/", H5P_DEFAULT);
    H5Fclose(file);
    if (root < 0) return fail_at(w, name, "the file's root cannot be read", "");
    H5Oclose(at->id);
    at->id = root;
    strcpy(at->name, "/");
    return DB_OK;
}

/* Does a name lead out of the folder? */
static int leaves_folder(const char *name) {
    if (*name == '/') return 1;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return 1;
    }
    return 0;
}

static db_status go_to_file(walk *w, const char *name, const char *file) {
    db_hdf5_object *const at = w->at;
    db_hdf5_object root;
    if (leaves_folder(file))
        return db_fail(at->context, DB_ERROR_INPUT,
                       "%s: %s/%s is a link to the file %s, which is not below its folder; links "
                       "out of the folder are not followed: put that file, or a symbolic link to "
                       "it, beside this one and name it in the link without a path",
                       at->file, at->name, name, file);
    char *const whole = db_path_beside(at->file, file);
    if (!whole) return db_fail_memory(at->context, at->file);
    const db_status status = db_hdf5_open(at->context, whole, &root);
    free(whole);
    if (status != DB_OK)
        return db_fail(at->context, status, "%s (a link of %s)", db_context_message(at->context),
                       at->file);
    db_hdf5_close(at);
    *at = root;
    return DB_OK;
}

static db_status follow_links(walk *w, const char *name, const H5L_info_t *info) {
    char value[2 * DB_HDF5_PATH] = "";
    if (info->u.val_size >= sizeof value ||
        H5Lget_val(w->at->id, name, value, sizeof value - 1, H5P_DEFAULT) < 0)
        return fail_at(w, name, "a link that cannot be read", "");
    if (info->type == H5L_TYPE_SOFT) {
        DB_TRY(turn(w, name, value));
        return *value == '/' ? go_to_root(w, name) : DB_OK;
    }
    const char *file = NULL;
    const char *path = NULL;
    unsigned flags;
    if (info->type != H5L_TYPE_EXTERNAL ||
        H5Lunpack_elink_val(value, info->u.val_size, &flags, &file, &path) < 0)
        return fail_at(w, name, "a link of a kind that is not known", "");
    DB_TRY(turn(w, name, path));
    return go_to_file(w, name, file);
}

static void append_name(db_hdf5_object *at, const char *name) {
    const size_t length = strlen(at->name);
    snprintf(at->name + length, sizeof at->name - length, "%s%s", length > 1 ? "/" : "", name);
}

/* Checks a source that libhdf5 opens by itself with an unlimited virtual data set. */
static db_status check_source(const db_hdf5_object *from, const char *file, const char *name) {
    db_hdf5_object root = { .id = -1 }, data;
    char *const whole = db_path_beside(from->file, file);
    if (!whole) return db_fail_memory(from->context, from->file);
    const int there = strcmp(file, ".") == 0 || access(whole, R_OK) == 0;
    db_status status = strcmp(file, ".") == 0 ? db_hdf5_open(from->context, from->file, &root)
                       : there                ? db_hdf5_open(from->context, whole, &root)
                                              : DB_OK;
    free(whole);
    if (status != DB_OK || !there) return status;
    status = db_hdf5_find(&root, name, &data);
    if (status == DB_OK) db_hdf5_close(&data);
    db_hdf5_close(&root);
    return status;
}

static int sources_within; /* one another, at the moment */

static db_status check_object(const db_hdf5_object *from, haddr_t address, const char *where) {
    char *sources;
    size_t size;
    DB_TRY(db_hdf5_check_object(from->context, from->file, address, where, &sources, &size));
    db_status status =
        size && ++sources_within == MOST_LINKS
            ? db_fail(from->context, DB_ERROR_INPUT,
                      "%s: %s: virtual data sets within one another (a circle?)", from->file, where)
            : DB_OK;
    for (size_t at = 0; at < size && status == DB_OK;) {
        const char *const file = sources + at;
        const char *const name = file + strlen(file) + 1;
        at += strlen(file) + strlen(name) + 2;
        if (!strchr(file, '%')) status = check_source(from, file, name);
    }
    sources_within -= size > 0;
    free(sources);
    return status;
}

/* Fails for an object that passed the check, but is newer than libhdf5 or of a kind that the check does not cover. */
static db_status fail_to_open(const walk *w, const char *name) {
    char reason[160] = "", what[320];
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_reason, reason);
    unsigned version[3] = { 0, 0, 0 };
    H5get_libversion(&version[0], &version[1], &version[2]);
    snprintf(what, sizeof what,
             "cannot be opened by libhdf5 %u.%u.%u, which knows files of later versions in part or "
             "not at all: %s",
             version[0], version[1], version[2], reason);
    return fail_at(w, name, what, "");
}

/* One name further. *there 0: it does not exist. */
static db_status next_link(walk *w, const char *name, int *there) {
    db_hdf5_object *const at = w->at;
    H5L_info_t info;
    *there = H5Iget_type(at->id) == H5I_GROUP && H5Lexists(at->id, name, H5P_DEFAULT) > 0;
    if (!*there) return DB_OK;
    if (H5Lget_info(at->id, name, &info, H5P_DEFAULT) < 0)
        return fail_at(w, name, "a link that cannot be read", "");
    if (info.type != H5L_TYPE_HARD) return follow_links(w, name, &info);
    char where[2 * DB_HDF5_PATH];
    snprintf(where, sizeof where, "%s/%s", strcmp(at->name, "/") == 0 ? "" : at->name, name);
    DB_TRY(check_object(at, info.u.address, where));
    const hid_t next = H5Oopen(at->id, name, H5P_DEFAULT);
    if (next < 0) return fail_to_open(w, name);
    H5Oclose(at->id);
    at->id = next;
    append_name(at, name);
    return DB_OK;
}

static db_status walk_on(walk *w) {
    for (;;) {
        char name[DB_HDF5_PATH];
        const char *const start = w->rest + strspn(w->rest, "/");
        const size_t length = strcspn(start, "/");
        if (length == 0) return DB_OK;
        if (length >= sizeof name) return fail_at(w, "", "a name that is too long", "");
        memcpy(name, start, length);
        name[length] = '\0';
        memmove(w->rest, start + length, strlen(start + length) + 1);
        if (strcmp(name, ".") == 0) continue;
        int there;
        DB_TRY(next_link(w, name, &there));
        if (there) continue;
        db_hdf5_close(w->at);
        return DB_OK;
    }
}

db_status db_hdf5_find(const db_hdf5_object *from, const char *path, db_hdf5_object *found) {
    walk w = { .at = found };
    *found = *from;
    found->id = -1;
    if (snprintf(w.rest, sizeof w.rest, "%s", path) >= (int)sizeof w.rest) {
        w.at->id = -1;
        return fail_at(&w, "", "a path that is too long", "");
    }
    found->id = H5Oopen(from->id, ".", H5P_DEFAULT);
    if (found->id < 0) return fail_at(&w, ".", "damaged: cannot be opened", "");
    db_status status = *path == '/' ? go_to_root(&w, "") : DB_OK;
    if (status == DB_OK) status = walk_on(&w);
    if (status != DB_OK) db_hdf5_close(found);
    return status;
}

db_status db_hdf5_need(const db_hdf5_object *from, const char *path, db_hdf5_object *found) {
    DB_TRY(db_hdf5_find(from, path, found));
    if (found->id >= 0) return DB_OK;
    return db_fail(from->context, DB_ERROR_INPUT, "%s: expected %s%s%s, which is not there",
                   from->file, *path == '/' ? "" : from->name,
                   *path == '/' || strcmp(from->name, "/") == 0 ? "" : "/", path);
}

db_status db_hdf5_find_beside(const db_hdf5_object *from, const char *file, const char *path,
                              db_hdf5_object *found) {
    db_hdf5_object root;
    DB_TRY(db_hdf5_find(from, "/", &root));
    walk w = { .at = &root };
    db_status status = strcmp(file, ".") == 0 ? DB_OK : go_to_file(&w, path, file);
    if (status == DB_OK) status = db_hdf5_need(&root, path, found);
    db_hdf5_close(&root);
    return status;
}

typedef struct naming {
    const db_hdf5_object *group;
    db_hdf5_names *names;
    db_status status;
} naming;

static db_status keep_name(const db_hdf5_object *group, const char *name, db_hdf5_names *names) {
    if (strlen(name) >= DB_HDF5_PATH) return DB_OK;
    DB_GROW(group->context, names->name, names->capacity, names->count + 1, group->file);
    char *const copy = strdup(name);
    if (!copy) return db_fail_memory(group->context, group->file);
    names->name[names->count++] = copy;
    return DB_OK;
}

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *user) {
    naming *const n = user;
    (void)group, (void)info;
    n->status = keep_name(n->group, name, n->names);
    return n->status == DB_OK ? 0 : -1;
}

/* An order of creation that the file does not know cannot be gone through. */
db_status db_hdf5_names_of(const db_hdf5_object *group, int by_creation, db_hdf5_names *names) {
    naming n = { group, names, DB_OK };
    *names = (db_hdf5_names){ NULL, 0, 0 };
    herr_t done = -1;
    if (by_creation)
        done = H5Literate(group->id, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, add_name, &n);
    if (done < 0 && n.status == DB_OK) {
        db_hdf5_names_clear(names);
        done = H5Literate(group->id, H5_INDEX_NAME, H5_ITER_INC, NULL, add_name, &n);
    }
    if (done < 0 && n.status == DB_OK)
        return db_fail(group->context, DB_ERROR_INPUT, "%s: %s: damaged: its names cannot be read",
                       group->file, group->name);
    return n.status;
}

void db_hdf5_names_clear(db_hdf5_names *names) {
    for (size_t i = 0; i < names->count; i++) free(names->name[i]);
    free(names->name);
    *names = (db_hdf5_names){ NULL, 0, 0 };
}

int db_hdf5_is_group(const db_hdf5_object *object) {
    return object->id >= 0 && H5Iget_type(object->id) == H5I_GROUP;
}

static int is_data_set(const db_hdf5_object *object) {
    return object->id >= 0 && H5Iget_type(object->id) == H5I_DATASET;
}

int db_hdf5_extents(const db_hdf5_object *object, hsize_t *extent, int most) {
    if (!is_data_set(object)) return -1;
    const hid_t space = H5Dget_space(object->id);
    int rank =
        H5Sget_simple_extent_type(space) == H5S_NULL ? -1 : H5Sget_simple_extent_ndims(space);
    if (rank > most || (rank > 0 && H5Sget_simple_extent_dims(space, extent, NULL) < 0)) rank = -1;
    H5Sclose(space);
    return rank;
}

int db_hdf5_is_in_file(const db_hdf5_object *data) {
    const hid_t creation = H5Dget_create_plist(data->id);
    const int good = H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) == 0;
    H5Pclose(creation);
    return good;
}

/* 1 if the values are in this file, in chunks of a sensible size. */
static int is_small_and_here(hid_t data) {
    const hid_t type = H5Dget_type(data), creation = H5Dget_create_plist(data);
    int good = 1;
    hsize_t chunk[2] = { 1, 1 };
    const H5D_layout_t layout = H5Pget_layout(creation);
    if (layout == H5D_CHUNKED && H5Pget_chunk(creation, 2, chunk) > 2) good = 0;
    if (layout == H5D_VIRTUAL || H5Pget_external_count(creation) != 0) good = 0;
    if (chunk[0] > LARGEST_SMALL_CHUNK || chunk[1] > LARGEST_SMALL_CHUNK ||
        chunk[0] * chunk[1] > LARGEST_SMALL_CHUNK / H5Tget_size(type))
        good = 0;
    H5Pclose(creation);
    H5Tclose(type);
    return good;
}

/* 1 if the values are such, and integers or floats. */
static int is_small_and_real(hid_t data) {
    const hid_t type = H5Dget_type(data);
    const H5T_class_t kind = H5Tget_class(type);
    const int good = (kind == H5T_INTEGER || kind == H5T_FLOAT) && H5Tget_size(type) <= 16;
    H5Tclose(type);
    return good && is_small_and_here(data);
}

/* A row of a data set of that rank. */
static int read_row(const db_hdf5_object *object, int rank, const hsize_t *start,
                    const hsize_t *count, double *value) {
    if (!is_small_and_real(object->id)) return 0;
    const hid_t space = H5Dget_space(object->id),
                memory = H5Screate_simple(1, rank ? count + rank - 1 : &(hsize_t){ 1 }, NULL);
    int good =
        rank == 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
    good = good && H5Dread(object->id, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, value) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return good;
}

int db_hdf5_numbers(const db_hdf5_object *object, size_t first, size_t count, double *value) {
    hsize_t extent = 1;
    const hsize_t start = first, wanted = count;
    const int rank = db_hdf5_extents(object, &extent, 1);
    if (rank < 0 || count < 1 || first >= extent || count > extent - first) return 0;
    return read_row(object, rank, &start, &wanted, value);
}

int db_hdf5_number(const db_hdf5_object *object, size_t index, double *value) {
    hsize_t extent = 1;
    double number;
    if (db_hdf5_extents(object, &extent, 1) < 0) return 0;
    if (!db_hdf5_numbers(object, extent > 1 ? index : 0, 1, &number)) return 0;
    *value = number;
    return 1;
}

int db_hdf5_row(const db_hdf5_object *object, size_t row, size_t count, double *value) {
    hsize_t extent[2] = { 1, 1 }, start[2] = { 0, 0 }, wanted[2] = { 1, count };
    const int rank = db_hdf5_extents(object, extent, 2);
    if (rank < 1 || extent[rank - 1] != count) return 0;
    if (rank == 1) return db_hdf5_numbers(object, 0, count, value);
    start[0] = extent[0] > 1 ? row : 0;
    return start[0] < extent[0] && read_row(object, 2, start, wanted, value);
}

static hid_t open_attribute(const db_hdf5_object *object, const char *name) {
    if (object->id < 0 || H5Aexists(object->id, name) <= 0) return -1;
    return H5Aopen(object->id, name, H5P_DEFAULT);
}

int db_hdf5_attribute_numbers(const db_hdf5_object *object, const char *name, double *value,
                              size_t count) {
    double number[16];
    const hid_t attribute = open_attribute(object, name);
    if (attribute < 0 || count > sizeof number / sizeof *number) return 0;
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    const H5T_class_t kind = H5Tget_class(type);
    const int good = (kind == H5T_INTEGER || kind == H5T_FLOAT) &&
                     H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
                     H5Aread(attribute, H5T_NATIVE_DOUBLE, number) >= 0;
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
    if (good) memcpy(value, number, count * sizeof *value);
    return good;
}

/* Reads one text: as a data set (attribute 0) or as an attribute. */
static int read_text(hid_t id, hid_t space, hid_t type, int attribute, char *text, size_t size) {
    const size_t length = H5Tget_size(type);
    if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return 0;
    if (H5Tis_variable_str(type) > 0) {
        char *given = NULL;
        const hid_t memory = H5Tcopy(type);
        const herr_t got = attribute ? H5Aread(id, memory, &given)
                                     : H5Dread(id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, &given);
        const int good = got >= 0 && given;
        if (good) snprintf(text, size, "%s", given);
        if (good) H5free_memory(given);
        H5Tclose(memory);
        return good;
    }
    char fixed[LONGEST_TEXT + 1] = "";
    if (length > LONGEST_TEXT) return 0;
    const herr_t got = attribute ? H5Aread(id, type, fixed)
                                 : H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, fixed);
    if (got < 0) return 0;
    fixed[length] = '\0';
    for (size_t end = strlen(fixed); end > 0 && fixed[end - 1] == ' '; end--) fixed[end - 1] = '\0';
    snprintf(text, size, "%s", fixed);
    return 1;
}

/* Text of a data set or attribute, cut to the room; 0: it is none. */
static int read_text_of(const db_hdf5_object *object, char *text, size_t size) {
    if (!is_data_set(object) || !is_small_and_here(object->id)) return 0;
    const hid_t space = H5Dget_space(object->id), type = H5Dget_type(object->id);
    const int good = read_text(object->id, space, type, 0, text, size);
    H5Tclose(type);
    H5Sclose(space);
    return good;
}

int db_hdf5_attribute_text(const db_hdf5_object *object, const char *name, char *text,
                           size_t size) {
    const hid_t attribute = open_attribute(object, name);
    if (attribute < 0) return 0;
    const hid_t space = H5Aget_space(attribute), type = H5Aget_type(attribute);
    const int good = read_text(attribute, space, type, 1, text, size);
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
    return good;
}

db_status db_hdf5_find_number(const db_hdf5_object *from, const char *path, size_t index,
                              double *value, int *found) {
    db_hdf5_object object;
    DB_TRY(db_hdf5_find(from, path, &object));
    *found = db_hdf5_number(&object, index, value);
    db_hdf5_close(&object);
    return DB_OK;
}

db_status db_hdf5_find_text(const db_hdf5_object *from, const char *path, char *text, size_t size,
                            int *found) {
    db_hdf5_object object;
    DB_TRY(db_hdf5_find(from, path, &object));
    *found = read_text_of(&object, text, size);
    db_hdf5_close(&object);
    return DB_OK;
}
#else
typedef int db_without_hdf5;
#endif
