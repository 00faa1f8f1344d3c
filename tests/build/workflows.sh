#!/bin/sh
# Every job of the hosted continuous integration is a line of setup.sh, which has it.
set -eu
cd "$SOURCE_DIR"
files=$(ls .github/workflows/*.yml 2> /dev/null) || { echo "skipped: no workflows here"; exit 77; }
# shellcheck disable=SC2086 # a list of files
jobs=$(sed -n 's/^ *job: \[\(.*\)\]$/\1/p; s/^.*{ job: \([^,]*\), .*$/\1/p; s/^.*run: \.\/setup\.sh \([a-z-]*\).*$/\1/p' $files |
    tr ',' '\n' | sed 's/^ *\([a-z-]*\).*/\1/' | sed '/^$/d' | sort -u)
[ "$(echo "$jobs" | wc -l)" -ge 10 ] || { echo "FAILED: expected ten jobs at least, found $jobs"; exit 1; }
for job in $jobs; do
    grep -q "^$job)\$" setup.sh || { echo "FAILED: setup.sh has no $job, which a workflow runs"; exit 1; }
    ./setup.sh --help | grep -q "setup.sh $job " || { echo "FAILED: the usage of setup.sh does not tell of $job"; exit 1; }
done
wrong=$(grep -h '^ *- run: ' .github/workflows/*.yml | grep -v -e 'run: \./setup\.sh ' -e 'run: brew install ' || true)
[ -z "$wrong" ] || { echo "FAILED: no line of setup.sh: $wrong"; exit 1; }
