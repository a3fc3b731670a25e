#!/bin/sh
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs an artifact with code for several processors by the aarch64 program. Exit 77: the tools are missing.
set -e
writer=$1 program=$2 qemu=$3

[ -x "$program" ] || { echo "skipped: no $program; install g++-aarch64-linux-gnu and configure again"; exit 77; }
[ -n "$qemu" ] && [ "${qemu%NOTFOUND}" = "$qemu" ] || { echo "skipped: no qemu-aarch64"; exit 77; }

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$writer" "$folder/model.tenon" > /dev/null
run() { "$qemu" -L /usr/aarch64-linux-gnu "$program" "$folder/model.tenon" --threads 3 "$@"; }

run --verify --input ones --size N=100 | tee "$folder/out"
# 2 * 1 + w, where w is i / 8.
grep -q "f32\[100\]  min 2  max 14.375  mean 8.1875  \[2, 2.125, 2.25," "$folder/out"
run --benchmark --runs 2 --size N=4096 --json | grep -q '"weight_bytes":16384'
