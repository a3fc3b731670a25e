//===- CliTests.cpp - tenon-run as users call it -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/ArtifactBuilder.h"
#include "test/unit/tenon-run/Program.h"

#include <catch2/catch.hpp>

using namespace tenon;
using namespace tenon::test;
using Catch::Matchers::Contains;

namespace {
/// A folder with model.tenon, which computes y = 2 x + i / 8, and a test_data_set for it.
struct Scene : Folder {
  std::string model = *this / "model.tenon";

  explicit Scene(const ArtifactBuilder &builder = scaleAndAdd()) {
    Bytes file = builder.build();
    writeFile(model, file.data(), file.size);
  }

  void writeTestData(float third = 2 * 2 + 2.0f / 8) {
    std::vector<float> x{0, 1, 2, 3}, y{0, 2.125f, third, 6.375f};
    std::string in = tensorProto("x", 1, {4}, x.data(), 16), out = tensorProto("y", 1, {4}, y.data(), 16);
    writeFile(*this / "input_0.pb", in.data(), in.size());
    writeFile(*this / "output_0.pb", out.data(), out.size());
  }
};
} // namespace

/// Whether text is one line, which begins as errors do.
static bool isOneError(const std::string &text) {
  return text.rfind("tenon-run: error: ", 0) == 0 && text.find('\n') == text.size() - 1;
}

static void fails(const std::vector<std::string> &arguments, int code, const std::string &text) {
  Result result = tenonRun(arguments);
  CHECK(result.code == code);
  CHECK(isOneError(result.err));
  CHECK_THAT(result.err, Contains(text));
}

TEST_CASE("help and version") {
  CHECK_THAT(tenonRun({"--help"}).out, Contains("--test-data DIR"));
  CHECK(tenonRun({"--version"}).out == "tenon-run 0.1.0\n");
}

TEST_CASE("a summary, a file, and that file as input") {
  Scene s;
  Result result = tenonRun({s.model, "--input", "ones", "--size", "N=10"});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  CHECK(result.out == "y  f32[10]  min 2  max 3.125  mean 2.5625  [2, 2.125, 2.25, 2.375, 2.5, 2.625, ...]\n");
  CHECK(tenonRun({s.model, "--input", "x=zeros", "--input-shape", "x=3", "--output", "y=" + (s / "y.npy")}).code == 0);
  CHECK(tenonRun({s.model, "--input=" + (s / "y.npy")}).out ==
        "y  f32[3]  min 0  max 0.75  mean 0.375  [0, 0.375, 0.75]\n");
  CHECK(tenonRun({s.model, "--input", "random:7", "--size", "N=5", "--output-dir", s / "out"}).code == 0);
  CHECK(readFile(s / "out/y.npy").size == 128 + 20);
  CHECK(tenonRun({s.model, "--input", "zeros", "--size", "N=2", "--json"}).out ==
        "[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[2],\"min\":0,\"max\":0.125,\"mean\":0.0625,\"nan\":0,"
        "\"first\":[0,0.125]}]\n");
}

TEST_CASE("test data: equal, different, of another shape") {
  Scene s;
  s.writeTestData();
  Result result = tenonRun({s.model, "--test-data", s.path});
  CHECK(result.code == 0);
  CHECK_THAT(result.out, Contains("1 of 1 outputs match"));
  s.writeTestData(4);
  result = tenonRun({s.model, "--test-data", s.path});
  CHECK(result.code == 5);
  CHECK(result.err ==
        "tenon-run: error: " + (s / "output_0.pb") +
            ": output 'y' at [2]: got 4.25, want 4; 1 of 4 elements differ, the largest error is 0.039 of "
            "the largest element (allowed 0.0001)\n");
  CHECK(result.out == "  y: largest error 0.039 of the largest element\n" + s.path + ": 0 of 1 outputs match\n");
  result = tenonRun({s.model, "--test-data", s.path, "--json"});
  CHECK(result.out ==
        "{\"outputs\":1,\"equal\":false,\"results\":[{\"name\":\"y\",\"matches\":false,\"error\":0.0392156863,"
        "\"wrong\":1,\"elements\":4}]}\n");
  result = tenonRun({s.model, "--test-data", s.path, "--rtol", "1e-3"});
  CHECK(result.err == "tenon-run: error: " + (s / "output_0.pb") +
                          ": output 'y' at [2]: got 4.25, want 4; 1 of 4 elements differ, "
                          "largest error 0.25 (allowed 1e-07 + 0.001 * |want|)\n");
  CHECK(tenonRun({s.model, "--test-data", s.path, "--atol", "0.25", "--rtol", "0"}).code == 0);
  std::string out = tensorProto("y", 1, {2, 2}, "0123456789abcdef", 16);
  writeFile(s / "output_0.pb", out.data(), out.size());
  fails({s.model, "--test-data", s.path}, 5, "output 'y' is f32[4], want f32[2,2]");
  writeFile(s / "input_1.pb", out.data(), out.size());
  fails({s.model, "--test-data", s.path}, 1, "input_1.pb: the model has only 1 inputs");
  fails({s.model, "--test-data", s / "missing"}, 1, "missing: no folder that can be read");
}

