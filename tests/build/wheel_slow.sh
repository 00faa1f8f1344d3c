#!/bin/sh
# The wheel that `pip install .` makes, from the source without an index, in a virtual environment that has nothing else
# but numpy and cffi: module and program work there. Skipped where the Python that PYTHON names (default python3) has no
# scikit-build-core, cffi or numpy.
set -eu
python=${PYTHON:-python3}
"$python" -c 'import cffi, numpy, scikit_build_core' 2> /dev/null || {
    echo "skipped: $python has no scikit-build-core, cffi or numpy"
    exit 77
}
root=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip -q wheel "$root" --no-index --no-deps --no-build-isolation -w "$work" \
    --config-settings build-dir="$work/build" --config-settings cmake.define.DB_INSTRUCTION_SETS=baseline
"$python" -m venv "$work/clean"
site=$("$work/clean/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$python" -c 'import cffi, numpy, os
print(*sorted({os.path.dirname(os.path.dirname(m.__file__)) for m in (cffi, numpy)}), sep="\n")' > "$site/needed.pth"
"$work/clean/bin/python" -m pip -q install --no-index --no-deps "$work"/*.whl
cd /
"$work/clean/bin/dualbragg" --version
"$work/clean/bin/python" -I "$root/tests/build/installed.py" "$site"

# A free-threaded Python, made up here, has modules of another kind, and is told so.
cat > "$work/free_threaded" << TEXT
#!/bin/sh
case "\$*" in *Py_GIL_DISABLED*) echo 1 ;; *) exec "$(command -v "$python")" "\$@" ;; esac
TEXT
chmod +x "$work/free_threaded"
cmake -S "$root" -B "$work/free" -DSKBUILD=ON -DPython3_EXECUTABLE="$work/free_threaded" -DDB_BUILD_TESTS=OFF \
    -DDB_BUILD_BENCH=OFF > "$work/log" 2>&1 || true
tr -s ' \n' ' ' < "$work/log" | grep -q 'is a free-threaded Python' || { # cmake breaks lines
    echo "FAILED: expected the build to refuse a free-threaded Python:"
    tail -n 20 "$work/log"
    exit 1
}
