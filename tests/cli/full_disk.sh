#!/bin/sh
# A file that cannot be written: status 3, a message that names the file, the old file as it was, and no other one.
. "$SOURCE_DIR/tests/support/file_limit"
lives_with_file_limit 0 || { echo "skipped: the program does not live with a limit of file sizes"; exit 77; }
. "$SOURCE_DIR/tests/cli/expectations"
features=$("$DUALBRAGG" --version)

"$DUALBRAGG" sim -cell 40 -default_F 1 -detpixels 4 -floatfile ../a.f32 > /dev/null
printf '1 0 0 10\n' > ../list.hkl
mkdir old && echo "the old file" > old/file

# refused FILE ARGUMENTS...: where no file may be longer than 0 bytes, which stands in for a full disk; what is printed goes
# into a pipe, which has no such limit
refused() {
    file=$1
    shift
    {
        (ulimit -f 0 && trap '' XFSZ && exec "$DUALBRAGG" "$@") 2>&1 > /dev/null
        echo "status $?"
    } | cat > ../err
    grep -q "^status 3$" ../err || complain "dualbragg $*: $(cat ../err)"
    grep -q "$file: cannot write: File too large" ../err || complain "dualbragg $*: '$file' is not in the message: $(cat ../err)"
    [ "$(ls -A) $(ls -A old) $(cat old/file)" = "old file the old file" ] || complain "dualbragg $*: files have changed: $(ls -AR)"
}

# shellcheck disable=SC2086
{
    outputs="-floatfile -intfile -pgmfile --profile"
    case $features in *PNG*) outputs="$outputs -pngfile" ;; esac
    case $features in *JSON*) outputs="$outputs -exptfile" ;; esac
    case $features in *Random123*)
        outputs="$outputs -noisefile -noisefloatfile"
        refused new noise -floatfile ../a.f32 -noisefile new
        refused new noise -floatfile ../a.f32 -intfile new ;;
    esac
    for flag in $outputs; do
        refused new sim $small -floatfile /dev/null $flag new
        refused old/file sim $small -floatfile /dev/null $flag old/file
    done
    refused new sim $small -hkl ../list.hkl -dump new -floatfile /dev/null
    refused new_image.f32 grad $small -params distance -prefix new
    refused new add ../a.f32 -o new
    refused new orient -cell 40 -o new
    case $features in *JSON*) refused new compare ../a.f32 ../a.f32 -json new ;; esac
    case $features in *PNG*) refused new compare ../a.f32 ../a.f32 -pngfile new ;; esac
}
# ends of a refinement: each of its files is the first that cannot be written
if [ -x "$BINARY_DIR/stand_in" ] && "$DUALBRAGG" fit --help > /dev/null 2>&1; then
    (cd .. && "$BINARY_DIR/stand_in" stand_in)
    refused refined.yaml fit "$SOURCE_DIR/tests/fit/spoilt_still.yaml" --image ../stand_in.img --output refined \
        model.matrix=../stand_in.mat 'stages=[{max_evaluations: 1}]' --no-report
fi

# a small disk that fills up half way, where mounting one is allowed
mkdir ../disk
if mount -t tmpfs -o size=64k tmpfs ../disk 2> /dev/null; then
    "$DUALBRAGG" sim -cell 40 -default_F 1 -detpixels 200 -floatfile ../disk/image.f32 -oversample 1 > ../out 2> ../err
    status=$?
    [ $status -eq 3 ] || complain "a disk that is too small: exit status $status"
    grep -q "disk/image.f32: cannot write: No space left on device" ../err || complain "a disk that is too small: $(cat ../err)"
    [ -z "$(ls -A ../disk)" ] || complain "a disk that is too small: left behind: $(ls -A ../disk)"
    umount ../disk
fi

# folders that cannot be written, known before the work; root may write everywhere
chmod 755 .. . && chmod 555 old
as_user=""
[ "$(id -u)" -ne 0 ] || as_user="setpriv --reuid 65534 --regid 65534 --clear-groups"
if ! $as_user touch old/new 2> /dev/null && $as_user "$DUALBRAGG" --version > /dev/null 2>&1; then
    for file in old/new old/file; do
        # shellcheck disable=SC2086
        $as_user "$DUALBRAGG" sim $small -floatfile $file > ../out 2> ../err
        status=$?
        [ $status -eq 3 ] || complain "a folder that is read only: exit status $status"
        grep -q -e "-floatfile $file: cannot write there: Permission denied" ../err || complain "a folder that is read only: $(cat ../err)"
        [ ! -s ../out ] || complain "a folder that is read only: work was done"
    done
fi
finish
