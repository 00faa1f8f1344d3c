#!/bin/sh
# Help of the jobs, by example.
. "$SOURCE_DIR/tests/cli/expectations"
succeed --help
for command in amorphous orient add compare; do
    grep -q "^  $command  *[a-z]" ../out || complain "--help does not list $command"
done
for command in amorphous orient add compare; do
    succeed $command --help
    grep -q "^usage: dualbragg $command" ../out || complain "$command --help: no usage line"
    [ "$(grep -c "dualbragg $command .*-[a-z]" ../out)" -ge 3 ] || complain "$command --help: fewer than two examples"
    cp ../out ../first
    succeed help $command
    same ../first ../out "help $command and $command --help"
    awk 'length($0) > 110 { exit 1 }' ../out || complain "$command --help: lines too long for a terminal"
done
succeed amorphous --help
for flag in -stol -4stol -Q -amorphous_thickness -density -MW -molecules -samplesize -sourcefile -distance -oversample -floatfile; do
    grep -q -e "^  $flag " ../out || complain "amorphous --help: no $flag"
done
for flag in -cell -hkl -mosaic -phi -params -umat; do
    if grep -q -e "^  $flag " ../out; then complain "amorphous --help offers $flag"; fi
done
succeed orient --help
for flag in -cell -mat -umat -misset -misset_seed -misset_spread -keywords -lambda -energy -o -print -compat; do
    grep -q -e "^  $flag " ../out || complain "orient --help: no $flag"
done
for flag in -N -distance -floatfile -stol; do
    if grep -q -e "^  $flag " ../out; then complain "orient --help offers $flag"; fi
done
finish
