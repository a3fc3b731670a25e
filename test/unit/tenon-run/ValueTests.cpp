//===- ValueTests.cpp - sequences, optionals and strings -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/ArtifactBuilder.h"
#include "test/unit/tenon-run/Program.h"
#include "tools/tenon-run/Parts.h"
#include "tools/tenon-run/ValueProto.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

using namespace tenon;
using namespace tenon::run;
using namespace tenon::test;
using Catch::Matchers::Contains;

using Parser = decltype(parseSequenceProto);

static Status parse(Parser *parser, const std::string &file, HostValue *value) {
  Bytes exact(file.data(), file.size());
  return parser(exact.data(), exact.size, value);
}

static void refuses(Parser *parser, const std::string &file, const char *text) {
  HostValue value;
  Status status = parse(parser, file, &value);
  CHECK(status.failed());
  CHECK_THAT(status.message(), Contains(text));
}

/// A vector of f32.
static std::string vector(const std::vector<float> &values) {
  return tensorProto("", 1, {int64_t(values.size())}, values.data(), values.size() * 4);
}

static std::string sequence(const std::string &name, const std::vector<std::vector<float>> &tensors) {
  std::string text = field(1, name) + field(2, 1);
  for (const std::vector<float> &tensor : tensors)
    text += field(3, vector(tensor));
  return text;
}

static std::string strings(const std::string &name, const std::vector<std::string> &texts) {
  std::string text = field(1, texts.size()) + field(2, 8) + field(8, name);
  for (const std::string &string : texts)
    text += field(6, string);
  return text;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST_CASE("sequences of tensors") {
  HostValue value;
  REQUIRE_FALSE(parse(parseSequenceProto, sequence("s", {{1, 2}, {}, {3}}), &value).failed());
  CHECK(value.name == "s");
  CHECK(value.isSequence);
  REQUIRE(value.tensors.size() == 3);
  CHECK(value.tensors[0].dims == std::vector<int64_t>{2});
  CHECK(value.tensors[1].count() == 0);
  REQUIRE_FALSE(parse(parseSequenceProto, "", &value).failed());
  CHECK((value.has && value.isSequence && value.tensors.empty()));
  refuses(parseSequenceProto, sequence("s", {{1}}) + field(3, field(2, 1)), "tensor 1: has 0 bytes of elements");
  refuses(parseSequenceProto, field(5, sequence("", {})), "a sequence of sequences");
  refuses(parseSequenceProto, field(6, "map"), "the sequence holds sparse tensors");
  refuses(parseSequenceProto, field(3, 1), "not an ONNX sequence (.pb): malformed");
  refuses(parseSequenceProto, "this is a text file\n", "malformed");
}

TEST_CASE("optionals") {
  HostValue value;
  REQUIRE_FALSE(parse(parseOptionalProto, field(1, "o") + field(2, 0), &value).failed());
  CHECK((value.name == "o" && !value.has && !value.isSequence));
  REQUIRE_FALSE(parse(parseOptionalProto, field(1, "o") + field(2, 1) + field(3, vector({1})), &value).failed());
  CHECK((value.name == "o" && value.has && !value.isSequence && value.tensors.size() == 1));
  REQUIRE_FALSE(parse(parseOptionalProto, field(1, "o") + field(5, sequence("s", {})), &value).failed());
  CHECK((value.name == "o" && value.has && value.isSequence && value.tensors.empty()));
  refuses(parseOptionalProto, field(3, vector({1})) + field(3, vector({1})), "an optional that holds 2 values");
  refuses(parseOptionalProto, field(7, ""), "the optional holds sparse tensors");
}

TEST_CASE("damaged sequences and optionals never crash the reader") {
  std::string good = field(1, "o") + field(2, 3) + field(5, sequence("s", {{1, 2}, {3}}));
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string file = good.substr(0, random() % 4 ? good.size() : random() % good.size());
    for (unsigned flips = random() % 4; flips > 0 && !file.empty(); --flips)
      file[random() % file.size()] = char(random());
    HostValue value;
    (void)parse(parseOptionalProto, file, &value);
  }
}

//===----------------------------------------------------------------------===//
// Through the runtime
//===----------------------------------------------------------------------===//

namespace {
/// A folder with model.tenon, whose outputs are its inputs: a sequence of vectors, an optional scalar, and
/// strings.
struct Scene : Folder {
  std::string model = *this / "model.tenon";

