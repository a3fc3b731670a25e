//===- Quantization.cpp - checkpoints whose matrices have few bits --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Quantization.h"

using namespace tenon;
using namespace tenon::huggingface;

/// The bits of a number, which are 4 or 8.
static int64_t readBits(const Config &fields, const char *key) {
  int64_t bits = fields.getSize(key, 4);
  if (bits != 4 && bits != 8)
    fields.reportUnsupported(key, std::to_string(bits), "4, 8");
  return bits == 8 ? 8 : 4;
}

/// A group of -1 stands for a whole row.
static int64_t readGroup(const Config &fields) {
  return fields.getFloat("group_size", 128) == -1 ? 0 : fields.getSize("group_size", 128);
}

static Quantization readGptq(const Config &fields) {
  Quantization result{QuantizationMethod::gptq, readBits(fields, "bits"), readGroup(fields)};
  std::string format = fields.getString("checkpoint_format", "gptq");
  if (format != "gptq" && format != "gptq_v2")
    fields.reportUnsupported("checkpoint_format", format, "gptq, gptq_v2");
  result.countsFromOne = format == "gptq";
  return result;
}

static Quantization readAwq(const Config &fields) {
  Quantization result{QuantizationMethod::awq, readBits(fields, "bits"), readGroup(fields)};
  if (result.bits != 4)
    fields.reportUnsupported("bits", std::to_string(result.bits), "4");
  std::string version = fields.getString("version", "gemm");
  if (version != "gemm" && version != "GEMM")
    fields.reportUnsupported("version", version, "gemm");
  result.isSymmetric = !fields.getBool("zero_point", true);
  return result;
}

/// Reads the single supported group of layers. Layers outside of it are not quantized.
static Quantization readCompressed(const Config &fields) {
  std::string format = fields.getString("format");
  if (format != "pack-quantized" && format != "int-quantized")
    fields.reportUnsupported("format", format, "pack-quantized, int-quantized");
  Config group = fields.getObject("config_groups").getObject("group_0"), weights = group.getObject("weights");
  if (group.has("input_activations"))
    group.reportUnsupported("input_activations", "an object", "null: activations stay floats");
  if (std::string type = weights.getString("type", "int"); type != "int")
    weights.reportUnsupported("type", type, "int");
  std::string strategy = weights.getString("strategy", "channel");
  if (strategy != "group" && strategy != "channel")
    weights.reportUnsupported("strategy", strategy, "channel, group");
  if (std::string order = weights.getString("actorder"); order == "group")
    weights.reportUnsupported("actorder", order, "null, static, weight");
  Quantization result;
  result.bits = readBits(weights, "num_bits");
  result.method = format == "int-quantized" ? QuantizationMethod::int8 : QuantizationMethod::packed;
  if (result.method == QuantizationMethod::int8 && result.bits != 8)
    weights.reportUnsupported("num_bits", std::to_string(result.bits), "8");
  result.group = strategy == "group" ? weights.getSize("group_size") : 0;
  result.isSymmetric = weights.getBool("symmetric", true);
  return result;
}

Quantization huggingface::readQuantization(const Config &config) {
  if (!config.has("quantization_config"))
    return {};
  Config fields = config.getObject("quantization_config");
  std::string method = fields.getString("quant_method");
  if (method == "gptq")
    return readGptq(fields);
  if (method == "awq")
    return readAwq(fields);
  if (method == "compressed-tensors")
    return readCompressed(fields);
  if (method == "bitsandbytes" && fields.getBool("load_in_8bit", false))
    return {QuantizationMethod::int8Largest, 8};
  if (method == "bitsandbytes")
    fields.reportUnsupported("load_in_8bit", "false", "true");
  else
    fields.reportUnsupported("quant_method", method, "awq, bitsandbytes, compressed-tensors, gptq");
  return {};
}
