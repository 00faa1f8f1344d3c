/* The subcommands. Each gets its own arguments, argv[0] being its name, and returns the process's
 * exit status. */
#ifndef DB_CLI_COMMAND_H
#define DB_CLI_COMMAND_H

int db_command_sim(int argc, char **argv); /* amorphous too */
int db_command_grad(int argc, char **argv);
int db_command_check(int argc, char **argv);
int db_command_noise(int argc, char **argv);
int db_command_orient(int argc, char **argv);
int db_command_add(int argc, char **argv);
int db_command_compare(int argc, char **argv);

/* Only in builds with DB_HAVE_FIT. */
int db_command_fit(int argc, char **argv);

#endif
