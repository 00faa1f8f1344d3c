#!/bin/sh
# dualbragg takes from XPARM.XDS what dxtbx takes: panels, beam, axis, crystal, scan.
. "$SOURCE_DIR/tests/dials/environment"
exec "$python" -B "$here/xds.py" "$DUALBRAGG"
