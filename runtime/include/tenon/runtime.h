//===- runtime.h - run a compiled model ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole public interface of the runtime, in C.
//
//   tenon_artifact *artifact;
//   tenon_session *session;
//   tenon_artifact_load_file("model.tenon", NULL, &artifact, &error);
//   tenon_session_create(artifact, NULL, &session, &error);
//   tenon_session_bind_input(session, 0, &input, &error);
//   tenon_session_run(session, &error);
//   tenon_session_output(session, 0, &output, &error);
//
// An artifact is a loaded file; it never changes and any number of threads may use it at once. A session is
// what one run needs: the symbols' values, the arena, the threads. One thread at a time may use a session.
//
// Every function that can fail returns a tenon_status and, where `error` is not NULL, writes one line of
// text to it. After a failure an out parameter is unchanged, and the session can be used again.
// Strings and pointers that the runtime hands out belong to the runtime, for as long as said below.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_H
#define TENON_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The first field of each structure that may be extended: its size as the caller knows it; the runtime reads and
/// writes no further. C++ sets it automatically; in C, `tenon_memory memory = {sizeof memory};`. Options with an
/// invalid size are rejected, and so are nonzero options of a newer header.
#ifdef __cplusplus
#define TENON_STRUCT_SIZE(type) size_t size = sizeof(struct type)
#else
#define TENON_STRUCT_SIZE(type) size_t size
#endif

/// The cause of a failure. The values are the exit codes of the programs.
typedef enum tenon_status {
  TENON_OK = 0,
  TENON_INVALID = 1,     ///< the artifact or an input is at fault
  TENON_MISUSE = 2,      ///< the caller is: an index out of range, an input without data
  TENON_UNSUPPORTED = 3, ///< this machine or this runtime cannot run the artifact
  TENON_RESOURCES = 4,   ///< memory limit, memory, threads
  TENON_FAULT = 70       ///< the runtime or the compiler is
} tenon_status;

/// Memory for one message, given by the caller. One line, ends with a zero.
typedef struct tenon_error {
  char message[1024];
} tenon_error;

/// In C++ an enumeration with a fixed underlying type may have any value of that type, as in C: a file or a caller may
/// use a value without a name.
#ifdef __cplusplus
#define TENON_ENUM(name) enum name : int
#else
#define TENON_ENUM(name) enum name
#endif

/// Element types. The values are part of the artifact format.
// clang-format off
typedef TENON_ENUM(tenon_dtype) {
  TENON_F32, TENON_F64, TENON_F16, TENON_BF16,
  TENON_I8, TENON_I16, TENON_I32, TENON_I64,
  TENON_U8, TENON_U16, TENON_U32, TENON_U64,
  TENON_BOOL, ///< one byte, 0 or 1
  TENON_F8E4M3FN, TENON_F8E4M3FNUZ, TENON_F8E5M2, TENON_F8E5M2FNUZ, TENON_F8E8M0,
  TENON_I4, TENON_U4, TENON_F4E2M1, TENON_I2, TENON_U2, ///< one byte each, zeros above the bits that count
  TENON_STRING,                                         ///< not supported by this runtime
  TENON_C64, TENON_C128
} tenon_dtype;
// clang-format on

/// The part of a model's input or output that a tensor represents. A value that is not a tensor consists of several
/// consecutive ones with the same name.
typedef TENON_ENUM(tenon_role){
    TENON_ROLE_VALUE,    ///< all of it
    TENON_ROLE_ELEMENTS, ///< of a sequence: the elements of all its tensors, end to end
    TENON_ROLE_SHAPES,   ///< of a sequence: i64 [length, rank], the shape of each tensor; follows its elements
    TENON_ROLE_HAS,      ///< of an optional: a boolean, whether it holds what follows
    TENON_ROLE_BYTES,    ///< of strings: u8, UTF-8, end to end
    TENON_ROLE_ENDS      ///< of strings: i64 in the shape of the tensor, where in the bytes each ends
} tenon_role;

typedef struct tenon_artifact tenon_artifact;
typedef struct tenon_session tenon_session;

/// "0.1.0". Static.
const char *tenon_runtime_version(void);

/// Returns a static string such as "f32" or "bool"; "unknown" for an invalid value.
const char *tenon_dtype_name(tenon_dtype dtype);

/// Returns the significant bits of an element: 32, 8, 4...; 0 for an invalid value and for strings.
uint32_t tenon_dtype_bits(tenon_dtype dtype);

