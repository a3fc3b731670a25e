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

/// "AMD EPYC 9654"; the architecture alone where the system does not say more.
std::string getProcessorName();

/// The frequency governor of the first processor: "performance"; empty where there is none.
std::string getGovernor();

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_PROCESSOR_H
