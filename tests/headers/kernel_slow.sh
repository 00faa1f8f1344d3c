#!/bin/sh
# Every header of the kernels compiles alone, in an instance with all kinds of numbers. Those with formulas, which are included once for
# each kind of number, compile after the numbers that they ask for.
set -eu
compile() { # HEADER OPTION...: standard input is what comes before it
    header=$1
    shift
    { cat; printf '#include "%s"\nint unit_is_not_empty;\n' "$header"; } |
        "${CC:-cc}" -std=c17 -Wall -Wextra -Werror -fsyntax-only -x c "$@" -I"$SOURCE_DIR/src/include" -I"$SOURCE_DIR/src" \
            -I"$SOURCE_DIR" - || { echo "$header does not stand alone"; exit 1; }
}

headers=0
cd "$SOURCE_DIR/src"
for header in kernel/*.h; do
    headers=$((headers + 1))
    case $header in
    kernel/scattering.h | kernel/radiometry.h | kernel/lattice.h | kernel/structure_factor.h | kernel/spot.h | \
        kernel/spot_box.h | kernel/spot_place.h | kernel/spot_coefficients.h | kernel/spot_shape.h | kernel/spot_cut.h | kernel/spot_one_pixel.h | \
        kernel/one_*.h)
        before='#define REAL double
#define LANES 1
#define DIRS 3
#include "ad/lane.h"
#include "ad/num.h"'
        case $header in
        kernel/spot_cut.h) before="$before
#include <math.h>
#include \"dualbragg/experiment.h\"
#include \"kernel/lattice.h\"" ;;
        kernel/one_* | kernel/spot.h | kernel/spot_box.h | kernel/spot_place.h | kernel/spot_coefficients.h | kernel/spot_one_pixel.h) before='#include "kernel/job.h"
#include "model/model.h"
#include <math.h>
#define REAL double
#define LANES 1
#define DIRS many
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"' ;;
        esac
        case $header in
        kernel/one_pixel.h | kernel/spot.h | kernel/spot_box.h | kernel/spot_place.h | kernel/spot_coefficients.h | kernel/spot_one_pixel.h) before="$before
#include \"kernel/one_sample.h\"" ;;
        esac
        [ $header != kernel/spot_box.h ] || before="$before
#include \"kernel/spot_find.h\"
#include \"kernel/spot.h\""
        [ $header != kernel/spot_place.h ] && [ $header != kernel/spot_coefficients.h ] || before="$before
#include \"kernel/spot.h\""
        [ $header != kernel/spot_one_pixel.h ] || before="$before
#include \"kernel/one_pixel.h\"
#include \"kernel/spot.h\"
#include \"kernel/spot_shape.h\""
        echo "$before" | compile "$header"
        ;;
    kernel/spot_near.h | kernel/spot_made.h | kernel/spot_rows.h)
        before='#include "kernel/spot_find.h"
#include "model/model.h"
#define REAL double
#define DIRS 0
#include "kernel/radiometry.h"
#include "kernel/spot.h"
#include "kernel/spot_box.h"'
        [ $header != kernel/spot_made.h ] || before="$before
#include \"kernel/spot_near.h\""
        echo "$before" | compile "$header"
        ;;
    *)
        compile "$header" -DDB_INSTANCE_ISA_BASELINE=1 -DDB_INSTANCE_PRECISION_MIXED=1 -DDB_INSTANCE_KIND=2 \
            -DDB_INSTANCE_GENERAL=0 -DDB_INSTANCE_TAG=alone < /dev/null
        ;;
    esac
done
[ $headers -gt 20 ] || { echo "expected more than 20 headers, found $headers"; exit 1; }
