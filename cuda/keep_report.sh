#!/bin/sh
# keep_report.sh FILE COMMAND...: runs a compiler, and keeps what it says of its work in FILE.
report=$1
shift
"$@" 2> "$report"
status=$?
# what is not the assembler's report is for the reader
grep -v -e '^ptxas info' -e 'bytes stack frame' "$report" | grep . >&2
exit $status
