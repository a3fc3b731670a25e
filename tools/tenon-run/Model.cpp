//===- Model.cpp - an artifact and a session that free themselves --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Model.h"

#include "tools/tenon-run/FaultHandler.h"
#include "tools/tenon-run/Parts.h"
#include "tools/tenon-run/ValueFiles.h"

namespace tenon::run {

Model::~Model() {
  tenon_session_release(session);
  tenon_artifact_release(artifact);
}

/// Converts the runtime's failure, whose text contains the artifact's name, to a Status.
static Status from(tenon_status code, const tenon_error &error) {
  return code == TENON_OK ? Status() : Status::make(code, "%s", error.message);
}

/// True if a tensor is another port of the preceding value.
static bool continues(const Model::Value &value, const tenon_tensor_info &tensor) {
  if (value.name != tensor.name)
    return false;
  tenon_role last = value.ports.back().role;
  return last == TENON_ROLE_HAS ? tensor.role != TENON_ROLE_HAS
                                : (last == TENON_ROLE_ELEMENTS && tensor.role == TENON_ROLE_SHAPES) ||
                                      (last == TENON_ROLE_BYTES && tensor.role == TENON_ROLE_ENDS);
}

static bool isPort(const Model::Port &port, tenon_role role, tenon_dtype dtype, size_t rank) {
  return port.role == role && port.dtype == dtype && port.dims.size() == rank;
}

/// True if the ports of a value have the roles that runtime.h requires.
static bool isWhole(const Model::Value &value) {
  if (value.isOptional() && !isPort(value.ports[0], TENON_ROLE_HAS, TENON_BOOL, 0))
    return false;
  const Model::Port *port = value.content();
  size_t count = value.ports.size() - value.isOptional();
  if (!port || port->role == TENON_ROLE_VALUE)
    return count == (port ? 1 : 0);
  if (count != 2)
    return false;
  if (port->role == TENON_ROLE_ELEMENTS)
    return port->dims.size() == 1 && isPort(port[1], TENON_ROLE_SHAPES, TENON_I64, 2);
  return isPort(*port, TENON_ROLE_BYTES, TENON_U8, 1) &&
         isPort(port[1], TENON_ROLE_ENDS, TENON_I64, port[1].dims.size());
}

/// Reads an artifact's inputs or outputs, and groups the ports of each value. The indices are in range, so none of the
/// calls fails.
static std::vector<Model::Value> readValues(const tenon_artifact *artifact, uint32_t count,
                                            decltype(tenon_artifact_input) *describe,
                                            decltype(tenon_artifact_input_dim) *describeDim) {
  std::vector<Model::Value> values;
  for (uint32_t i = 0; i < count; ++i) {
    tenon_tensor_info tensor;
    describe(artifact, i, &tensor, nullptr);
    bool isNew = values.empty() || !continues(values.back(), tensor);
    if (isNew)
      values.push_back({tensor.name, i, {}});
    Model::Port &port = values.back().ports.emplace_back();
    port = {tensor.dtype, tensor.role, std::vector<tenon_dim_info>(tensor.rank)};
    for (uint32_t d = 0; d < tensor.rank; ++d)
      describeDim(artifact, i, d, &port.dims[d], nullptr);
  }
  return values;
}

std::vector<Model::Value> describeInputs(const tenon_artifact *artifact) {
  tenon_artifact_info info;
  tenon_artifact_describe(artifact, &info);
  return readValues(artifact, info.input_count, tenon_artifact_input, tenon_artifact_input_dim);
}

/// Gives inputs the batch of a program for several sequences. Those of the program for one sequence have a batch of 1.
static void setBatch(std::vector<Model::Value> &values, uint32_t batch) {
  for (Model::Value &value : values)
    for (Model::Port &port : value.ports)
      if (!port.dims.empty() && port.dims[0].value == 1) {
        port.dims[0].value = batch;
        snprintf(port.dims[0].text, sizeof port.dims[0].text, "%u", batch);
      }
}

Status Model::load(const Options &options) {
  explainLostPages(options.artifact.c_str());
  tenon_error error;
  std::vector<const char *> plugins;
  for (const std::string &plugin : options.plugins)
    plugins.push_back(plugin.c_str());
  tenon_load_options loadOptions{
      sizeof loadOptions, options.verify,           options.target.empty() ? nullptr : options.target.c_str(),
      plugins.data(),     uint32_t(plugins.size()), options.weightsDir.empty() ? nullptr : options.weightsDir.c_str()};
  TENON_TRY(from(tenon_artifact_load_file(options.artifact.c_str(), &loadOptions, &artifact, &error), error));
  tenon_artifact_describe(artifact, &info);
  inputs = describeInputs(artifact);
  outputs = readValues(artifact, info.output_count, tenon_artifact_output, tenon_artifact_output_dim);
  numSequences = options.sequences;
  if (numSequences > 1)
    setBatch(inputs, numSequences);
  bound.resize(inputs.size());
  for (const std::vector<Value> *values : {&inputs, &outputs})
    for (const Value &value : *values)
      if (!isWhole(value))
        return Status::make(TENON_INVALID, "%s: the parts of '%s' do not belong together", options.artifact.c_str(),
                            value.name.c_str());
  rewinds = info.state_count && options.repeats();
  tenon_session_options sessionOptions{sizeof sessionOptions,       options.threads,
                                       options.memoryLimit,         rewinds ? 2 * numSequences : numSequences,
                                       uint32_t(options.readAhead), options.weightBudget};
  TENON_TRY(from(tenon_session_create(artifact, &sessionOptions, &session, &error), error));
  explainFaults(session);
  TENON_TRY(startStates(options));
  if (options.hasSeed)
    tenon_session_set_seed(session, options.seed);
  uint32_t program = options.isGeneral ? tenon_artifact_program_count(artifact) - 1 : options.program;
  return from(tenon_session_use_program(session, program, &error), error);
}

Status Model::bind(uint32_t input, HostValue value) {
  TENON_TRY(takeApart(inputs[input], std::move(value), &bound[input]));
  tenon_error error;
  for (uint32_t i = 0; i < bound[input].size(); ++i) {
    tenon_tensor view = bound[input][i].view();
    TENON_TRY(from(tenon_session_bind_input(session, inputs[input].first + i, &view, &error), error));
  }
  return {};
}

Status Model::bindShape(uint32_t input, uint32_t port, const std::vector<int64_t> &dims) {
  tenon_error error;
  tenon_tensor tensor{inputs[input].ports[port].dtype, uint32_t(dims.size()), dims.data(), nullptr};
  return from(tenon_session_bind_input(session, inputs[input].first + port, &tensor, &error), error);
}

Status Model::measure(tenon_memory *memory, tenon_memory_bounds *bounds) {
  tenon_error error;
  TENON_TRY(from(tenon_session_measure(session, memory, &error), error));
  return from(tenon_session_bound_memory(session, bounds, &error), error);
}

std::vector<uint64_t> Model::listLiveBytes() {
  uint32_t program;
  tenon_program_info facts;
  if (tenon_session_program(session, &program, nullptr) != TENON_OK ||
      tenon_artifact_program(artifact, program, &facts, nullptr) != TENON_OK)
    return {};
  std::vector<uint64_t> bytes(info.instruction_count);
  tenon_status code =
      tenon_session_live_bytes(session, bytes.data() + facts.first_instruction, facts.instruction_count, nullptr);
  return code == TENON_OK ? bytes : std::vector<uint64_t>();
}

Status Model::checkLimit() {
  tenon_error error;
  return from(tenon_session_check_limit(session, &error), error);
}

Status Model::programSizes(const char **sizes) {
  tenon_error error;
  uint32_t program = 0;
  TENON_TRY(from(tenon_session_program(session, &program, &error), error));
  tenon_program_info described{};
  TENON_TRY(from(tenon_artifact_program(artifact, program, &described, &error), error));
  *sizes = *described.sizes ? described.sizes : "general";
  return {};
}

Status Model::setState(const std::string &argument) {
  std::vector<std::string> names;
  std::vector<tenon_dtype> types;
  tenon_error error;
  for (uint32_t i = 0; i < info.state_count; ++i) {
    tenon_state_info state;
    TENON_TRY(from(tenon_artifact_state(artifact, i, &state, &error), error));
    names.emplace_back(state.name);
    types.push_back(state.dtype);
  }
  size_t index;
  std::string file;
  if (!splitNamed(argument, names, &index, &file) || file.empty())
    return Status::make(TENON_MISUSE, "--set-state: expected NAME=FILE.npy, got '%s'; tenon inspect lists the states",
                        argument.c_str());
  HostTensor tensor;
  TENON_TRY(readNpy(file.c_str(), types[index], &tensor));
  tenon_tensor view = tensor.view();
  return from(tenon_session_set_state(session, 0, uint32_t(index), &view, &error), error);
}

Status Model::startStates(const Options &options) {
  tenon_error error;
  bool isNamed = !options.restoreState.empty() || !options.saveState.empty() || !options.setStates.empty();
  if (isNamed && !info.state_count)
    return Status::make(TENON_MISUSE, "%s: the model has no states; see tenon compile --state",
                        options.artifact.c_str());
  if (!options.restoreState.empty())
    TENON_TRY(from(tenon_session_restore_slot(session, 0, options.restoreState.c_str(), &error), error));
  for (const std::string &argument : options.setStates)
    TENON_TRY(setState(argument));
  // All sequences begin with the same states.
  std::vector<uint32_t> slots(numSequences);
  for (uint32_t i = 0; i < numSequences; ++i) {
    slots[i] = i;
    TENON_TRY(from(tenon_session_fork_slot(session, 0, i, &error), error));
    if (rewinds)
      TENON_TRY(from(tenon_session_fork_slot(session, 0, numSequences + i, &error), error));
  }
  return from(tenon_session_use_slots(session, slots.data(), numSequences, &error), error);
}

Status Model::rewind() {
  tenon_error error;
  for (uint32_t i = 0; i < numSequences && rewinds; ++i)
    TENON_TRY(from(tenon_session_fork_slot(session, numSequences + i, i, &error), error));
  return {};
}

Status Model::saveState(const std::string &path) {
  tenon_error error;
  return from(tenon_session_save_slot(session, 0, path.c_str(), &error), error);
}

Status Model::run() {
  tenon_error error;
  return from(tenon_session_run(session, &error), error);
}

Status Model::output(uint32_t index, ValueView *value) {
  tenon_error error;
  std::vector<tenon_tensor> parts(outputs[index].ports.size());
  for (uint32_t i = 0; i < parts.size(); ++i)
    TENON_TRY(from(tenon_session_output(session, outputs[index].first + i, &parts[i], &error), error));
  return putTogether(outputs[index], parts, value);
}

tenon_dtype Model::Value::dtype() const {
  const Port *port = content();
  return !port ? TENON_BOOL : port->role == TENON_ROLE_BYTES ? TENON_STRING : port->dtype;
}

std::string valueText(const Model::Value &value) {
  const Model::Port *port = value.content();
  std::string text = value.isOptional() ? "optional " : "";
  if (!port)
    return text + "that holds nothing";
  if (value.isSequence())
    return text + "sequence of " + tenon_dtype_name(port->dtype) + " of rank " + port[1].dims[1].text;
  text.append(tenon_dtype_name(value.dtype())).append("[");
  const std::vector<tenon_dim_info> &dims = port[port->role == TENON_ROLE_BYTES].dims;
  for (size_t d = 0; d < dims.size(); ++d)
    text.append(d ? "," : "").append(dims[d].text);
  return text.append("]");
}

std::vector<std::string> namesOf(const std::vector<Model::Value> &values) {
  std::vector<std::string> names;
  for (const Model::Value &value : values)
    names.push_back(value.name);
  return names;
}

std::string listNames(const std::vector<Model::Value> &values) {
  if (values.empty())
    return "none";
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text.append(i == 0 ? "'" : i + 1 < values.size() ? ", '" : " and '").append(values[i].name).append("'");
  return text;
}

} // namespace tenon::run
