//===- DeviceTests.cpp - a session on a device that is not the CPU -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Memory.h"
#include "runtime/core/ProgramSession.h"
#include "runtime/device/cpu/CodeImage.h"
#include "test/unit/runtime/ArtifactBuilder.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <string>

using namespace tenon;
using namespace tenon::test;
using rt::Command;
using rt::Status;

namespace {

/// What a device was asked for, in order.
using Calls = std::vector<std::string>;

/// Addresses of the device are those of the host with a bit that no address of a program has, so that whoever follows
/// one without translating it gets a signal.
constexpr uintptr_t kFar = uintptr_t(1) << 62;
uint8_t *toDevice(uint8_t *host) { return reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(host) | kFar); }
uint8_t *toHost(const void *address) {
  auto number = reinterpret_cast<uintptr_t>(address);
  return number & kFar ? reinterpret_cast<uint8_t *>(number & ~kFar) : nullptr;
}

class FakeMemory final : public rt::DeviceMemory {
public:
  Status reserve(uint64_t size, bool keep, const char *what) override {
    TENON_TRY(memory.reserve(size, keep, what));
    base = toDevice(memory.bytes());
    reserved = memory.capacity();
    return {};
  }
  void clear() override { memory.clear(); }

private:
  rt::Memory memory;
};

class FakeCode final : public rt::DeviceCode {
public:
  rt::DeviceKernel find(const char *name) const override {
    return reinterpret_cast<rt::DeviceKernel>(image.find(name));
  }
  std::vector<int64_t> findWords(const char *name) const override { return image.findWords(name); }

  rt::CodeImage image;
};

/// Runs nothing before it is waited for.
class FakeQueue final : public rt::DeviceQueue {
public:
  explicit FakeQueue(Calls &calls) : calls(calls) {}

  uint32_t workers() const override { return 1; }
  Status reserveScratch(uint64_t bytes) override { return scratch.reserve(bytes, false, "scratch"); }
  void submit(const Command &command) override {
    calls.push_back("submit");
    waiting.push_back(command);
  }
  rt::CommandFailure wait() override {
    rt::CommandFailure failure;
    if (!waiting.empty())
      calls.push_back("wait");
    for (const Command &command : waiting)
      if (!failure.code)
        failure = {execute(command), command.number, {}};
    waiting.clear();
    return failure;
  }
  void drop() override {
    calls.push_back("drop");
    waiting.clear();
  }
  void setBackward(bool) override {}
  Status read(void *host, const void *address, uint64_t bytes) override {
    REQUIRE(waiting.empty());
    calls.push_back("read " + std::to_string(bytes));
    memcpy(host, toHost(address), bytes);
    return {};
  }
  Status write(void *address, const void *host, uint64_t bytes) override {
    REQUIRE(waiting.empty());
    calls.push_back("write " + std::to_string(bytes));
    memcpy(toHost(address), host, bytes);
    return {};
  }
  void setProfile(tenon_profile_fn, void *) override {}
  bool setTimed(bool) override { return false; }
  uint64_t takeTime(uint32_t) override { return 0; }

private:
  int32_t execute(const Command &command) {
    std::vector<void *> buffers;
    // No kernel of the tests has more operands.
    for (int i = 0; i < (command.kind == Command::Kind::fill ? 1 : 2); ++i)
      buffers.push_back(toHost(command.buffers[i]));
    if (command.kind == Command::Kind::fill)
      memset(buffers[0], command.value, command.count);
    else if (command.kind == Command::Kind::copy)
      memmove(buffers[1], buffers[0], command.count);
    else
      return reinterpret_cast<tenon_kernel_fn>(const_cast<void *>(command.kernel))(
          buffers.data(), command.sizes, 0, int64_t(command.count), scratch.bytes(), -1);
    return TENON_KERNEL_OK;
  }

  Calls &calls;
  rt::Memory scratch;
  std::vector<Command> waiting;
};

class FakeDevice final : public rt::Device {
public:
  const rt::DeviceProperties &properties() const override {
    static const rt::DeviceProperties properties{"fake", "fake", "fake-v1", false};
    return properties;
  }
  Status enterTarget(const char *needs) const override {
    calls.push_back("enter");
    return accepts ? Status() : Status::make(TENON_UNSUPPORTED, "needs a real device");
  }
  Status loadCode(const uint8_t *bytes, size_t size, const char *needs,
                  std::unique_ptr<rt::DeviceCode> *code) const override {
    calls.push_back("load");
    auto loaded = std::make_unique<FakeCode>();
    TENON_TRY(loaded->image.load(bytes, size, needs));
    *code = std::move(loaded);
    return {};
  }
  std::unique_ptr<rt::DeviceMemory> makeMemory() const override { return std::make_unique<FakeMemory>(); }
  Status makeQueue(uint32_t, uint32_t, std::unique_ptr<rt::DeviceQueue> *queue) const override {
    *queue = std::make_unique<FakeQueue>(calls);
    return {};
  }
  Status upload(void *address, const void *host, uint64_t bytes) const override {
    calls.push_back("upload " + std::to_string(bytes));
    memcpy(toHost(address), host, bytes);
    return {};
  }

  bool accepts = true;
  mutable Calls calls;
};

