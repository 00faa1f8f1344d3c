#!/bin/sh
# setup.sh looks at the release before it installs anything: names of packages that differ, packages that are not there, a
# CMake that is too old. apt, dpkg-query and cmake are made up here, and apt's installation always fails.
set -eu
command -v dpkg > /dev/null || { echo "skipped: no dpkg"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/source"
cp "$SOURCE_DIR/setup.sh" "$work/source/"

# command_named NAME TEXT: what stands for a command
command_named() {
    printf '#!/bin/sh\n%s\n' "$2" > "$work/bin/$1"
    chmod +x "$work/bin/$1"
}
command_named id 'echo 0'
command_named dpkg-query 'exit 1' # nothing is installed
# shellcheck disable=SC2016 # variables of the command
command_named apt-get 'for last; do :; done
[ "$last" = update ] || { echo "$@" > '"$work/installed"'; exit 1; }'

# release CMAKE LACKING [OWN]: has all packages but those of a pattern, and that CMake; OWN is the CMake that is there already.
release() {
    command_named apt-cache "case \$2 in
$2) ;;
cmake) echo '  Candidate: $1' ;;
*) echo '  Candidate: 1.0-1' ;;
esac"
    command_named cmake "${3:+echo cmake version $3; exit 0}; exit 127"
    : > "$work/installed"
    env -i PATH="$work/bin:/usr/bin:/bin" sh "$work/source/setup.sh" demo > "$work/log" 2>&1 || return 0
    echo "FAILED: expected setup.sh to fail"
    exit 1
}
expect() { # FILE WORDS
    grep -q -e "$2" "$work/$1" && return
    echo "FAILED: expected '$2' in the $1 file:"
    cat "$work/$1" "$work/log"
    exit 1
}
never() { # FILE WORDS
    grep -q -e "$2" "$work/$1" || return 0
    echo "FAILED: '$2' is in the $1 file"
    exit 1
}
release 3.31.6-2 'gemmi-dev|libmsgpack-dev'
expect log 'no package gemmi-dev: left out'
expect installed ' libmsgpack-c-dev '
never installed gemmi-dev
release 3.25.1-1 libmsgpack-c-dev
expect installed ' libmsgpack-dev '
expect installed ' cmake '
release 3.31.6-2 make
expect log 'no package make, which the build needs'
never installed .
release 3.22.1-1ubuntu1 none
expect log 'needs CMake 3.25 or later, and this release has 3.22.1'
never installed .
release 3.22.1-1ubuntu1 none 3.30.2
expect installed ' g++ '
never installed ' cmake '
