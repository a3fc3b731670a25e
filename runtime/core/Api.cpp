//===- Api.cpp - the C interface over the runtime's classes --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Expressions.h"
#include "runtime/core/Session.h"

#include <cstdio>
#include <new>

using tenon::rt::Artifact;
using tenon::rt::Expr;
using tenon::rt::ExprOp;
using tenon::rt::Instruction;
using tenon::rt::Plan;
using tenon::rt::Session;
using tenon::rt::Status;
using tenon::rt::Tensor;

struct tenon_artifact {
  Artifact artifact;
};

struct tenon_session {
  Session session;
};

/// Writes a failure, after the artifact's name, to the caller's memory.
static tenon_status report(const char *label, const Status &status, tenon_error *error) {
  if (status.failed() && error)
    snprintf(error->message, sizeof error->message, "%s: %s", label, status.message());
  return status.code();
}

static tenon_status report(const tenon_artifact *artifact, const Status &status, tenon_error *error) {
  return report(artifact->artifact.label(), status, error);
}

static tenon_status report(const tenon_session *session, const Status &status, tenon_error *error) {
  return report(session->session.of().label(), status, error);
}

extern "C" const char *tenon_runtime_version(void) { return TENON_VERSION; }

//===----------------------------------------------------------------------===//
// Artifacts
//===----------------------------------------------------------------------===//

/// Makes an artifact and fills it with `load`.
template <typename Load>
static tenon_status makeArtifact(const char *label, tenon_artifact **out, tenon_error *error, Load load) {
  auto *artifact = new (std::nothrow) tenon_artifact;
  if (!artifact)
    return report(label, Status::make(TENON_RESOURCES, "no memory"), error);
  tenon_status code = report(label, load(artifact->artifact), error);
  if (code == TENON_OK)
    *out = artifact;
  else
    delete artifact;
  return code;
}

extern "C" tenon_status tenon_artifact_load_file(const char *path, const tenon_load_options *options,
                                                 tenon_artifact **artifact, tenon_error *error) {
  return makeArtifact(path, artifact, error,
                      [&](Artifact &a) { return a.loadFile(path, options && options->verify); });
}

extern "C" tenon_status tenon_artifact_load_memory(const void *bytes, size_t size,
                                                   const tenon_load_options *options,
                                                   tenon_artifact **artifact, tenon_error *error) {
  return makeArtifact("artifact", artifact, error, [&](Artifact &a) {
    return a.loadMemory(static_cast<const uint8_t *>(bytes), size, options && options->verify);
  });
}

extern "C" void tenon_artifact_release(tenon_artifact *artifact) { delete artifact; }

extern "C" void tenon_artifact_describe(const tenon_artifact *artifact, tenon_artifact_info *info) {
  const Artifact &a = artifact->artifact;
  const Plan &plan = a.plan();
  *info = {plan.modelName,
           plan.compiler,
           a.target(),
           a.header().sourceHash,
           a.weightBytes(),
           plan.stateSize,
           uint32_t(plan.inputs.size()),
           uint32_t(plan.outputs.size()),
           uint32_t(plan.instructions.size()),
           uint32_t(plan.kernels.size()),
           uint32_t(plan.symbols.size())};
}

static tenon_status describeTensor(const tenon_artifact *artifact, const std::vector<Tensor> &tensors,
                                   const char *what, uint32_t index, tenon_tensor_info *info,
                                   tenon_error *error) {
  if (index >= tensors.size())
    return report(artifact, Status::make(TENON_MISUSE, "%s %u of %zu", what, index, tensors.size()), error);
  const Tensor &tensor = tensors[index];
  *info = {tensor.name, tensor.dtype, tensor.dims.count, tensor.role};
  return TENON_OK;
}

static tenon_status describeDim(const tenon_artifact *artifact, const std::vector<Tensor> &tensors,
                                const char *what, uint32_t index, uint32_t dim, tenon_dim_info *info,
                                tenon_error *error) {
  tenon_tensor_info tensor{};
  if (tenon_status status = describeTensor(artifact, tensors, what, index, &tensor, error))
    return status;
  if (dim >= tensor.rank)
    return report(
        artifact,
        Status::make(TENON_MISUSE, "dimension %u of %u of %s '%s'", dim, tensor.rank, what, tensor.name),
        error);
  const Plan &plan = artifact->artifact.plan();
  uint32_t index_ = plan.dims[tensors[index].dims.begin + dim];
  const Expr &expr = plan.exprs[index_];
  info->value = expr.op == ExprOp::constant ? expr.a : -1;
  info->min = expr.op == ExprOp::symbol ? plan.symbols[expr.a].min : 0;
  info->max = expr.op == ExprOp::symbol ? plan.symbols[expr.a].max : INT64_MAX;
  printExpr(plan, index_, info->text, sizeof info->text);
  return TENON_OK;
}

