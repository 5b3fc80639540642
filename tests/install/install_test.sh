#!/bin/bash
# H10 of docs/reference.md: installs a build into an empty directory, then builds and runs host
# applications against that copy alone: once through pkg-config, once through CMake's find_package.
# Usage: install_test.sh BUILD_DIR PREFIX LIBDIR DATADIR SOURCE... -- COMPILER...
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$1 prefix=$2 libdir=$3 datadir=$4
shift 4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
hosts=()
while [ "$1" != -- ]; do
  cp "$1" "$scratch"
  hosts+=("$(basename "$1" .cpp)")
  shift
done
shift
compiler=("$@")
cp "$here/CMakeLists.txt" "$scratch"
cd "$scratch"
installed=$scratch/installed$prefix

run_installed() {
  LD_LIBRARY_PATH=$installed/$libdir "$@"
}

DESTDIR=$scratch/installed meson install -C "$build" --no-rebuild --quiet
for program in "$installed"/bin/*; do
  [ ! -x "$program" ] || run_installed "$program" --help >/dev/null
done
[ -s "$installed/$datadir/doc/penstock/LICENSE" ] || { echo "the license is missing"; exit 1; }

export PKG_CONFIG_PATH=$installed/$libdir/pkgconfig
read -ra flags < <(pkg-config --define-variable=prefix="$installed" --cflags --libs penstock)
for host in "${hosts[@]}"; do
  "${compiler[@]}" -std=c++20 -Wall -Wextra -Wpedantic "$host.cpp" -o "$host" "${flags[@]}"
  run_installed "./$host"
done

if ! command -v cmake >/dev/null; then
  echo "cmake is missing: the CMake package was not tried"
  exit 77
fi
# CMake does not accept a compiler cache in front of the compiler as a compiler.
by_cmake() {
  cmake -G Ninja -S . -B by_cmake -Dpenstock_DIR="$installed/$libdir/cmake/penstock" \
    -DCMAKE_CXX_COMPILER="${compiler[-1]}" && cmake --build by_cmake
}
by_cmake >cmake.log 2>&1 || { cat cmake.log && exit 1; }
for host in "${hosts[@]}"; do
  run_installed "by_cmake/$host"
done
