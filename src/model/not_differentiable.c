#include "model/not_differentiable.h"

#include <stddef.h>
#include <string.h>

#define COUNT "a whole number"
#define RANDOM "a seed: its neighbours are other random numbers"
#define CHOICE "a choice"
#define REGION "it says which pixels there are, not what they are"
#define PROPORTIONAL "the image is proportional to it; scale is the parameter for that"
#define OUTPUT "it changes what is written, not the image"

/* Source: model.md 18.9. */
static const struct {
    const char *name, *reason;
} table[] = {
    { "oversample", COUNT },
    { "phisteps", COUNT },
    { "phi_steps", COUNT },
    { "mosaic_domains", COUNT },
    { "mosaic_dom", COUNT },
    { "thicksteps", COUNT },
    { "detector_thicksteps", COUNT },
    { "sensor_layers", COUNT },
    { "dispsteps", COUNT },
    { "divsteps", COUNT },
    { "hdivsteps", COUNT },
    { "vdivsteps", COUNT },
    { "detpixels", COUNT },
    { "samplesize", "it is rounded up to whole cells; Na, Nb and Nc are parameters" },
    { "N", "it stands for three; Na, Nb and Nc are parameters" },
    { "dmin", "the image jumps where a sample crosses the limit" },
    { "d_min", "the image jumps where a sample crosses the limit" },
    { "beamsize", "it clips the sizes of crystal and amorphous matter; scale is a parameter" },
    { "default_F", "without a list scale is the parameter for it, with one F:H:K:L are there" },
    { "fluence", PROPORTIONAL },
    { "flux", PROPORTIONAL },
    { "exposure", PROPORTIONAL },
    { "mosaic_seed", RANDOM },
    { "misset_seed", RANDOM },
    { "seed", RANDOM },
    { "interpolate", CHOICE },
    { "point_pixel", CHOICE },
    { "curved_det", CHOICE },
    { "pivot", CHOICE },
    { "roi", REGION },
    { "mask", REGION },
    { "adc", OUTPUT },
    { "gain", OUTPUT },
    { "noise", "photons are counted in whole numbers" },
};

const char *db_not_differentiable(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(name, table[i].name) == 0) return table[i].reason;
    return NULL;
}
