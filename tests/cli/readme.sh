#!/bin/sh
# The command lines of README.md run as they stand; those that need files of the user's own ask for these.
. "$SOURCE_DIR/tests/cli/expectations"
mkdir ../bin
ln -s "$DUALBRAGG" ../bin/dualbragg
PATH=$work/bin:$PATH
features=$(dualbragg --version)

# block AFTER: the commands of the first block of shell behind a line that begins so
block() {
    awk -v after="$1" 'index($0, after) == 1 { near = 1 } near && /^```$/ { exit } inside { print } near && /^```sh$/ { inside = 1 }' \
        "$SOURCE_DIR/README.md"
}
block "These lines run as they stand" > ../lines
[ "$(grep -c '^dualbragg' ../lines)" -ge 9 ] || complain "only $(grep -c '^dualbragg' ../lines) commands found"
case $features in *PNG*) ;; *) sed -i 's/ -pngfile [a-z]*\.png//' ../lines ;; esac
case $features in *Random123*) ;; *) sed -i '/^dualbragg noise/d' ../lines ;; esac
dualbragg fit --help > /dev/null 2>&1 || sed -i '/^dualbragg fit/d' ../lines
sh -eu ../lines > ../out 2> ../err || complain "a line of README.md fails: $(cat ../err)"
for file in image.bin image_image.f32 image_cell_a.f32 image_misset_x.f32 water.bin sum.bin; do
    [ "$(size_of $file)" -eq 4194304 ] || complain "$file has $(size_of $file) bytes, expected 1024 x 1024 x 4"
done
[ "$(wc -l < A.mat)" -eq 9 ] || complain "A.mat is no matrix"
grep -q "^the images agree by the criterion: all pixels differ by at most [0-9.]* (0.01 of the brightest pixel)$" ../out || complain "compare says nothing"

# the others: wrong is nothing but the missing file
rm -rf -- *
block "These commands need your own files" | grep -v '^#' | sed '/^$/d; /^mpirun/d' > ../lines
[ "$(wc -l < ../lines)" -ge 3 ] || complain "only $(wc -l < ../lines) lines with files of the user's"
while read -r program arguments; do
    [ "$program" = dualbragg ] || complain "not a line of dualbragg: $program $arguments"
    case $arguments in fit*) "$DUALBRAGG" fit --help > /dev/null 2>&1 || continue ;; esac
    file=$(echo "$arguments" | grep -oE '(indexed\.expt|frame\.[a-z]+|shots\.yaml)' | head -n 1)
    [ -n "$file" ] || complain "no file of the user's in: $arguments"
    arguments=$(echo "$arguments" | sed "s|examples/|$SOURCE_DIR/examples/|")
    case $arguments in *.expt*) case $features in *JSON*) ;; *) continue ;; esac ;; esac
    # shellcheck disable=SC2086 # arguments
    expect 3 "$file" $arguments
done < ../lines
finish
