//===- Api.cpp - the C interface over the runtime's classes --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/ProgramSession.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/plan/Expressions.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

using tenon::rt::Artifact;
using tenon::rt::Expr;
using tenon::rt::ExprOp;
using tenon::rt::Instruction;
using tenon::rt::Plan;
using tenon::rt::ProgramSession;
using tenon::rt::Session;
using tenon::rt::State;
using tenon::rt::Status;
using tenon::rt::Tensor;

struct tenon_artifact {
  Artifact artifact{tenon::rt::cpuDevice()};
};

struct tenon_session {
  ProgramSession session;
};

/// Writes a failure, prefixed by the artifact's name, to the caller's memory.
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

/// Writes as much of `from` as fits the caller's structure.
template <typename Info> static void give(Info from, Info *to) {
  from.size = to->size;
  memcpy(to, &from, std::min(from.size, sizeof from));
}

/// Reads the caller's options, which may be null, and may have fewer or more fields.
template <typename Options> static Status take(const Options *from, Options *to) {
  if (!from)
    return {};
  if (from->size < sizeof from->size)
    return Status::make(TENON_MISUSE, "options whose size field says %zu", from->size);
  size_t size = std::min(from->size, sizeof *to);
  const auto *rest = reinterpret_cast<const uint8_t *>(from);
  for (size_t i = size; i < from->size; ++i)
    if (rest[i])
      return Status::make(TENON_MISUSE, "options that this runtime does not know: it knows %zu bytes of %zu", size,
                          from->size);
  memcpy(to, from, size);
  return {};
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
  return makeArtifact(path, artifact, error, [&](Artifact &a) {
    tenon_load_options chosen{};
    TENON_TRY(take(options, &chosen));
    return a.loadFile(path, chosen);
  });
}

extern "C" tenon_status tenon_artifact_load_memory(const void *bytes, size_t size, const tenon_load_options *options,
                                                   tenon_artifact **artifact, tenon_error *error) {
  return makeArtifact("artifact", artifact, error, [&](Artifact &a) {
    tenon_load_options chosen{};
    TENON_TRY(take(options, &chosen));
    return a.loadMemory(static_cast<const uint8_t *>(bytes), size, chosen);
  });
}

extern "C" void tenon_artifact_release(tenon_artifact *artifact) { delete artifact; }

/// Of all programs together.
static uint32_t countInstructions(const Artifact &artifact) {
  return artifact.programs().back().firstInstruction + uint32_t(artifact.plan().instructions.size());
}

extern "C" void tenon_artifact_describe(const tenon_artifact *artifact, tenon_artifact_info *info) {
  const Artifact &a = artifact->artifact;
  const Plan &plan = a.plan();
  give({0, plan.modelName, plan.compiler, a.target(), a.targetName(), a.header().sourceHash, a.weightBytes(),
        plan.stateSize, uint32_t(plan.inputs.size()), uint32_t(plan.outputs.size()), uint32_t(plan.states.size()),
        countInstructions(a), uint32_t(plan.kernels.size()), uint32_t(plan.symbols.size())},
       info);
}

extern "C" const char *tenon_artifact_metadata(const tenon_artifact *artifact, size_t *size) {
  std::string_view metadata = artifact->artifact.metadata();
  *size = metadata.size();
  return metadata.empty() ? "" : metadata.data();
}

static tenon_status describeTensor(const tenon_artifact *artifact, const std::vector<Tensor> &tensors, const char *what,
                                   uint32_t index, tenon_tensor_info *info, tenon_error *error) {
  if (index >= tensors.size())
    return report(artifact, Status::make(TENON_MISUSE, "%s %u of %zu", what, index, tensors.size()), error);
  const Tensor &tensor = tensors[index];
  give({0, tensor.name, tensor.dtype, tensor.dims.count, tensor.role}, info);
  return TENON_OK;
}

static tenon_status describeDim(const tenon_artifact *artifact, const std::vector<Tensor> &tensors, const char *what,
                                uint32_t index, uint32_t dim, tenon_dim_info *info, tenon_error *error) {
  tenon_tensor_info tensor{};
  if (tenon_status status = describeTensor(artifact, tensors, what, index, &tensor, error))
    return status;
  if (dim >= tensor.rank)
    return report(artifact,
                  Status::make(TENON_MISUSE, "dimension %u of %u of %s '%s'", dim, tensor.rank, what, tensor.name),
                  error);
  const Plan &plan = artifact->artifact.plan();
  uint32_t size = plan.dims[tensors[index].dims.begin + dim];
  const Expr &expr = plan.exprs[size];
  tenon_dim_info made{};
  made.value = expr.op == ExprOp::constant ? expr.a : -1;
  made.min = expr.op == ExprOp::symbol ? plan.symbols[expr.a].min : 0;
  made.max = expr.op == ExprOp::symbol ? plan.symbols[expr.a].max : INT64_MAX;
  printExpr(plan, size, made.text, sizeof made.text);
  give(made, info);
  return TENON_OK;
}

