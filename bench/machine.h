/* The machine on which the benchmark runs. */
#ifndef DB_BENCH_MACHINE_H
#define DB_BENCH_MACHINE_H

typedef struct db_bench_machine {
    char processor[128];
    int processors;       /* that this process may use */
    double memory;        /* bytes */
    double cache[3];      /* bytes of levels 1 (data), 2 and 3; 0 where the system does not say */
    char system[128];     /* kernel and architecture */
    char huge_pages[32];  /* always, madvise, never or unknown */
    const char *compiler; /* of this program and the library */
    const char *compiler_flags;
} db_bench_machine;

void db_bench_describe_machine(db_bench_machine *machine);

/* Mean number of running processes over the last minute; NAN if unknown. More than the benchmark's
 * own threads means that other programs used the machine. */
double db_bench_system_load(void);

#endif
