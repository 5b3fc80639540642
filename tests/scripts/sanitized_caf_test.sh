#!/bin/bash
# This test checks where scripts/sanitized_caf.sh keeps its CAF, and that checkouts which need one
# at the same time do not disturb each other. Meson, ninja and ar are replaced by programs that do
# nothing but what the test looks at.
# Usage: sanitized_caf_test.sh ROOT
set -euo pipefail
source_root=$1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
export here
unset XDG_CACHE_HOME

expect() {
  [ "$2" = "$3" ] || { echo "$1: expected \"$3\", got \"$2\"" >&2; exit 1; }
}

# checkout DIRECTORY: makes a checkout with a source of CAF, which has one header.
checkout() {
  mkdir -p "$1/scripts" "$1/subprojects/packagefiles/caf_core" \
    "$1/subprojects/actor-framework-0.17.6/libcaf_core/caf/detail"
  cp "$source_root"/scripts/{sanitized_caf,set_up}.sh "$1/scripts"
  echo "source_filename = caf.tar.gz" >"$1/subprojects/caf_core.wrap"
  echo patch >"$1/subprojects/packagefiles/caf_core/meson.build"
  touch "$1/subprojects/actor-framework-0.17.6/libcaf_core/caf/detail/core.hpp"
}

# program NAME: makes a program, from the script on the standard input, that is run instead of the
# command NAME.
program() {
  mkdir -p "$here/bin"
  { echo '#!/bin/bash'; cat; } >"$here/bin/$1"
  chmod +x "$here/bin/$1"
}
program meson <<'END'
# The file "offline" says that the project's release page cannot be reached; an archive in the cache
# is enough then.
if [ "$1" = subprojects ]; then
  [ ! -e "$here/offline" ] || [ -e "$4/subprojects/packagecache/caf.tar.gz" ]
  exit
fi
echo begun >>"$here/log"
mkdir -p "$2/libcaf_core/caf/detail" "$2/libcaf_core/libcaf_core.a.p" "$2/libcaf_core.a.p"
touch "$2/libcaf_core/caf/detail/build_config.hpp" "$2/libcaf_core.a.p/object.o"
END
program ninja <<'END'
# The lock is held, so that another checkout that came now would wait.
flock -n "$(dirname "$(dirname "$2")")"/*.lock true && echo "not locked" >>"$here/log"
exit "$(cat "$here/status" 2>/dev/null || echo 0)"
END
program ar <<'END'
touch "$2"
exit "$(cat "$here/status of ar" 2>/dev/null || echo 0)"
END

program apt-get <<'END'
echo "'http://packages/pool/libcaf-dev.deb' libcaf-dev_0.17.6-2_amd64.deb 2 4b"
END
program apt-helper <<'END'
[ ! -e "$here/no packages" ] && echo "$2" >>"$here/downloads" && touch "$3"
END

# caf_of CHECKOUT: asks CHECKOUT for its CAF.
caf_of() {
  PATH=$here/bin:$PATH bash -euo pipefail -c \
    ". '$1/scripts/set_up.sh'; . '$1/scripts/sanitized_caf.sh'; caf=\$(sanitized_caf); echo \$caf" \
    2>>"$here/errors"
}

checkout "$here/one"
checkout "$here/other"

export HOME=$here/home
echo 1 >"$here/status"
expect "a build that fails" "$(caf_of "$here/one" || echo "status $?")" "status 2"
rm "$here/status"
echo 1 >"$here/status of ar"
expect "an archive that fails" "$(caf_of "$here/one" || echo "status $?")" "status 2"
expect "what is kept of it" "$(ls -d "$here/home/.cache/penstock/"*/ 2>/dev/null || true)" ""
rm "$here/status of ar" "$here/log"
mv "$here/one/subprojects/actor-framework-0.17.6/libcaf_core"{,.gone}
expect "a source without headers" "$(caf_of "$here/one" || echo "status $?")" "status 2"
expect "what is kept of it" "$(ls -d "$here/home/.cache/penstock/"*/ 2>/dev/null || true)" ""
mv "$here/one/subprojects/actor-framework-0.17.6/libcaf_core"{.gone,}
mv "$here/one/subprojects/caf_core.wrap"{,.gone}
expect "a checkout without its wrap" "$(caf_of "$here/one" || echo "status $?")" "status 2"
mv "$here/one/subprojects/caf_core.wrap"{.gone,}
touch "$here/offline" "$here/no packages"
expect "no source" "$(caf_of "$here/one" || echo "status $?")" "status 77"
rm "$here/no packages" "$here/log"

first=$(caf_of "$here/one")
expect "where its source is from" "$(cat "$here/downloads")" \
  http://packages/pool/actor-framework_0.17.6.orig.tar.gz
rm "$here/offline"
expect "its place" "${first%/*}" "$here/home/.cache/penstock"
expect "its library" "$(ls "$first/lib")" libcaf_core.a
expect "another checkout's" "$(caf_of "$here/other")" "$first"
expect "the builds, of which there is one, under a lock" "$(cat "$here/log")" begun
expect "what is left behind" "$(ls "$here/home/.cache/penstock" | grep -c unfinished || true)" 0
rm "$first.lock"
expect "one that is complete" "$(caf_of "$here/other")" "$first"
expect "its lock, which nobody took" "$(ls "$first.lock" 2>/dev/null || true)" ""

XDG_CACHE_HOME=$here/cache caf_of "$here/one" >"$here/out"
expect "its place where the user names one" "$(dirname "$(cat "$here/out")")" "$here/cache/penstock"

unset HOME
root=$(cd "$here/one" && pwd)
expect "its place where there is no home" "$(dirname "$(caf_of "$here/one")")" \
  "$root/.cache/penstock"
