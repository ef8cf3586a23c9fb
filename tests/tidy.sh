#!/bin/bash
# tests/tidy.sh BUILD_FOLDER: clang-tidy, as .clang-tidy says, on the C++ files that differ from origin/main, or from the commit before where
# there is no other branch. What it finds in headers is left out. BUILD_FOLDER has the compile commands of files compiled one by one. Exit status
# 77 without clang-tidy.
set -euo pipefail
build=$1
cd "$(dirname "$0")/.."
# 15 and older do not know all of C++20 that is used here.
for tidy in clang-tidy-{16,17,18,19} ''; do
    command -v "$tidy" >/dev/null && break
done
[ -n "$tidy" ] || { echo "skipped: clang-tidy is not installed (Debian's clang-tidy-16)"; exit 77; }
git rev-parse --verify --quiet HEAD >/dev/null 2>&1 || { echo "skipped: this is no git repository, so that no file has changed"; exit 77; }
base=$(git merge-base HEAD origin/main 2>/dev/null || true)
[ -n "$base" ] && [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse --verify --quiet HEAD~1 || git rev-parse HEAD)
# Files of a program of their own are in no compile command.
git diff --name-only --diff-filter=d "$base" -- 'host/*.cpp' 'tests/unit/*.cpp' 'tests/device/*.cpp' | while read -r file; do
    if grep -qF "/$file\"" "$build/compile_commands.json"; then printf '%s\0' "$file"; fi
done | xargs -0 -r -n 4 -P "$(nproc)" "$tidy" --quiet --warnings-as-errors='bugprone-*,performance-*,readability-*' \
    --header-filter='^$' --extra-arg=-Wno-unknown-warning-option -p "$build"
