//===- Processor.h - what the system calls its processor -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_PROCESSOR_H
#define TENON_RUNTIME_BASE_PROCESSOR_H

#include <string>

namespace tenon::rt {

/// Returns a name such as "AMD EPYC 9654"; only the architecture if the system does not report more.
std::string getProcessorName();

/// Returns the frequency governor of the first processor, such as "performance"; empty if there is none.
std::string getGovernor();

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_PROCESSOR_H
