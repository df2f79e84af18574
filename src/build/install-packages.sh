#!/usr/bin/env bash
# Installs the Debian packages that a task needs and that are missing.
#
#   install-packages.sh build    what building and running takes
#   install-packages.sh test     that, and what the tests take
#   install-packages.sh lint     clang-format and clang-tidy
#
# docs/dependencies.md says what each is for. Root or sudo is needed only if something is missing.
set -euo pipefail

build=(
  ca-certificates g++ cmake ninja-build pkg-config git
  libabsl-dev libboost1.81-dev libcurl4-openssl-dev libssl-dev libre2-dev libyaml-cpp-dev
  libprotobuf-dev protobuf-compiler libsnappy-dev libzstd-dev zlib1g-dev
  libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev libjemalloc-dev libxxhash-dev
)
test=(libgtest-dev libgmock-dev libbenchmark-dev python3 curl ccache)
lint=(clang-format clang-tidy)

# Later releases have one Boost only, under another name.
if ! apt-cache show libboost1.81-dev >/dev/null 2>&1 && apt-cache show libboost-dev >/dev/null 2>&1; then
  build=("${build[@]/libboost1.81-dev/libboost-dev}")
fi

case ${1:-build} in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  lint) wanted=("${lint[@]}") ;;
  *) echo "usage: install-packages.sh build|test|lint" >&2; exit 2 ;;
esac

is_installed() { [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" = 'install ok installed' ]; }

missing=()
for package in "${wanted[@]}"; do
  is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing: ${missing[*]}"
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
