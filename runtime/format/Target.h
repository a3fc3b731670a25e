//===- Target.h - which processor a section is for ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A code section's target reads "name=arch:feature,feature,...": what the user
// calls it ("x86-64-v3"), the ELF machine by name ("x86_64", "aarch64") and the
// CPU features that its code may use, each by the name that LLVM and Linux give it
// ("avx2", "avx512f", "asimd"). "name=" may be left out. Sections stand in the file
// in order of preference: a loader takes the first whose features the CPU has all
// of.
//
// A plan with a target belongs to the code that has the same one; a plan without
// belongs to all code.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_FORMAT_TARGET_H
#define TENON_RUNTIME_FORMAT_TARGET_H

namespace tenon::fmt {

/// The features that the compiler may name in a target, each of which the runtime can test. A runtime rejects a section
/// with an unknown name.
inline constexpr const char *kX86Features[] = {
    "sse3",       "ssse3",      "sse4.1",      "sse4.2",       "popcnt",          "avx",        "avx2",
    "fma",        "f16c",       "bmi",         "bmi2",         "lzcnt",           "movbe",      "avxvnni",
    "avx512f",    "avx512bw",   "avx512cd",    "avx512dq",     "avx512vl",        "avx512vnni", "avx512bf16",
    "avx512fp16", "avx512vbmi", "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq", "avx512ifma", "amx-tile",
    "amx-int8",   "amx-bf16",
};

inline constexpr const char *kAArch64Features[] = {
    "fp", "asimd", "asimdhp", "asimddp", "asimdfhm", "bf16", "i8mm", "sve", "sve2",
};

} // namespace tenon::fmt

#endif // TENON_RUNTIME_FORMAT_TARGET_H