/// y = 2 (2 x) through the arena, z = a weight.
ArtifactBuilder makeChain() {
  ArtifactBuilder b;
  uint32_t n = b.symbol("N");
  uint32_t bytes = b.expr(fmt::ExprOp::mul, n, b.constant(4));
  uint32_t tiles = b.expr(fmt::ExprOp::ceildiv, n, b.constant(16));
  b.input("x", fmt::DType::f32, {n});
  b.output("y", fmt::DType::f32, {n});
  b.output("z", fmt::DType::f32, {b.constant(2)});
  b.plan.arena_size = bytes;
  uint32_t x = b.buffer("x", fmt::Storage::input, b.zero, bytes);
  uint32_t t = b.buffer("t", fmt::Storage::arena, b.zero, bytes);
  uint32_t y = b.buffer("y", fmt::Storage::output, b.zero, bytes);
  uint32_t w = b.buffer("w", fmt::Storage::weight, b.zero, b.constant(8));
  uint32_t z = b.buffer("z", fmt::Storage::output, b.zero, b.constant(8), 1);
  const float weights[] = {7, 8};
  b.weights.resize(sizeof weights);
  memcpy(b.weights.data(), weights, sizeof weights);
  b.launch("double_f32", tiles, {x, t}, {n}, "first");
  b.launch("double_f32", tiles, {t, y}, {n}, "second");
  b.instruction(fmt::Opcode::copy, 0, 0, 0, {w, z}, {b.constant(8)}, "third");
  b.halt();
  return b;
}

Status load(rt::Artifact &artifact, const Bytes &file, int verify = TENON_VERIFY_USED) {
  tenon_load_options options{};
  options.verify = verify;
  return artifact.loadMemory(file.data(), file.size, options);
}

} // namespace

TEST_CASE("a session runs a plan on a device whose memory the host cannot touch") {
  FakeDevice device;
  Bytes file = makeChain().build();
  rt::Artifact artifact(device);
  Status loaded = load(artifact, file);
  INFO(loaded.message());
  REQUIRE_FALSE(loaded.failed());
  CHECK(device.calls == Calls{"enter", "upload 8", "load"});

  rt::ProgramSession session(artifact);
  REQUIRE_FALSE(session.start({}).failed());
  std::vector<float> x(20, 1.5f);
  for (int64_t count : {20, 3}) {
    int64_t dims[] = {count};
    REQUIRE_FALSE(session.bindInput(0, {TENON_F32, 1, dims, x.data()}).failed());
    REQUIRE_FALSE(session.pick().failed());
    device.calls.clear();
    Status status = session.current().run();
    INFO(status.message());
    REQUIRE_FALSE(status.failed());
    std::string bytes = std::to_string(count * 4);
    CHECK(device.calls == Calls{"write " + bytes, "submit", "submit", "submit", "wait", "read " + bytes, "read 8"});
    tenon_tensor y, z;
    REQUIRE_FALSE(session.current().output(0, &y).failed());
    REQUIRE_FALSE(session.current().output(1, &z).failed());
    CHECK(y.dims[0] == count);
    CHECK(static_cast<const float *>(y.data)[count - 1] == 6);
    CHECK(static_cast<const float *>(z.data)[0] == 7);
    CHECK(static_cast<const float *>(z.data)[1] == 8);
  }
}

TEST_CASE("the caller's memory for an output is written after the run") {
  FakeDevice device;
  Bytes file = makeChain().build();
  rt::Artifact artifact(device);
  REQUIRE_FALSE(load(artifact, file).failed());
  rt::ProgramSession session(artifact);
  REQUIRE_FALSE(session.start({}).failed());
  float x[4] = {1, 2, 3, 4};
  alignas(64) float y[4] = {};
  int64_t dims[] = {4};
  REQUIRE_FALSE(session.bindInput(0, {TENON_F32, 1, dims, x}).failed());
  REQUIRE_FALSE(session.bindOutput(0, y, sizeof y).failed());
  REQUIRE_FALSE(session.current().run().failed());
  CHECK(y[3] == 16);
  tenon_tensor tensor;
  REQUIRE_FALSE(session.current().output(0, &tensor).failed());
  CHECK(tensor.data == y);
  // What the device has of its own counts.
  tenon_memory memory{};
  REQUIRE_FALSE(session.current().measure(&memory).failed());
  CHECK(memory.outputs == 16 + 8);
}

TEST_CASE("a device refuses code, damaged weights are refused before they are uploaded") {
  FakeDevice device;
  Bytes file = makeChain().build();
  device.accepts = false;
  rt::Artifact refused(device);
  Status status = load(refused, file);
  CHECK(status.code() == TENON_UNSUPPORTED);
  CHECK_THAT(status.message(), Catch::Contains("needs a real device"));

  device.accepts = true;
  device.calls.clear();
  rt::Artifact whole(device);
  REQUIRE_FALSE(load(whole, file).failed());
  const float weights[] = {7, 8};
  auto *bytes = const_cast<uint8_t *>(file.data());
  for (size_t i = 0; i + sizeof weights <= file.size; i += 4)
    if (memcmp(bytes + i, weights, sizeof weights) == 0)
      bytes[i] ^= 1;
  device.calls.clear();
  rt::Artifact damaged(device);
  CHECK(load(damaged, file).code() == TENON_INVALID);
  CHECK(device.calls == Calls{"enter"});
}
