#!/bin/sh
# A run that a signal ends leaves nothing behind, and ends by that signal.
# Where nohup runs the tests SIGHUP is ignored, and a shell cannot undo that.
if [ "$(sh -c 'kill -s HUP $$; echo lives' 2> /dev/null)" = lives ]; then
    exec python3 -c 'import os, signal, sys
for number in signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ:
    signal.signal(number, signal.SIG_DFL)
os.execvp("sh", ["sh", sys.argv[1]])' "$0"
fi
. "$SOURCE_DIR/tests/cli/expectations"

# Sums of 600 images of holes take long, and write from the beginning.
dd if=/dev/zero of=../holes.bin bs=1 count=0 seek=80000000 2> /dev/null
yes ../holes.bin | head -600 > ../list

# interrupt STATUS "SIGNALS" [IGNORED]: while a file is being written. The process replaces a shell that is a child of this one:
# in the background it would ignore SIGINT.
interrupt() {
    rm -f ../pid
    (
        while [ ! -s ../pid ] || ! ls .dualbragg-*.tmp > /dev/null 2>&1; do sleep 0.02; done
        for signal in $2; do
            kill -s "$signal" "$(cat ../pid)"
            sleep 0.1
        done
    ) 2> /dev/null &
    killer=$!
    ignored=${3-} sh -c '[ -z "$ignored" ] || trap "" $ignored
        echo $$ > ../pid
        exec "$DUALBRAGG" add -list ../list -o sum.bin > ../out 2> ../err' 2> /dev/null
    status=$?
    wait $killer
    [ $status -eq "$1" ] || complain "$2: exit status $status, expected $1: $(cat ../err)"
    [ -z "$(ls -A)" ] || complain "$2: left behind: $(ls -A)"
    [ ! -s ../err ] || complain "$2: prints $(cat ../err)"
}
export DUALBRAGG
(ulimit -c 0 && [ "$(ulimit -c)" = 0 ]) && ulimit -c 0
# UCX of Open MPI 5 takes SIGHUP before the program begins: such a program lives on, as under nohup
takes_hup=
if ldd "$DUALBRAGG" 2> /dev/null | grep -q libucs; then takes_hup=yes; fi
[ -n "$takes_hup" ] || interrupt 129 HUP
interrupt 130 INT
interrupt 131 QUIT
interrupt 138 USR1
interrupt 143 TERM
interrupt 152 XCPU
interrupt 153 XFSZ
# what the parent ignores, as nohup does, is ignored
interrupt 143 "HUP INT TERM" "HUP INT"

# a pipe whose reader has gone: the end of every program in a pipe, or an error where the parent ignores that signal
for ignored in "" PIPE; do
    {
        ignored=$ignored sh -c '[ -z "$ignored" ] || trap "" $ignored
            while [ ! -e ../gone ]; do sleep 0.02; done
            exec "$DUALBRAGG" orient -cell 40' 2> ../err
        echo $? > ../status
    } | (exec <&- && touch ../gone)
    expected=141
    [ -z "$ignored" ] || expected=3
    [ "$(cat ../status)" = $expected ] || complain "a reader that has gone: exit status $(cat ../status), expected $expected"
    [ -z "$ignored" ] || grep -q "standard output: cannot write all that is printed: Broken pipe" ../err ||
        complain "a reader that has gone: $(cat ../err)"
    rm ../gone ../status
done

. "$SOURCE_DIR/tests/support/file_limit"
lives_with_file_limit 2 || finish

# the limit of file sizes, in blocks of 512 or 1024 bytes: reported like a full disk, and the signal
# shellcheck disable=SC2086
{
    (ulimit -f 2 && exec "$DUALBRAGG" sim $small -floatfile image.f32 > ../out 2> ../err) 2> /dev/null
    status=$?
    [ $status -eq 153 ] || complain "SIGXFSZ by a limit: exit status $status"
    grep -q "image.f32: cannot write: File too large" ../err || complain "SIGXFSZ by a limit: $(cat ../err)"
    [ -z "$(ls -A)" ] || complain "SIGXFSZ by a limit: left behind: $(ls -A)"
    (ulimit -f 2 && trap '' XFSZ && exec "$DUALBRAGG" sim $small -floatfile image.f32) > ../out 2> ../err
    status=$?
    [ $status -eq 3 ] || complain "SIGXFSZ ignored: exit status $status"
    [ -z "$(ls -A)" ] || complain "SIGXFSZ ignored: left behind: $(ls -A)"
}
finish
