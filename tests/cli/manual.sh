#!/bin/sh
# Manual pages that man takes without a warning and that have every flag; completion that shells understand.
. "$SOURCE_DIR/tests/cli/expectations"

commands=$("$DUALBRAGG" help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -v '^help$')
[ "$(echo "$commands" | wc -l)" -ge 8 ] || complain "too few commands: $commands"
for command in help $commands; do
    "$DUALBRAGG" "$command" --help 2> /dev/null | grep -q . || continue # not in this build
    succeed help man "$command"
    page=dualbragg-$command.1
    [ "$command" = help ] && page=dualbragg.1
    same ../out "$BINARY_DIR/man/$page" "the page that was built and 'help man $command'"
    for heading in NAME SYNOPSIS DESCRIPTION 'SEE ALSO'; do
        grep -qx ".SH $heading" ../out || complain "$page has no $heading"
    done
    if command -v groff > /dev/null; then
        cp ../out ../page
        groff -man -Tascii -ww -z ../page > ../warnings 2>&1
        [ ! -s ../warnings ] || complain "$page: $(head -3 ../warnings)"
    fi
    # every flag of the help is there
    "$DUALBRAGG" help "$command" | sed -n 's/^  \(--*[A-Za-z0-9_-]*\).*/\1/p' | sed 's/-/\\-/g' > ../flags
    [ "$command" = help ] || [ -s ../flags ] || complain "$command has no flags"
    while read -r flag; do
        grep -qF -e "\\fB$flag\\fR" -e "\\fB$flag " ../out || complain "$page has no $flag"
    done < ../flags
done
grep -qF 'dualbragg\-sim\fR(1)' "$BINARY_DIR/man/dualbragg.1" || complain "dualbragg.1 does not list sim"
expect 2 "unknown command 'simm'; the nearest known one is 'sim'" help man simm
expect 2 "completion: expected bash or zsh, found 'fish'" help completion fish

# completes WORDS... EXPECTED: what bash makes of a line whose last word is being typed
completes() {
    for expected; do :; done
    found=$(bash -c '. "$BINARY_DIR/completion/dualbragg"
        COMP_WORDS=("${@:1:$#-1}") COMP_CWORD=$(($# - 2))
        _dualbragg
        echo "${COMPREPLY[*]}"' bash "$@") || complain "completion of $*"
    [ "$found" = "$expected" ] || complain "completion of $*: found '$found'"
}
succeed help completion bash
same ../out "$BINARY_DIR/completion/dualbragg" "the completion that was built and 'help completion bash'"
if command -v bash > /dev/null; then
    completes dualbragg co compare
    completes dualbragg help ori orient
    completes dualbragg sim -wave -wavelengthfile
    completes dualbragg sim -wavelength_ ""
    completes dualbragg sim -lamb -lambda
    completes dualbragg sim -pivot sa sample
    completes dualbragg sim --precision m mixed
    completes dualbragg orient -params ""
    completes dualbragg grad -params dista distance
    completes dualbragg grad -params cell_a,dista cell_a,distance
    completes dualbragg compare a.bin -brig -brightest
    completes dualbragg sim -hkl a ""
fi
succeed help completion zsh
same ../out "$BINARY_DIR/completion/_dualbragg" "the completion that was built and 'help completion zsh'"
if command -v zsh > /dev/null; then
    zsh -n ../out || complain "zsh does not understand its completion"
fi
finish