  Scene() {
    ArtifactBuilder b;
    uint32_t four = b.constant(4), eight = b.constant(8), one = b.constant(1);
    uint32_t total = b.symbol("s.elements"), length = b.symbol("s.length");
    uint32_t bytes = b.symbol("t.bytes"), n = b.symbol("N");
    auto times = [&](uint32_t size, uint32_t by) { return b.expr(fmt::ExprOp::mul, size, by); };
    pass(b, "s", fmt::DType::f32, fmt::Role::elements, {total}, times(total, four));
    pass(b, "s", fmt::DType::i64, fmt::Role::shapes, {length, one}, times(length, eight));
    pass(b, "o", fmt::DType::bool_, fmt::Role::has, {}, one);
    pass(b, "o", fmt::DType::f32, fmt::Role::value, {}, four);
    pass(b, "t", fmt::DType::u8, fmt::Role::bytes, {bytes}, bytes);
    pass(b, "t", fmt::DType::i64, fmt::Role::ends, {n}, times(n, eight));
    b.halt();
    Bytes file = b.build();
    writeFile(model, file.data(), file.size);
  }

  /// Copies an input to an output.
  static void pass(ArtifactBuilder &b, const std::string &name, fmt::DType dtype, fmt::Role role,
                   std::vector<uint32_t> dims, uint32_t bytes) {
    uint32_t in = b.input(name, dtype, dims), out = b.output(name + "_out", dtype, dims);
    b.plan.inputs.back()->role = b.plan.outputs.back()->role = role;
    uint32_t from = b.buffer(name, fmt::Storage::input, b.zero, bytes, in);
    uint32_t to = b.buffer(name, fmt::Storage::output, b.zero, bytes, out);
    b.instruction(fmt::Opcode::copy, 0, 0, 0, {from, to}, {bytes});
  }

  std::string write(const std::string &name, const std::string &bytes) {
    writeFile(*this / name, bytes.data(), bytes.size());
    return *this / name;
  }

  void writeTestData(const std::string &kind, const std::string &end, const std::vector<std::vector<float>> &s,
                     const std::string &o, const std::vector<std::string> &t) {
    write(kind + "_0.pb", sequence("s" + end, s));
    write(kind + "_1.pb", field(1, "o" + end) + o);
    write(kind + "_2.pb", strings("t" + end, t));
  }

  Result compare(const std::vector<std::vector<float>> &s, const std::string &o, const std::vector<std::string> &t) {
    writeTestData("output", "_out", s, o, t);
    return tenonRun({model, "--test-data", path});
  }
};
} // namespace

TEST_CASE("test data of a sequence, an optional and strings") {
  Scene s;
  std::string five = field(3, tensorProto("", 1, {}, "\0\0\xa0\x40", 4));
  s.writeTestData("input", "", {{1, 2}, {}, {3}}, five, {"a", "", "bc"});
  CHECK(s.compare({{1, 2}, {}, {3}}, five, {"a", "", "bc"}).code == 0);
  Result result = s.compare({{1, 2}, {}}, five, {"a", "", "bc"});
  CHECK(result.code == 5);
  CHECK_THAT(result.err, Contains("output 's_out' is a sequence of 3, want a sequence of 2"));
  CHECK_THAT(s.compare({{1, 2}, {}, {4}}, five, {"a", "", "bc"}).err,
             Contains("output 's_out[2]' at [0]: got 3, want 4"));
  CHECK_THAT(s.compare({{1, 2}, {}, {3, 4}}, five, {"a", "", "bc"}).err,
             Contains("output 's_out[2]' is f32[1], want f32[2]"));
  CHECK_THAT(s.compare({{1, 2}, {}, {3}}, "", {"a", "", "bc"}).err,
             Contains("output 'o_out' is a tensor, want nothing"));
  CHECK_THAT(s.compare({{1, 2}, {}, {3}}, five, {"a", "b", "c"}).err,
             Contains("output 't_out' at [1]: got \"\", want \"b\"; 2 of 3 strings differ"));
  s.writeTestData("input", "", {}, "", {});
  CHECK(s.compare({}, "", {}).code == 0);
}

