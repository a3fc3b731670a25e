//===- CpuDevice.cpp - the processor of the host -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/base/CpuCount.h"
#include "runtime/base/Memory.h"
#include "runtime/device/Device.h"
#include "runtime/device/cpu/CodeImage.h"
#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/device/cpu/CpuQueue.h"

#include <cstring>

namespace tenon::rt {

namespace {

class CpuMemory final : public DeviceMemory {
public:
  Status reserve(uint64_t size, bool keep, const char *what) override {
    TENON_TRY(memory.reserve(size, keep, what));
    base = memory.bytes();
    reserved = memory.capacity();
    return {};
  }
  void clear() override { memory.clear(); }
  bool isPaged() const override { return true; }

private:
  Memory memory;
};

class CpuCode final : public DeviceCode {
public:
  Status load(const uint8_t *bytes, size_t size, const char *needs) { return image.load(bytes, size, needs); }
  DeviceKernel find(const char *name) const override { return reinterpret_cast<DeviceKernel>(image.find(name)); }
  std::vector<int64_t> findWords(const char *name) const override { return image.findWords(name); }

private:
  CodeImage image;
};

/// The features are cached: they do not change, and cpuid is slow under a hypervisor.
const CpuFeatures &thisCpu() {
  static const CpuFeatures cpu = detectCpu();
  return cpu;
}

class CpuDevice final : public Device {
public:
  const DeviceProperties &properties() const override {
    static const DeviceProperties properties{"cpu", thisCpu().arch, getTarget(thisCpu()), true};
    return properties;
  }
  Status enterTarget(const char *needs) const override {
    TENON_TRY(matchTarget(needs, thisCpu()));
    return acquireTargetState(needs);
  }
  Status loadCode(const uint8_t *bytes, size_t size, const char *needs,
                  std::unique_ptr<DeviceCode> *code) const override {
    auto loaded = std::make_unique<CpuCode>();
    TENON_TRY(loaded->load(bytes, size, needs));
    *code = std::move(loaded);
    return {};
  }
  std::unique_ptr<DeviceMemory> makeMemory() const override { return std::make_unique<CpuMemory>(); }
  Status makeQueue(uint32_t threads, uint32_t commands, std::unique_ptr<DeviceQueue> *queue) const override {
    if (threads > kMaxThreads)
      return Status::make(TENON_MISUSE, "%u threads are too many, at most %u are allowed", threads, kMaxThreads);
    auto made = std::make_unique<CpuQueue>(commands);
    TENON_TRY(made->start(threads ? threads : usableCpus(), usableNodes()));
    *queue = std::move(made);
    return {};
  }
  Status upload(void *address, const void *host, uint64_t bytes) const override {
    memcpy(address, host, bytes);
    return {};
  }
};

} // namespace

const Device &cpuDevice() {
  static const CpuDevice device;
  return device;
}

} // namespace tenon::rt
