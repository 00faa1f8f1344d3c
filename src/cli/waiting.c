#define _POSIX_C_SOURCE 200809L /* setenv */
#include "cli/waiting.h"

#if defined(_OPENMP) && !defined(__clang__) /* clang's takes the second start for another library */
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

void db_wait_asleep(char **argv) {
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || omp_get_max_threads() == 1) return;
    char path[4096]; /* with /proc/self/exe lists of processes would name it "exe" */
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0 || (size_t)length == sizeof path) return;
    path[length] = '\0';
    if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) execv(path, argv);
}
#else
void db_wait_asleep(char **argv) { (void)argv; }
#endif
