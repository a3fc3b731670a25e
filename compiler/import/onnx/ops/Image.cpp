//===- Image.cpp - the operator on files of images ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/library/image/formats.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"
#include "llvm/ADT/StringSwitch.h"
#include <limits>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// What `tenon_image_size` may find wrong with a file, from 1 on.
std::vector<std::string> getFaults() {
  std::vector<std::string> faults = {"the image has more than 178956970 pixels",
                                     "the bytes are no image of a known format (BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP)"};
  static const char *const formats[] = {"BMP", "JPEG", "JPEG 2000", "PNG", "PNM", "TIFF", "WebP"};
  static_assert(std::size(formats) + 1 == imageFormatCount);
  for (const char *format : formats)
    faults.push_back(std::string("the image is a ") + format + " file of a kind that is not supported");
  return faults;
}

/// Ends the run where `found`, a list of one number, is that of a fault.
void requireNone(Node &n, Value found) {
  std::vector<std::string> faults = getFaults();
  int64_t count = static_cast<int64_t>(faults.size());
  Value number = n.add(n.iota(n.constantDim(count), 0, n.i64()), n.constantInts(1, {}, n.i64()));
  Value isFault = n.sub(n.constantInts(0, {}, n.i64()), toInt(n, n.equal(found, number)));
  for (auto [expr, text] : llvm::zip(n.bindSizes(isFault, std::numeric_limits<int64_t>::min()), faults))
    n.requireWhenRun(expr, text);
}

LogicalResult importImageDecoder(Node &n) {
  std::string format = n.getString("pixel_format", "RGB");
  // As the kernels' PixelOrder has them.
  int64_t order = StringSwitch<int64_t>(format).Case("RGB", 0).Case("BGR", 1).Case("Grayscale", 2).Default(-1);
  if (order < 0)
    return n.invalid("'pixel_format' has to be RGB, BGR or Grayscale, not '" + format + "'");
  Value file = n.input(0);
  if (n.rank(file) != 1)
    return n.invalid("needs the bytes of a file as a vector, found " + dimsToString(n.dims(file)));
  Value found = n.call("tenon_image_size", file, {{n.constantDim(4), n.i64()}}).front();
  requireNone(n, n.sliceAxis(found, 0, n.constantDim(3), n.constantDim(1)));
  Dims sizes = n.bindSizes(n.sliceAxis(found, 0, n.constantDim(0), n.constantDim(3)));
  if (sizes.empty())
    return failure();
  Dims shape{sizes[0], sizes[1], n.constantDim(order == 2 ? 1 : 3)};
  auto bytes = n.elementType(file);
  Value pixels = n.call("tenon_image_pixels", {file, n.constantInts(order, 1, n.i64())},
                        {{getElementCount(n.getContext(), shape), bytes}, {sizes[2], bytes}})
                     .front();
  return n.setResult(n.reshape(pixels, shape));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getImageOps() {
  static const OpEntry ops[] = {{"ImageDecoder", importImageDecoder}};
  return ops;
}
