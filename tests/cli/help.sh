#!/bin/sh
# Help, version, and the document made from the table of flags.
. "$SOURCE_DIR/tests/cli/expectations"

for arguments in --help -h help; do
    succeed $arguments
    grep -q "^usage: dualbragg COMMAND" ../out || complain "$arguments: no usage line"
    grep -q "dualbragg sim -cell" ../out || complain "$arguments: no example"
done
for command in sim grad check; do
    succeed $command --help
    grep -q "^usage: dualbragg $command" ../out || complain "$command --help: no usage line"
    grep -q "^  -cell A \[B C ALPHA BETA GAMMA\]" ../out || complain "$command --help: no flags"
    grep -q "^Read without effect" ../out || complain "$command --help: does not say what has no effect"
    cp ../out ../first
    succeed help $command
    same ../first ../out "help $command and $command --help"
    awk 'length($0) > 110 { exit 1 }' ../out || complain "$command --help: lines too long for a terminal"
done
succeed sim -h
[ "$(wc -l < ../out)" -le 60 ] || complain "sim -h: $(wc -l < ../out) lines are not short"
grep -q "dualbragg help sim SECTION" ../out || complain "sim -h: no sections"
succeed help sim detector
grep -q -- "-distance D" ../out || complain "help sim detector: no -distance"
if grep -q -- "-cell\|-floatfile" ../out; then complain "help sim detector: flags of other sections"; fi
succeed help sim structure
grep -q -- "-hkl FILE" ../out || complain "help sim structure: no -hkl"
expect 2 "expected one of the sections crystal, structure factors," help sim detektor
expect 2 "expected one of the sections" help noise crystal
expect 2 "fit has no sections, found 'model'" help fit model
expect 2 "unknown command 'dance'" help dance detector
succeed sim --help
if grep -q -- "-outdir" ../out; then complain "sim --help offers a flag of grad"; fi
succeed --version
grep -q "^dualbragg [0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*$" ../out || complain "--version: $(head -1 ../out)"
grep -q "^instruction set: " ../out || complain "--version does not name the instruction set"
succeed grad --list-params
grep -q "^distance  *mm " ../out || complain "--list-params: no distance"
expect 2 "unknown command 'dance'; expected sim, grad," help dance

# what a newcomer tries
succeed --version
cp ../out ../first
for arguments in version -version "help version" "sim --version" "grad -version"; do
    # shellcheck disable=SC2086 # words
    succeed $arguments
    same ../first ../out "$arguments and --version"
done
succeed help
cp ../out ../first
for arguments in "help help" "help --help" "help -h" -h --help; do
    # shellcheck disable=SC2086 # words
    succeed $arguments
    same ../first ../out "$arguments and help"
done
"$DUALBRAGG" help sim > ../first
succeed sim help
same ../first ../out "sim help and help sim"
succeed help
cp ../out ../first
for command in $(sed -n '/^usage/,/^  help/s/^  \([a-z]*\)  .*/\1/p' ../first); do
    succeed help "$command"
    [ "$command" = help ] || grep -q "^usage: dualbragg $command" ../out || complain "help $command: no usage line"
done

# the document is the table
succeed help --markdown
same ../out "$SOURCE_DIR/docs/reference/flags.md" "docs/reference/flags.md (renew it by: dualbragg help --markdown > docs/reference/flags.md)"

# no name stands for two flags
sed -n 's/^| `\(-[^ `]*\)[^|]*| \([^|]*\)|.*/\1 \2/p' ../out | tr -s ' ' '\n' | sed '/^$/d; s/^--*//' | sort > names
[ "$(wc -l < names)" -gt 150 ] || complain "only $(wc -l < names) names found in the table"
[ -z "$(uniq -d names)" ] || complain "names with two meanings: $(uniq -d names)"
rm names
finish
