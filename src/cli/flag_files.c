#include "cli/flag_files.h"

#include "cli/complaint.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/standard_streams.h"

#include <string.h>

static const char *file_of(const db_settings *settings, size_t member) {
    const char *path;
    memcpy(&path, (const char *)settings + member, sizeof path);
    return path;
}

static void set_file(db_settings *settings, const db_flag *flag, const char *path) {
    memcpy((char *)settings + flag->member, &path, sizeof path);
}

/* Was the flag given, and is it the last of those that share its switch? */
static int counts(const db_flag *flag, const db_settings *settings) {
    int state = flag->constant;
    if (flag->sets) memcpy(&state, (const char *)settings + flag->switch_member, sizeof state);
    return state == flag->constant && file_of(settings, flag->member);
}

/* The next flag that names a file of this command line; NULL at the end. */
static const db_flag *next_file(const db_settings *settings, const db_flag *flag) {
    const db_flag *const end = db_flags + db_flag_count;
    for (flag = flag ? flag + 1 : db_flags; flag < end; flag++)
        if (flag->kind == DB_FLAG_TEXT && flag->status != DB_FLAG_ACCEPTED &&
            strcmp(flag->arguments, "FILE") == 0 &&
            (db_flag_commands(flag) & db_command_bit(settings->command)) && counts(flag, settings))
            return flag;
    return NULL;
}

static int is_output(const db_flag *flag, const db_settings *settings) {
    return (flag->writes & db_command_bit(settings->command)) &&
           (!flag->with || file_of(settings, flag->with));
}

void db_flag_files_settle(db_settings *settings) {
    for (const db_flag *flag = NULL; (flag = next_file(settings, flag));) {
        const char *const path = file_of(settings, flag->member);
        set_file(settings, flag,
                 is_output(flag, settings) ? db_streams_output_name(path)
                                           : db_streams_input_name(path));
    }
}

void db_flag_files_list(const db_settings *settings, db_named_files *files) {
    for (const db_flag *flag = NULL; (flag = next_file(settings, flag));)
        db_named_files_add(files, is_output(flag, settings) ? DB_ROLE_OUTPUT : DB_ROLE_INPUT,
                           flag->name, file_of(settings, flag->member));
}

db_status db_flag_files_check(const db_settings *settings) {
    db_named_files files = { 0 };
    db_flag_files_list(settings, &files);
    db_named_files_add_printed(&files);
    db_status status = db_named_files_check(settings->command, &files);
    for (const db_flag *flag = NULL; status == DB_OK && (flag = next_file(settings, flag));)
        if (is_output(flag, settings))
            status = (flag->for_terminal ? db_output_check : db_output_check_image)(
                settings->command, flag->name, file_of(settings, flag->member));
    return status;
}

db_status db_flag_files_take_input(const db_settings *settings) {
    db_status status = DB_OK;
    for (const db_flag *flag = NULL; status == DB_OK && (flag = next_file(settings, flag));)
        status =
            db_streams_take_input(settings->command, flag->name, file_of(settings, flag->member));
    return status;
}

db_status db_flag_files_take_output(db_settings *settings) {
    db_status status = DB_OK;
    for (const db_flag *flag = NULL; status == DB_OK && (flag = next_file(settings, flag));) {
        const char *path = file_of(settings, flag->member);
        if (!is_output(flag, settings)) continue;
        status = db_streams_give_output(settings->command, flag->name, &path);
        set_file(settings, flag, path);
    }
    return status;
}
