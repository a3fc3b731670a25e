//===- Session.h - one model being run -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CORE_SESSION_H
#define TENON_RUNTIME_CORE_SESSION_H

#include "runtime/base/FreeMemory.h"
#include "runtime/base/Memory.h"
#include "runtime/core/Artifact.h"
#include "runtime/core/DebugArena.h"
#include "runtime/core/ReadAhead.h"
#include "runtime/core/SizeCache.h"
#include "runtime/core/StateStore.h"
#include "runtime/core/WeightPager.h"
#include "runtime/device/Device.h"

#include <memory>
#include <vector>

namespace tenon::rt {

/// The bindings, sizes and memory of one program's runs. The prerequisites of a run are computed in steps, each of
/// which is cached until something it depends on changes:
///
///   shapes of the inputs -> symbols, expressions -> bytes of all memory -> addresses of all buffers
///
/// so that a run with the same shapes as the one before starts its loop at once. Results for the last few sets of
/// shapes are cached; memory only grows.
class Session {
public:
  /// The state that sessions on the programs of an artifact share, by reference.
  struct Shared {
    DeviceQueue &queue;
    StateStore &states;
    WeightPager *pager; ///< null where all weights may be in memory
    ReadAhead &readAhead;
  };
  /// Keeps references to all arguments. Memory limit, weight budget and read-ahead are those of `options`.
  Session(const Artifact &artifact, const Program &program, const Shared &shared, const tenon_session_options &options);

  Status bindInput(uint32_t index, const tenon_tensor &tensor);
  Status bindOutput(uint32_t index, void *data, uint64_t capacity);
  Status measure(tenon_memory *memory);
  Status checkMeasured();
  Status boundMemory(tenon_memory_bounds *bounds);
  Status measureWork(uint32_t instruction, uint64_t *flops, uint64_t *bytes);
  Status listLiveBytes(uint64_t *bytes, uint32_t count);
  bool explainAddress(const void *address, tenon_error *text) const;
  Status prepare();
  Status run();
  Status output(uint32_t index, tenon_tensor *tensor);
  /// Takes over the memory of another program's session, so that both need no more than the larger one.
  void takeMemory(Session &from);
  void setProfile(tenon_profile_fn callback, void *user);
  void setSeed(uint64_t value) {
    seed = value;
    hasSeed = true;
  }

private:
  struct Input {
    bool bound = false;
    void *data = nullptr;
    uint64_t bytes = 0;
    std::unique_ptr<DeviceMemory> copy; // null where the device reads the caller's
  };
  struct Output {
    void *data = nullptr; // the caller's, or null
    uint64_t capacity = 0;
    std::unique_ptr<DeviceMemory> own;
    Memory host; // a copy for the host, where it may not follow the device's addresses

    uint8_t *place(bool takesCallers) const {
      return data && takesCallers ? static_cast<uint8_t *>(data) : own->address();
    }
  };
  struct Place {
    uint8_t *base;
    uint64_t limit;
  };

  // Session.cpp
  Status checkTensor(const tenon_tensor &tensor, const Tensor &wanted, uint32_t index) const;

  static void *hostCopyOf(const Output &output) { return output.data ? output.data : output.host.bytes(); }

  // SessionMemory.cpp
  Status updateSizes();
  Status evaluateSizes(BoundSizes &sizes) const;
  Status addUpMemory();
  Status addUpOwnOutputs();
  Status checkLimit() const;
  Status checkRoom();
  Status reserveMemory();
  Status layOutDebug();
  Status resolve();
  Status resolveSome(const std::vector<uint32_t> &bufferList, const std::vector<uint32_t> &operandList);
  bool isInRoom(const Buffer &buffer) const;
  Status resolveBuffer(uint32_t buffer);
  Place placeOf(const State &state) const;
  Place placeOf(const Buffer &buffer) const;
  Status checkFacts(const Instruction &launch) const;
  Status resolveLate();
  Status readSymbol(const Instruction &instruction);
  Status setSymbol(const Instruction &instruction, int64_t value);
  Status reserveBlock(const Instruction &instruction);