extern "C" tenon_status tenon_artifact_input(const tenon_artifact *artifact, uint32_t input,
                                             tenon_tensor_info *info, tenon_error *error) {
  return describeTensor(artifact, artifact->artifact.plan().inputs, "input", input, info, error);
}

extern "C" tenon_status tenon_artifact_output(const tenon_artifact *artifact, uint32_t output,
                                              tenon_tensor_info *info, tenon_error *error) {
  return describeTensor(artifact, artifact->artifact.plan().outputs, "output", output, info, error);
}

extern "C" tenon_status tenon_artifact_input_dim(const tenon_artifact *artifact, uint32_t input, uint32_t dim,
                                                 tenon_dim_info *info, tenon_error *error) {
  return describeDim(artifact, artifact->artifact.plan().inputs, "input", input, dim, info, error);
}

extern "C" tenon_status tenon_artifact_output_dim(const tenon_artifact *artifact, uint32_t output,
                                                  uint32_t dim, tenon_dim_info *info, tenon_error *error) {
  return describeDim(artifact, artifact->artifact.plan().outputs, "output", output, dim, info, error);
}

extern "C" tenon_status tenon_artifact_instruction(const tenon_artifact *artifact, uint32_t instruction,
                                                   tenon_instruction_info *info, tenon_error *error) {
  const Plan &plan = artifact->artifact.plan();
  if (instruction >= plan.instructions.size())
    return report(artifact,
                  Status::make(TENON_MISUSE, "instruction %u of %zu", instruction, plan.instructions.size()),
                  error);
  const Instruction &in = plan.instructions[instruction];
  bool launch = in.op == tenon::fmt::Opcode::launch;
  *info = {tenon::fmt::kInstructions[uint32_t(in.op)].name, in.name, launch ? plan.kernels[in.a].name : "",
           launch ? plan.kernels[in.a].flops : 0};
  return TENON_OK;
}

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

extern "C" tenon_status tenon_session_create(const tenon_artifact *artifact,
                                             const tenon_session_options *options, tenon_session **out,
                                             tenon_error *error) {
  auto *session = new (std::nothrow) tenon_session{Session(artifact->artifact)};
  if (!session)
    return report(artifact, Status::make(TENON_RESOURCES, "no memory for a session"), error);
  tenon_session_options chosen = options ? *options : tenon_session_options{};
  tenon_status code = report(artifact, session->session.start(chosen.threads, chosen.memory_limit), error);
  if (code == TENON_OK)
    *out = session;
  else
    delete session;
  return code;
}

extern "C" void tenon_session_release(tenon_session *session) { delete session; }

extern "C" uint32_t tenon_session_threads(const tenon_session *session) { return session->session.threads(); }

extern "C" tenon_status tenon_session_bind_input(tenon_session *session, uint32_t input,
                                                 const tenon_tensor *tensor, tenon_error *error) {
  return report(session, session->session.bindInput(input, *tensor), error);
}

extern "C" tenon_status tenon_session_bind_output(tenon_session *session, uint32_t output, void *data,
                                                  uint64_t capacity, tenon_error *error) {
  return report(session, session->session.bindOutput(output, data, capacity), error);
}

extern "C" tenon_status tenon_session_measure(tenon_session *session, tenon_memory *memory,
                                              tenon_error *error) {
  return report(session, session->session.measure(memory), error);
}

extern "C" tenon_status tenon_session_check_limit(tenon_session *session, tenon_error *error) {
  return report(session, session->session.checkMeasured(), error);
}

extern "C" tenon_status tenon_session_bound_memory(tenon_session *session, tenon_memory_bounds *bounds,
                                                   tenon_error *error) {
  return report(session, session->session.boundMemory(bounds), error);
}

extern "C" int tenon_session_explain_address(const tenon_session *session, const void *address,
                                             tenon_error *text) {
  return session->session.explainAddress(address, text);
}

extern "C" tenon_status tenon_session_prepare(tenon_session *session, tenon_error *error) {
  return report(session, session->session.prepare(), error);
}

extern "C" tenon_status tenon_session_run(tenon_session *session, tenon_error *error) {
  return report(session, session->session.run(), error);
}

extern "C" tenon_status tenon_session_output(tenon_session *session, uint32_t output, tenon_tensor *tensor,
                                             tenon_error *error) {
  return report(session, session->session.output(output, tensor), error);
}

extern "C" void tenon_session_reset_state(tenon_session *session) { session->session.resetState(); }

extern "C" void tenon_session_set_seed(tenon_session *session, uint64_t seed) {
  session->session.setSeed(seed);
}

extern "C" void tenon_session_set_profile(tenon_session *session, tenon_profile_fn callback, void *user) {
  session->session.setProfile(callback, user);
}
