/* How the threads of a command wait for work. */
#ifndef DB_CLI_WAITING_H
#define DB_CLI_WAITING_H

/* Has them sleep, unless the environment says how they wait: GCC's OpenMP has threads that wait run in
 * circles for some ms, which on a busy machine is the time of those that they wait for. It reads the
 * environment when it is loaded, so the program starts once more, with OMP_WAIT_POLICY=passive. Returns
 * where that is not so, or cannot be. */
void db_wait_asleep(char **argv);

#endif
