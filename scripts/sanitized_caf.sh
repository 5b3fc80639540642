# Sourced by test. CAF built under ThreadSanitizer, which would take the hand-over of every message
# for a race in a CAF that is not. It takes minutes, so that one is kept in the user's cache for all
# build directories, by everything that decides over it.

caf_name=actor-framework-0.17.6
caf_options=(-Db_sanitize=thread -Db_lundef=false -Db_ndebug=false -Doptimization=1
  -Dcpp_args=-g1)

# caf_key: a name for what would be built now.
caf_key() {
  (cd "$root/subprojects" && cat caf_core.wrap $(find packagefiles/caf_core -type f | LC_ALL=C sort)
    cat "$root/scripts/sanitized_caf.sh"
    echo "$(${CXX:-c++} --version | head -n 1)") | sha256sum | cut -c 1-16
}

# caf_cache: the directory of the user's cache, or one of this checkout for users that have none.
caf_cache() {
  local cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  echo "${cache:-$root/.cache}/penstock"
}

# build_caf DIRECTORY: the directory is there when it is complete. The caller holds its lock.
build_caf() {
  local work=$1.unfinished source=$root/subprojects/$caf_name
  say "building CAF under ThreadSanitizer, once"
  quietly meson subprojects download --sourcedir "$root" caf_core ||
    { say "CAF's source could not be downloaded; its output is above"; exit 77; }
  rm -rf "$work" "$1"  # What was cut off before it was complete.
  mkdir -p "$work/include" "$work/lib"
  quietly meson setup "$work/build" "$source" "${caf_options[@]}" &&
    quietly ninja -C "$work/build" || { rm -rf "$work"; fail "CAF could not be built"; }
  (cd "$source/libcaf_core" && find caf -name '*.hpp' -exec cp --parents -t "$work/include" {} +)
  cp "$work/build/libcaf_core/caf/detail/build_config.hpp" "$work/include/caf/detail/"
  # Meson's own archive has but the names of its objects.
  ar rcs "$work/lib/libcaf_core.a" "$work"/build/libcaf_core.a.p/*.o
  rm -rf "$work/build"
  mv "$work" "$1"
}

# sanitized_caf: prints the directory that has CAF's `include` and `lib`. Ends the script with
# status 77 if CAF's source is neither there nor to be had. Several checkouts may ask at once: one
# builds it, and the others wait.
sanitized_caf() {
  local directory
  directory=$(caf_cache)/caf-0.17.6-thread-$(caf_key)
  mkdir -p "${directory%/*}"
  (
    flock 8
    [ -e "$directory/lib/libcaf_core.a" ] || build_caf "$directory" >&2 8>&-
  ) 8>"$directory.lock" || exit  # with the status of what failed
  echo "$directory"
}