/// Returns the bytes of a tensor without padding; an element has at least one. UINT64_MAX if a dimension is negative,
/// the type has no size, or the product does not fit 63 bits.
uint64_t tenon_tensor_bytes(tenon_dtype dtype, uint32_t rank, const int64_t *dims);

//===----------------------------------------------------------------------===//
// Artifacts
//===----------------------------------------------------------------------===//

/// When weights are compared with their hashes. Plans and code are always verified when the artifact is loaded.
typedef enum tenon_verify {
  TENON_VERIFY_USED, ///< before a run first uses them, by all threads of the session: a run of damaged ones fails
  TENON_VERIFY_ALL,  ///< when the artifact is loaded, with every other section: it reads the whole file
  TENON_VERIFY_NONE  ///< never: damaged weights give wrong results, or a crash
} tenon_verify;

typedef struct tenon_load_options {
  TENON_STRUCT_SIZE(tenon_load_options);
  int verify; ///< of tenon_verify
  /// If not NULL, the target whose code and plans are used, by the compiler's name ("x86-64-v3"), for tests and
  /// measurements. This CPU must support it.
  const char *target;
  /// Files of plug-ins (tenon/plugin.h), which are opened if the artifact calls operators of plug-ins. Other plug-ins
  /// are searched in the folders of TENON_PLUGIN_PATH and in ../lib/tenon relative to the program.
  const char *const *plugins;
  uint32_t plugin_count;
  /// The folder of the model files that contain weights of the artifact (tenon compile --external-weights). NULL means
  /// the folder of the artifact's file.
  const char *weights_dir;
} tenon_load_options;

/// Loads the artifact at `path` and selects its first target that this CPU supports. Verifies everything that a run
/// relies on. `options` may be NULL. The caller releases `*artifact`. The file must not be modified or truncated while
/// it is loaded.
tenon_status tenon_artifact_load_file(const char *path, const tenon_load_options *options, tenon_artifact **artifact,
                                      tenon_error *error);

/// The same for an artifact of `size` bytes in memory. The weights are used in place: `bytes` must be aligned to 64 and
/// remain unchanged until the artifact is released.
tenon_status tenon_artifact_load_memory(const void *bytes, size_t size, const tenon_load_options *options,
                                        tenon_artifact **artifact, tenon_error *error);

/// Frees an artifact; every session on it must have been released before. NULL is allowed.
void tenon_artifact_release(tenon_artifact *artifact);

/// The metadata of an artifact. Strings live as long as the artifact.
typedef struct tenon_artifact_info {
  TENON_STRUCT_SIZE(tenon_artifact_info);
  const char *model;       ///< what it was compiled from
  const char *compiler;    ///< program and version that wrote it
  const char *target;      ///< what the code in use needs: "x86_64:avx2,fma"
  const char *target_name; ///< what it was compiled for: "x86-64-v3"; "" where the artifact does not say
  uint64_t source_hash;    ///< XXH3 of the model file
  uint64_t weight_bytes;
  uint64_t state_bytes; ///< of one slot
  uint32_t input_count, output_count, state_count;
  uint32_t instruction_count, kernel_count, symbol_count;
} tenon_artifact_info;

void tenon_artifact_describe(const tenon_artifact *artifact, tenon_artifact_info *info);

/// Returns what the compiler recorded for users and tools: the tolerance, measured errors, selected algorithms. A JSON
/// object of `*size` bytes that lives as long as the artifact, or "" if there is none; it is not null-terminated, and
/// only TENON_VERIFY_ALL compares it with its hash.
const char *tenon_artifact_metadata(const tenon_artifact *artifact, size_t *size);

/// One input or output. The name lives as long as the artifact.
typedef struct tenon_tensor_info {
  TENON_STRUCT_SIZE(tenon_tensor_info);
  const char *name;
  tenon_dtype dtype;
  uint32_t rank;
  tenon_role role;
} tenon_tensor_info;

/// One dimension of an input or output.
typedef struct tenon_dim_info {
  TENON_STRUCT_SIZE(tenon_dim_info);
  int64_t value;    ///< -1 where it is open
  int64_t min, max; ///< of an open dimension that is a symbol; otherwise 0 and INT64_MAX
  char text[64];    ///< "32", "N", "ceildiv(N, 2)"; ends in "..." where it is longer
} tenon_dim_info;