TEST_CASE("test data bring tolerances of their own, and artifacts the one that they were compiled with") {
  Scene s;
  s.writeTestData(4);
  auto writeTolerances = [&](const std::string &path, const std::string &text) {
    writeFile(path, text.data(), text.size());
  };
  writeTolerances(s / "data.json", "{\"rtol\": 0, \"atol\": 0.25}");
  CHECK(tenonRun({s.model, "--test-data", s.path}).code == 0);
  writeTolerances(s / "data.json", "{\"rtol\": 0, \"atol\": 0.24}");
  fails({s.model, "--test-data", s.path}, 5, "(allowed 0.24 + 0 * |want|)");
  // The command line wins over the file.
  CHECK(tenonRun({s.model, "--test-data", s.path, "--atol", "0.25"}).code == 0);
  ArtifactBuilder builder = scaleAndAdd();
  builder.meta = "{\"compiler\": \"test\", \"tolerance\": 0.04}";
  Scene loose(builder);
  loose.writeTestData(4);
  CHECK(tenonRun({loose.model, "--test-data", loose.path}).code == 0);
  builder.meta = "{\"tolerance\": -1}";
  Scene damaged(builder);
  damaged.writeTestData(4);
  fails({damaged.model, "--test-data", damaged.path}, 5, "(allowed 0.0001)");
}

TEST_CASE("a benchmark runs for a time, and says what it was") {
  Scene s;
  Result result = tenonRun({s.model, "--benchmark", "--duration", "0.05", "--size", "N=1000", "--json", "--samples"});
  CHECK(result.code == 0);
  for (const char *key : {"\"p90_ms\":", "\"max_ms\":", "\"deviation_ms\":", "\"runs_per_second\":",
                          "\"samples_per_second\":", "\"sizes\":{\"N\":1000}", "\"threads\":", "\"processor\":\"",
                          "\"date\":\"20", "\"version\":\"", "\"warnings\":[", "\"samples_ms\":[0."})
    CHECK_THAT(result.out, Contains(key));
  result = tenonRun({s.model, "--benchmark", "--runs", "2", "--size", "N=1000"});
  CHECK_THAT(result.out, Contains("warning     2 runs are too few for percentiles"));
  CHECK_THAT(result.out, Contains(", N=1000, target "));
  CHECK_THAT(result.out, Contains(" samples/s\n"));
}

TEST_CASE("layers are listed with their share of the time") {
  Scene s;
  Result result = tenonRun({s.model, "--layers", "--runs", "3", "--threads", "1", "--size", "N=4096"});
  CHECK(result.code == 0);
  CHECK_THAT(result.out, Contains("limits: "));
  CHECK_THAT(result.out, Contains("  add_f32\n"));
  CHECK_THAT(result.out, Contains("  add_f32  Add_1\n"));
  result = tenonRun({s.model, "--layers", "--runs", "3", "--threads", "1", "--size", "N=4096", "--json"});
  CHECK_THAT(result.out, Contains("\"kernels\":[\n{\"kernel\":\""));
  CHECK_THAT(result.out, Contains("\"layers\":[\n{\"kernel\":\""));
}

TEST_CASE("a benchmark prints the agreed keys") {
  Scene s;
  Result result = tenonRun(
      {s.model, "--benchmark", "--runs", "5", "--warmup", "1", "--threads", "2", "--size", "N=1000", "--json"});
  CHECK(result.code == 0);
  std::string rest = result.out;
  for (const char *key : {"{\"median_ms\":", ",\"min_ms\":", ",\"mean_ms\":", ",\"p99_ms\":", ",\"runs\":5",
                          ",\"load_ms\":", ",\"first_run_ms\":", ",\"peak_rss_bytes\":", ",\"arena_bytes\":4032",
                          ",\"weight_bytes\":16384", ",\"heap_bytes\":0",
                          ",\"bind_seen_us\":", ",\"bind_new_us\":", ",\"program\":\"general\"", ",\"target\":\"\","}) {
    size_t at = rest.find(key);
    REQUIRE(at != rest.npos);
    rest = rest.substr(at);
  }
  // The one size there is leaves nothing to alternate with.
  result = tenonRun({s.model, "--benchmark", "--runs", "1", "--size", "N=0", "--json"});
  CHECK_THAT(result.out, Contains("\"bind_seen_us\":null,\"bind_new_us\":null,"));
  CHECK_THAT(tenonRun({s.model, "--benchmark", "--runs", "1", "--size", "N=1"}).out, Contains("median "));
}

