//===- InferenceTests.cpp - what inference of result types refuses --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation that is read from text is verified before its types are inferred. One that a pass creates is not, so
// inference refuses such attributes itself.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace tenon;

namespace {
/// Infers the result of a convolution of an image [1, 4, 8, 8] with a filter [6, 4, 3, 3].
class ConvolveInference {
public:
  ConvolveInference() : handler(&context, [this](Diagnostic &diagnostic) { message = diagnostic.str(); }) {
    context.loadDialect<TenonDialect>();
  }

  /// The result's type, or null, with `message` as the error.
  Type infer(ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations) {
    Builder b(&context);
    Location loc = b.getUnknownLoc();
    Block block;
    Value input = block.addArgument(RankedTensorType::get({1, 4, 8, 8}, b.getF32Type()), loc);
    Value filter = block.addArgument(RankedTensorType::get({6, 4, 3, 3}, b.getF32Type()), loc);
    ConvolveOp::Properties properties;
    properties.strides = b.getDenseI64ArrayAttr(strides);
    properties.dilations = b.getDenseI64ArrayAttr(dilations);
    properties.low = properties.high = b.getDenseI64ArrayAttr({0, 0});
    properties.groups = b.getI64IntegerAttr(1);
    SmallVector<Type> types;
    LogicalResult result = ConvolveOp::inferReturnTypes(&context, loc, {input, filter}, DictionaryAttr(), &properties,
                                                        RegionRange(), types);
    return succeeded(result) ? types.front() : Type();
  }

  std::string message;

private:
  MLIRContext context;
  ScopedDiagnosticHandler handler;
};
} // namespace

TEST_CASE("a convolution whose attributes fit has the result that its windows give") {
  ConvolveInference inference;
  auto type = dyn_cast_or_null<RankedTensorType>(inference.infer({2, 1}, {1, 1}));
  REQUIRE(type);
  CHECK(type.getShape() == ArrayRef<int64_t>{1, 6, 3, 6});
  CHECK(inference.message.empty());
}

TEST_CASE("a stride of zero is an error, not a division") {
  ConvolveInference inference;
  CHECK(!inference.infer({1, 0}, {1, 1}));
  CHECK(inference.message == "has a stride below 1");
}

TEST_CASE("attributes of fewer dimensions than the image are an error") {
  ConvolveInference inference;
  CHECK(!inference.infer({1, 1}, {1}));
  CHECK(inference.message == "needs strides, dilations, low and high for each of 2 spatial dimensions");
}