tenon_status tenon_artifact_input(const tenon_artifact *artifact, uint32_t input, tenon_tensor_info *info,
                                  tenon_error *error);
tenon_status tenon_artifact_output(const tenon_artifact *artifact, uint32_t output, tenon_tensor_info *info,
                                   tenon_error *error);
tenon_status tenon_artifact_input_dim(const tenon_artifact *artifact, uint32_t input, uint32_t dim,
                                      tenon_dim_info *info, tenon_error *error);
tenon_status tenon_artifact_output_dim(const tenon_artifact *artifact, uint32_t output, uint32_t dim,
                                       tenon_dim_info *info, tenon_error *error);

/// Which rows of a state are live, along its first dimension.
typedef TENON_ENUM(tenon_state_kind){
    TENON_STATE_WHOLE,   ///< all
    TENON_STATE_GROWING, ///< the first ones: none at first, up to the capacity
    TENON_STATE_RING     ///< those that were written last, as many as there is memory for
} tenon_state_kind;

/// A state, which a session keeps between runs. The structure's strings live as long as the artifact.
typedef struct tenon_state_info {
  TENON_STRUCT_SIZE(tenon_state_info);
  const char *name;
  tenon_dtype dtype;
  uint32_t rank;
  const int64_t *dims; ///< of all its memory; the first one is the capacity
  tenon_state_kind kind;
} tenon_state_info;

tenon_status tenon_artifact_state(const tenon_artifact *artifact, uint32_t state, tenon_state_info *info,
                                  tenon_error *error);

/// One instruction, for profiles and dumps. Strings live as long as the artifact.
typedef struct tenon_instruction_info {
  TENON_STRUCT_SIZE(tenon_instruction_info);
  const char *operation; ///< "launch", "copy"...
  const char *name;      ///< ONNX node names
  const char *kernel;    ///< of a launch: the entry point; otherwise ""
  uint64_t flops;        ///< of a launch where that is constant, else 0
  uint64_t bytes;        ///< that a launch reads and writes, where that is constant, else 0
} tenon_instruction_info;

/// Instructions of all programs are numbered consecutively, in the order of the programs.
tenon_status tenon_artifact_instruction(const tenon_artifact *artifact, uint32_t instruction,
                                        tenon_instruction_info *info, tenon_error *error);

/// An artifact may have several programs of one model for different sizes. The first one whose dimensions and ranges
/// match the inputs is run; the last is for all sizes of one sequence. Strings live as long as the artifact.
typedef struct tenon_program_info {
  TENON_STRUCT_SIZE(tenon_program_info);
  const char *sizes; ///< "N=128", "N=1..512"; "" for all sizes
  uint32_t first_instruction, instruction_count;
  uint32_t sequences; ///< of a run, each with states of its own; 1 without --sequences
} tenon_program_info;

/// At least 1.
uint32_t tenon_artifact_program_count(const tenon_artifact *artifact);
tenon_status tenon_artifact_program(const tenon_artifact *artifact, uint32_t program, tenon_program_info *info,
                                    tenon_error *error);

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

/// When threads in the background read weights before the first run's instructions need them.
typedef TENON_ENUM(tenon_read_ahead){
    TENON_READ_AHEAD_COLD,  ///< where they are not in the system's cache
    TENON_READ_AHEAD_NEVER, ///< each when it is used
    TENON_READ_AHEAD_ALWAYS ///< in any case
} tenon_read_ahead;

typedef struct tenon_session_options {
  TENON_STRUCT_SIZE(tenon_session_options);
  /// The number of threads that run kernels, including the calling one. 0: as many as this process may use, by its
  /// affinity mask and its cgroup's limit.
  uint32_t threads;
  /// Limit in bytes for the sum of weights, arena, state, scratch and outputs. 0: no limit.
  uint64_t memory_limit;
  /// The number of sequences that have states of their own at the same time. 0: one.
  uint32_t slots;
  uint32_t read_ahead; ///< a tenon_read_ahead
  /// The bytes of weights that the session may have in memory at a time: the others are read from the file ahead of
  /// their use in every run. Results do not change. 0: all of them. The artifact must be loaded from a file; a budget
  /// that is smaller than what a single launch reads is rejected. Sessions of one artifact share its pages, and each
  /// has a budget of its own. The memory limit counts the budget instead of the weights.
  uint64_t weight_budget;
} tenon_session_options;

