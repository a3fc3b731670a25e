/* Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   Operators for tests of plug-ins: shapes that are static, symbolic and known to a run alone, several results, optional
   operands, attributes of each kind, and operators that break the rules. */

#include "tenon/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tenon_status fail(tenon_plugin_call *call, tenon_status status, const char *text) {
  snprintf(call->message, call->message_size, "%s", text);
  return status;
}

static const tenon_plugin_attribute *find(const tenon_plugin_call *call, const char *name) {
  for (uint32_t i = 0; i < call->attribute_count; ++i)
    if (strcmp(call->attributes[i].name, name) == 0)
      return &call->attributes[i];
  return NULL;
}

static void like(tenon_plugin_tensor *y, const tenon_plugin_tensor *x) {
  y->dtype = x->dtype;
  y->rank = x->rank;
  memcpy(y->dims, x->dims, x->rank * sizeof *x->dims);
}

/* y = x * by + sum(offsets) [+ z], f32, any shape; "mode" has to be "plain". */
static tenon_status inferScale(tenon_plugin_call *call) {
  const tenon_plugin_attribute *mode = find(call, "mode");
  if (mode && strcmp(mode->value.string, "plain") != 0)
    return fail(call, TENON_UNSUPPORTED, "Scale has no mode but plain\nand this line is none");
  if (call->inputs[0].dtype != TENON_F32)
    return fail(call, TENON_INVALID, "Scale takes f32");
  like(&call->outputs[0], &call->inputs[0]);
  return TENON_OK;
}

static tenon_status runScale(tenon_plugin_call *call) {
  const tenon_plugin_attribute *by = find(call, "by"), *offsets = find(call, "offsets");
  double factor = by ? by->value.floats[0] : 1, offset = 0;
  for (uint64_t i = 0; offsets && i < offsets->count; ++i)
    offset += (double)offsets->value.ints[i];
  int hasOther = call->input_count > 1 && call->inputs[1].is_present;
  const float *x = call->inputs[0].data, *z = hasOther ? call->inputs[1].data : NULL;
  float *y = call->outputs[0].data;
  for (uint64_t i = 0, n = call->inputs[0].count; i < n; ++i)
    y[i] = (float)(x[i] * factor + offset + (z ? z[i] : 0));
  return TENON_OK;
}

/* The elements of a vector of any type that are not zero, and their places as i64. */
static int isZero(const tenon_plugin_tensor *x, int64_t i) {
  const char *element = (const char *)x->data + (uint64_t)i * x->element_bytes;
  for (uint64_t k = 0; k < x->element_bytes; ++k)
    if (element[k])
      return 0;
  return 1;
}

static tenon_status inferCompact(tenon_plugin_call *call) {
  const tenon_plugin_tensor *x = &call->inputs[0];
  if (x->rank != 1)
    return fail(call, TENON_INVALID, "Compact takes a vector");
  int64_t count = TENON_DIM_UNKNOWN;
  if (x->data || x->dims[0] == 0) {
    count = 0;
    for (int64_t i = 0; i < x->dims[0]; ++i)
      count += !isZero(x, i);
  }
  call->outputs[0].dtype = x->dtype;
  call->outputs[1].dtype = TENON_I64;
  for (int i = 0; i < 2; ++i) {
    call->outputs[i].rank = 1;
    call->outputs[i].dims[0] = count;
  }
  return TENON_OK;
}

static tenon_status runCompact(tenon_plugin_call *call) {
  const tenon_plugin_tensor *x = &call->inputs[0];
  char *values = call->outputs[0].data;
  int64_t *places = call->outputs[1].data;
  for (int64_t i = 0; i < x->dims[0]; ++i)
    if (!isZero(x, i)) {
      memcpy(values, (const char *)x->data + (uint64_t)i * x->element_bytes, x->element_bytes);
      values += x->element_bytes;
      *places++ = i;
    }
  return TENON_OK;
}

/* A tensor of ones whose shape is the value of an i64 vector: known when compiling where that is a constant. */
static tenon_status inferOnes(tenon_plugin_call *call) {
  const tenon_plugin_tensor *shape = &call->inputs[0];
  call->outputs[0].dtype = TENON_F32;
  call->outputs[0].rank = (uint32_t)shape->dims[0];
  for (int64_t i = 0; shape->data && i < shape->dims[0]; ++i)
    call->outputs[0].dims[i] = ((const int64_t *)shape->data)[i];
  return TENON_OK;
}

static tenon_status runOnes(tenon_plugin_call *call) {
  float *y = call->outputs[0].data;
  for (uint64_t i = 0, n = call->outputs[0].count; i < n; ++i)
    y[i] = 1;
  return TENON_OK;
}

/* Breaks a rule; "what" says which one. When compiling it behaves. */
static tenon_status inferBad(tenon_plugin_call *call) {
  const char *what = find(call, "what")->value.string;
  like(&call->outputs[0], &call->inputs[0]);
  if (!call->inputs[0].data)
    call->outputs[0].dims[0] = TENON_DIM_UNKNOWN;
  if (strcmp(what, "early") == 0)
    call->outputs[0].dims[0] = -77;
  if (strcmp(what, "no type") == 0)
    call->outputs[0].dtype = TENON_STRING;
  if (!call->inputs[0].data)
    return TENON_OK;
  if (strcmp(what, "type") == 0)
    call->outputs[0].dtype = TENON_I8;
  if (strcmp(what, "negative") == 0)
    call->outputs[0].dims[0] = -1;
  if (strcmp(what, "huge") == 0)
    call->outputs[0].dims[0] = INT64_MAX;
  if (strcmp(what, "large") == 0)
    call->outputs[0].dims[0] = (int64_t)1 << 50;
  return TENON_OK;
}

static tenon_status runBad(tenon_plugin_call *call) {
  const char *what = find(call, "what")->value.string;
  if (strcmp(what, "resources") == 0)
    return fail(call, TENON_RESOURCES, "the limit 'patience' is reached");
  if (strcmp(what, "silent") == 0)
    return (tenon_status)99;
  return TENON_OK;
}

static const tenon_plugin_operator operators[] = {
    {"com.example", "Scale", inferScale, runScale},
    {"com.example", "Compact", inferCompact, runCompact},
    {"com.example", "Ones", inferOnes, runOnes},
    {"com.example", "Bad", inferBad, runBad},
    {"", "Relu", inferScale, runScale}, /* never asked for */
};

#ifndef VERSION
#define VERSION TENON_PLUGIN_VERSION
#endif
#ifndef NAME
#define NAME "example"
#endif
#ifndef COUNT
#define COUNT sizeof operators / sizeof *operators
#endif
static const tenon_plugin plugin = {VERSION, COUNT, sizeof(tenon_plugin_operator), NAME, operators};

__attribute__((visibility("default"))) const tenon_plugin *tenon_plugin_get(uint32_t version) {
  (void)version;
  return &plugin;
}
