/* Waiting of a command's threads. */
#ifndef DB_CLI_WAITING_H
#define DB_CLI_WAITING_H

/* Lets threads sleep while they wait, unless the environment says otherwise: GCC's OpenMP lets waiting threads
 * spin for some ms, which on a busy machine is time of the threads that they wait for. It reads the environment
 * when it is loaded, so the program starts once more, with OMP_WAIT_POLICY=passive. Returns if that is not needed,
 * or impossible. */
void db_wait_asleep(char **argv);

#endif
