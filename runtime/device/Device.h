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

/// An entry point of loaded code; what it points to is the device's matter.
using DeviceKernel = const void *;

struct DeviceProperties {
  const char *name;         ///< "cpu"
  const char *architecture; ///< the beginning of what code for it requires (Target.h)
  const char *target;       ///< the compiler's most capable target that it can run, empty where there is none
  /// True if the host may follow the device's addresses, and the device those of the host.
  bool isHostAddressable;
};

/// A block of zeroed memory that only grows. Its address is a multiple of TENON_BUFFER_ALIGNMENT.
class DeviceMemory {
public:
  virtual ~DeviceMemory() = default;

  /// Makes room for `size` bytes. Does nothing where there is room already; otherwise the block may move, with what it
  /// holds if `keep` is true. `what` names it in a failure.
  virtual Status reserve(uint64_t size, bool keep, const char *what) = 0;
  /// Sets all of it to zero.
  virtual void clear() = 0;

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
  /// The 64-bit integers of the constant array `name`; empty where there is none.
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

/// Commands that run in the order in which they are submitted. A session has one; it is used by one thread at a time.
class DeviceQueue {
public:
  virtual ~DeviceQueue() = default;

  /// How many workers run kernels at the same time, each with scratch memory of its own.
  virtual uint32_t workers() const = 0;
  /// Gives each worker scratch memory, a multiple of TENON_BUFFER_ALIGNMENT, for the commands that follow.
  virtual Status reserveScratch(uint64_t bytesOfWorker) = 0;

  /// Submits a command. Its buffers and sizes stay as they are until wait(). Numbers of commands that no wait() is
  /// between ascend one by one.
  virtual void submit(const Command &command) = 0;
  /// Waits for all commands. Those that follow one that fails may be left out.
  virtual CommandFailure wait() = 0;
  /// Forgets commands that have not begun, and waits for the others.
  virtual void drop() = 0;
  /// Commands that follow may be computed from their last tile to their first.
  virtual void setBackward(bool isBackward) = 0;

  /// Copies a few bytes to the host, and from it. All commands have been waited for.
  virtual Status read(void *host, const void *address, uint64_t bytes) = 0;
  virtual Status write(void *address, const void *host, uint64_t bytes) = 0;

  /// Calls `work` for all numbers below `count`, on threads of the host, and returns whether every call has returned
  /// true. All commands have been waited for.
  virtual bool runOnHost(uint64_t count, bool (*work)(const void *context, uint64_t index), const void *context) {
    bool isFine = true;
    for (uint64_t i = 0; i < count; ++i)
      isFine &= work(context, i);
    return isFine;
  }

  /// Reports commands that follow to `callback`; null ends that.
  virtual void setProfile(tenon_profile_fn callback, void *user) = 0;
  /// Measures commands that follow, until it is false. Returns false where nothing is gained by measuring.
  virtual bool setTimed(bool isTimed) = 0;
  /// The mean nanoseconds that a command took one worker since the last call; 0 where it was not measured.
  virtual uint64_t takeTime(uint32_t number) = 0;
};

/// A place where kernels run. It lives as long as the program, and any number of threads may use it.
class Device {
public:
  virtual const DeviceProperties &properties() const = 0;
  /// Fails where the device, or the system around it, cannot run code that requires `needs` (Target.h); the message
  /// says what is missing.
  virtual Status enterTarget(const char *needs) const = 0;
  /// Loads a code section that the device can run. The bytes stay until the code is no longer used.
  virtual Status loadCode(const uint8_t *bytes, size_t size, const char *needs,
                          std::unique_ptr<DeviceCode> *code) const = 0;
  virtual std::unique_ptr<DeviceMemory> makeMemory() const = 0;
  /// Makes a queue of `threads` threads of the host, 0 for as many as the process may use, for commands with numbers
  /// below `commands`.
  virtual Status makeQueue(uint32_t threads, uint32_t commands, std::unique_ptr<DeviceQueue> *queue) const = 0;
  /// Copies to the device, before any command reads it.
  virtual Status upload(void *address, const void *host, uint64_t bytes) const = 0;

protected:
  ~Device() = default;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_DEVICE_DEVICE_H
