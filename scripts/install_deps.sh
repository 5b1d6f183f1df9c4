#!/usr/bin/env bash
# Installs the distribution's packages that a group of make targets needs:
#   install_deps.sh [build|lab|lint|bench|fuzz]...      (no group: build)
# Debian 12, Ubuntu 22.04 and 24.04. When everything is there it ends at once, without asking apt or sudo.
# ARENA_SKIP_DEPS=1 switches it off, for machines where the libraries come from elsewhere.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A packages=(
  [build]="g++ make cmake ninja-build pkg-config git ca-certificates procps
           libboost-dev libboost-filesystem-dev libyaml-cpp-dev libcli11-dev libspdlog-dev libfmt-dev
           nlohmann-json3-dev libexpected-dev libsodium-dev doctest-dev"
  # What lint finds depends on clang's version: 14 everywhere.
  [lint]="clang-14 clang-format-14 clang-tidy-14 shellcheck libbenchmark-dev"
  [bench]="libbenchmark-dev"
  [fuzz]="clang libclang-rt-dev"
  # Each lab test names what it needs itself, in lines '# packages: NAME...'.
  [lab]=$(sed -n 's/^# packages: *//p' tests/lab/*_test.sh 2>/dev/null || true)
)
# There the fuzzer's runtime is in a package that clang depends on.
if grep -q '^VERSION_CODENAME=jammy' /etc/os-release 2>/dev/null; then packages[fuzz]="clang"; fi

[ "${ARENA_SKIP_DEPS:-}" = 1 ] && exit 0
wanted=()
for group in "${@:-build}"; do
  if [ -z "${packages[$group]+set}" ]; then
    echo "install_deps.sh: unknown group '$group' (there are build, lab, lint, bench, fuzz)" >&2
    exit 2
  fi
  # shellcheck disable=SC2206  # to be split into words
  wanted+=(${packages[$group]})
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  cat >&2 <<'END'
install_deps.sh: this system has no apt; please install by its own means:
  a C++20 compiler (GCC 11 or clang 14, newer is fine), make, cmake 3.22, ninja, pkg-config, git
  Boost 1.74 (headers and filesystem), yaml-cpp 0.7, CLI11 2.1, spdlog and fmt, nlohmann-json, tl-expected, libsodium
  doctest for the tests; Google Benchmark for `make bench`; clang with libFuzzer for `make fuzz`;
  clang 14, clang-format 14, clang-tidy 14 and shellcheck for `make lint`
then run make with ARENA_SKIP_DEPS=1
END
  exit 1
fi

installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
missing=()
for package in "${wanted[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_deps.sh: packages are missing and there is no sudo; as root run:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null; }

echo "installing ${missing[*]}"
# One unreachable source among several is no reason to stop: the install names what it cannot find.
apt update || echo "install_deps.sh: apt-get update failed in part, going on with the lists that are there" >&2
if ! apt install -y --no-install-recommends "${missing[@]}"; then
  echo "install_deps.sh: cannot install ${missing[*]} (Ubuntu has some of them in its component 'universe')" >&2
  exit 1
fi
