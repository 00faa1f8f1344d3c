#define _POSIX_C_SOURCE 200809L
#include "base/host_memory.h"

#include <errno.h>
#include <unistd.h>

/* Unreadable memory cannot be written to a pipe, which the kernel reports without a signal. */
int db_host_reads(const void *memory) {
    int ends[2];
    ssize_t written;
    if (pipe(ends) != 0) return -1;
    do written = write(ends[1], memory, 1);
    while (written < 0 && errno == EINTR);
    const int answer = written == 1 ? 1 : errno == EFAULT ? 0 : -1;
    (void)close(ends[0]);
    (void)close(ends[1]);
    return answer;
}
