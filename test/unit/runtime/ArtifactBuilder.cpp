//===- ArtifactBuilder.cpp - makes artifacts for tests -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/ArtifactBuilder.h"

#include <cstdio>
#include <stdexcept>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon::test {

Bytes readFile(const std::string &path) {
  FILE *file = fopen(path.c_str(), "rb");
  if (!file)
    throw std::runtime_error("cannot read " + path);
  std::string content;
  char block[65536];
  while (size_t count = fread(block, 1, sizeof block, file))
    content.append(block, count);
  fclose(file);
  return Bytes(content.data(), content.size());
}

void writeFile(const std::string &path, const void *bytes, size_t size) {
  FILE *file = fopen(path.c_str(), "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
    throw std::runtime_error("cannot write " + path);
}

static std::string hostArch() {
#if defined(__aarch64__)
  return "aarch64";
#else
  return "x86_64";
#endif
}

std::string hostTarget() { return hostArch() + ":"; }

Bytes kernelCode(const std::string &arch) {
  return readFile(std::string(TENON_TEST_KERNELS) + "/kernels-" + arch + ".so");
}

ArtifactBuilder::ArtifactBuilder() {
  codes.push_back({hostTarget(), kernelCode(hostArch())});
  zero = constant(0);
  plan.arena_size = zero;
  plan.scratch_size = zero;
  plan.model_name = "test";
  plan.compiler = "test 1";
}

uint32_t ArtifactBuilder::expr(fmt::ExprOp op, int64_t a, int64_t b) {
  plan.exprs.emplace_back(op, a, b);
  return uint32_t(plan.exprs.size() - 1);
}

uint32_t ArtifactBuilder::constant(int64_t value) { return expr(fmt::ExprOp::constant, value, 0); }

uint32_t ArtifactBuilder::symbol(const std::string &name, int64_t min, int64_t max) {
  auto symbol = std::make_unique<fmt::SymbolT>();
  symbol->name = name;
  symbol->min = min;
  symbol->max = max;
  plan.symbols.push_back(std::move(symbol));
  return expr(fmt::ExprOp::symbol, int64_t(plan.symbols.size()) - 1, 0);
}

static std::unique_ptr<fmt::TensorT> tensor(const std::string &name, fmt::DType dtype, std::vector<uint32_t> dims) {
  auto result = std::make_unique<fmt::TensorT>();
  result->name = name;
  result->dtype = dtype;
  result->dims = std::move(dims);
  return result;
}

uint32_t ArtifactBuilder::input(const std::string &name, fmt::DType dtype, std::vector<uint32_t> dims) {
  plan.inputs.push_back(tensor(name, dtype, std::move(dims)));
  return uint32_t(plan.inputs.size() - 1);
}

uint32_t ArtifactBuilder::output(const std::string &name, fmt::DType dtype, std::vector<uint32_t> dims) {
  plan.outputs.push_back(tensor(name, dtype, std::move(dims)));
  return uint32_t(plan.outputs.size() - 1);
}

uint32_t ArtifactBuilder::buffer(const std::string &name, fmt::Storage storage, uint32_t offset, uint32_t size,
                                 uint32_t index) {
  auto buffer = std::make_unique<fmt::BufferT>();
  buffer->name = name;
  buffer->storage = storage;
  buffer->offset = offset;
  buffer->size = size;
  buffer->index = index;
  plan.buffers.push_back(std::move(buffer));
  return uint32_t(plan.buffers.size() - 1);
}

uint32_t ArtifactBuilder::state(const std::string &name, fmt::DType dtype, std::vector<int64_t> dims,
                                fmt::StateKind kind) {
  plan.states.push_back(std::make_unique<fmt::StateT>());
  fmt::StateT &state = *plan.states.back();
  state.name = name;
  state.dtype = dtype;
  state.dims = std::move(dims);
  state.kind = kind;
  return uint32_t(plan.states.size() - 1);
}

uint32_t ArtifactBuilder::kernel(const std::string &name) {
  auto kernel = std::make_unique<fmt::KernelT>();
  kernel->name = name;
  plan.kernels.push_back(std::move(kernel));
  return uint32_t(plan.kernels.size() - 1);
}

uint32_t ArtifactBuilder::instruction(fmt::Opcode op, uint32_t a, uint32_t b, uint32_t c, std::vector<uint32_t> buffers,
                                      std::vector<uint32_t> exprs, const std::string &name) {
  auto instruction = std::make_unique<fmt::InstructionT>();
  instruction->op = uint8_t(op);
  instruction->a = a;
  instruction->b = b;
  instruction->c = c;
  instruction->buffers = std::move(buffers);
  instruction->exprs = std::move(exprs);
  instruction->name = name;
  plan.instructions.push_back(std::move(instruction));
  return uint32_t(plan.instructions.size() - 1);
}

uint32_t ArtifactBuilder::launch(const std::string &name, uint32_t tiles, std::vector<uint32_t> buffers,
                                 std::vector<uint32_t> exprs, const std::string &node) {
  return instruction(fmt::Opcode::launch, kernel(name), tiles, 0, std::move(buffers), std::move(exprs), node);
}

uint32_t ArtifactBuilder::halt() { return instruction(fmt::Opcode::halt, 0, 0, 0, {}, {}); }

void ArtifactBuilder::makeProgram(const std::string &sizes) {
  plan.sizes = sizes;
  before.push_back(plan);
  targetsBefore.push_back(planTarget);
  plan.sizes.clear();
}

static std::vector<uint8_t> toBytes(const fmt::PlanT &plan) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fmt::Plan::Pack(builder, &plan), fmt::PlanIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

std::vector<uint8_t> ArtifactBuilder::planBytes() const { return toBytes(plan); }

namespace {
struct Part {
  fmt::SectionKind kind;
  std::string target;
  const void *bytes;
  size_t size;
};
} // namespace

Bytes ArtifactBuilder::build() const {
  std::vector<std::vector<uint8_t>> plans;
  for (const fmt::PlanT &program : before)
    plans.push_back(toBytes(program));
  plans.push_back(planBytes());
  std::vector<Part> parts;
  for (size_t i = 0; i < plans.size(); ++i)
    parts.push_back({fmt::SectionKind::plan, i < targetsBefore.size() ? targetsBefore[i] : planTarget, plans[i].data(),
                     plans[i].size()});
  for (const Code &code : codes)
    parts.push_back({fmt::SectionKind::code, code.target, code.bytes.data(), code.bytes.size});
  if (!weights.empty())
    parts.push_back({fmt::SectionKind::weights, "", weights.data(), weights.size()});
  parts.push_back({fmt::SectionKind::meta, "", meta.data(), meta.size()});
  std::vector<uint64_t> hashes;
  const std::vector<uint8_t> &hashed = allWeights.empty() ? weights : allWeights;
  for (size_t begin = 0; begin < hashed.size(); begin += fmt::kHashBlock)
    hashes.push_back(XXH3_64bits(hashed.data() + begin, std::min<size_t>(fmt::kHashBlock, hashed.size() - begin)));
  if (!weights.empty() && version >= fmt::kFactsVersion)
    parts.push_back({fmt::SectionKind::hashes, "", hashes.data(), hashes.size() * sizeof(uint64_t)});
  if (!places.empty())
    parts.push_back({fmt::SectionKind::places, "", places.data(), places.size()});

  std::vector<fmt::Section> table;
  uint64_t end = sizeof(fmt::Header) + parts.size() * sizeof(fmt::Section);
  for (const Part &part : parts) {
    bool mapped = part.kind == fmt::SectionKind::code || part.kind == fmt::SectionKind::weights;
    uint64_t alignment = mapped ? fmt::kPageSize : fmt::kSectionAlignment;
    fmt::Section section{part.kind, 0, (end + alignment - 1) / alignment * alignment, part.size, 0, {}};
    snprintf(section.target, sizeof section.target, "%s", part.target.c_str());
    end = section.offset + section.size;
    table.push_back(section);
  }
  Bytes file(end);
  fmt::Header header{{}, version, uint32_t(table.size()), end, 0, 0x1234, {}};
  memcpy(header.magic, fmt::kMagic, sizeof header.magic);
  memcpy(file.data(), &header, sizeof header);
  memcpy(file.data() + sizeof header, table.data(), table.size() * sizeof(fmt::Section));
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].size)
      memcpy(file.data() + table[i].offset, parts[i].bytes, parts[i].size);
  rehash(file);
  return file;
}

