#!/bin/sh
# Look for faults: tests/fuzz/fuzz.sh target seconds [folder]. New finds and the grown corpus stay in the folder.
set -e
cd "$(dirname "$0")/../.."
target=$1 seconds=$2 folder=${3:-build/fuzz}
mkdir -p "$folder/$target"
clang -O1 -g -std=c11 -D_GNU_SOURCE -DCHORDAL_FUZZER -DCHORDAL_TESTS_FOLDER=\"tests\" -Icore -Itests -Icore/include \
    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    core/base/*.c core/value/*.c core/delta/*.c core/wire/*.c core/store/*.c core/object/*.c core/link/*.c \
    core/host/*.c \
    "tests/fuzz/$target.c" -lsqlite3 -lz -lm -o "$folder/fuzz_$target"
mkdir -p "tests/fuzz/corpus/$target"
exec "$folder/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -len_control=0 -use_value_profile=1 -timeout=10 \
    -rss_limit_mb=2048 -artifact_prefix="$folder/$target-" "$folder/$target" "tests/fuzz/corpus/$target"
