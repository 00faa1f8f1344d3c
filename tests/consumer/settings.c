/* Links the installed refinement library. */
#include <dualbragg/fit.h>
#include <stdio.h>

int main(void) {
    db_fit_settings settings;
    db_fit_settings_init(&settings);
    printf("gain %g\n", settings.gain);
    return settings.size == sizeof settings ? 0 : 1;
}
