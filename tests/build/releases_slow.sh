#!/bin/sh
# ./setup.sh demo on a bare Debian 12 and 13: installs, builds with all libraries that the release has, refines the example.
# Each is made by debootstrap in a temporary folder, from where this machine's own packages come; takes root, a network, 3 GB
# and some ten minutes.
# usage: [LINE=test] releases_slow.sh [CODENAME...]     (LINE: that line of setup.sh in place of demo)
set -eu
line=${LINE:-demo}
case $line in
demo) program=build/demo/dualbragg ;;
test) program=build/dev/dualbragg ;;
*) echo "LINE: expected demo or test, found $line"; exit 2 ;;
esac
[ $# -gt 0 ] || set -- bookworm trixie
root=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
skip() {
    echo "skipped: $*"
    exit 77
}
command -v debootstrap > /dev/null || skip "no debootstrap"
[ "$(id -u)" -eq 0 ] || skip "takes root"
# shellcheck disable=SC1091 # not ours
own=$(. /etc/os-release && echo "$ID ${VERSION_CODENAME-}")
# shellcheck disable=SC2016 # apt's variables
mirror=$(apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages' 2> /dev/null |
    sed -n "s/^${own#* } //p" | head -n 1)
if [ "${own% *}" != debian ] || [ -z "$mirror" ]; then skip "this machine's packages do not come from Debian"; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for release; do
    there=$work/$release
    debootstrap --variant=minbase "$release" "$there" "$mirror" > "$work/log" 2>&1 ||
        skip "$release cannot be had: $(tail -n 1 "$work/log")"
    cp /etc/resolv.conf "$there/etc/"
    apt-config dump Acquire::http > "$there/etc/apt/apt.conf.d/99host"
    apt-config dump Acquire::https >> "$there/etc/apt/apt.conf.d/99host"
    mkdir "$there/dualbragg"
    tar -C "$root" --exclude=./build --exclude=./.git -cf - . | tar -C "$there/dualbragg" -xf -
    start=$(date +%s)
    # tests look at /proc and /dev: mounted for this command alone, where that is allowed
    inside='' enter='exec chroot "$0" "$@"'
    if [ "$line" = test ] && unshare --mount true 2> /dev/null; then
        inside="unshare --mount" enter='mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'
    fi
    if ! $inside sh -c "$enter" "$there" \
        env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin sh /dualbragg/setup.sh "$line" > "$work/log" 2>&1; then
        echo "FAILED on $release:"
        cat "$work/log"
        exit 1
    fi
    chroot "$there" "/dualbragg/$program" --version > "$work/version"
    for part in $(sed -n 's/^components="\(.*\)"$/\1/p' "$root/setup.sh"); do
        grep -q "[ ,]$part\(,\|\$\)" "$work/version" || {
            echo "FAILED: the program made on $release has no $part:"
            cat "$work/version" "$work/log"
            exit 1
        }
    done
    echo "$release: built and run in $(($(date +%s) - start)) s"
    rm -rf "$there"
done
