#!/bin/bash
# Installs a build into an empty directory, then builds and runs a host application against that
# copy alone: once through pkg-config, once through CMake's find_package.
# Usage: install_test.sh BUILD_DIR PREFIX LIBDIR COMPILER...
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$1 prefix=$2 libdir=$3
shift 3
compiler=("$@")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
installed=$scratch/installed$prefix
cp "$here"/host.cpp "$here"/CMakeLists.txt "$scratch"
cd "$scratch"

run_host() {
  LD_LIBRARY_PATH=$installed/$libdir "$@"
}

DESTDIR=$scratch/installed meson install -C "$build" --no-rebuild --quiet

export PKG_CONFIG_PATH=$installed/$libdir/pkgconfig
flags=$(pkg-config --define-variable=prefix="$installed" --cflags --libs penstock)
# Unquoted: flags are words.
"${compiler[@]}" -std=c++20 -Wall -Wextra -Wpedantic -Werror host.cpp -o by_pkg_config $flags
run_host ./by_pkg_config

for program in "$installed"/bin/*; do
  [ ! -x "$program" ] || run_host "$program" --help >/dev/null
done

if ! command -v cmake >/dev/null; then
  echo "cmake is missing: the CMake package was not tried"
  exit 77
fi
# A compiler cache in front is not a compiler to CMake.
by_cmake() {
  cmake -G Ninja -S . -B by_cmake -Dpenstock_DIR="$installed/$libdir/cmake/penstock" \
    -DCMAKE_CXX_COMPILER="${compiler[-1]}" && cmake --build by_cmake
}
by_cmake >cmake.log 2>&1 || { cat cmake.log && exit 1; }
run_host by_cmake/host