TEST_CASE("memory is told without a run") {
  Scene s;
  Result result = tenonRun({s.model, "--plan-only", "--input-shape", "x=100", "--threads", "1"});
  CHECK(result.code == 0);
  CHECK(result.out == "bytes on device 'cpu'\n"
                      "  weights                  16,384  mapped from the artifact\n"
                      "  state                         0\n"
                      "  activations                 448  400 are live at once: no placement needs fewer\n"
                      "  heap                          0\n"
                      "  scratch                       0  0 for each of 1 thread\n"
                      "  outputs                     400\n"
                      "  total                    17,232\n"
                      "  inputs                      400  given by the caller, not part of the total\n");
  CHECK(tenonRun({s.model, "--plan-only", "--size", "N=100", "--threads", "1", "--json"}).out ==
        "{\"device\":\"cpu\",\"threads\":1,\"weight_bytes\":16384,\"state_bytes\":0,\"arena_bytes\":448,"
        "\"heap_bytes\":0,\"scratch_bytes\":0,\"output_bytes\":400,\"total_bytes\":17232,\"input_bytes\":400,"
        "\"arena_least_bytes\":400,\"heap_most_bytes\":0,\"output_most_bytes\":400}\n");
  fails({s.model, "--plan-only", "--size", "N=100", "--memory-limit", "16K"}, 4,
        "needs 17232 bytes (weights 16384, arena 448, heap 0, scratch 0, state 0, outputs 400), the memory limit is "
        "16384");
  fails({s.model, "--plan-only"}, 2, "pass --size 'N=1', for example, or --input-shape");
  fails({s.model, "--plan-only", "--benchmark"}, 2, "--plan-only runs nothing");
}

