#!/bin/sh
# MarCCD and mar345 images: dualbragg takes from headers what dxtbx takes (panel, beam, scan), and the same pixels.
. "$SOURCE_DIR/tests/dials/environment"
exec "$python" -B "$here/mar.py" "$DUALBRAGG" "$SOURCE_DIR"