TEST_CASE("summaries and files of values that are no tensors") {
  Scene s;
  std::string t = "t=" + s.write("t.pb", strings("", {"a", "\"", "bc"}));
  std::string sequenceFile = "s=" + s.write("s.pb", sequence("", {{1, 2}, {3}}));
  Result result = tenonRun({s.model, "--input", sequenceFile, "--input", "o=none", "--input", t});
  CHECK(result.err.empty());
  CHECK(result.out == "s_out  sequence of 2\n"
                      "s_out[0]  f32[2]  min 1  max 2  mean 1.5  [1, 2]\n"
                      "s_out[1]  f32[1]  min 3  max 3  mean 3  [3]\n"
                      "o_out  nothing\n"
                      "t_out  string[3]  [\"a\", \"\\\"\", \"bc\"]\n");
  result = tenonRun({s.model, "--input", sequenceFile, "--input", "o=none", "--input", t, "--json"});
  CHECK(result.out == "[{\"name\":\"s_out\",\"tensors\":[{\"dtype\":\"f32\",\"shape\":[2],\"min\":1,\"max\":2,"
                      "\"mean\":1.5,\"nan\":0,\"first\":[1,2]},{\"dtype\":\"f32\",\"shape\":[1],\"min\":3,\"max\":3,"
                      "\"mean\":3,\"nan\":0,\"first\":[3]}]},{\"name\":\"o_out\",\"value\":null},"
                      "{\"name\":\"t_out\",\"dtype\":\"string\",\"shape\":[3],\"first\":[\"a\",\"\\\"\",\"bc\"]}]\n");
  // What was written can be read.
  std::string out = s / "out";
  CHECK(tenonRun({s.model, "--input", sequenceFile, "--input", "o=ones", "--input", t, "--output-dir", out}).code == 0);
  CHECK(std::filesystem::exists(out + "/s_out/1.npy"));
  Result again = tenonRun({s.model, "--input", "s=" + out + "/s_out", "--input", "o=" + out + "/o_out.npy", "--input",
                           "t=" + out + "/t_out.npy"});
  CHECK_THAT(again.out, Contains("s_out[1]  f32[1]") && Contains("o_out  f32[]  min 1") && Contains("\"bc\""));
  // A shorter sequence leaves no tensors of the longer one.
  std::string shorter = "s=" + s.write("shorter.pb", sequence("", {{1}}));
  CHECK(tenonRun({s.model, "--input", shorter, "--input", "o=none", "--input", t, "--output-dir", out}).out ==
        "o_out  nothing\n");
  CHECK_FALSE(std::filesystem::exists(out + "/s_out/1.npy"));
}

TEST_CASE("values that an input cannot be") {
  Scene s;
  std::string t = "t=" + s.write("t.pb", strings("", {})), o = "o=none",
              sequenceFile = s.write("s.pb", sequence("", {}));
  auto fails = [&](const std::string &a, const std::string &b, const std::string &c, int code, const char *text) {
    Result result = tenonRun({s.model, "--input", a, "--input", b, "--input", c});
    CHECK(result.code == code);
    CHECK_THAT(result.err, Contains(text));
  };
  sequenceFile = "s=" + sequenceFile;
  fails("s=none", o, t, 1, "holds nothing, input 's' is sequence of f32 of rank 1");
  fails("s=random:1", o, t, 2, "input 's' (sequence of f32 of rank 1) cannot be made by 'random:1'");
  fails("s=" + (s / "nowhere"), o, t, 1, "nowhere: no folder, which a sequence is read from");
  std::string matrix = field(3, tensorProto("", 1, {1, 1}, "abcd", 4));
  fails("s=" + s.write("m.pb", matrix), o, t, 1, "tensor 0 of the sequence has 2 dimensions");
  std::string integers = field(3, tensorProto("", 7, {1}, "abcdefgh", 8));
  fails("s=" + s.write("i.pb", integers), o, t, 1, "holds i64, input 's' is sequence of f32 of rank 1");
  fails(sequenceFile, "o=" + s.write("o.pb", field(5, "")), t, 1, "holds a sequence, input 'o' is optional f32[]");
  fails(sequenceFile, o, "t=zeros", 2, "input 't' (string[N]) cannot be made by 'zeros'");
}

TEST_CASE("an artifact whose parts do not belong together is refused") {
  Folder folder;
  ArtifactBuilder b;
  b.input("s", fmt::DType::f32, {b.symbol("n")});
  b.plan.inputs.back()->role = fmt::Role::elements;
  b.halt();
  Bytes file = b.build();
  writeFile(folder / "model.tenon", file.data(), file.size);
  Result result = tenonRun({folder / "model.tenon", "--input", "s=zeros"});
  CHECK(result.code == 1);
  CHECK_THAT(result.err, Contains("the parts of 's' do not belong together"));
}

TEST_CASE("outputs that a kernel got wrong are refused") {
  std::vector<int64_t> two{2}, shape{1, 1}, one{1}, ends{3};
  std::vector<float> elements{1, 2};
  Model::Port elementsPort{TENON_F32, TENON_ROLE_ELEMENTS, {}}, shapesPort{TENON_I64, TENON_ROLE_SHAPES, {}};
  std::vector<int64_t> dims{3};
  std::vector<tenon_tensor> parts{{TENON_F32, 1, two.data(), elements.data()},
                                  {TENON_I64, 2, shape.data(), dims.data()}};
  ValueView view;
  Status status = putTogether({"s", 0, {elementsPort, shapesPort}}, parts, &view);
  CHECK(status.code() == TENON_FAULT);
  CHECK_THAT(status.message(), Contains("need more elements than it has"));
  Model::Port bytesPort{TENON_U8, TENON_ROLE_BYTES, {}}, endsPort{TENON_I64, TENON_ROLE_ENDS, {}};
  parts = {{TENON_U8, 1, two.data(), elements.data()}, {TENON_I64, 1, one.data(), ends.data()}};
  CHECK_THAT(putTogether({"t", 0, {bytesPort, endsPort}}, parts, &view).message(), Contains("outside of its bytes"));
}
