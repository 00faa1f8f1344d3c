#define _XOPEN_SOURCE 700
#include "cli/signals.h"

#include <dualbragg/io.h>

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t file_too_large;

void db_end_by_signal(int number) {
    db_remove_unfinished_files();
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigaction(number, &usual, NULL);
    raise(number); /* it comes when this handler returns */
}

/* The kernel sends it to a writer in its own name, others in theirs. */
static void on_file_size(int number, siginfo_t *info, void *context) {
    (void)context;
    if (info->si_code == SI_USER && info->si_pid != getpid())
        db_end_by_signal(number);
    else
        file_too_large = 1;
}

static void install(int number, const struct sigaction *action) {
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(number, action, NULL);
}

void db_signals_install(void) {
    static const int ending[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,
                                  SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU };
    const struct sigaction end = { .sa_handler = db_end_by_signal },
                           file_size = { .sa_sigaction = on_file_size, .sa_flags = SA_SIGINFO };
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) install(ending[i], &end);
    install(SIGXFSZ, &file_size);
}

void db_signals_finish(void) {
    if (file_too_large) db_end_by_signal(SIGXFSZ);
}
