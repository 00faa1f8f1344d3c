#include "bench/machine.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void read_processor(char *name, size_t size) {
    char line[512];
    snprintf(name, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    fclose(file);
}

/* The system lists all settings and puts the one in force in brackets. */
static void read_huge_pages(char *setting, size_t size) {
    char line[128] = "";
    snprintf(setting, size, "unknown");
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!file) return;
    if (fgets(line, sizeof line, file)) {
        char *open = strchr(line, '['), *close = strchr(line, ']');
        if (open && close) {
            *close = '\0';
            snprintf(setting, size, "%s", open + 1);
        }
    }
    fclose(file);
}

static double positive(long value) { return value > 0 ? (double)value : 0; }

void db_bench_describe_machine(db_bench_machine *machine) {
    struct utsname names;
    cpu_set_t allowed;
    read_processor(machine->processor, sizeof machine->processor);
    read_huge_pages(machine->huge_pages, sizeof machine->huge_pages);
    machine->processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                              ? CPU_COUNT(&allowed)
                              : (int)positive(sysconf(_SC_NPROCESSORS_ONLN));
    machine->memory = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
    machine->cache[0] = positive(sysconf(_SC_LEVEL1_DCACHE_SIZE));
    machine->cache[1] = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
    machine->cache[2] = positive(sysconf(_SC_LEVEL3_CACHE_SIZE));
    if (uname(&names) == 0)
        snprintf(machine->system, sizeof machine->system, "%.40s %.40s, %.40s", names.sysname,
                 names.release, names.machine);
    else
        snprintf(machine->system, sizeof machine->system, "unknown");
    machine->compiler = COMPILER;
    machine->compiler_flags = DB_BENCH_COMPILER_FLAGS;
}

double db_bench_system_load(void) {
    double load;
    return getloadavg(&load, 1) == 1 ? load : NAN;
}
