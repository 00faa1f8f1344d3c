#define _POSIX_C_SOURCE 200809L
#include "cli/standard_streams.h"

#include "cli/complaint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void db_streams_open(void) {
    for (int number = 0; number < 3; number++)
        if (fcntl(number, F_GETFD) < 0 && errno == EBADF)
            /* opened for the wrong direction, so that its use still fails; gets the lowest free number */
            (void)!open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
}

/* 0, or errno. */
static int copy_input(FILE *copy) {
    char bytes[1 << 16];
    ssize_t count;
    while ((count = read(STDIN_FILENO, bytes, sizeof bytes)) != 0) {
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 || fwrite(bytes, 1, (size_t)count, copy) != (size_t)count) return errno;
    }
    return fflush(copy) == 0 && fseek(copy, 0, SEEK_SET) == 0 &&
                   dup2(fileno(copy), STDIN_FILENO) >= 0
               ? 0
               : errno;
}

/* Keeps input readable again; a file at its beginning is unchanged. 0, or errno. */
static int keep_input(void) {
    struct stat info;
    if (fstat(STDIN_FILENO, &info) != 0) return errno;
    if (S_ISREG(info.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) return 0;
    FILE *const copy = tmpfile(); /* without a name */
    if (!copy) return errno;
    const int error = copy_input(copy);
    fclose(copy);
    return error;
}

const char *db_streams_input_name(const char *path) {
    return strcmp(path, "-") == 0 ? DB_STANDARD_INPUT : path;
}

db_status db_streams_take_input(const char *command, const char *flag, const char *path) {
    static const char *taken_by;
    if (!path || strcmp(path, DB_STANDARD_INPUT) != 0) return DB_OK;
    if (taken_by)
        return db_complain(command, DB_ERROR_USAGE,
                           "%s and %s: expected one of them from standard input, found both",
                           taken_by, flag);
    taken_by = flag;
    const int error = keep_input();
    if (!error) return DB_OK;
    return db_complain(command, DB_ERROR_FILE, "%s: cannot read standard input: %s", flag,
                       strerror(error));
}

const char *db_streams_output_name(const char *path) {
    static const char *const names[] = { "-", "/dev/fd/1", "/proc/self/fd/1" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0) return DB_STANDARD_OUTPUT;
    return path;
}

static int given = -1;
static char name_of_given[32];

db_status db_streams_give_output(const char *command, const char *flag, const char **path) {
    if (!*path || strcmp(*path, DB_STANDARD_OUTPUT) != 0) return DB_OK;
    fflush(stdout);
    given = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (given < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return db_complain(command, DB_ERROR_FILE, "%s: cannot use standard output: %s", flag,
                           strerror(errno));
    snprintf(name_of_given, sizeof name_of_given, "/dev/fd/%d", given);
    *path = name_of_given;
    db_show_as_standard_output(name_of_given);
    return DB_OK;
}

/* Some file systems report a full disk only when a file is closed. */
static int close_given(void) { return given < 0 || close(given) == 0; }

int db_streams_close(int exit_status) {
    const int failed = ferror(stdout);
    errno = 0;
    if (fclose(stdout) == 0 && close_given() && !failed) return exit_status;
    const db_status status =
        db_complain(NULL, DB_ERROR_FILE, "standard output: cannot write all that is printed%s%s",
                    errno ? ": " : "", errno ? strerror(errno) : "");
    return exit_status ? exit_status : db_status_exit_code(status);
}