  // Loop.cpp
  Status execute();
  Status executeGuarded();
  void beginTiming();
  void endTiming();
  Command makeCommand(const Instruction &instruction) const;
  Status wait();
  Status copyInputs();
  Status copyOutputs();
  Status addLaunch(const Instruction &instruction);
  Status addCopyOrFill(const Instruction &instruction);
  Status checkOperands(const Instruction &instruction) const;
  Status check(const Instruction &instruction) const;
  Status writeSeed(const Instruction &instruction);
  Status kernelFailed(const Instruction &instruction, const CommandFailure &failure) const;
  Status operandTooSmall(const Instruction &instruction, uint32_t operand, int64_t wanted) const;
  Status neverEnds(const Instruction &jump) const;
  void report(uint32_t instruction, int64_t beginTime) const;

  // HostCalls.cpp
  Status runHostCall(const Instruction &instruction);
  Status setOperands(const Instruction &instruction, IndexRange range, uint32_t &operand, uint32_t &expr,
                     std::vector<tenon_plugin_tensor> &tensors);
  Status inferShapes(const Instruction &instruction, tenon_plugin_call &call);

  // SessionWeights.cpp
  void listUnchecked();
  void beginWeights();
  Status enterWeights(const Instruction &instruction);
  Status checkWeights(const Instruction &instruction);
  void releaseNeighbours(const Instruction &instruction) const;

  uint64_t sizeOf(uint32_t operand) const { return uint64_t(bound->exprs[plan.buffers[plan.operands[operand]].size]); }

  const Artifact &artifact;
  const Program &program;
  const Plan &plan;
  DeviceQueue &queue;
  StateStore &states;
  WeightPager *pager;
  ReadAhead &readAhead;
  const uint32_t readsAhead; // as in tenon_session_options
  bool isFirstRun = true;
  const bool isHostAddressable;
  uint64_t limit;
  uint64_t weightBytes; // that are in memory at one time

  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<uint64_t> needed; // bytes of each output
  std::vector<int64_t> dims;    // of all inputs and then all outputs, as in Plan::dims

  std::vector<int64_t> rows;  // of the states, as bindSymbols takes them
  uint64_t statesVersion = 0; // of the states that sizes and addresses are for

  SizeCache cache;
  BoundSizes *bound = nullptr;   // of the shapes bound now, where sizesCurrent
  bool sizesCurrent = false;     // bound, memory
  bool addressesCurrent = false; // the addresses in *bound
  bool ran = false;              // outputs hold the results of a run
  tenon_memory memory{};
  MemoryWatch watch;
  uint64_t scratchStride = 0;

  std::unique_ptr<DebugArena> debug; // instead of the arena, where it is wanted
  std::unique_ptr<DeviceMemory> arena;
  std::vector<std::unique_ptr<DeviceMemory>> heap; // its blocks

  std::vector<tenon_plugin_tensor> hostInputs, hostOutputs; // of the host call at hand
  std::vector<int64_t> hostDims;                            // of its inferred results

  bool hasSeed = false;
  uint64_t seed = 0;         // of all runs, where hasSeed
  uint64_t seedsWritten = 0; // in this run

  tenon_profile_fn profile = nullptr;
  void *profileUser = nullptr;
  uint32_t current = 0; // instruction being run
  bool isTimed = false; // this run is
  /// For each instruction, whether its weights are yet to be verified; empty if none are.
  std::vector<uint8_t> weightsUnchecked;
  bool releasesWeights = false;        // the plan lets go of some
  bool watchesWeights = false;         // there is something to do before weights are used
  uint32_t numUnchecked = 0;           // instructions of which that is so
  std::vector<uint64_t> blocksToCheck; // of the weights, for the instruction at hand
  uint32_t steadyIterations =
      0; // of the loop at hand, where its instructions say from which one on its condition is the same
  /// True if threads process their tiles from the last to the first: this alternates between iterations of a loop, so
  /// that an iteration begins with the weights that the previous one ended with, which are still in the core's cache
  /// (an LSTM's weights slightly exceed it: in the same order, each would be evicted before its next use).
  bool isBackward = false;
};

} // namespace tenon::rt

#endif // TENON_RUNTIME_CORE_SESSION_H