TEST_CASE("TENON_DEBUG_ARENA says which instruction reaches beyond which buffer") {
  ArtifactBuilder builder = scaleAndAdd();
  builder.plan.instructions[0]->exprs = {builder.constant(100'000)};
  builder.plan.instructions[0]->b = builder.constant(10'000);
  builder.plan.kernels[0]->name = "careless_double_f32";
  Scene s(builder);
  setenv("TENON_DEBUG_ARENA", "1", 1);
  fails({s.model, "--input", "ones", "--size", "N=100", "--threads", "1"}, 70,
        "instruction 0 (launch 'Mul_0') reaches 0 bytes behind the end of buffer 'x' of 400 bytes");
  unsetenv("TENON_DEBUG_ARENA");
}

TEST_CASE("a profile is a Chrome trace") {
  Scene s;
  CHECK(tenonRun({s.model, "--input", "ones", "--size", "N=4096", "--threads", "1", "--profile", s / "p.json"}).code ==
        0);
  Bytes bytes = readFile(s / "p.json");
  std::string text(reinterpret_cast<char *>(bytes.data()), bytes.size);
  CHECK_THAT(text, Contains("\"traceEvents\":["));
  CHECK_THAT(text, Contains("\"name\":\"add_f32\",\"cat\":\"launch\",\"ph\":\"X\""));
  CHECK_THAT(text, Contains("\"nodes\":\"Add_1\",\"tiles\":256"));
  CHECK_THAT(text, Contains("\"nodes\":\"Mul_0\""));
  // Which tiles a second thread does, if it comes in time, is nobody's to say.
  CHECK(
      tenonRun({s.model, "--input", "ones", "--size", "N=4096", "--threads", "2", "--cold", "--profile", s / "q.json"})
          .code == 0);
  bytes = readFile(s / "q.json");
  CHECK_THAT(std::string(reinterpret_cast<char *>(bytes.data()), bytes.size), Contains("\"thread 1\""));
  CHECK_THAT(text, Contains("\"name\":\"live bytes of the arena\",\"ph\":\"C\""));
}

TEST_CASE("wrong usage exits with 2") {
  Scene s;
  fails({}, 2, "no artifact is given");
  fails({s.model, "--what"}, 2, "unknown option '--what'; see");
  fails({s.model, "--ouptut=x"}, 2, "unknown option '--ouptut'; did you mean '--output'?");
  fails({s.model, "--samples"}, 2, "--samples is for --benchmark --json");
  fails({s.model, "--cold"}, 2, "--cold is for --profile");
  fails({s.model, "--runs"}, 2, "--runs: expected N");
  fails({s.model, "--runs", "many"}, 2, "--runs: expected N, got 'many'");
  fails({s.model, "--json=1"}, 2, "takes no value");
  fails({s.model, "two"}, 2, "two artifacts");
  fails({s.model, "--rtol", "-1"}, 2, "--rtol");
  fails({s.model}, 2, "input 'x' (f32[N]) is missing: pass --input 'x=FILE.npy'");
  fails({s.model, "--input", "ones"}, 2, "pass --size 'N=1', for example, or --input-shape");
  fails({s.model, "--input", "z=ones"}, 2, "no such input; the inputs are 'x'");
  fails({s.model, "--input", "ones", "--size", "M=3"}, 2, "no input has the open dimension 'M'");
  fails({s.model, "--input", "ones", "--size", "N=1", "--output", "z=f"}, 2, "the outputs are 'y'");
  fails({s.model, "--benchmark", "--output-dir", "d"}, 2, "write no outputs");
  fails({s.model, "--input", "random:x", "--size", "N=1"}, 2, "expected a whole number as SEED");
}

TEST_CASE("bad files exit with 1, and are named") {
  Scene s;
  fails({s / "none"}, 1, s / "none: cannot be opened: No such file or directory");
  fails({s.model, "--input", s / "none.npy"}, 1, s / "none.npy: cannot be opened");
  writeFile(s / "x.npy", "hello", 5);
  fails({s.model, "--input", s / "x.npy"}, 1, s / "x.npy: not a NumPy array");
  writeFile(s / "x.pb", "\xff\xff", 2);
  fails({s.model, "--input", s / "x.pb"}, 1, s / "x.pb: not an ONNX tensor");
  fails({s.model, "--input", "ones", "--size", "N=5000"}, 1,
        s.model + ": symbol 'N' is 5000 in 'x', expected 0 to 4096");
  fails({s.model, "--input", "ones", "--input-shape", "2x2"}, 1, "input 'x' has 2 dimensions, expected 1");
  fails({s.model, "--input", "ones", "--size", "N=1", "--output", s / "no/such/file.npy"}, 1, "cannot be written");
}

TEST_CASE("what is not supported exits with 3") {
  Scene s;
  fails({s.model, "--device", "cuda:0"}, 3, "device 'cuda:0' is not supported");
  ArtifactBuilder b = scaleAndAdd();
  b.codes[0].target = "riscv64:v";
  Scene foreign(b);
  fails({foreign.model}, 3, foreign.model + ": needs riscv64, this CPU is ");
}

TEST_CASE("resources exit with 4") {
  Scene s;
  fails({s.model, "--input", "ones", "--size", "N=16", "--memory-limit", "1000"}, 4,
        "needs 16512 bytes (weights 16384, arena 64, heap 0, scratch 0, state 0, outputs 64), the memory limit is "
        "1000");
  CHECK(tenonRun({s.model, "--input", "ones", "--size", "N=16", "--memory-limit", "17K"}).code == 0);
  fails({s.model, "--input", "ones", "--size", "N=1", "--output", "/dev/full"}, 4,
        "/dev/full: cannot be written: No space left");
}

TEST_CASE("damage of the weights is found unless nobody is to look for it") {
  Scene s;
  Bytes file = readFile(s.model);
  file.data()[2 * fmt::kPageSize + 100] ^= 1;
  writeFile(s.model, file.data(), file.size);
  fails({s.model, "--input", "ones", "--size", "N=1"}, 1,
        "damaged: the hash of its weights from byte 0 to 16384, which node 'Add_1' reads, is ");
  fails({s.model, "--input", "ones", "--size", "N=1", "--benchmark"}, 1,
        "damaged: the hash of its weights from byte 0");
  fails({s.model, "--input", "ones", "--size", "N=1", "--verify"}, 1, "damaged: the hash of its weights is ");
  CHECK(tenonRun({s.model, "--input", "ones", "--size", "N=1", "--no-verify"}).code == 0);
}

TEST_CASE("a fault of the compiler exits with 70") {
  ArtifactBuilder b;
  uint32_t four = b.constant(4);
  uint32_t code = b.buffer("code", fmt::Storage::input, b.zero, four, b.input("code", fmt::DType::i32, {}));
  b.launch("fail_with", b.constant(1), {code}, {b.zero}, "Conv_5");
  b.halt();
  Scene s(b);
  fails({s.model, "--input", "ones"}, 1, "node 'Conv_5': an index that the model computed");
  int32_t value = 50;
  std::string file = tensorProto("", 6, {}, &value, 4);
  writeFile(s / "x.pb", file.data(), file.size());
  fails({s.model, "--input", s / "x.pb"}, 70, "kernel 'fail_with' failed with code 50");
}
