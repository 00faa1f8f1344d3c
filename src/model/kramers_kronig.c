/* The integral of Kramers and Kronig over straight lines, in closed form. */
#include <dualbragg/expert/site_curves.h>

#include <math.h>

/* At a point of the curve the logarithms of both neighbours cancel, so 0 may replace them. */
static double logarithm(double x) { return fabs(x) > 0 ? log(fabs(x)) : 0; }

double db_kramers_kronig(const double *energy, const double *f_second, size_t count, double at) {
    double sum = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        const double low = energy[i], high = energy[i + 1],
                     slope = (f_second[i + 1] - f_second[i]) / (high - low);
        /* the line at E and at -E: E'/(E^2 - E'^2) is half of 1/(E - E') - 1/(E + E') */
        const double here = f_second[i] + slope * (at - low), mirrored = here - 2 * slope * at;
        sum -= here * (logarithm(high - at) - logarithm(low - at)) +
               mirrored * log((at + high) / (at + low)) + 2 * slope * (high - low);
    }
    const double pi = 3.14159265358979323846;
    return sum / pi;
}
