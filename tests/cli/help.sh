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
grep -q -- "-floatfile FILE" ../out || complain "sim -h: no -floatfile"
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