/// Creates a session and starts its threads. `options` may be NULL. The artifact must outlive the session, which the
/// caller releases.
tenon_status tenon_session_create(const tenon_artifact *artifact, const tenon_session_options *options,
                                  tenon_session **session, tenon_error *error);

/// Stops the threads and frees all memory of the session. NULL is allowed.
void tenon_session_release(tenon_session *session);

/// Threads that the session uses.
uint32_t tenon_session_threads(const tenon_session *session);

/// A tensor in memory: dense, row-major, little endian, aligned to its element type. This structure will not be
/// extended.
typedef struct tenon_tensor {
  tenon_dtype dtype;
  uint32_t rank;
  const int64_t *dims; ///< `rank` values
  void *data;
} tenon_tensor;

/// Binds the memory that input `input` is read from, without copying: `tensor->data` must remain valid and unchanged
/// during a run, and is never written. The dimensions are copied. `data` may be NULL to query tenon_session_measure for
/// these sizes. A binding is valid until the next one of the same input.
tenon_status tenon_session_bind_input(tenon_session *session, uint32_t input, const tenon_tensor *tensor,
                                      tenon_error *error);

/// Binds the memory that output `output` is written to; `capacity` bytes, aligned to 64 or at least to its element
/// type. It must not overlap an input. NULL lets the runtime allocate the output again.
tenon_status tenon_session_bind_output(tenon_session *session, uint32_t output, void *data, uint64_t capacity,
                                       tenon_error *error);

#define TENON_ANY_PROGRAM UINT32_MAX

/// Makes every later run use this program, even if another one matches the sizes better: for tests and measurements.
/// TENON_ANY_PROGRAM reverts this.
tenon_status tenon_session_use_program(tenon_session *session, uint32_t program, tenon_error *error);

/// Returns the program for the sizes that are bound now.
tenon_status tenon_session_program(tenon_session *session, uint32_t *program, tenon_error *error);

/// The bytes that a run needs for the sizes that are bound now.
typedef struct tenon_memory {
  TENON_STRUCT_SIZE(tenon_memory);
  uint64_t arena;   ///< activations whose sizes are known before the run
  uint64_t heap;    ///< activations whose sizes depend on data: what they have needed so far
  uint64_t scratch; ///< of all threads together
  uint64_t weights; ///< mapped from the artifact, and in memory at one time
  uint64_t state;   ///< kept from run to run, in all slots, as if none shared rows with another
  uint64_t outputs; ///< of outputs that the caller did not bind
  uint64_t total;   ///< of all these
  uint64_t inputs;  ///< which the caller gives: not part of the total
} tenon_memory;

/// Requires every input to be bound, but not its data. Allocates nothing. If sizes are data-dependent, the result is
/// what is known before the run; a run checks the limit again whenever it learns a size.
tenon_status tenon_session_measure(tenon_session *session, tenon_memory *memory, tenon_error *error);

/// Fails with TENON_RESOURCES if the sizes that are bound now exceed the memory limit. Reserves nothing.
tenon_status tenon_session_check_limit(tenon_session *session, tenon_error *error);

/// Bounds beyond tenon_memory, for the sizes that are bound now. UINT64_MAX: unknown.
typedef struct tenon_memory_bounds {
  TENON_STRUCT_SIZE(tenon_memory_bounds);
  uint64_t arena_least;  ///< largest sum of activations that are live at once: no placement needs less
  uint64_t heap_most;    ///< what the heap can grow to, whatever the data
  uint64_t outputs_most; ///< what all outputs can grow to, those that the caller bound included
} tenon_memory_bounds;

/// Requires every input to be bound, but not its data. It is slow, because it examines all instructions.
tenon_status tenon_session_bound_memory(tenon_session *session, tenon_memory_bounds *bounds, tenon_error *error);

/// Returns the floating-point operations of an instruction, and the bytes that it reads and writes, for the sizes that
/// are bound now. Both are 0 if they are not known. `instruction` counts as in tenon_artifact_instruction; instructions
/// of programs other than the one for these sizes have none.
tenon_status tenon_session_work(tenon_session *session, uint32_t instruction, uint64_t *flops, uint64_t *bytes,
                                tenon_error *error);

/// Returns the bytes of the arena that are live at each instruction of the program for the sizes that are bound now
/// (tenon_session_program), in order; the first `count` of them. TENON_UNSUPPORTED if the plan is too large.
tenon_status tenon_session_live_bytes(tenon_session *session, uint64_t *bytes, uint32_t count, tenon_error *error);

