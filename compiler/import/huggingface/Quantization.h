//===- Quantization.h - checkpoints whose matrices have few bits ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GPTQ (Frantar and others, https://arxiv.org/abs/2210.17323) and AWQ (Lin and others,
// https://arxiv.org/abs/2306.00978) as AutoGPTQ and AutoAWQ write them; pack-quantized and int-quantized of
// compressed-tensors; int8 of bitsandbytes.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_QUANTIZATION_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_QUANTIZATION_H

#include "compiler/import/huggingface/Config.h"
#include <cstdint>

namespace tenon::huggingface {

enum class QuantizationMethod {
  none,
  gptq,       ///< words of neighbours along `in`: [in / 8, out], with zero points and an order of `in`
  awq,        ///< words of neighbours along `out`, interleaved: [in, out / 8]
  packed,     ///< words of neighbours along `in`: [out, in / 8]
  int8,       ///< i8 [out, in] with a scale for each row or group
  int8Largest ///< i8 [out, in], and of each row the number that 127 stands for
};

/// How a checkpoint stores the weight matrices [out, in]. Matrices that are not quantized are stored as floats.
struct Quantization {
  QuantizationMethod method = QuantizationMethod::none;
  int64_t bits = 4;          ///< of a number: 4 or 8
  int64_t group = 0;         ///< neighbours along `in` that have one scale; 0: all of them
  bool isSymmetric = false;  ///< there are no zero points: packed numbers have that in the middle
  bool countsFromOne = true; ///< zero points of gptq are stored less 1
};

/// Reads `quantization_config`. Reports unsupported settings.
Quantization readQuantization(const Config &config);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_QUANTIZATION_H