extern "C" tenon_status tenon_artifact_input(const tenon_artifact *artifact, uint32_t input, tenon_tensor_info *info,
                                             tenon_error *error) {
  return describeTensor(artifact, artifact->artifact.plan().inputs, "input", input, info, error);
}

extern "C" tenon_status tenon_artifact_output(const tenon_artifact *artifact, uint32_t output, tenon_tensor_info *info,
                                              tenon_error *error) {
  return describeTensor(artifact, artifact->artifact.plan().outputs, "output", output, info, error);
}

extern "C" tenon_status tenon_artifact_input_dim(const tenon_artifact *artifact, uint32_t input, uint32_t dim,
                                                 tenon_dim_info *info, tenon_error *error) {
  return describeDim(artifact, artifact->artifact.plan().inputs, "input", input, dim, info, error);
}

extern "C" tenon_status tenon_artifact_output_dim(const tenon_artifact *artifact, uint32_t output, uint32_t dim,
                                                  tenon_dim_info *info, tenon_error *error) {
  return describeDim(artifact, artifact->artifact.plan().outputs, "output", output, dim, info, error);
}

extern "C" tenon_status tenon_artifact_state(const tenon_artifact *artifact, uint32_t state, tenon_state_info *info,
                                             tenon_error *error) {
  const Plan &plan = artifact->artifact.plan();
  if (state >= plan.states.size())
    return report(artifact, Status::make(TENON_MISUSE, "state %u of %zu", state, plan.states.size()), error);
  const State &in = plan.states[state];
  give({0, in.name, in.dtype, in.dims.count, plan.stateDims.data() + in.dims.begin, tenon_state_kind(in.kind)}, info);
  return TENON_OK;
}

extern "C" tenon_status tenon_artifact_instruction(const tenon_artifact *artifact, uint32_t instruction,
                                                   tenon_instruction_info *info, tenon_error *error) {
  const Artifact &a = artifact->artifact;
  if (instruction >= countInstructions(a))
    return report(artifact, Status::make(TENON_MISUSE, "instruction %u of %u", instruction, countInstructions(a)),
                  error);
  auto program = a.programs().rbegin();
  while (instruction < program->firstInstruction)
    ++program;
  const Plan &plan = program->plan;
  const Instruction &in = plan.instructions[instruction - program->firstInstruction];
  bool launch = in.op == tenon::fmt::Opcode::launch;
  give({0, tenon::fmt::kInstructions[uint32_t(in.op)].name, in.name, launch ? plan.kernels[in.a].name : "",
        launch ? plan.kernels[in.a].flops : 0, launch ? plan.kernels[in.a].bytes : 0},
       info);
  return TENON_OK;
}

extern "C" uint32_t tenon_artifact_program_count(const tenon_artifact *artifact) {
  return uint32_t(artifact->artifact.programs().size());
}

extern "C" tenon_status tenon_artifact_program(const tenon_artifact *artifact, uint32_t program,
                                               tenon_program_info *info, tenon_error *error) {
  const auto &programs = artifact->artifact.programs();
  if (program >= programs.size())
    return report(artifact, Status::make(TENON_MISUSE, "program %u of %zu", program, programs.size()), error);
  const Plan &plan = programs[program].plan;
  give({0, plan.madeFor, programs[program].firstInstruction, uint32_t(plan.instructions.size()), plan.sequences}, info);
  return TENON_OK;
}

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

extern "C" tenon_status tenon_session_create(const tenon_artifact *artifact, const tenon_session_options *options,
                                             tenon_session **out, tenon_error *error) {
  auto *session = new (std::nothrow) tenon_session{ProgramSession(artifact->artifact)};
  if (!session)
    return report(artifact, Status::make(TENON_RESOURCES, "no memory for a session"), error);
  tenon_session_options chosen{};
  Status status = take(options, &chosen);
  if (!status.failed())
    status = session->session.start(chosen);
  tenon_status code = report(artifact, status, error);
  if (code == TENON_OK)
    *out = session;
  else
    delete session;
  return code;
}

extern "C" void tenon_session_release(tenon_session *session) { delete session; }

extern "C" uint32_t tenon_session_threads(const tenon_session *session) { return session->session.threads(); }

extern "C" tenon_status tenon_session_bind_input(tenon_session *session, uint32_t input, const tenon_tensor *tensor,
                                                 tenon_error *error) {
  return report(session, session->session.bindInput(input, *tensor), error);
}

extern "C" tenon_status tenon_session_bind_output(tenon_session *session, uint32_t output, void *data,
                                                  uint64_t capacity, tenon_error *error) {
  return report(session, session->session.bindOutput(output, data, capacity), error);
}