/// Does everything that a run does before its first instruction: checks the sizes and the memory limit, and reserves
/// memory. Requires every input to be bound, but not its data. If sizes do not depend on data, preparing the largest
/// sizes once makes all later runs free of allocations. The sizes of the last few calls are cached.
tenon_status tenon_session_prepare(tenon_session *session, tenon_error *error);

/// Runs the model once. Allocates only if sizes need more memory than any run before.
tenon_status tenon_session_run(tenon_session *session, tenon_error *error);

/// Returns an output of the last run: dimensions and data are valid until the next run, binding or release.
tenon_status tenon_session_output(tenon_session *session, uint32_t output, tenon_tensor *tensor, tenon_error *error);

/// For handlers of SIGSEGV: with TENON_DEBUG_ARENA=1 in the environment, describes in `text` which instruction accesses
/// `address` beyond which buffer. Returns 0, and writes nothing, if it is not known.
int tenon_session_explain_address(const tenon_session *session, const void *address, tenon_error *text);

// States are tensors that a model keeps between runs. A session has them once for each slot, for sequences that begin
// and end independently of each other. A run that fails after it has begun leaves its slot inconsistent: the slot is
// then rejected until it is reset, restored, or the target of a fork.

/// Makes every later run use the states of this slot, which is 0 at first.
tenon_status tenon_session_use_slot(tenon_session *session, uint32_t slot, tenon_error *error);

/// In place of a slot: the sequence has no live rows before a run and none after it, and its outputs are of no use.
#define TENON_NO_SLOT UINT32_MAX
/// Makes every later run one of `count` sequences, whose states are in these slots: as many distinct ones, or
/// TENON_NO_SLOT. The model needs a program for so many sequences (tenon_program_info); inputs and outputs have the
/// batch of that program.
tenon_status tenon_session_use_slots(tenon_session *session, const uint32_t *slots, uint32_t count, tenon_error *error);

/// Returns the number of live rows of a state in a slot; its capacity if all rows are live.
tenon_status tenon_session_state_rows(tenon_session *session, uint32_t slot, uint32_t state, int64_t *rows,
                                      tenon_error *error);

/// Sets a state of a slot, all of whose rows are live (TENON_STATE_WHOLE). The tensor has the state's type and
/// dimensions, and is copied.
tenon_status tenon_session_set_state(tenon_session *session, uint32_t slot, uint32_t state, const tenon_tensor *tensor,
                                     tenon_error *error);

/// Resets the states of a slot to those of a new session.
tenon_status tenon_session_reset_slot(tenon_session *session, uint32_t slot, tenon_error *error);

/// Gives slot `to` the live rows of slot `from`; both continue independently. Large states share memory until one of
/// the two writes to it, and a slot that is forked again copies next to nothing; otherwise rows are copied.
tenon_status tenon_session_fork_slot(tenon_session *session, uint32_t from, uint32_t to, tenon_error *error);

/// Writes the live rows of a slot to a file, atomically.
tenon_status tenon_session_save_slot(tenon_session *session, uint32_t slot, const char *path, tenon_error *error);

/// Sets the states of a slot from a file. A file that was not saved for this model and these capacities, or that is
/// damaged, is rejected and changes nothing.
tenon_status tenon_session_restore_slot(tenon_session *session, uint32_t slot, const char *path, tenon_error *error);

/// Gives every later run the same random numbers, which follow from `seed`. Without this call, each run has different
/// ones.
void tenon_session_set_seed(tenon_session *session, uint64_t seed);

/// The work of one thread for one instruction; a thread that came too late to do any has no event. Times are
/// nanoseconds of CLOCK_MONOTONIC.
typedef struct tenon_profile_event {
  uint32_t instruction;
  uint32_t thread; ///< 0 is the thread that called tenon_session_run
  int64_t begin_ns, end_ns;
  int64_t tile_begin,
      tile_end; ///< of a launch: the thread's own share, of which others may have done a part; 0 otherwise
} tenon_profile_event;

/// Called on the thread that did the work, right after it, by several threads concurrently.
typedef void (*tenon_profile_fn)(void *user, const tenon_profile_event *event);

/// Reports every later run to `callback`; NULL disables this.
void tenon_session_set_profile(tenon_session *session, tenon_profile_fn callback, void *user);

#ifdef __cplusplus
}
#endif

#endif // TENON_RUNTIME_H
