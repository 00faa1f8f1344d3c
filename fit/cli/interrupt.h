/* Ctrl-C in a refinement: the first one asks it to end with the best model so far, the second one
 * ends the program. */
#ifndef DB_FIT_CLI_INTERRUPT_H
#define DB_FIT_CLI_INTERRUPT_H

/* From now on, unless the parent has SIGINT ignored. */
void db_interrupt_install(void);

/* 1: the refinement is to end. Any thread may ask. */
int db_interrupt_asked(void);

#endif
