#!/bin/sh
# What is printed arrives, or the program says that it does not.
. "$SOURCE_DIR/tests/cli/expectations"
[ -c /dev/full ] || { echo "SKIPPED: no /dev/full"; exit 77; }

# refused ARGUMENTS...: status 3 and a message where standard output takes nothing
refused() {
    "$DUALBRAGG" "$@" > /dev/full 2> ../err
    status=$?
    [ $status -eq 3 ] || complain "dualbragg $* on a full disk: exit status $status"
    grep -q "standard output: cannot write" ../err || complain "dualbragg $* on a full disk: $(cat ../err)"
}

printf '\000\000\200\077' > ../a.bin
# shellcheck disable=SC2086
{
    for command in --help --version help "help --markdown" "grad --list-params" "orient -cell 40" \
        "sim --help" "grad --help" "check --help" "amorphous --help" "orient --help" "add --help" "noise --help" \
        "add ../a.bin -o sum.bin" "sim $small -floatfile image.f32" \
        "check $small -detpixels 4 -params distance -roi 0 1 0 1"; do
        refused $command
    done
    "$DUALBRAGG" fit --help > /dev/null 2>&1 && for command in "fit --help" "fit --show-defaults"; do refused $command; done

    # a failure keeps its own status
    "$DUALBRAGG" sim $small -hkl no_such.hkl -floatfile o > /dev/full 2> ../err
    [ $? -eq 3 ] || complain "an unusable file and a full disk"
    "$DUALBRAGG" grad $small -params distanse > /dev/full 2> ../err
    [ $? -eq 2 ] || complain "wrong use and a full disk"

    # a closed standard output is none: text must not find its way into the image
    succeed sim $small -floatfile whole.f32
    "$DUALBRAGG" sim $small -floatfile closed.f32 --quiet >&- 2> ../err || complain "closed, and not needed: $(cat ../err)"
    same whole.f32 closed.f32 "with a closed standard output"
    "$DUALBRAGG" sim $small -floatfile closed.f32 >&- 2> ../err
    [ $? -eq 3 ] || complain "a report for a closed standard output"
    same whole.f32 closed.f32 "with a closed standard output that is needed"
    "$DUALBRAGG" sim $small -floatfile closed.f32 >&- 2>&- <&-
    same whole.f32 closed.f32 "with all streams closed"
}
finish
