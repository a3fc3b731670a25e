//===- GraphTests.cpp - graphs written in C++ -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Graph.h"
#include "compiler/graph/Programs.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>

using namespace tenon::graph;

namespace {

/// A graph, and the errors that it reports.
struct Fixture {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler{&context, [this](mlir::Diagnostic &diagnostic) {
                                          errors.push_back(diagnostic.str());
                                          return mlir::success();
                                        }};
  Graph g{&context, "test"};
  Dim n = g.symbol("n");
};

std::string toString(const Shape &shape) {
  std::string text;
  for (const Dim &dim : shape)
    text += (text.empty() ? "" : ", ") + dim.toString();
  return text;
}

} // namespace

TEST_CASE_METHOD(Fixture, "dimensions are numbers or expressions, and known to be equal where they are") {
  CHECK((Dim(7) / 2).getNumber() == 3);
  CHECK((Dim(-7) / 2).getNumber() == -4);
  CHECK((Dim(7) % 4).getNumber() == 3);
  CHECK_FALSE(n.isNumber());
  CHECK((n + 2 - n) == Dim(2));
  CHECK((n * 4 / 2) == 2 * n);
  CHECK(g.symbol("n") == n);
  CHECK_FALSE(g.symbol("m") == n);
}

TEST_CASE_METHOD(Fixture, "a run of several sequences is a program with the states of each") {
  State only = g.growingState("cache", {8, 2}, "past");
  Tensor x = g.input("x", {1, 2});
  only.append(g.symbol("past"), x);
  g.output("y", sum(only.read(g.symbol("past") + 1), 0));
  mlir::OwningOpRef<mlir::ModuleOp> module = g.finish();
  Graph together(&context, "test");
  together.setSequences(2);
  Tensor both = together.input("x", {2, 2});
  std::vector<Tensor> results;
  for (int64_t i = 0; i < 2; ++i) {
    std::string symbol = i ? "past.1" : "past";
    State state = together.growingState("cache", {8, 2}, symbol, DType::f32, i);
    Dim past = together.symbol(symbol);
    together.require(Dim(7) - past, "the cache is full");
    state.append(past, slice(both, 0, i, 1));
    results.push_back(sum(state.read(past + 1), 0, /*keepdims=*/true));
  }
  together.output("y", concat(results, 0));
  mlir::OwningOpRef<mlir::ModuleOp> several = together.finish();
  REQUIRE(module);
  REQUIRE(several);
  addProgram(*module, *several, "sequences=2");
  CHECK(mlir::succeeded(mlir::verify(*module)));
  CHECK(errors.empty());
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  using Catch::Matchers::Contains;
  CHECK_THAT(text, Contains("tenon.state @cache.1 : tensor<8x2xf32> live \"past.1\" sequence 1 of @cache"));
  size_t program = text.find("@\"main.sequences=2\""), main = text.find("@main(");
  REQUIRE(program != std::string::npos);
  CHECK(program < main);
  std::string head = text.substr(program, text.find('\n', program) - program);
  CHECK_THAT(head, Contains("tenon.program = \"sequences=2\"") && Contains("tenon.sequences = 2") &&
                       Contains("(\"past.1\" * -1) + 7"));
}

TEST_CASE_METHOD(Fixture, "several sequences are two or more") {
  g.setSequences(1);
  CHECK(g.hasFailed());
  REQUIRE(errors.size() == 1);
  CHECK_THAT(errors[0], Catch::Matchers::Contains("cannot have runs of 1 sequences; several are 2 or more"));
}

TEST_CASE_METHOD(Fixture, "shapes follow from operands") {
  Tensor x = g.input("x", {n, 6, 8}), w = g.input("w", {4, 8}), ids = g.input("ids", {n, 3}, DType::i64);
  CHECK(toString(linear(x, w).shape()) == "n, 6, 4");
  CHECK(toString(matmul(x, transpose(w, {1, 0})).shape()) == "n, 6, 4");
  CHECK(toString(einsum("bik,jk->jib", x, w).shape()) == "4, 6, n");
  CHECK(toString(embedding(w, ids).shape()) == "n, 3, 8");
  CHECK(toString(sum(x, -1).shape()) == "n, 6");
  CHECK(toString(mean(x, {0, 2}, /*keepdims=*/true).shape()) == "1, 6, 1");
  CHECK(toString(slice(x, 1, 2, 3).shape()) == "n, 3, 8");
  CHECK(toString(concat({x, slice(x, 1, 0, 2)}, 1).shape()) == "n, 8, 8");
  CHECK(toString(unsqueeze(x, -1).shape()) == "n, 6, 8, 1");
  CHECK(toString(reshape(x, {n * 6, 8}).shape()) == "n * 6, 8");
  CHECK(split(x, 2, 2).size() == 2);
  CHECK(toString((x + 1 < 2 * x).shape()) == "n, 6, 8");
  CHECK(toString(g.causalMask(n, n).shape()) == "n, n");
  CHECK(x.dim(-1) == Dim(8));
  CHECK(x.dim(3) == Dim(1));
  CHECK_FALSE(g.hasFailed());
}

