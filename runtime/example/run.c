//===- run.c - the C interface in one small program ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   tenon-example model.tenon [SIZE]
//
// Runs a model on inputs of ones and prints the first element of each output. Open dimensions become SIZE.
//
//===----------------------------------------------------------------------===//

#include "tenon/runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/// What this example must free, whatever happens.
struct example {
  tenon_artifact *artifact;
  tenon_session *session;
  void **inputs;
  tenon_artifact_info info;
};

static int fail(tenon_status status, const tenon_error *error) {
  fprintf(stderr, "error: %s\n", error->message);
  return status;
}

/// Binds input `index` to newly allocated memory, filled with ones if it is f32 and with zeros otherwise.
static int bind_ones(struct example *example, uint32_t index, int64_t open_size) {
  tenon_error error;
  tenon_tensor_info info = {sizeof info};
  tenon_status status = tenon_artifact_input(example->artifact, index, &info, &error);
  if (status != TENON_OK)
    return fail(status, &error);
  int64_t dims[64];
  for (uint32_t d = 0; d < info.rank; ++d) {
    tenon_dim_info dim = {sizeof dim};
    tenon_artifact_input_dim(example->artifact, index, d, &dim, NULL);
    dims[d] = dim.value < 0 ? open_size : dim.value;
  }
  uint64_t bytes = tenon_tensor_bytes(info.dtype, info.rank, dims);
  void *data = bytes == UINT64_MAX ? NULL : calloc(1, bytes ? bytes : 1);
  if (!data) {
    fprintf(stderr, "error: no memory for input '%s'; give a smaller size\n", info.name);
    return TENON_RESOURCES;
  }
  example->inputs[index] = data;
  if (info.dtype == TENON_F32)
    for (uint64_t i = 0; i < bytes / sizeof(float); ++i)
      ((float *)data)[i] = 1;
  tenon_tensor tensor = {info.dtype, info.rank, dims, data};
  status = tenon_session_bind_input(example->session, index, &tensor, &error);
  return status == TENON_OK ? 0 : fail(status, &error);
}

static int run(struct example *example, const char *path, int64_t open_size) {
  tenon_error error;
  tenon_status status = tenon_artifact_load_file(path, NULL, &example->artifact, &error);
  if (status == TENON_OK)
    status = tenon_session_create(example->artifact, NULL, &example->session, &error);
  if (status != TENON_OK)
    return fail(status, &error);

  example->info.size = sizeof example->info;
  tenon_artifact_describe(example->artifact, &example->info);
  example->inputs = calloc(example->info.input_count + 1, sizeof *example->inputs);
  for (uint32_t i = 0; i < example->info.input_count; ++i) {
    int code = bind_ones(example, i, open_size);
    if (code)
      return code;
  }

  tenon_memory memory = {sizeof memory};
  status = tenon_session_measure(example->session, &memory, &error);
  if (status == TENON_OK)
    status = tenon_session_run(example->session, &error);
  if (status != TENON_OK)
    return fail(status, &error);
  printf("%s: %" PRIu64 " bytes of memory\n", example->info.model, memory.total);

  for (uint32_t i = 0; i < example->info.output_count; ++i) {
    tenon_tensor_info info = {sizeof info};
    tenon_tensor output;
    tenon_artifact_output(example->artifact, i, &info, NULL);
    status = tenon_session_output(example->session, i, &output, &error);
    if (status != TENON_OK)
      return fail(status, &error);
    printf("%s: %s of %" PRIu32 " dimensions", info.name, tenon_dtype_name(output.dtype), output.rank);
    if (output.dtype == TENON_F32 && tenon_tensor_bytes(output.dtype, output.rank, output.dims))
      printf(", begins with %g", (double)*(const float *)output.data);
    printf("\n");
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count < 2) {
    fprintf(stderr, "usage: tenon-example model.tenon [SIZE]\n");
    return TENON_MISUSE;
  }
  struct example example = {0};
  int code = run(&example, arguments[1], count > 2 ? atoll(arguments[2]) : 1);
  // Sessions must be released before their artifact; inputs last, since they are used in place.
  tenon_session_release(example.session);
  tenon_artifact_release(example.artifact);
  for (uint32_t i = 0; example.inputs && i < example.info.input_count; ++i)
    free(example.inputs[i]);
  free(example.inputs);
  return code;
}
