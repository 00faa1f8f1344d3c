#!/bin/sh
# Every struct of the public headers has the size that the library tells.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# static_library FOLDER NAME: with all symbols within reach.
static_library() {
    if [ -f "$BINARY_DIR/$1/lib$2_internal.a" ]; then
        echo "$BINARY_DIR/$1/lib$2_internal.a"
    else
        echo "$BINARY_DIR/$1/lib$2.a"
    fi
}

# check INCLUDE FUNCTION LIBRARY HEADER...
check() {
    include=$1 function=$2 library=$3
    shift 3
    [ -f "$library" ] || { echo "skipped: no $library"; return; }
    # with a body: others cannot be made by callers
    structs=$(sed -nE 's/^(typedef )?struct (db_[a-z_]+) \{.*/\2/p' "$@" | sort -u)
    {
        printf '#include <%s>\n#include <stdio.h>\n' "$include"
        printf 'static int wrong, count;\nstatic void compare(const char *name, size_t size) {\n'
        printf '    count++;\n    if (%s(name) == size) return;\n    wrong = 1;\n' "$function"
        printf '    printf("%%s: %%zu instead of %%zu\\n", name, %s(name), size);\n}\nint main(void) {\n' "$function"
        for name in $structs; do
            printf '    compare("%s", sizeof(%s));\n' "$name" "$name"
        done
        printf '    compare("db_nothing", 0);\n    printf("%%d structs\\n", count - 1);\n'
        printf '    return wrong || count < 10;\n}\n'
    } > "$work/sizes.c"
    # shellcheck disable=SC2086 # flags are to be split
    "${CC:-cc}" -std=c17 ${CFLAGS:-} -I"$SOURCE_DIR/src/include" -I"$SOURCE_DIR/fit/include" "$work/sizes.c" "$library" \
        -o "$work/sizes"
    "$work/sizes"
}

# sizes_of FOLDER: of all structs of the public headers of a copy in that folder.
sizes_of() {
    structs=$(sed -nE 's/^(typedef )?struct (db_[a-z_]+) \{.*/\2/p' "$SOURCE_DIR"/src/include/dualbragg/*.h \
        "$SOURCE_DIR"/fit/include/dualbragg/*.h | sort -u)
    {
        printf '#include <dualbragg/dualbragg.h>\n#include <dualbragg/fit_shots.h>\n#include <stdio.h>\nint main(void) {\n'
        for name in $structs; do printf '    printf("%s %%zu\\n", sizeof(%s));\n' "$name" "$name"; done
        printf '    printf("parameters %%d\\n", (int)DB_PARAMETER_COUNT);\n    return 0;\n}\n'
    } > "$work/all.c"
    # shellcheck disable=SC2086 # flags are to be split
    "${CC:-cc}" -std=c17 ${CFLAGS:-} -I"$1/src/include" -I"$1/fit/include" "$work/all.c" -o "$work/all" && "$work/all"
}

# A new parameter and a new motion of groups of panels change no struct.
mkdir -p "$work/more/src" "$work/more/fit"
cp -r "$SOURCE_DIR/src/include" "$work/more/src"
cp -r "$SOURCE_DIR/fit/include" "$work/more/fit"
sed -i 's/^#define DB_PARAMETER_LIST(X) .*/#define DB_PARAMETER_LIST(X) X(NEW, "new", crystal.fudge, "1", 1, SCALE, "new") \\/' \
    "$work/more/src/include/dualbragg/parameters.h"
sed -i 's/DB_FIT_GROUP_MOTIONS = 6/DB_FIT_GROUP_MOTIONS = 7/' "$work/more/fit/include/dualbragg/fit_panel_groups.h"
sizes_of "$SOURCE_DIR" > "$work/now"
sizes_of "$work/more" > "$work/then"
changed=$(diff "$work/now" "$work/then" | sed -n 's/^> \([a-z_]*\) .*/\1/p')
[ "$changed" = parameters ] || { echo "a new parameter or motion changes: $changed, expected parameters alone"; exit 1; }

# One without its kind, and a kind without its facts, do not compile.
for missing in 's/1, SCALE, "new"/1, "new"/' 's/X(TAIL_WIDTH, SPREAD, /X(TAIL_WIDTH, /'; do
    rm -r "$work/less" 2> /dev/null || true
    cp -r "$work/more" "$work/less"
    sed -i "$missing" "$work/less/src/include/dualbragg/parameters.h"
    cmp -s "$work/less/src/include/dualbragg/parameters.h" "$work/more/src/include/dualbragg/parameters.h" && exit 1
    if sizes_of "$work/less" > "$work/all.log" 2>&1; then echo "compiles with $missing"; exit 1; fi
done

check dualbragg/dualbragg.h db_struct_size "$(static_library src dualbragg)" "$SOURCE_DIR"/src/include/dualbragg/*.h
check dualbragg/fit_shots.h db_fit_struct_size "$(static_library fit dualbragg_fit)" "$SOURCE_DIR"/fit/include/dualbragg/*.h