TEST_CASE_METHOD(Fixture, "heads may share keys") {
  Tensor queries = g.input("q", {2, 4, n, 8}), keys = g.input("k", {2, 2, n, 8}), values = g.input("v", {2, 2, n, 6});
  Tensor mask = g.input("mask", {2, 1, 1, n}, DType::boolean);
  CHECK(toString(attention(queries, keys, values, 0.5).shape()) == "2, 4, n, 6");
  CHECK(toString(attention(queries, keys, values, 0.5, mask).shape()) == "2, 4, n, 6");
  CHECK(toString(attention(queries, keys, values, 0.5, g.causalMask(n, n)).shape()) == "2, 4, n, 6");
}

TEST_CASE_METHOD(Fixture, "branches and loops result in what they are given") {
  Tensor x = g.input("x", {n, 4}), yes = g.input("yes", {}, DType::boolean), which = g.input("i", {}, DType::i32);
  auto twice = [&] { return x * 2; };
  auto both = [&]() -> Tensors { return {x, sum(x, 0)}; };
  CHECK(toString(cond(yes, twice, [&] { return x; }).shape()) == "n, 4");
  Tensors pair = cond(yes, both, [&]() -> Tensors { return {-x, x[{0}]}; });
  REQUIRE(pair.size() == 2);
  CHECK(toString(pair[1].shape()) == "4");
  CHECK(toString(match(which, {twice, twice, [&] { return x; }}).shape()) == "n, 4");
  auto body = [](const Tensor &number, llvm::ArrayRef<Tensor> carried) -> Tensors {
    return {carried[0] + cast(number, DType::f32), !carried[1]};
  };
  auto isGoingOn = [](llvm::ArrayRef<Tensor> carried) { return carried[1]; };
  for (const Tensors &results : {loop(3, {x, yes}, body), loop(n, {x, yes}, body), loop(which, {x, yes}, body),
                                 loopWhile(isGoingOn, {x, yes}, body), loop(n, isGoingOn, {x, yes}, body)}) {
    REQUIRE(results.size() == 2);
    CHECK(toString(results[0].shape()) == "n, 4");
    CHECK(results[1].rank() == 0);
  }
  CHECK_FALSE(g.hasFailed());
  g.output("y", pair[0]);
  mlir::OwningOpRef<mlir::ModuleOp> module = g.finish();
  REQUIRE(module);
  CHECK(mlir::succeeded(mlir::verify(*module)));
}

TEST_CASE_METHOD(Fixture, "random numbers have a shape and a type, losses that of their labels or none") {
  Tensor logits = g.input("logits", {n, 5, 3}), labels = g.input("labels", {n, 3}, DType::i32);
  CHECK(toString(g.randomUniform({n, 2}).shape()) == "n, 2");
  CHECK(toString(g.randomNormal({4}, 1, 2, DType::bf16, 7).shape()) == "4");
  CHECK(toString(crossEntropyLoss(logits, labels, Reduction::none, -100).shape()) == "n, 3");
  CHECK(crossEntropyLoss(logits, labels).rank() == 0);
  CHECK(toString(mseLoss(logits, logits * 2, Reduction::none).shape()) == "n, 5, 3");
  CHECK(mseLoss(logits, logits * 2, Reduction::sum).rank() == 0);
  CHECK_FALSE(g.hasFailed());
}

