#!/bin/sh
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the static program where there is no other file at all. Exit 77: this user may not change the root.
set -e
writer=$1 program=$2
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cp "$program" "$folder/tenon-run"
"$writer" "$folder/model.tenon" > /dev/null

if [ "$(id -u)" = 0 ]; then
  change="chroot"
else
  change="unshare --map-root-user chroot"
fi
# A plain file that cannot run fails with 126: so does chroot where it is not allowed.
$change "$folder" /tenon-run --version > /dev/null 2>&1 || { echo "skipped: $change is not allowed here"; exit 77; }
$change "$folder" /tenon-run /model.tenon --input ones --size N=10 --output /y.npy
$change "$folder" /tenon-run /model.tenon --input /y.npy
