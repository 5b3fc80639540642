# The script test sources this file. It builds CAF under ThreadSanitizer, which would report a race
# for every message if CAF were built without it. The build takes minutes, so that its result is
# kept in the user's cache for all build directories, under a name that depends on everything that
# the result depends on.

caf_name=actor-framework-0.17.6
caf_source_package=actor-framework_0.17.6.orig.tar.gz
caf_options=(-Db_sanitize=thread -Db_lundef=false -Db_ndebug=false -Doptimization=1
  -Dcpp_args=-g1)

# The functions of this file run where `set -e` has no effect: in $(...) and before ||. Each command
# is therefore chained to the one before it.

# caf_key: prints a name for the CAF that would be built now.
caf_key() {
  (
    cd "$root/subprojects" && cat caf_core.wrap "$root/scripts/sanitized_caf.sh" &&
      find packagefiles/caf_core -type f -print0 | LC_ALL=C sort -z | xargs -0 cat &&
      ${CXX:-c++} --version
  ) | sha256sum | cut -c 1-16
}

# caf_cache: prints the directory of the user's cache or, if the user has none, of this checkout.
caf_cache() {
  local cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  echo "${cache:-$root/.cache}/penstock"
}

# compile_caf DIRECTORY: makes `include` and `lib` in DIRECTORY.
compile_caf() {
  local source=$root/subprojects/$caf_name
  mkdir -p "$1/include" "$1/lib" &&
    quietly meson setup "$1/build" "$source" "${caf_options[@]}" &&
    quietly ninja -C "$1/build" &&
    (cd "$source/libcaf_core" && find caf -name '*.hpp' -exec cp --parents -t "$1/include" {} +) &&
    cp "$1/build/libcaf_core/caf/detail/build_config.hpp" "$1/include/caf/detail/" &&
    # Meson's own archive contains only the names of its objects.
    ar rcs "$1/lib/libcaf_core.a" "$1"/build/libcaf_core.a.p/*.o &&
    rm -rf "$1/build"
}

# source_from_packages: puts CAF's source where Meson looks for an archive before it downloads one.
# The source comes from where apt gets CAF's packages, because some machines reach nothing else.
# Meson checks the hash of the source.
source_from_packages() {
  local file package
  file=$(sed -n 's/^source_filename = //p' "$root/subprojects/caf_core.wrap") &&
    package=$(apt-get download --print-uris libcaf-dev | sed "s/^'\([^']*\)'.*/\1/") &&
    mkdir -p "$root/subprojects/packagecache" &&
    PATH=$PATH:/usr/lib/apt quietly apt-helper download-file "${package%/*}/$caf_source_package" \
      "$root/subprojects/packagecache/$file"
}

# get_caf_source: gets CAF's source from the project's release page or, if that fails, from the
# packages.
get_caf_source() {
  local download=(meson subprojects download --sourcedir "$root" caf_core)
  "${download[@]}" >/dev/null 2>&1 </dev/null ||
    { source_from_packages && quietly "${download[@]}"; }
}

# build_caf DIRECTORY: builds CAF. DIRECTORY is there only once it is complete. The caller holds the
# lock of DIRECTORY.
build_caf() {
  local work=$1.unfinished
  say "building CAF under ThreadSanitizer, once"
  get_caf_source || { say "CAF's source could not be downloaded; its output is above"; exit 77; }
  # A directory that is already there was left by a build that was cut off.
  { rm -rf "$work" "$1" && compile_caf "$work" && mv -T "$work" "$1"; } ||
    { rm -rf "$work"; fail "CAF could not be built"; }
}

# has_caf DIRECTORY: returns whether DIRECTORY is complete.
has_caf() {
  [ -e "$1/lib/libcaf_core.a" ]
}

# sanitized_caf: prints the directory that has CAF's `include` and `lib`. Ends the script with
# status 77 if CAF's source is neither there nor can be downloaded. If several checkouts ask at
# once, one builds CAF, and the others wait. If CAF is complete, nobody waits and nothing is
# written.
sanitized_caf() {
  local key directory
  key=$(caf_key) || fail "what CAF is built from cannot be read; its name is above"
  directory=$(caf_cache)/caf-0.17.6-thread-$key
  if ! has_caf "$directory"; then
    mkdir -p "${directory%/*}" || fail "there is no place for CAF in ${directory%/*}"
    (
      flock 8 || fail "$directory.lock cannot be locked"
      has_caf "$directory" || build_caf "$directory" >&2 8>&-
    ) 8>"$directory.lock" || exit  # The status is that of the command that failed.
  fi
  echo "$directory"
}
