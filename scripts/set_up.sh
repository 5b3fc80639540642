# The scripts train and test source this file, whose functions install missing packages and build,
# silently while all goes well. Nothing asks a question. A failure ends the script with status 2 and
# one line that says what to do.

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# These are the packages' names in Debian 12, Ubuntu 22.04 and later.
build_packages=(g++ meson ninja-build pkg-config libboost-program-options-dev libcaf-dev
  libcurl4-openssl-dev libjpeg-dev libpng-dev zlib1g-dev)
test_packages=(ca-certificates cmake doxygen libeigen3-dev libgtest-dev nlohmann-json3-dev openssl
  python3-onnx)
data_packages=(dataset-fashion-mnist)
# A test opens the page of a profile in a browser if one is installed, and another runs ONNX's own
# tests. Because a browser and these tests are large, only continuous integration installs them.
[ -z "${CI:-}" ] || test_packages+=(chromium libonnx-testdata)

say() {
  echo "${0##*/}: $*" >&2
}

fail() {
  say "$@"
  exit 2
}

# quietly COMMAND...: runs COMMAND, and shows what it prints only if it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  [ $status -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return $status
}

missing_of() {
  local package
  for package; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      echo "$package"
  done
}

# take_installed_libcurl: makes the package of libcurl that is installed the one that is needed.
# There are three of them, any will do, and to install one removes the others.
take_installed_libcurl() {
  local package
  for package in libcurl4-gnutls-dev libcurl4-nss-dev; do
    [ -n "$(missing_of "$package")" ] ||
      build_packages=("${build_packages[@]/#libcurl4-openssl-dev/$package}")
  done
}
take_installed_libcurl

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

apt_get() {
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300 "$@"
}

require_tools() {
  local tool
  for tool in "${CXX:-c++}" meson ninja pkg-config; do
    command -v "${tool%% *}" >/dev/null || fail "missing: $tool, and no apt-get to install it with"
  done
}

update_lists() {
  apt_get update || say "apt-get update failed; trying with the lists that are here"
}

install_missing() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    require_tools  # Meson names the libraries that are missing.
    return
  fi
  local missing
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  as_root true 2>/dev/null || fail "not root, and sudo is missing or asks for a password;" \
    "install the missing packages yourself: apt-get install ${missing[*]}"
  say "installing ${missing[*]}"
  update_lists
  apt_get install --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install ${missing[*]}; its output is above"
}

# install_known PACKAGE...: installs the missing packages that the system's sources have.
# A machine that has no lists of its sources yet gets them first.
install_known() {
  command -v apt-cache >/dev/null || return 0
  local missing package known=()
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  [ -n "$(apt-cache madison dpkg 2>/dev/null)" ] || update_lists
  for package in "${missing[@]}"; do
    ! apt-cache show "$package" >/dev/null 2>&1 || known+=("$package")
  done
  install_missing "${known[@]}"
}

# configure DIRECTORY OPTION...: sets up the build directory DIRECTORY. One that is already there is
# kept if everything that it was set up for is still the same, including this machine's processor.
configure() {
  local directory=$1 wanted
  shift
  wanted="$root | $* | Meson $(meson --version) | $(${CXX:-c++} --version | head -n 1) | $(
    grep -m 1 -E '^(model name|CPU part)' /proc/cpuinfo || true)"
  [ "$(cat "$directory/set_up_for" 2>/dev/null)" = "$wanted" ] && return
  rm -rf "$directory"
  quietly meson setup "$directory" "$root" "$@" || fail "meson setup failed; its output is above"
  echo "$wanted" >"$directory/set_up_for"
}

# build DIRECTORY TARGET...: builds the targets; `all` stands for all targets.
build() {
  ninja -n -C "$@" 2>/dev/null | grep -q 'no work to do' && return
  say "building in $1"
  quietly ninja -C "$@" || fail "the build failed; its output is above"
}

# lock: lets one set-up run at a time. The lock ends with unlock() or with the script.
lock() {
  exec {lock_descriptor}<"$root/scripts"
  flock "$lock_descriptor"
}

unlock() {
  exec {lock_descriptor}<&-
}
