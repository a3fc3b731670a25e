//===- CpuDevice.h - the processor of the host ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICE_CPU_CPUDEVICE_H
#define TENON_RUNTIME_DEVICE_CPU_CPUDEVICE_H

namespace tenon::rt {

class Device;

/// The processor that this process runs on.
const Device &cpuDevice();

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_CPU_CPUDEVICE_H
