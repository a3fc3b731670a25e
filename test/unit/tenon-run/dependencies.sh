#!/bin/sh
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What tenon-run may need at run time and include at build time.
# The last argument is the most bytes that the program may have, or any-size for code that is not optimized.
program=$1 static=$2 source=$3 limit=$4
failed=0

needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^libc\.so\|^ld-linux')
[ -z "$needed" ] || { echo "tenon-run needs more than the C library: $needed"; failed=1; }

readelf -d "$static" | grep -q NEEDED && { echo "tenon-run-static needs shared libraries"; failed=1; }

size=$(size "$program" | awk 'NR == 2 { print $4 }')
[ "$limit" = any-size ] || [ "$size" -le "$limit" ] || { echo "tenon-run has $size bytes, more than $limit"; failed=1; }

# runtime/text is a library of its own, which the runtime does not link.
foreign=$(grep -rnE --exclude-dir=text '#include [<"](mlir|llvm|onnx|google/protobuf|nlohmann|CLI|iostream|fstream|sstream|locale|dialects|passes|compiler)/?' \
  "$source/runtime" "$source/tools/tenon-run")
[ -z "$foreign" ] || { echo "the runtime includes what it must not:"; echo "$foreign"; failed=1; }

exit $failed
