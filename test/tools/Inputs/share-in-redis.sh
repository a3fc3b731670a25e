# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles a model into a remote cache, then on two machines that have nothing.
set -eu
export TENON_CACHE_TO="$REMOTE/1"
TENON_CACHE_DIR=first tenon compile --target x86-64-v3 here/model.mlir -o a.tenon
unset TENON_CACHE_TO
export TENON_CACHE_FROM="$REMOTE/1"
TENON_CACHE_DIR=second tenon compile --target x86-64-v3 there/model.mlir -o b.tenon
TENON_CACHE_DIR=third tenon compile --target x86-64-v3 there/model.mlir -o c.tenon --llc 64M
export TENON_CACHE_FROM="$REMOTE/2"
TENON_CACHE_DIR=fourth tenon compile --target x86-64-v3 there/model.mlir -o d.tenon
export TENON_CACHE_FROM="redis://127.0.0.1:1"
TENON_CACHE_DIR=fifth tenon compile --target x86-64-v3 there/model.mlir -o e.tenon 2>&1
