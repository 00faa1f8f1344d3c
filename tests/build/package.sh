#!/bin/sh
# The package of this build, copied to a virtual environment, works there without the build's and the source's folders; numpy
# and cffi are the system's. (./setup.sh wheel makes the wheel itself.)
set -eu
package=$BINARY_DIR/python/dualbragg
extension=$(find "$package" -name '_dualbragg*.so' 2> /dev/null | head -n 1)
[ -n "$extension" ] || {
    echo "skipped: this build has no Python package (Debian: python3-dev, python3-cffi, python3-numpy)"
    exit 77
}
if grep -q 'C_FLAGS.*fsanitize' "$BINARY_DIR/CMakeCache.txt"; then
    echo "skipped: Python would have to load the sanitizer first"
    exit 77
fi
python=$(sed -n 's/^_Python3_EXECUTABLE:[^=]*=//p' "$BINARY_DIR/CMakeCache.txt")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv --without-pip --system-site-packages "$work/clean"
site=$("$work/clean/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp -RL "$package" "$site/"
cd /
"$work/clean/bin/python" -I "$SOURCE_DIR/tests/build/installed.py" "$site"