void rehash(Bytes &artifact) {
  if (artifact.size < sizeof(fmt::Header))
    return;
  fmt::Header header;
  memcpy(&header, artifact.data(), sizeof header);
  uint64_t tableSize = uint64_t(header.sectionCount) * sizeof(fmt::Section);
  if (tableSize > artifact.size - sizeof header)
    return;
  uint8_t *table = artifact.data() + sizeof header;
  for (uint32_t i = 0; i < header.sectionCount; ++i) {
    fmt::Section section;
    memcpy(&section, table + i * sizeof section, sizeof section);
    if (section.offset > artifact.size || section.size > artifact.size - section.offset)
      continue;
    section.hash = XXH3_64bits(artifact.data() + section.offset, section.size);
    memcpy(table + i * sizeof section, &section, sizeof section);
  }
  header.tableHash = XXH3_64bits(table, tableSize);
  memcpy(artifact.data(), &header, sizeof header);
}

ArtifactBuilder scaleAndAdd() {
  ArtifactBuilder b;
  uint32_t n = b.symbol("N", 0, 4096);
  uint32_t bytes = b.expr(fmt::ExprOp::mul, n, b.constant(4));
  uint32_t tiles = b.expr(fmt::ExprOp::ceildiv, n, b.constant(16));
  b.plan.arena_size = b.expr(fmt::ExprOp::align, bytes, b.constant(64));
  for (int i = 0; i < 4096; ++i) {
    float w = float(i) / 8;
    const auto *raw = reinterpret_cast<const uint8_t *>(&w);
    b.weights.insert(b.weights.end(), raw, raw + 4);
  }
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, bytes, b.input("x", fmt::DType::f32, {n}));
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, bytes, b.output("y", fmt::DType::f32, {n}));
  uint32_t doubled = b.buffer("doubled", fmt::Storage::arena, b.zero, bytes);
  uint32_t w = b.buffer("w", fmt::Storage::weight, b.zero, b.constant(4096 * 4));
  b.launch("double_f32", tiles, {x, doubled}, {n}, "Mul_0");
  b.launch("add_f32", tiles, {doubled, w, y}, {n}, "Add_1");
  for (auto &kernel : b.plan.kernels)
    kernel->results = 1;
  b.halt();
  return b;
}

} // namespace tenon::test
