#include "engine/perfect_peak.h"

#include <math.h>

double db_largest_intensity(const db_structure_factors *f) {
    double largest = f->default_F * f->default_F;
    const size_t count =
        f->amplitude ? (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2] : 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, f->amplitude[i] * f->amplitude[i]);
    return largest;
}

double db_perfect_peak(const db_kernel_job *job, double solid_angle, double intensity) {
    const double cells = job->cells[0] * job->cells[1] * job->cells[2];
    double weights = 0;
    for (size_t j = 0; j < job->source_count; j++) weights += fabs(job->source_double[j].weight);
    return job->scale * solid_angle * weights * (double)job->sample_count * job->oversample *
           job->oversample * cells * cells * intensity;
}
