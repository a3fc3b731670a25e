//===- Image.cpp - the operator on files of images ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// The plug-in runtime/plugin/image decodes; the extents of the image are only known at run time.
LogicalResult importImageDecoder(Node &n) {
  std::string format = n.getString("pixel_format", "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    return n.invalid("'pixel_format' has to be RGB, BGR or Grayscale, not '" + format + "'");
  Value file = n.input(0);
  if (n.rank(file) != 1)
    return n.invalid("needs the bytes of a file as a vector, found " + dimsToString(n.dims(file)));
  Builder b(n.getContext());
  GraphBuilder::HostCall call{"image", "", "ImageDecoder", {file}, {true}, {}};
  call.parameters = b.getDictionaryAttr(b.getNamedAttr("pixel_format", b.getStringAttr(format)));
  AffineExpr unknown = getUnknownDim(n.getContext()), channels = n.constantDim(format == "Grayscale" ? 1 : 3);
  Type type = n.elementType(file);
  Dims sizes = n.bindSizes(n.inferHostShapes(call, {getTensorType(Dims{unknown, unknown, channels}, type)}));
  if (sizes.empty())
    return failure();
  n.requireEqual(sizes[2], channels, "has another number of channels than its pixel format");
  return n.setResult(n.callHost(call, {getTensorType(Dims{sizes[0], sizes[1], channels}, type)}).front());
}

} // namespace

ArrayRef<OpEntry> onnx_import::getImageOps() {
  static const OpEntry ops[] = {{"ImageDecoder", importImageDecoder}};
  return ops;
}
