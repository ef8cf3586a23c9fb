# Sourced by tools/cllab and tools/test: installs what is missing, configures and builds. Everything it says goes to
# stderr, so that stdout stays the program's own. Needs bash, which every Debian has.
# shellcheck shell=bash

set -u -o pipefail

root=$(cd -P -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
build=$root/build

# What the program needs: compiler, build tools, OpenCL loader and headers, a CPU device (PoCL), libraries (amd_comgr makes
# code for AMD GPUs that are not here; 36 MB beside the 47 of PoCL and its LLVM), objdump, D3 for the page of `report --html`,
# Oclgrind with the headers that a plugin of it needs (`cllab count`, guesses, `--check oclgrind`; LLVM 14's are 30 MB).
# Other OpenCL implementations (GPU drivers) are the user's own business and never installed.
packages=(build-essential cmake ninja-build ocl-icd-opencl-dev opencl-headers opencl-clhpp-headers pocl-opencl-icd
    libboost-program-options-dev libboost-test-dev nlohmann-json3-dev libfmt-dev libpng-dev libamd-comgr-dev binutils node-d3
    oclgrind liboclgrind-dev llvm-14-dev)
# What the regression of a commit needs besides: Python for the command line, a compiler
# for NVIDIA's GPUs (clang 15 with libclc), one for AMD's younger ones (clang 19 with the same libclc; 67 MB to download), Intel's for
# GPUs (ocloc), which shows no device without a card; a browser for the page, and what drives it; what checks records by their schema, and
# what reads them as tables (pandas, which brings NumPy); pytest for the example of tools/python; a program to capture; what makes PNG of charts.
test_packages=(python3 clang-15 libclc-15 llvm-15 clang-19 lld-19 llvm-19 intel-opencl-icd
    chromium chromium-driver python3-selenium python3-jsonschema python3-pandas python3-pytest python3-pyopencl librsvg2-bin)
# What `tools/test --all` needs beyond that: a compiler with sanitizers and libFuzzer (clang 16), its linker and its linter; Mesa's OpenCL
# (16 MB beside clang-15), whose rusticl shows no device unless RUSTICL_ENABLE names one; pip for Intel's CPU runtime and ReFrame.
all_packages=(clang-16 libclang-rt-16-dev lld-16 clang-tidy-16 mesa-opencl-icd python3-pip)
# What tools/package needs besides: manual pages from --help, which shared libraries a program needs, the package's own tests.
package_packages=(git help2man dpkg-dev file lintian)

say() { printf 'cllab: %s\n' "$*" >&2; }

# Exit status 3: the environment is to blame, as in the program itself.
fail() {
    say "$*"
    exit 3
}

# missing_packages PACKAGE…: those that dpkg does not hold as installed.
missing_packages() {
    local held package
    held=$'\n'$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null)$'\n'
    for package; do
        [[ $held == *$'\n'"$package installed"$'\n'* ]] || echo "$package"
    done
}

# install_packages PACKAGE…: installs the missing ones with apt-get, through sudo unless we are root. Removes nothing;
# with nothing missing it costs one dpkg query. Sets `installed` to "again", for configure_build, when it installed some.
installed=
install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        command -v cmake >/dev/null || fail "this is not a Debian system; install yourself what is in: $*"
        return 0  # CMake names the package that holds what it does not find
    fi
    local missing absent=() as_root=() package known
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            fail "packages are missing and there is no sudo; run as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0
        -o DPkg::Lock::Timeout=300)
    say "installing ${missing[*]}"
    "${apt[@]}" update >&2 || say "apt-get update failed (its message is above); going on with the package lists of before"
    if "${apt[@]}" install --no-install-recommends --no-remove "${missing[@]}" >&2; then
        installed=again
        return 0
    fi
    for package in "${missing[@]}"; do
        known=$(LC_ALL=C apt-cache policy "$package")
        [[ $known == *'Candidate: '[!\(]* ]] || absent+=("$package")
    done
    [ ${#absent[@]} -eq 0 ] || fail "apt-get knows no package ${absent[*]}; Debian 12's main archive has it"
    fail "${as_root[*]:+sudo }apt-get could not install ${missing[*]} (its message is above)"
}

# configure_build: makes build/ when there is none; "configure_build again" also when there is one, so that programs
# installed since are found. A build folder that came from another place (the tree was moved) is configured afresh.
configure_build() {
    local first=() home
    mkdir -p -- "$build" 2>/dev/null && [ -w "$build" ] || fail "cannot write $build, where the program is built"
    # One set-up at a time: two shells that start together must not build into the same files.
    exec 9>"$build/.lock" || fail "cannot write $build/.lock"
    if command -v flock >/dev/null && ! flock -n 9; then
        say "waiting for another set-up of this tree"
        flock 9
    fi
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt" 2>/dev/null)
    if [ "$home" != "$root" ]; then
        rm -rf -- "$build/CMakeCache.txt" "$build/CMakeFiles" "$build/build.ninja" "$build/Makefile"
        first=(-DCMAKE_BUILD_TYPE=Release)
        command -v ninja >/dev/null && first+=(-G Ninja)
    elif [ "${1-}" != again ] && { [ -e "$build/build.ninja" ] || [ -e "$build/Makefile" ]; }; then
        return 0  # the build step itself configures again when a CMake file changed
    fi
    say "configuring"
    cmake -S "$root" -B "$build" "${first[@]}" 2>&1 | changes_only || fail "CMake could not configure (its message is above)"
}

# build_target NAME
build_target() {
    cmake --build "$build" --parallel "$(nproc)" --target "$1" 2>&1 | changes_only ||
        fail "the build failed (the message is above)"
    exec 9>&-
}

# Passes build output on to stderr, without the lines that only say that nothing is to be done.
changes_only() {
    sed -u -e '/^ninja: no work to do/d' -e '/Re-checking globbed directories/d' -e '/Built target /d' \
        -e '/Consolidate compiler generated/d' -e '/^-- /d' >&2
}
