#!/bin/sh
# dxtbx reads experiment lists of every convention as simulated, and headers of those that an SMV header can state.
. "$SOURCE_DIR/tests/dials/environment"
exec "$python" -B "$here/geometry.py" "$DUALBRAGG"
