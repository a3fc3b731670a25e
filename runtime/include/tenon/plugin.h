//===- plugin.h - operators that a shared library computes -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole interface between Tenon and a plug-in, in C. A plug-in is a shared library, libtenon-plugin-NAME.so,
// that exports tenon_plugin_get and with it a table of operators. The compiler asks an operator for the shapes of
// its results; a model that uses one has a `host_call` instruction for it, and the runtime opens the library when it
// loads such a model. docs/Plugins.md has a complete example.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PLUGIN_H
#define TENON_PLUGIN_H

#include "tenon/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The version of this interface. Tenon only opens plug-ins of the same version.
#define TENON_PLUGIN_VERSION 1

/// Most dimensions that a tensor of an operator has.
#define TENON_PLUGIN_MAX_RANK 16

/// An extent of a result that only a run can tell.
#define TENON_DIM_UNKNOWN INT64_MIN

/// A dense row-major operand: little endian, with data aligned to 64 bytes if Tenon allocated it and to its element
/// type otherwise.
typedef struct tenon_plugin_tensor {
  tenon_dtype dtype;
  uint32_t rank;
  /// `rank` extents. At compile time, an unknown extent is negative, and equal extents have the same negative number: a
  /// shape function that copies such a number to a result states that the two are always equal.
  int64_t *dims;
  /// NULL for an omitted operand, for results in `infer`, and for operands whose values the compiler does not know.
  void *data;
  uint64_t count;         ///< elements, where all extents are known, else 0
  uint32_t element_bytes; ///< of one element
  int is_present;         ///< 0 for an optional operand that was left out; nothing else is set then
} tenon_plugin_tensor;

/// What kind of values an attribute has.
enum { TENON_ATTRIBUTE_INTS = 1, TENON_ATTRIBUTE_FLOATS = 2, TENON_ATTRIBUTE_STRING = 3 };

/// An attribute of the node. A single number is a list of one.
typedef struct tenon_plugin_attribute {
  const char *name;
  int kind;
  uint64_t count; ///< numbers, or bytes of the string
  union {
    const int64_t *ints;
    const double *floats;
    const char *string; ///< ends with a zero, which does not count
  } value;
} tenon_plugin_attribute;

/// One call of an operator. All pointers belong to Tenon and are valid until the call returns.
typedef struct tenon_plugin_call {
  size_t size; ///< of this struct: a later version may append fields
  uint32_t input_count, output_count, attribute_count;
  const tenon_plugin_tensor *inputs;
  tenon_plugin_tensor *outputs;
  const tenon_plugin_attribute *attributes;
  uint64_t memory_limit; ///< bytes that the operator should not exceed in memory of its own; 0: no limit
  char *message;         ///< where one line on a failure goes, ending with a zero
  size_t message_size;
} tenon_plugin_call;

/// Returns TENON_OK, or describes the error in `call->message`: TENON_INVALID if the model or a value is invalid,
/// TENON_UNSUPPORTED if the operator does not support it, TENON_RESOURCES if a limit is exceeded. It may be called
/// concurrently on any thread, and must not throw.
typedef tenon_status (*tenon_plugin_fn)(tenon_plugin_call *call);

typedef struct tenon_plugin_operator {
  const char *domain, *name; ///< as the ONNX node has them
  /// The shape function: sets dtype, rank and dims of each output; `dims` has room for TENON_PLUGIN_MAX_RANK. The
  /// compiler calls it with the known extents and values. If it returns TENON_DIM_UNKNOWN for an extent, a run calls it
  /// again with all extents and values, and then it must set each extent, with the same dtypes and ranks.
  tenon_plugin_fn infer;
  /// Writes every element of the outputs, whose shapes are those of `infer`. Inputs must not be written.
  tenon_plugin_fn run;
} tenon_plugin_operator;

typedef struct tenon_plugin {
  uint32_t version; ///< TENON_PLUGIN_VERSION
  uint32_t operator_count;
  size_t operator_size; ///< sizeof(tenon_plugin_operator)
  const char *name;     ///< the NAME of the file: letters, digits, '_' and '-'
  const tenon_plugin_operator *operators;
} tenon_plugin;

/// The function that a plug-in exports. Returns a static table, or NULL if it does not support `version`.
#define TENON_PLUGIN_ENTRY "tenon_plugin_get"
typedef const tenon_plugin *(*tenon_plugin_get_fn)(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif // TENON_PLUGIN_H
