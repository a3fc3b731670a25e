//===- Model.h - an artifact and a session that free themselves ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_MODEL_H
#define TENON_TOOLS_TENON_RUN_MODEL_H

#include "tools/tenon-run/HostTensor.h"
#include "tools/tenon-run/Options.h"

namespace tenon::run {

/// A loaded artifact with its session, and what is asked of them again and again.
struct Model {
  struct Port {
    std::string name;
    tenon_dtype dtype;
    std::vector<tenon_dim_info> dims;
  };

  tenon_artifact *artifact = nullptr;
  tenon_session *session = nullptr;
  tenon_artifact_info info{};
  std::vector<Port> inputs, outputs;

  Model() = default;
  Model(Model &&) = delete;
  ~Model();

  Status load(const Options &options);
  Status bind(uint32_t input, const HostTensor &tensor);
  Status run();
  Status output(uint32_t index, tenon_tensor *tensor);
};

/// "f32[N,3,224]".
std::string portText(const Model::Port &port);

/// The names of ports, in order.
std::vector<std::string> namesOf(const std::vector<Model::Port> &ports);

/// "'x', 'y' and 'z'", for messages.
std::string listNames(const std::vector<Model::Port> &ports);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_MODEL_H
