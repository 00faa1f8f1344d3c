/** @file
 * Files: structure factors, matrices, sources, measured images in; simulated images out.
 *
 * Readers report DB_ERROR_FILE (cannot open, read) or DB_ERROR_INPUT (contents) with file, line,
 * what was expected and what was found. Writers write to a temporary name beside the target and
 * rename it, so that no half-written file is ever left behind. */
#ifndef DUALBRAGG_IO_H
#define DUALBRAGG_IO_H

#include <dualbragg/experiment_list.h>
#include <dualbragg/image_files.h>
#include <dualbragg/measured_image.h>
#include <dualbragg/reflections.h>
#include <dualbragg/spots.h>

#endif
