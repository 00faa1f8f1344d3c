#define _POSIX_C_SOURCE 200809L
#include "cli/standard_streams.h"

#include "cli/complaint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void db_streams_open(void) {
    for (int number = 0; number < 3; number++)
        if (fcntl(number, F_GETFD) < 0 && errno == EBADF)
            /* for the wrong direction, so that use of it still fails; the lowest number is free */
            (void)!open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
}

int db_streams_close(int exit_status) {
    const int failed = ferror(stdout);
    errno = 0;
    if (fclose(stdout) == 0 && !failed) return exit_status;
    const db_status status =
        db_complain(NULL, DB_ERROR_FILE, "standard output: cannot write all that is printed%s%s",
                    errno ? ": " : "", errno ? strerror(errno) : "");
    return exit_status ? exit_status : db_status_exit_code(status);
}
