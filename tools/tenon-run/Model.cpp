//===- Model.cpp - an artifact and a session that free themselves --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Model.h"

namespace tenon::run {

Model::~Model() {
  tenon_session_release(session);
  tenon_artifact_release(artifact);
}

/// The runtime's failure as ours: its text names the artifact already.
static Status from(tenon_status code, const tenon_error &error) {
  return code == TENON_OK ? Status() : Status::make(code, "%s", error.message);
}

Status Model::load(const Options &options) {
  tenon_error error;
  tenon_load_options loadOptions{options.verify};
  TENON_TRY(from(tenon_artifact_load_file(options.artifact.c_str(), &loadOptions, &artifact, &error), error));
  tenon_artifact_describe(artifact, &info);
  // The indices are in range, so none of these fails.
  for (uint32_t i = 0; i < info.input_count; ++i) {
    tenon_tensor_info tensor;
    tenon_artifact_input(artifact, i, &tensor, nullptr);
    inputs.push_back({tensor.name, tensor.dtype, std::vector<tenon_dim_info>(tensor.rank)});
    for (uint32_t d = 0; d < tensor.rank; ++d)
      tenon_artifact_input_dim(artifact, i, d, &inputs.back().dims[d], nullptr);
  }
  for (uint32_t i = 0; i < info.output_count; ++i) {
    tenon_tensor_info tensor;
    tenon_artifact_output(artifact, i, &tensor, nullptr);
    outputs.push_back({tensor.name, tensor.dtype, std::vector<tenon_dim_info>(tensor.rank)});
    for (uint32_t d = 0; d < tensor.rank; ++d)
      tenon_artifact_output_dim(artifact, i, d, &outputs.back().dims[d], nullptr);
  }
  tenon_session_options sessionOptions{options.threads, options.memoryLimit};
  TENON_TRY(from(tenon_session_create(artifact, &sessionOptions, &session, &error), error));
  if (options.hasSeed)
    tenon_session_set_seed(session, options.seed);
  return {};
}

Status Model::bind(uint32_t input, const HostTensor &tensor) {
  tenon_error error;
  tenon_tensor view = tensor.view();
  return from(tenon_session_bind_input(session, input, &view, &error), error);
}

Status Model::run() {
  tenon_error error;
  return from(tenon_session_run(session, &error), error);
}

Status Model::output(uint32_t index, tenon_tensor *tensor) {
  tenon_error error;
  return from(tenon_session_output(session, index, tensor, &error), error);
}

std::string portText(const Model::Port &port) {
  std::string text = std::string(tenon_dtype_name(port.dtype)) + "[";
  for (size_t d = 0; d < port.dims.size(); ++d)
    text.append(d ? "," : "").append(port.dims[d].text);
  return text.append("]");
}

std::vector<std::string> namesOf(const std::vector<Model::Port> &ports) {
  std::vector<std::string> names;
  for (const Model::Port &port : ports)
    names.push_back(port.name);
  return names;
}

std::string listNames(const std::vector<Model::Port> &ports) {
  if (ports.empty())
    return "none";
  std::string text;
  for (size_t i = 0; i < ports.size(); ++i)
    text.append(i == 0 ? "'" : i + 1 < ports.size() ? ", '" : " and '").append(ports[i].name).append("'");
  return text;
}

} // namespace tenon::run