TEST_CASE_METHOD(Fixture, "a branch or a loop that fails reports one error, and has as many results") {
  Tensor x = g.input("x", {4, 2}), yes = g.input("yes", {}, DType::boolean), inside;
  auto same = [&] { return x; };
  auto keep = [](const Tensor &, llvm::ArrayRef<Tensor> carried) { return Tensors(carried.begin(), carried.end()); };
  std::string wanted;
  Tensors results(1, x);
  SECTION("in a branch") {
    results = cond(yes, [&]() -> Tensors { return {x, matmul(x, x)}; }, [&]() -> Tensors { return {x, x}; });
    CHECK(results.size() == 2);
    wanted = "shapes 4x2 and 4x2 do not fit: 2 and 4 elements have to be multiplied pair by pair";
  }
  SECTION("shapes of branches") {
    results[0] = cond(yes, same, [&] { return x[{0}]; });
    wanted = "has branches whose results 0 differ in type: tensor<4x2xf32> and tensor<2xf32>";
  }
  SECTION("types of branches") {
    results[0] = match(g.input("i", {}, DType::i64), {same, same, [&] { return cast(x, DType::f16); }});
    wanted = "has branches whose results 0 differ in type: tensor<4x2xf32> and tensor<4x2xf16>";
  }
  SECTION("counts of branches") {
    results = cond(yes, [&]() -> Tensors { return {x, x}; }, [&]() -> Tensors { return {x}; });
    CHECK(results.size() == 2);
    wanted = "has branches of 2 and 1 results";
  }
  SECTION("a condition") {
    results[0] = cond(x, same, same);
    wanted = "the condition of a branch is one boolean of rank 0, found tensor<4x2xf32>";
  }
  SECTION("an empty condition") {
    results[0] = cond(Tensor(), same, same);
    wanted = "has an empty tensor as its condition";
  }
  SECTION("an index") {
    results[0] = match(yes, {same, same});
    wanted = "what chooses a branch is one integer of rank 0, found tensor<i1>";
  }
  SECTION("a tensor of a branch outside of it") {
    results[0] = cond(yes, [&] { return inside = x + 1; }, same);
    CHECK(results[0]);
    results[0] = inside + 1;
    wanted = "uses a tensor of a branch or a loop outside of it; only its results are there";
  }
  SECTION("a condition of a branch outside of it") {
    cond(yes, [&] { return where(inside = !yes, x, x); }, same);
    results[0] = cond(inside, same, same);
    wanted = "uses a tensor of a branch or a loop outside of it; only its results are there";
  }
  SECTION("an output of a branch outside of it") {
    cond(yes, [&] { return inside = x + 1; }, same);
    g.output("inside", inside);
    results[0] = g.missing();
    wanted = "uses a tensor of a branch or a loop outside of it; only its results are there";
  }
  SECTION("a tensor of a branch that failed") {
    results[0] = cond(yes, [&] { return matmul(inside = x + 1, x); }, same);
    CHECK(toString(inside.shape()) == "4, 2");
    wanted = "shapes 4x2 and 4x2 do not fit: 2 and 4 elements have to be multiplied pair by pair";
  }
  SECTION("what a loop carries") {
    results = loop(3, {yes, x}, [&](const Tensor &, llvm::ArrayRef<Tensor> carried) -> Tensors {
      return {carried[0], concat({carried[1], x}, 0)};
    });
    CHECK(results.size() == 2);
    wanted = "carries tensor 1 as tensor<4x2xf32>, but its body gives tensor<8x2xf32>";
  }
  SECTION("how much a loop carries") {
    results = loop(3, {x}, [&](const Tensor &, llvm::ArrayRef<Tensor>) -> Tensors { return {x, x}; });
    CHECK(results.size() == 1);
    wanted = "has a body that gives 2 tensors for the next iteration, expected 1";
  }
  SECTION("the condition of a loop") {
    results = loopWhile([&](llvm::ArrayRef<Tensor> carried) { return carried[0] < 1; }, {x}, keep);
    wanted = "the condition of a loop is one boolean of rank 0, found tensor<4x2xi1>";
  }
  SECTION("trips") {
    results = loop(x, {x}, keep);
    wanted = "the number of trips of a loop is one integer of rank 0, found tensor<4x2xf32>";
  }
  SECTION("a state in a branch") {
    State state = g.state("s", {4, 2});
    results[0] = cond(yes, [&] { return state.read(4); }, same);
    wanted = "a state is read and written outside of branches and loops";
  }
  for (const Tensor &result : results)
    CHECK_FALSE(result);
  g.output("y", results[0]);
  CHECK_FALSE(g.finish());
  CHECK(errors == std::vector{wanted});
}

