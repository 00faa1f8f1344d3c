/** @file
 * dualbragg: differentiable nanocrystal diffraction. Includes the whole public interface. */
#ifndef DUALBRAGG_H
#define DUALBRAGG_H

#include <dualbragg/batch.h>
#include <dualbragg/context.h>
#include <dualbragg/device.h>
#include <dualbragg/experiment.h>
#include <dualbragg/io.h>
#include <dualbragg/noise.h>
#include <dualbragg/normal.h>
#include <dualbragg/parameters.h>
#include <dualbragg/plan.h>
#include <dualbragg/products.h>
#include <dualbragg/reflections.h>
#include <dualbragg/setup.h>
#include <dualbragg/spots.h>
#include <dualbragg/status.h>
#include <dualbragg/version.h>

#endif
