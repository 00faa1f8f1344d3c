#!/bin/sh
# A fit on a machine that others keep busy takes hardly more processor time by two threads than by one: threads that wait
# for others leave the processor to them.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
command -v python3 > /dev/null || { echo "skipped: no python3" && exit 77; }
unset OMP_WAIT_POLICY GOMP_SPINCOUNT OMP_NUM_THREADS
case $("$DUALBRAGG" version) in *OpenMP*) ;; *) echo "skipped: this build has no threads" && exit 77 ;; esac

cat > measure.py << 'PYTHON'
import os, resource, subprocess, sys

data = os.path.join(os.environ["SOURCE_DIR"], "examples")
busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * os.cpu_count())]
try:
    seconds = {}
    for threads in ("1", "2"):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([os.environ["DUALBRAGG"], "fit", os.path.join(data, "thaumatin.yaml"), "--image",
                        os.path.join(data, "data", "thaumatin.cbf"), "--threads", threads, "--no-report", "--output", "refined",
                        "model.matrix=" + os.path.join(data, "data", "thaumatin.mat")],
                       check=True, stdout=subprocess.DEVNULL)
        seconds[threads] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
finally:
    for other in busy:
        other.kill()
print("processor time: %(1).2f s by one thread, %(2).2f s by two" % seconds)
sys.exit(seconds["2"] > 2.5 * seconds["1"])
PYTHON
python3 measure.py || fail "two threads take too much processor time"
