#define _XOPEN_SOURCE 700
#include "cli/signals.h"

#include <dualbragg/expert/output_files.h>
#include <dualbragg/io.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t file_too_large;

void db_end_by_signal(int number) {
    db_remove_unfinished_files();
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigaction(number, &usual, NULL);
    raise(number); /* takes effect when this handler returns */
}

/* The kernel sends it to the writing process itself; other senders are others. */
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

static atomic_int asked; /* lock-free, so that a handler may set it */
static const char *asked_note;

static void on_interrupt(int number) {
    const int error = errno;
    if (atomic_exchange(&asked, number))
        db_end_by_signal(number);
    else if (write(STDERR_FILENO, asked_note, strlen(asked_note)) < 0)
        errno = 0; /* nobody to tell */
    errno = error;
}

void db_interrupt_install(int number, const char *note) {
    const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
    struct sigaction before;
    asked_note = note;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

int db_interrupt_asked(void) { return atomic_load_explicit(&asked, memory_order_relaxed); }

void db_signals_finish(void) {
    if (file_too_large) db_end_by_signal(SIGXFSZ);
}
