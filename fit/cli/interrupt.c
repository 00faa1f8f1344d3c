#define _XOPEN_SOURCE 700
#include "fit/cli/interrupt.h"

#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int asked; /* lock-free, so that a handler may set it */

static void on_interrupt(int number) {
    static const char note[] =
        "\ndualbragg fit: interrupted; ends with the best model so far (again: ends at once)\n";
    const int error = errno;
    if (atomic_exchange(&asked, 1))
        db_end_by_signal(number);
    else if (write(STDERR_FILENO, note, sizeof note - 1) < 0)
        errno = 0; /* nobody to tell */
    errno = error;
}

void db_interrupt_install(void) {
    const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
    struct sigaction before;
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
}

int db_interrupt_asked(void) { return atomic_load_explicit(&asked, memory_order_relaxed); }
