//===- Compound.cpp - sequences and optionals as tensors ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Compound.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

ImportedValue onnx_import::toImported(Node &n, Value tensor) {
  ImportedValue imported;
  imported.value = tensor;
  imported.type = tensor ? cast<RankedTensorType>(tensor.getType()) : RankedTensorType();
  imported.loc = n.getLoc();
  return imported;
}

ImportedValue onnx_import::toImported(Node &n, Sequence sequence) {
  ImportedValue imported;
  imported.sequence = std::make_shared<Sequence>(std::move(sequence));
  imported.loc = n.getLoc();
  return imported;
}

ImportedValue onnx_import::toImported(Node &n, Optional optional) {
  ImportedValue imported;
  imported.optional = std::make_shared<Optional>(std::move(optional));
  imported.loc = n.getLoc();
  return imported;
}

ImportedValue onnx_import::toImported(Node &n, Strings strings) {
  ImportedValue imported;
  imported.strings = std::make_shared<Strings>(strings);
  imported.loc = n.getLoc();
  return imported;
}

ImportedValue onnx_import::makeConstant(Node &n, int64_t value, Type type) {
  ImportedValue imported;
  imported.type = RankedTensorType::get({}, type);
  imported.constant = makeElements(imported.type, ArrayRef<int64_t>(value));
  imported.loc = n.getLoc();
  return imported;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

bool onnx_import::join(GraphBuilder &b, Sequence &s) {
  if (s.elements)
    return true;
  SmallVector<Value> elements, shapes;
  for (Value tensor : *s.tensors) {
    elements.push_back(b.reshape(tensor, getElementCount(b.getContext(), b.dims(tensor))));
    Value extents = s.rank == 0 ? b.constantInts({}, {0}, b.i64()) : b.sizes(b.dims(tensor), b.i64());
    shapes.push_back(b.unsqueeze(extents, 0));
  }
  if (elements.empty()) {
    elements.push_back(b.constantInts({}, {0}, b.i64()));
    elements.back() = b.cast(elements.back(), s.type);
    shapes.push_back(b.constantInts({}, {0, std::max<int64_t>(s.rank, 0)}, b.i64()));
  }
  s.elements = b.concat(elements, 0);
  s.shapes = b.concat(shapes, 0);
  return !b.hasFailed();
}

bool onnx_import::setRank(Node &n, Sequence &s, int64_t rank) {
  if (s.rank == rank)
    return true;
  if (s.rank >= 0) {
    (void)n.unsupported("puts a tensor of " + Twine(rank) + " dimensions among tensors of " + Twine(s.rank) +
                        "; sequences hold tensors of one rank");
    return false;
  }
  s.rank = rank;
  if (!s.shapes)
    return !n.hasFailed();
  AffineExpr length = n.dim(s.shapes, 0), columns = n.dim(s.shapes, 1);
  if (getConstant(columns)) {
    s.shapes = n.reshape(s.shapes, {length, n.constantDim(rank)});
    return !n.hasFailed();
  }
  // For an input, the tensors must have that rank if there are any.
  AffineExpr difference = subDims(columns, n.constantDim(rank));
  n.require(mulDims(length, difference), "holds tensors of fewer than " + Twine(rank) + " dimensions");
  n.require(mulDims(length, simplifyDim(-difference)), "holds tensors of more than " + Twine(rank) + " dimensions");
  s.shapes = n.sliceAxis(s.shapes, 1, n.constantDim(0), n.constantDim(rank));
  return !n.hasFailed();
}

bool onnx_import::needRank(Node &n, Sequence &s, StringRef what) {
  if (s.rank >= 0)
    return true;
  if (s.areScalarsDeclared)
    return setRank(n, s, 0);
  (void)n.unsupported(what + " a sequence of which it is not known what its tensors' rank is");
  return false;
}

AffineExpr onnx_import::getLength(Node &n, const Sequence &s) {
  return s.tensors ? n.constantDim(static_cast<int64_t>(s.tensors->size())) : n.dim(s.shapes, 0);
}

//===----------------------------------------------------------------------===//
// Across the borders of branches and loops
//===----------------------------------------------------------------------===//

size_t onnx_import::countTensors(const ImportedValue &value) {
  if (value.sequence || value.strings)
    return 2;
  if (value.optional)
    return 1 + (value.optional->content.hasFailed() ? 0 : countTensors(value.optional->content));
  return 1;
}

std::optional<SmallVector<Value>> onnx_import::toTensors(Node &n, const ImportedValue &value) {
  SmallVector<Value> tensors;
  if (value.sequence) {
    // The sequence is copied, because the operations may be in a region that other uses do not see.
    Sequence sequence = *value.sequence;
    if (!join(n, sequence))
      return std::nullopt;
    tensors = {sequence.elements, sequence.shapes};
  } else if (value.strings) {
    tensors = {value.strings->bytes, value.strings->ends};
  } else if (value.optional) {
    ImportedValue has = value.optional->has;
    tensors.push_back(n.importer.materialize(has));
    if (!value.optional->content.hasFailed()) {
      std::optional<SmallVector<Value>> content = toTensors(n, value.optional->content);
      if (!content)
        return std::nullopt;
      tensors.append(*content);
    }
  } else {
    ImportedValue tensor = value;
    tensors.push_back(n.importer.materialize(tensor));
  }
  if (llvm::is_contained(tensors, Value()))
    return std::nullopt;
  return tensors;
}

ImportedValue onnx_import::fromTensors(Node &n, const ImportedValue &like, ArrayRef<Value> tensors) {
  if (like.sequence)
    return toImported(n, Sequence{like.sequence->type, like.sequence->rank, std::nullopt, tensors[0], tensors[1]});
  if (like.strings)
    return toImported(n, Strings{tensors[0], tensors[1]});
  if (!like.optional)
    return toImported(n, tensors[0]);
  ImportedValue content = like.optional->content;
  if (!content.hasFailed())
    content = fromTensors(n, content, tensors.drop_front());
  return toImported(n, Optional{toImported(n, tensors[0]), content});
}

std::optional<SmallVector<Value>> onnx_import::toTensorsLike(Node &n, const ImportedValue &value,
                                                             const ImportedValue &like) {
  if (value.sequence && like.sequence) {
    Sequence sequence = *value.sequence;
    if (like.sequence->rank >= 0 && !setRank(n, sequence, like.sequence->rank))
      return std::nullopt;
    return toTensors(n, toImported(n, sequence));
  }
  if (like.optional && !value.optional)
    return toTensors(n, toImported(n, Optional{makeConstant(n, 1, n.i1()), value}));
  if (value.isTensor() == like.isTensor() && countTensors(value) == countTensors(like))
    return toTensors(n, value);
  (void)n.unsupported("is a tensor here and a sequence or an optional there");
  return std::nullopt;
}

SmallVector<ImportedValue> onnx_import::fromTensorsLike(Node &n, ArrayRef<ImportedValue> likes,
                                                        ArrayRef<Value> tensors) {
  SmallVector<ImportedValue> values;
  for (const ImportedValue &like : likes) {
    size_t count = countTensors(like);
    values.push_back(fromTensors(n, like, tensors.take_front(count)));
    tensors = tensors.drop_front(count);
  }
  return values;
}