extern "C" tenon_status tenon_session_use_program(tenon_session *session, uint32_t program, tenon_error *error) {
  return report(session, session->session.use(program), error);
}

extern "C" tenon_status tenon_session_program(tenon_session *session, uint32_t *program, tenon_error *error) {
  Status status = session->session.pick();
  *program = session->session.currentIndex();
  return report(session, status, error);
}

/// Calls `use` with the session of the program for the bound sizes.
template <typename Use> static tenon_status withProgram(tenon_session *session, tenon_error *error, Use use) {
  Status status = session->session.pick();
  if (!status.failed())
    status = use(session->session.current());
  return report(session, status, error);
}

extern "C" tenon_status tenon_session_measure(tenon_session *session, tenon_memory *memory, tenon_error *error) {
  tenon_memory measured{};
  tenon_status code = withProgram(session, error, [&](Session &current) { return current.measure(&measured); });
  if (code == TENON_OK)
    give(measured, memory);
  return code;
}

extern "C" tenon_status tenon_session_check_limit(tenon_session *session, tenon_error *error) {
  return withProgram(session, error, [](Session &current) { return current.checkMeasured(); });
}

extern "C" tenon_status tenon_session_bound_memory(tenon_session *session, tenon_memory_bounds *bounds,
                                                   tenon_error *error) {
  tenon_memory_bounds found{};
  tenon_status code = withProgram(session, error, [&](Session &current) { return current.boundMemory(&found); });
  if (code == TENON_OK)
    give(found, bounds);
  return code;
}

extern "C" tenon_status tenon_session_work(tenon_session *session, uint32_t instruction, uint64_t *flops,
                                           uint64_t *bytes, tenon_error *error) {
  return withProgram(session, error, [&](Session &current) { return current.measureWork(instruction, flops, bytes); });
}

extern "C" tenon_status tenon_session_live_bytes(tenon_session *session, uint64_t *bytes, uint32_t count,
                                                 tenon_error *error) {
  return withProgram(session, error, [&](Session &current) { return current.listLiveBytes(bytes, count); });
}

extern "C" int tenon_session_explain_address(const tenon_session *session, const void *address, tenon_error *text) {
  return session->session.current().explainAddress(address, text);
}

extern "C" tenon_status tenon_session_prepare(tenon_session *session, tenon_error *error) {
  return withProgram(session, error, [](Session &current) { return current.prepare(); });
}

extern "C" tenon_status tenon_session_run(tenon_session *session, tenon_error *error) {
  return withProgram(session, error, [](Session &current) { return current.run(); });
}

extern "C" tenon_status tenon_session_output(tenon_session *session, uint32_t output, tenon_tensor *tensor,
                                             tenon_error *error) {
  // The output is that of the program that ran; another one may fit the states now.
  return report(session, session->session.current().output(output, tensor), error);
}

extern "C" tenon_status tenon_session_use_slot(tenon_session *session, uint32_t slot, tenon_error *error) {
  return report(session, session->session.states().use(&slot, 1), error);
}

extern "C" tenon_status tenon_session_use_slots(tenon_session *session, const uint32_t *slots, uint32_t count,
                                                tenon_error *error) {
  return report(session, session->session.states().use(slots, count), error);
}

extern "C" tenon_status tenon_session_state_rows(tenon_session *session, uint32_t slot, uint32_t state, int64_t *rows,
                                                 tenon_error *error) {
  return report(session, session->session.states().countRows(slot, state, rows), error);
}

extern "C" tenon_status tenon_session_set_state(tenon_session *session, uint32_t slot, uint32_t state,
                                                const tenon_tensor *tensor, tenon_error *error) {
  return report(session, session->session.states().set(slot, state, tensor), error);
}

extern "C" tenon_status tenon_session_reset_slot(tenon_session *session, uint32_t slot, tenon_error *error) {
  return report(session, session->session.states().reset(slot), error);
}

extern "C" tenon_status tenon_session_fork_slot(tenon_session *session, uint32_t from, uint32_t to,
                                                tenon_error *error) {
  return report(session, session->session.states().fork(from, to), error);
}

extern "C" tenon_status tenon_session_save_slot(tenon_session *session, uint32_t slot, const char *path,
                                                tenon_error *error) {
  return report(session, session->session.states().save(slot, path), error);
}

extern "C" tenon_status tenon_session_restore_slot(tenon_session *session, uint32_t slot, const char *path,
                                                   tenon_error *error) {
  return report(session, session->session.states().restore(slot, path), error);
}

extern "C" void tenon_session_set_seed(tenon_session *session, uint64_t seed) { session->session.setSeed(seed); }

extern "C" void tenon_session_set_profile(tenon_session *session, tenon_profile_fn callback, void *user) {
  session->session.setProfile(callback, user);
}