TEST_CASE_METHOD(Fixture, "a loss or a random number that fails says what is wrong") {
  Tensor x = g.input("x", {4, 2});
  std::string wanted;
  SECTION("random integers") {
    g.randomUniform({4}, 0, 1, DType::i32);
    wanted = "random numbers are floats, not integers";
  }
  SECTION("labels") {
    crossEntropyLoss(x, g.input("labels", {3}, DType::i64));
    wanted = "needs floats [batch, classes, ...] and integers [batch, ...] for a cross entropy, found 4x2 and 3";
  }
  SECTION("targets") {
    mseLoss(x, x[{0}]);
    wanted = "needs floats and targets of one shape for a mean squared error, found 4x2 and 2";
  }
  CHECK(g.hasFailed());
  CHECK(errors == std::vector{wanted});
}

TEST_CASE_METHOD(Fixture, "a module has names, ranges and requirements") {
  Tensor x = g.input("x", {n, 2});
  g.setRange("n", 1, 16);
  g.require(32 - 2 * n, "n is more than half of 32");
  {
    Graph::Scope outer(g, "layers"), inner(g, "0");
    g.output("y", relu(x));
  }
  mlir::OwningOpRef<mlir::ModuleOp> module = g.finish();
  REQUIRE(module);
  CHECK(mlir::succeeded(mlir::verify(*module)));
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, mlir::OpPrintingFlags().enableDebugInfo());
  for (const char *part : {"tenon.model = \"test\"", "tenon.name = \"x\"", "tenon.name = \"y\"",
                           "n = array<i64: 1, 16>", "tenon.requires", "loc(\"layers.0\")"})
    CHECK_THAT(text, Catch::Matchers::Contains(part));
}

TEST_CASE_METHOD(Fixture, "the first failure is reported, and what follows is silent") {
  Tensor x = g.input("x", {4, 2});
  Tensor y = matmul(x, x);
  CHECK_FALSE(y);
  CHECK_FALSE(softmax(reshape(y, {3}) + 1, 7));
  g.output("y", y);
  CHECK_FALSE(g.finish());
  CHECK(errors.size() == 1);
}

TEST_CASE_METHOD(Fixture, "a failure says what is wrong") {
  Tensor x = g.input("x", {4, 2});
  std::string wanted;
  SECTION("an axis") {
    softmax(x, 2);
    wanted = "has no axis 2: there are 2";
  }
  SECTION("parts") {
    split(x, 0, 3);
    wanted = "cannot split a dimension of 4 into 3 equal parts";
  }
  SECTION("no parts") {
    split(x, 0, 0);
    wanted = "cannot split a dimension of 4 into 0 equal parts";
  }
  SECTION("heads") {
    attention(g.input("q", {1, 4, 1, 2}), g.input("k", {1, 3, 1, 2}), g.input("v", {1, 3, 1, 2}), 1);
    wanted = "cannot share the keys of 3 heads among 4";
  }
  SECTION("strides") {
    convolve(g.input("image", {1, 3, 8, 8}), g.input("filter", {4, 3, 3, 3}), {}, {.strides = {2}});
    wanted = "has 1 strides for 2 spatial dimensions";
  }
  SECTION("groups of channels") {
    Tensor image = g.input("image", {1, 3, 8, 8}), scale = g.input("scale", {3});
    groupNorm(image, 2, scale, scale, 1e-5);
    wanted = "cannot norm 3 channels in 2 groups";
  }
  SECTION("brackets") {
    x[{0, 0, 0}];
    wanted = "has 2 dimensions, not 3";
  }
  SECTION("a step") {
    x[{Slice{0, 4, 0}}];
    wanted = "takes every 0th element; steps are at least 1";
  }
  SECTION("an element out of range") {
    x[{4}];
    wanted = "'tenon.slice' op reads elements 4 to 4 of dimension 0, which has 4";
  }
  SECTION("an equation") {
    einsum("ij,jk", x, x);
    wanted = "'ij,jk' is no equation of operands of rank 2 and 2, which looks like 'bik,bjk->bij'";
  }
  SECTION("an empty operand") {
    x + Tensor();
    wanted = "has an empty tensor as an operand";
  }
  SECTION("another graph") {
    Graph other(&context);
    x + other.input("y", {4, 2});
    wanted = "has operands of two graphs";
  }
  SECTION("elements") {
    g.weight("w", {2, 2}, {1, 2, 3});
    wanted = "weight 'w' needs 4 elements for its shape, found 3";
  }
  SECTION("names") {
    g.input("x", {1});
    wanted = "has two inputs named 'x'";
  }
  SECTION("no output") {
    g.finish();
    wanted = "has no output";
  }
  CHECK(errors == std::vector{wanted});
}
