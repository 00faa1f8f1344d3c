#include <dualbragg/expert/sensor_depth.h>

#define REAL double
#define LANES 1
#include "ad/lane.h"
#define DIRS 0
#include "ad/num.h"

#include "kernel/radiometry.h"

double db_sensor_depth(const db_detector *detector, double obliquity) {
    if (detector->sensor_thickness == 0 || detector->curved) return 0;
    const double thickness = 1e-6 * detector->sensor_thickness;
    const num cosine = n_constant(obliquity),
              attenuation = n_constant(1e6 / detector->attenuation_depth);
    /* layers at their mean depths have together the mean depth of a single layer */
    if (!detector->layers_at_front)
        return 1e3 * absorption_depth(cosine, n_constant(thickness), attenuation, 0).v;
    const num step = n_constant(thickness / detector->sensor_layers);
    double sum = 0, total = 0;
    for (int layer = 0; layer < detector->sensor_layers; layer++) {
        const double part = capture_fraction(cosine, step, attenuation, layer).v;
        sum += part * layer * step.v;
        total += part;
    }
    return 1e3 * sum / total;
}
