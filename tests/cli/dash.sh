#!/bin/sh
# "-" is standard output for one file, with printed lines elsewhere, and standard input for one.
. "$SOURCE_DIR/tests/cli/expectations"
features=$("$DUALBRAGG" --version)

# piped FILE ARGUMENTS...: what comes out of standard output is FILE, and nothing is left behind
piped() {
    expected=$1
    shift
    "$DUALBRAGG" "$@" > ../piped 2> ../err || complain "dualbragg $*: exit status $?; $(cat ../err)"
    same "$expected" ../piped "dualbragg $*"
    [ -z "$(ls -A)" ] || complain "dualbragg $*: left behind: $(ls -A)"
}

# shellcheck disable=SC2086
{
    printf '0 1 0 1000\n0 0 1 500\n1 1 0 5\n' > ../list.hkl
    crystal="$small -hkl ../list.hkl"
    succeed sim $crystal -floatfile ../image.f32 -intfile ../image.img -pgmfile ../image.pgm -dump ../cache -seed 3
    piped ../image.f32 sim $crystal -floatfile -
    grep -q "^writing standard output as 1200 4-byte floats$" ../err || complain "the report is not on standard error: $(cat ../err)"
    piped ../image.f32 sim $crystal -floatimage /dev/stdout --quiet
    piped ../image.f32 sim $crystal -floatfile /dev/fd/1 --quiet
    [ ! -s ../err ] || complain "--quiet -floatfile - prints $(cat ../err)"
    piped ../image.img sim $crystal -intfile -
    piped ../image.pgm sim $crystal -pgmfile -
    piped ../cache sim $crystal -dump - -floatfile /dev/null
    case $features in *PNG*)
        succeed sim $crystal -pngfile ../image.png
        piped ../image.png sim $crystal -pngfile - ;;
    esac
    case $features in *JSON*)
        succeed sim $crystal -intfile ../a_1.img -exptfile ../image.expt
        (cd .. && exec "$DUALBRAGG" sim $small -hkl list.hkl -intfile a_1.img -exptfile - 2> err) | grep -q '"ExperimentList"' ||
            complain "-exptfile -: no experiment list" ;;
    esac
    case $features in *Random123*)
        succeed noise -floatfile ../image.f32 -detpixels_f 40 -noisefile ../noise.img -noisefloatfile ../noise.f32
        piped ../noise.img noise -floatfile ../image.f32 -detpixels_f 40 -noisefile -
        piped ../noise.f32 noise -floatfile ../image.f32 -detpixels_f 40 -noisefloatfile -
        # from one to the other
        "$DUALBRAGG" sim $crystal -floatfile - --quiet | "$DUALBRAGG" noise -floatfile - -detpixels_f 40 -noisefile - --quiet > ../piped
        same ../noise.img ../piped "sim | noise" ;;
    esac
    succeed add ../image.f32:2 -o ../sum.f32
    piped ../sum.f32 add ../image.f32:2 -o -
    succeed orient -cell 40 50 60 -o ../A.mat
    piped ../A.mat orient -cell 40 50 60 -o -

    "$DUALBRAGG" sim $crystal -floatfile - --quiet | "$DUALBRAGG" add - -scale1 2 -o - --quiet > ../piped
    same ../sum.f32 ../piped "sim | add"
    "$DUALBRAGG" sim $crystal -floatfile - --quiet | "$DUALBRAGG" compare - ../image.f32 -detpixels_f 40 > ../out 2> ../err ||
        complain "sim | compare: $(cat ../out ../err)"
    case $features in *JSON*)
        "$DUALBRAGG" compare ../image.f32 ../image.f32 -detpixels_f 40 -json - > ../out 2> ../err
        [ "$(head -c 1 ../out)$(tail -c 2 ../out)" = "{}" ] || complain "compare -json -: $(cat ../out)"
        grep -q "^the images agree by the criterion: " ../err || complain "compare -json -: no report on standard error" ;;
    esac

    # what is written there is looked after like any file
    "$DUALBRAGG" sim $small -floatfile - > /dev/full 2> ../err
    [ $? -eq 3 ] || complain "-floatfile - on a full disk"
    grep -q "sim: standard output: cannot write: No space left" ../err || complain "-floatfile - on a full disk: $(cat ../err)"
    "$DUALBRAGG" sim $small -floatfile - >&- 2> ../err
    [ $? -eq 3 ] || complain "-floatfile - with a closed standard output: $(cat ../err)"
    expect 2 "-floatfile - and -intfile - are one file" sim $small -floatfile - -intfile -

    succeed sim $small -floatfile ../without.f32
    cmp -s ../without.f32 ../image.f32 && complain "the list makes no difference"
    # standard input, read as often as it takes
    for flag in "-hkl ../list.hkl" "-mat ../A.mat" "-img ../image.img" "-mask ../image.img"; do
        succeed sim $small ${flag% *} ${flag#* } -floatfile ../named.f32
        "$DUALBRAGG" sim $small ${flag% *} - -floatfile - --quiet < ${flag#* } > ../redirected 2> ../err
        same ../named.f32 ../redirected "${flag% *} - from a file"
        # shellcheck disable=SC2002 # a pipe cannot be read twice
        cat ${flag#* } | "$DUALBRAGG" sim $small ${flag% *} - -floatfile - --quiet > ../piped 2> ../err
        same ../named.f32 ../piped "${flag% *} - from a pipe"
    done
    expect 2 "-mat and -hkl: expected one of them from standard input, found both" sim $small -hkl - -mat - -floatfile o < ../list.hkl
    expect 2 "A and B: expected one of them from standard input, found both" compare - - < ../image.f32
    expect 3 "/dev/stdin: expected lines h k l F, found none" sim $small -hkl - -floatfile o < /dev/null
    expect 3 "-hkl: cannot read standard input" sim $small -hkl - -floatfile o <&-

    # a terminal is not for images, but for text
    if command -v script > /dev/null && script -qec true /dev/null > /dev/null 2>&1; then
        script -qec "'$DUALBRAGG' sim $small -floatfile -" /dev/null > ../out < /dev/null
        [ $? -eq 2 ] || complain "an image for a terminal"
        grep -q -e "-floatfile: expected a file or a pipe; standard output is a terminal" ../out ||
            complain "an image for a terminal: $(cat ../out)"
        script -qec "'$DUALBRAGG' orient -cell 40 -o -" /dev/null > ../out < /dev/null || complain "a matrix for a terminal"
    fi

    # the version is part of the report, but not of the reference's
    succeed sim $small -floatfile o
    version=$("$DUALBRAGG" --version | sed -n 's/^dualbragg //p')
    [ "$(head -1 ../out)" = "dualbragg $version sim" ] || complain "the report begins with $(head -1 ../out)"
    succeed sim $small -compat -floatfile o
    grep -F "$version" ../out && complain "the reference's report has our version"
}
finish
