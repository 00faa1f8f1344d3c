#!/bin/sh
# No output is an input or another output, in any spelling; nothing is touched before that is known.
. "$SOURCE_DIR/tests/cli/expectations"

printf '1 0 0 10\n' > ../list.hkl
printf '\000\000\200\077' > ../a.f32
cp ../a.f32 ../b.f32
printf '../a.f32\n' > ../images.txt
ln ../list.hkl ../hard.hkl
ln ../list.hkl ../a_image.f32
ln ../list.hkl ../b_distance.f32
ln -s list.hkl ../soft.hkl
ln -s run ../folder
ln -s "$PWD/new" ../to_new
(cd .. && ls -Al > before && cat list.hkl a.f32 images.txt > before_content)

# refused "A" "B" ARGUMENTS...: status 2, a message with both names, and nothing written or changed
refused() {
    first=$1 second=$2
    shift 2
    expect 2 "$first" "$@"
    grep -qF -e "$second" ../err || complain "dualbragg $*: '$second' is not in the message: $(cat ../err)"
    cat ../list.hkl ../a.f32 ../images.txt | cmp -s - ../before_content || complain "dualbragg $*: changed an input"
}

# shellcheck disable=SC2086
{
    # outputs over inputs
    for flag in -floatfile -intfile -pngfile -pgmfile -exptfile -noisefile -noisefloatfile -dump --profile; do
        refused "$flag ../list.hkl" "-hkl ../soft.hkl" sim $small -floatfile image.f32 -hkl ../soft.hkl $flag ../list.hkl
    done
    for name in ../list.hkl .././list.hkl ../soft.hkl ../hard.hkl ../run/../list.hkl "$PWD/../list.hkl"; do
        refused "-floatfile $name" "-hkl ../list.hkl" sim $small -hkl ../list.hkl -floatfile "$name"
    done
    # every flag that names a file, as the table has them
    flags=$("$DUALBRAGG" help --markdown | sed -n 's/^| `\(-[^ ]*\) FILE` .*| [a-z ]*sim[a-z ]* |$/\1/p')
    [ "$(echo "$flags" | wc -l)" -ge 18 ] || complain "flags of files: $flags"
    for flag in $flags; do
        [ $flag = -floatfile ] ||
            refused "-floatfile ../list.hkl" "$flag ../soft.hkl" sim $small -floatfile ../list.hkl $flag ../soft.hkl
    done
    refused "-noisefloatfile ../a.f32" "-floatfile ../a.f32" noise -floatfile ../a.f32 -noisefloatfile ../a.f32 -noisefile new
    refused "-noisefile ../a.f32" "-floatfile .././a.f32" noise -floatfile .././a.f32 -noisefile ../a.f32
    refused "-prefix ./../a_image.f32" "-hkl ../a_image.f32" grad $small -prefix ../a -params distance -hkl ../a_image.f32
    refused "-prefix ./../b_distance.f32" "-hkl ../soft.hkl" grad $small -prefix ../b -params scale,distance -hkl ../soft.hkl
    refused "--profile ../list.hkl" "-hkl ../hard.hkl" check $small -params distance -hkl ../hard.hkl --profile ../list.hkl
    refused "-o ../list.hkl" "-mat ../soft.hkl" orient -mat ../soft.hkl -o ../list.hkl
    refused "-o ../list.hkl" "-keywords ../list.hkl" orient -keywords ../list.hkl -o ../list.hkl
    refused "-o ../a.f32" "image .././a.f32" add ../b.f32 .././a.f32:2 -o ../a.f32
    refused "-o ../images.txt" "-list ../images.txt" add ../b.f32 -list ../images.txt -o ../images.txt
    refused "-o ../a.f32" "image ../a.f32" add -list ../images.txt -o ../a.f32
    refused "-pngfile ../a.f32" "A ../a.f32" compare ../a.f32 ../b.f32 -pngfile ../a.f32
    refused "-json ../list.hkl" "-mask ../soft.hkl" compare ../a.f32 ../b.f32 -mask ../soft.hkl -json ../list.hkl

    # two outputs
    refused "-floatfile new" "-intfile ./new" sim $small -intfile ./new -floatfile new
    refused "-floatfile new" "-pngfile ../folder/new" sim $small -floatfile new -pngfile ../folder/new
    refused "-floatfile new" "-exptfile ../to_new" sim $small -floatfile new -exptfile ../to_new
    refused "-dump new" "-floatfile $PWD/new" sim $small -floatfile "$PWD/new" -hkl ../list.hkl -dump new
    refused "-floatfile new" "--profile new" sim $small -floatfile new --profile new
    refused "-noisefile new" "-noisefloatfile new" noise -floatfile ../a.f32 -noisefile new -noisefloatfile new
    refused "-prefix ./grad_image.f32" "--profile grad_image.f32" grad $small -params distance --profile grad_image.f32
    refused "-pngfile new" "-json ./new" compare ../a.f32 ../b.f32 -pngfile new -json ./new
    refused "-floatfile -" "-intfile -" sim $small -intfile - -floatfile -
    refused "-intfile image.pgm" "-pgmfile image.pgm" sim $small -compat -intfile image.pgm

    # standard output is an output
    "$DUALBRAGG" sim $small -floatfile both > both 2> ../err
    [ $? -eq 2 ] || complain "an image where the report goes"
    grep -q "floatfile both and standard output are one file" ../err || complain "an image where the report goes: $(cat ../err)"
    [ ! -s both ] || complain "an image where the report goes: it has been written"
    rm both
    "$DUALBRAGG" sim $small -hkl ../list.hkl -floatfile o >> ../list.hkl 2> ../err
    [ $? -eq 2 ] || complain "a report behind a list"
    (cd .. && cat list.hkl a.f32 images.txt | cmp -s - before_content) || complain "a report behind a list: the list is changed"

    # what is no conflict: devices, switched-off outputs, inputs named twice, a file that is read only
    succeed sim $small -floatfile /dev/null -intfile /dev/null -pgmfile /dev/null --profile /dev/null
    succeed sim $small -floatfile image -pgmfile image -nopgm
    succeed sim $small -floatfile image -noisefile image -nonoise
    succeed sim $small -floatfile image -hkl ../list.hkl -dump cache
    succeed sim $small -floatfile image -dump cache
    succeed add ../a.f32 ../a.f32:-1 ../b.f32 -o sum
    mkdir image_folder && succeed sim $small -floatfile image_folder/image
}
finish
