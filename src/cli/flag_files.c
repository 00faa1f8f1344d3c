#define _POSIX_C_SOURCE 200809L
#include "cli/flag_files.h"

#include "cli/complaint.h"
#include "cli/output.h"
#include "cli/standard_streams.h"

#include <string.h>
#include <strings.h>

static const char *file_of(const void *target, size_t member) {
    const char *path;
    memcpy(&path, (const char *)target + member, sizeof path);
    return path;
}

static void set_file(void *target, const db_flag *flag, const char *path) {
    memcpy((char *)target + flag->member, &path, sizeof path);
}

/* Was the flag given, as the last of the flags that share its switch? */
static int counts(const db_flag *flag, const void *target) {
    int state = flag->constant;
    if (flag->sets) memcpy(&state, (const char *)target + flag->switch_member, sizeof state);
    return state == flag->constant && file_of(target, flag->member);
}

/* The next flag that names a file of this command line; NULL at the end. */
static const db_flag *next_file(const db_flag_table *table, const void *target,
                                const db_flag *flag) {
    const db_flag *const end = table->flags + table->count;
    for (flag = flag ? flag + 1 : table->flags; flag < end; flag++)
        if (flag->kind == DB_FLAG_TEXT && flag->status == DB_FLAG_AVAILABLE && !flag->by_command &&
            strcmp(flag->arguments, "FILE") == 0 && db_flag_is_taken(table, flag) &&
            counts(flag, target))
            return flag;
    return NULL;
}

/* Endings of names for formats or packing that no flag writes: another content under such a name misleads people
 * and programs. */
static const char FORMAT_ENDINGS[] =
    "png jpg jpeg gif pgm tif tiff cbf img smv mccd h5 hdf5 nxs npy expt json gz bz2 xz zst";

/* Is it one of the blank-separated words, in upper or lower case? */
static int is_among(const char *words, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = words; *at;) {
        const size_t own = strcspn(at, " ");
        if (own == length && strncasecmp(at, word, own) == 0) return 1;
        at += own;
        at += strspn(at, " ");
    }
    return 0;
}

/* The flag of the table that writes files with this ending; NULL. */
static const db_flag *writer_of(const db_flag_table *table, const char *ending) {
    for (size_t i = 0; i < table->count; i++)
        if (table->flags[i].endings && db_flag_is_taken(table, &table->flags[i]) &&
            is_among(table->flags[i].endings, ending))
            return &table->flags[i];
    return NULL;
}

static db_status check_ending(const db_flag_table *table, const db_flag *flag, const char *path) {
    const char *const name = strrchr(path, '/'), *dot = strrchr(name ? name : path, '.');
    if (!flag->endings || !dot || !is_among(FORMAT_ENDINGS, dot + 1) ||
        is_among(flag->endings, dot + 1))
        return DB_OK;
    const db_flag *const other = writer_of(table, dot + 1);
    return db_complain(
        table->command, DB_ERROR_USAGE,
        "%s %s: expected a name that ends in %s, or has no ending, found '%s', which %s writes",
        flag->name, path, flag->endings, dot, other ? other->name : "no flag");
}

static int is_output(const db_flag_table *table, const db_flag *flag, const void *target) {
    return (flag->writes & (table->bit ? table->bit : ~0u)) &&
           (!flag->with || file_of(target, flag->with));
}

void db_flag_files_settle(const db_flag_table *table, void *target) {
    for (const db_flag *flag = NULL; (flag = next_file(table, target, flag));) {
        const char *const path = file_of(target, flag->member);
        set_file(target, flag,
                 is_output(table, flag, target) ? db_streams_output_name(path)
                                                : db_streams_input_name(path));
    }
}

void db_flag_files_list(const db_flag_table *table, const void *target, db_named_files *files) {
    for (const db_flag *flag = NULL; (flag = next_file(table, target, flag));)
        db_named_files_add(files, is_output(table, flag, target) ? DB_ROLE_OUTPUT : DB_ROLE_INPUT,
                           flag->name, file_of(target, flag->member));
}

db_status db_flag_files_check(const db_flag_table *table, const void *target,
                              db_named_files *files) {
    db_flag_files_list(table, target, files);
    db_named_files_add_printed(files);
    db_status status = db_named_files_check(table->command, files);
    for (const db_flag *flag = NULL; status == DB_OK && (flag = next_file(table, target, flag));)
        if (is_output(table, flag, target)) {
            const char *const path = file_of(target, flag->member);
            status = check_ending(table, flag, path);
            if (status == DB_OK)
                status = (flag->for_terminal ? db_output_check : db_output_check_image)(
                    table->command, flag->name, path);
        }
    return status;
}

db_status db_flag_files_take_input(const db_flag_table *table, const void *target) {
    db_status status = DB_OK;
    for (const db_flag *flag = NULL; status == DB_OK && (flag = next_file(table, target, flag));)
        status = db_streams_take_input(table->command, flag->name, file_of(target, flag->member));
    return status;
}

db_status db_flag_files_take_output(const db_flag_table *table, void *target) {
    db_status status = DB_OK;
    for (const db_flag *flag = NULL; status == DB_OK && (flag = next_file(table, target, flag));) {
        const char *path = file_of(target, flag->member);
        if (!is_output(table, flag, target)) continue;
        status = db_streams_give_output(table->command, flag->name, &path);
        set_file(target, flag, path);
    }
    return status;
}
