//===- Device.h - what runs kernels --------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A session knows devices by this interface alone. It is made for two kinds of them: the CPU, on which all of it costs
// next to nothing, and GPUs, which have memory of their own and run launches on a stream.
//
// - Addresses. The plan places a buffer at an offset in a block, so an address is a block's address plus an offset.
// Only
//   the device follows it, unless Properties::isHostAddressable says that the host may, too. CUDA's addresses are such
//   numbers. Vulkan has none without buffer device addresses: its device may make them up, as long as a block's are its
//   own, and find block and offset again when it binds buffers.
// - Launches are submitted one by one and may have ended or not until wait(). The CPU collects them and runs the list
// in
//   wait(), so that its threads go through it without the session; a stream begins at once, and may record the list as
//   a graph. Submitting is one virtual call a command, and nothing is virtual for a tile.
// - Code is bytes whose form the device knows: a shared object, PTX or a cubin, SPIR-V.
// - Inputs and outputs of a device that shares the host's memory are used where the caller has them. Others have blocks
//   on the device, copied before and after a run; a device that maps the caller's memory instead says that it is host
//   addressable.
// - Control flow looks at values by read() and write(), which wait for what was submitted before.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICE_DEVICE_H
#define TENON_RUNTIME_DEVICE_DEVICE_H

#include "runtime/base/Status.h"
#include "runtime/format/Kernel.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::rt {

/// An entry point of loaded code; its representation is private to the device.
using DeviceKernel = const void *;

struct DeviceProperties {
  const char *name;         ///< "cpu"
  const char *architecture; ///< the beginning of what code for it requires (Target.h)
  const char *target;       ///< the compiler's most capable target that it can run, empty where there is none
  /// True if host and device can access each other's addresses.
  bool isHostAddressable;
};

/// A block of zeroed memory that only grows. Its address is a multiple of TENON_BUFFER_ALIGNMENT.
class DeviceMemory {
public:
  virtual ~DeviceMemory() = default;

  /// Ensures a capacity of `size` bytes. If the block must grow, it may move, with its content if `keep` is true.
  /// `what` names it in error messages.
  virtual Status reserve(uint64_t size, bool keep, const char *what) = 0;
  /// Sets all of it to zero.
  virtual void clear() = 0;
  /// True if its pages are private memory of this process, in place of which others may be mapped (SharedPages.h).
  virtual bool isPaged() const { return false; }

  /// Null before the first reserve().
  uint8_t *address() const { return base; }
  uint64_t capacity() const { return reserved; }

protected:
  uint8_t *base = nullptr;
  uint64_t reserved = 0;
};

/// A loaded code section.
class DeviceCode {
public:
  virtual ~DeviceCode() = default;

  /// The entry point `name`, or null.
  virtual DeviceKernel find(const char *name) const = 0;
  /// Returns the 64-bit integers of the constant array `name`; empty if there is none.
  virtual std::vector<int64_t> findWords(const char *name) const = 0;
};

/// A launch, a copy or a fill.
struct Command {
  enum class Kind : uint8_t { launch, copy, fill };

  Kind kind = Kind::launch;
  bool isConcurrent = false;      ///< depends neither on the command before it nor on those concurrent with that one
  uint8_t value = 0;              ///< of a fill
  uint32_t number = 0;            ///< of the instruction, counted through all programs of an artifact
  uint32_t nanoseconds = 0;       ///< that it takes one worker, 0 where that is not known
  DeviceKernel kernel = nullptr;  ///< of a launch
  void *const *buffers = nullptr; ///< host memory with device addresses: of a copy source and target
  const int64_t *sizes = nullptr; ///< of a launch, in host memory
  uint64_t count = 0;             ///< tiles of a launch, bytes of a copy or a fill

  bool operator==(const Command &) const = default;
};

/// The first command that failed.
struct CommandFailure {
  int32_t code = TENON_KERNEL_OK; ///< what its kernel returned
  uint32_t number = 0;
  tenon_kernel_index_report report{}; ///< of TENON_KERNEL_INDEX_OUT_OF_RANGE; zeros where the kernel left none
};

/// Commands that run in the order of their submission. Each session has one queue, which one thread uses at a time.
class DeviceQueue {
public:
  virtual ~DeviceQueue() = default;

  /// Returns the number of workers that run kernels concurrently, each with its own scratch memory.
  virtual uint32_t workers() const = 0;
  /// Reserves scratch memory for each worker, a multiple of TENON_BUFFER_ALIGNMENT, for later commands.
  virtual Status reserveScratch(uint64_t bytesOfWorker) = 0;

  /// Submits a command. Its buffers and sizes must not change until wait(). Between two waits, the numbers of commands
  /// are consecutive.
  virtual void submit(const Command &command) = 0;
  /// Waits for all commands. Commands after a failed one may be skipped.
  virtual CommandFailure wait() = 0;
  /// Discards commands that have not begun, and waits for the others.
  virtual void drop() = 0;
  /// Allows later commands to be computed from their last tile to their first one.
  virtual void setBackward(bool isBackward) = 0;

  /// Copies a few bytes to or from the host. Must not be called while commands are pending.
  virtual Status read(void *host, const void *address, uint64_t bytes) = 0;
  virtual Status write(void *address, const void *host, uint64_t bytes) = 0;

  /// Calls `work` for all numbers below `count` on host threads, and returns true if every call has. Must not be called
  /// while commands are pending.
  virtual bool runOnHost(uint64_t count, bool (*work)(const void *context, uint64_t index), const void *context) {
    bool isFine = true;
    for (uint64_t i = 0; i < count; ++i)
      isFine &= work(context, i);
    return isFine;
  }

  /// Reports later commands to `callback`; null disables it.
  virtual void setProfile(tenon_profile_fn callback, void *user) = 0;
  /// Enables or disables timing of later commands. Returns false if timing has no benefit.
  virtual bool setTimed(bool isTimed) = 0;
  /// Returns the mean time in nanoseconds of a command on one worker since the last call; 0 if it was not measured.
  virtual uint64_t takeTime(uint32_t number) = 0;
};

/// A place where kernels run. It is static and thread-safe.
class Device {
public:
  virtual const DeviceProperties &properties() const = 0;
  /// Fails if the device or the operating system cannot run code that requires `needs` (Target.h); the message says
  /// what is missing.
  virtual Status enterTarget(const char *needs) const = 0;
  /// Loads a code section that the device can run. The bytes must remain valid while the code is used.
  virtual Status loadCode(const uint8_t *bytes, size_t size, const char *needs,
                          std::unique_ptr<DeviceCode> *code) const = 0;
  virtual std::unique_ptr<DeviceMemory> makeMemory() const = 0;
  /// Creates a queue with `threads` host threads, 0 for as many as the process may use, for commands with numbers below
  /// `commands`.
  virtual Status makeQueue(uint32_t threads, uint32_t commands, std::unique_ptr<DeviceQueue> *queue) const = 0;
  /// Copies to the device. Must be called before any command reads the memory.
  virtual Status upload(void *address, const void *host, uint64_t bytes) const = 0;

protected:
  ~Device() = default;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_DEVICE_H
