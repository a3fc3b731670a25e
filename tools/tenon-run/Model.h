//===- Model.h - an artifact and a session that free themselves -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_MODEL_H
#define TENON_TOOLS_TENON_RUN_MODEL_H

#include "tools/tenon-run/HostValue.h"
#include "tools/tenon-run/Options.h"

namespace tenon::run {

/// A loaded artifact with its session, and frequently used properties of them.
struct Model {
  /// A tensor that the runtime takes or gives.
  struct Port {
    tenon_dtype dtype;
    tenon_role role;
    std::vector<tenon_dim_info> dims;
  };

  /// An input or output of the model: one port, or several if it is not a numeric tensor.
  struct Value {
    std::string name;
    uint32_t first; // of its ports, among all
    std::vector<Port> ports;

    bool isOptional() const { return ports[0].role == TENON_ROLE_HAS; }
    /// Returns the first port of its content; null for an optional that never holds anything.
    const Port *content() const { return isOptional() ? ports.size() > 1 ? &ports[1] : nullptr : &ports[0]; }
    bool isSequence() const { return content() && content()->role == TENON_ROLE_ELEMENTS; }
    /// Returns the type of the tensor, or of an optional's content or a sequence's elements.
    tenon_dtype dtype() const;
  };

  tenon_artifact *artifact = nullptr;
  tenon_session *session = nullptr;
  tenon_artifact_info info{};
  std::vector<Value> inputs, outputs;

  Model() = default;
  Model(Model &&) = delete;
  ~Model();

  Status load(const Options &options);
  /// Binds the value and keeps it, because the runtime reads it in place.
  Status bind(uint32_t input, HostValue value);
  /// Binds the shape of one tensor of an input without data, which suffices for measuring.
  Status bindShape(uint32_t input, uint32_t port, const std::vector<int64_t> &dims);
  Status measure(tenon_memory *memory, tenon_memory_bounds *bounds);
  /// Returns the bytes of the arena that are live at each instruction of the artifact, 0 for programs that are not run;
  /// empty if that takes too long to compute.
  std::vector<uint64_t> listLiveBytes();
  /// Fails if the bound sizes exceed the memory limit.
  Status checkLimit();
  Status run();
  /// Resets states to those of the first run, if the model runs more than once.
  Status rewind();
  Status saveState(const std::string &path);
  /// Returns the sizes of the program that is run for the bound sizes: "N=1..512", "general" for all.
  Status programSizes(const char **sizes);
  /// The input's tensors as they are bound.
  const std::vector<HostTensor> &boundTensors(uint32_t input) const { return bound[input]; }
  /// What the last run gave, until the next one.
  Status output(uint32_t index, ValueView *value);

private:
  Status startStates(const Options &options);
  /// Sets the state of slot 0 that an argument "NAME=FILE.npy" names.
  Status setState(const std::string &argument);

  uint32_t numSequences = 1;                  // of a run; each has the slot of its number
  bool rewinds = false;                       // as many later slots have the states that runs begin with
  std::vector<std::vector<HostTensor>> bound; // for each input, its ports' tensors
};

/// Returns "f32[N,3,224]", "string[N]", "sequence of f32 of rank 2", "optional f32[N]".
std::string valueText(const Model::Value &value);

/// Returns the inputs of an artifact, with the ports of each value grouped.
std::vector<Model::Value> describeInputs(const tenon_artifact *artifact);

/// The names of values, in order.
std::vector<std::string> namesOf(const std::vector<Model::Value> &values);

/// "'x', 'y' and 'z'", for messages.
std::string listNames(const std::vector<Model::Value> &values);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_MODEL_H
