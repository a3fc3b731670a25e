//===- Plugin.cpp - ONNX's ImageDecoder, as a plug-in ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tenon/plugin.h"
#include "runtime/plugin/image/Image.h"

#include <cstdio>
#include <optional>

using namespace tenon::image;

static tenon_status fail(tenon_plugin_call *call, const Result &result) {
  snprintf(call->message, call->message_size, "%s", result.text);
  return result.status;
}

/// Reads the attribute `pixel_format`, whose default in ONNX is RGB.
static std::optional<PixelOrder> getOrder(const tenon_plugin_call *call) {
  for (uint32_t i = 0; i < call->attribute_count; ++i) {
    const tenon_plugin_attribute &attribute = call->attributes[i];
    if (strcmp(attribute.name, "pixel_format") != 0)
      continue;
    if (attribute.kind != TENON_ATTRIBUTE_STRING)
      return std::nullopt;
    const char *text = attribute.value.string;
    if (strcmp(text, "BGR") == 0)
      return PixelOrder::bgr;
    if (strcmp(text, "Grayscale") == 0)
      return PixelOrder::gray;
    return strcmp(text, "RGB") == 0 ? std::optional(PixelOrder::rgb) : std::nullopt;
  }
  return PixelOrder::rgb;
}

static Result check(const tenon_plugin_call *call) {
  const tenon_plugin_tensor *file = call->inputs;
  if (call->input_count != 1 || call->output_count != 1 || !file->is_present || file->dtype != TENON_U8 ||
      file->rank != 1)
    return Result::make(TENON_INVALID,
                        "ImageDecoder takes the bytes of a file as a vector of u8, and gives one result");
  if (!getOrder(call))
    return Result::make(TENON_INVALID, "'pixel_format' has to be RGB, BGR or Grayscale");
  return {};
}

static Bytes getFile(const tenon_plugin_call *call) {
  return {static_cast<const uint8_t *>(call->inputs[0].data), size_t(call->inputs[0].count)};
}

static tenon_status infer(tenon_plugin_call *call) {
  if (Result result = check(call); result.failed())
    return fail(call, result);
  tenon_plugin_tensor &image = call->outputs[0];
  image.dtype = TENON_U8;
  image.rank = 3;
  image.dims[0] = image.dims[1] = TENON_DIM_UNKNOWN;
  image.dims[2] = getOrder(call) == PixelOrder::gray ? 1 : 3;
  // The compiler has no file.
  if (!call->inputs[0].data)
    return TENON_OK;
  Header header;
  if (Result result = measure(getFile(call), call->memory_limit, header); result.failed())
    return fail(call, result);
  image.dims[0] = header.height;
  image.dims[1] = header.width;
  return TENON_OK;
}

static tenon_status run(tenon_plugin_call *call) {
  if (Result result = check(call); result.failed())
    return fail(call, result);
  const tenon_plugin_tensor &image = call->outputs[0];
  Canvas canvas = {static_cast<uint8_t *>(image.data), image.dims[0], image.dims[1], *getOrder(call)};
  Result result = decode(getFile(call), call->memory_limit, canvas);
  return result.failed() ? fail(call, result) : TENON_OK;
}

static const tenon_plugin_operator operators[] = {{"", "ImageDecoder", infer, run}};
static const tenon_plugin plugin = {TENON_PLUGIN_VERSION, 1, sizeof(tenon_plugin_operator), "image", operators};

extern "C" __attribute__((visibility("default"))) const tenon_plugin *tenon_plugin_get(uint32_t version) {
  return version == TENON_PLUGIN_VERSION ? &plugin : nullptr;
}
