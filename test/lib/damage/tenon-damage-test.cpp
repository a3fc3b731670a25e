//===- tenon-damage-test.cpp - run damaged copies of an artifact ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   tenon-damage-test ARTIFACT KIND COUNT SEED
//
// Damages an artifact COUNT times and runs each copy in a process of its own:
//
//   cut    the end is missing; every other time the header agrees
//   flip   some bits anywhere
//   word   four or eight bytes anywhere become a number that is often special
//   table  some bits or words of header and table, whose hash is made right again
//   plan   some bits or words of the plans, with all hashes made right again
//
// A copy must be refused with a message, or give the bytes that the whole artifact
// gives. One whose plan is another valid plan may give others: hashes are no
// signature. Nothing may crash or hang. The last line counts; the exit code is 1
// where something was not as it must be.
//
//===----------------------------------------------------------------------===//

#include "tenon/runtime.h"
#include "test/unit/runtime/ArtifactBuilder.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace tenon;
using namespace tenon::test;

namespace {
/// What a process finds out; memory that both see.
struct Result {
  enum Kind { none, refused, ran } kind;
  uint64_t hash; ///< of all outputs
  char message[1024];
};

/// Longer than any run of the artifacts here takes, on a machine that does other things, too.
constexpr unsigned kSeconds = 20;
} // namespace

/// The dimensions of an input: the least that open ones may be, but one.
static std::vector<int64_t> chooseDims(const tenon_artifact *artifact, uint32_t input, uint32_t rank) {
  std::vector<int64_t> dims(rank);
  for (uint32_t d = 0; d < rank; ++d) {
    tenon_dim_info info;
    tenon_artifact_input_dim(artifact, input, d, &info, nullptr);
    dims[d] = info.value >= 0 ? info.value : std::min(std::max<int64_t>(info.min, 3), info.max);
  }
  return dims;
}

/// Small whole numbers, in whatever type: valid as values and, mostly, as indices.
static void fill(std::vector<uint8_t> &bytes, tenon_dtype dtype) {
  std::mt19937 random(5);
  if (dtype == TENON_F32)
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      float value = float(random() % 1000) / 500 - 1;
      memcpy(bytes.data() + i, &value, 4);
    }
  else
    for (size_t i = 0, width = std::max(1u, tenon_dtype_bits(dtype) / 8); i + width <= bytes.size(); i += width)
      bytes[i] = random() % 2;
}

static tenon_status run(const Bytes &file, Result *result) {
  tenon_error error{};
  tenon_artifact *artifact;
  tenon_session *session;
  auto fail = [&](tenon_status status) {
    memcpy(result->message, error.message, sizeof error.message);
    return status;
  };
  if (tenon_status status = tenon_artifact_load_memory(file.data(), file.size, nullptr, &artifact, &error))
    return fail(status);
  // Sizes that a damaged plan asks for need not be there.
  tenon_session_options options{sizeof options, 2, uint64_t(256) << 20, 0, 0, 0};
  if (tenon_status status = tenon_session_create(artifact, &options, &session, &error))
    return fail(status);
  tenon_session_set_seed(session, 1);
  tenon_artifact_info info;
  tenon_artifact_describe(artifact, &info);
  std::vector<std::vector<uint8_t>> values;
  for (uint32_t i = 0; i < info.input_count; ++i) {
    tenon_tensor_info input;
    tenon_artifact_input(artifact, i, &input, nullptr);
    std::vector<int64_t> dims = chooseDims(artifact, i, input.rank);
    uint64_t bytes = tenon_tensor_bytes(input.dtype, input.rank, dims.data());
    if (bytes > options.memory_limit) {
      snprintf(error.message, sizeof error.message, "input '%s' is too large", input.name);
      return fail(TENON_RESOURCES);
    }
    fill(values.emplace_back(bytes), input.dtype);
    values.back().reserve(16);
    tenon_tensor tensor{input.dtype, input.rank, dims.data(), values.back().data()};
    if (tenon_status status = tenon_session_bind_input(session, i, &tensor, &error))
      return fail(status);
  }
  if (tenon_status status = tenon_session_run(session, &error))
    return fail(status);
  for (uint32_t i = 0; i < info.output_count; ++i) {
    tenon_tensor output;
    if (tenon_status status = tenon_session_output(session, i, &output, &error))
      return fail(status);
    result->hash =
        XXH3_64bits_withSeed(output.data, tenon_tensor_bytes(output.dtype, output.rank, output.dims), result->hash);
  }
  return TENON_OK;
}

/// Runs a file in a process of its own. Returns how that ended, as waitpid says.
static int runApart(const Bytes &file, Result *result) {
  *result = {};
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    tenon_status status = run(file, result);
    result->kind = status == TENON_OK ? Result::ran : Result::refused;
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

using Random = std::mt19937_64;

static void damageWord(Bytes &file, size_t begin, size_t end, Random &random) {
  static const uint64_t special[] = {0,         1, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, uint64_t(1) << 63,
                                     INT64_MAX, 2, 64};
  size_t width = random() % 2 ? 4 : 8;
  if (end - begin < width)
    return;
  uint64_t value = random() % 2 ? special[random() % std::size(special)] : random() % 2 ? random() % 300 : random();
  memcpy(file.data() + begin + random() % (end - begin - width + 1) / 4 * 4, &value, width);
}

static void damageRange(Bytes &file, size_t begin, size_t end, Random &random) {
  for (unsigned times = 1 + random() % 4; times; --times)
    if (random() % 2)
      damageWord(file, begin, end, random);
    else
      file.data()[begin + random() % (end - begin)] ^= uint8_t(1u << random() % 8);
}

static fmt::Header headerOf(const Bytes &file) {
  fmt::Header header;
  memcpy(&header, file.data(), sizeof header);
  return header;
}

/// Makes the hash of the section table right, which may be as long as a damaged header says.
static void rehashTable(Bytes &file) {
  fmt::Header header = headerOf(file);
  uint64_t size = header.sectionCount * sizeof(fmt::Section);
  if (size <= file.size - sizeof header)
    header.tableHash = XXH3_64bits(file.data() + sizeof header, size);
  memcpy(file.data(), &header, sizeof header);
}

static Bytes damage(const Bytes &good, const std::string &kind, Random &random, unsigned round) {
  fmt::Header header = headerOf(good);
  size_t tableEnd = sizeof header + header.sectionCount * sizeof(fmt::Section);
  if (kind == "cut") {
    Bytes file = good.cut(random() % good.size);
    if (round % 2 && file.size >= sizeof header) {
      header.fileSize = file.size;
      memcpy(file.data(), &header, sizeof header);
    }
    return file;
  }
  Bytes file = good.copy();
  if (kind == "flip") {
    for (unsigned times = 1 + random() % 4; times; --times)
      file.data()[random() % file.size] ^= uint8_t(1u << random() % 8);
  } else if (kind == "word") {
    damageWord(file, 0, file.size, random);
  } else if (kind == "table") {
    damageRange(file, 0, tableEnd, random);
    rehashTable(file);
  } else if (kind == "plan") {
    std::vector<fmt::Section> plans;
    for (uint32_t i = 0; i < header.sectionCount; ++i) {
      fmt::Section section;
      memcpy(&section, file.data() + sizeof header + i * sizeof section, sizeof section);
      if (section.kind == fmt::SectionKind::plan)
        plans.push_back(section);
    }
    const fmt::Section &plan = plans[random() % plans.size()];
    damageRange(file, plan.offset, plan.offset + plan.size, random);
    rehash(file);
  } else {
    fprintf(stderr, "error: no kind '%s'\n", kind.c_str());
    exit(2);
  }
  return file;
}

int main(int count, char **arguments) {
  if (count != 5) {
    fprintf(stderr, "usage: tenon-damage-test ARTIFACT cut|flip|word|table|plan COUNT SEED\n");
    return 2;
  }
  Bytes good = readFile(arguments[1]);
  std::string kind = arguments[2];
  auto *result =
      static_cast<Result *>(mmap(nullptr, sizeof(Result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  runApart(good, result);
  if (result->kind != Result::ran) {
    fprintf(stderr, "error: the artifact itself does not run: %s\n", result->message);
    return 2;
  }
  uint64_t wanted = result->hash;
  unsigned refused = 0, equal = 0, different = 0, crashed = 0, hung = 0, silent = 0,
           rounds = unsigned(atoi(arguments[3]));
  for (unsigned round = 0; round < rounds; ++round) {
    Random random(strtoull(arguments[4], nullptr, 10) * 1'000'003 + round);
    Bytes file = damage(good, kind, random, round);
    int status = runApart(file, result);
    const char *fault = nullptr;
    if (WIFSIGNALED(status)) {
      (WTERMSIG(status) == SIGALRM ? hung : crashed) += 1;
      fault = WTERMSIG(status) == SIGALRM ? "hangs" : strsignal(WTERMSIG(status));
    } else if (result->kind == Result::refused) {
      ++refused;
      if (!result->message[0] || strchr(result->message, '\n'))
        ++silent, fault = "is refused without a line that says why";
    } else if (result->hash == wanted) {
      ++equal;
    } else {
      ++different;
      fault = kind == "plan" ? nullptr : "gives another result";
    }
    if (fault)
      printf("%s %u: %s\n", kind.c_str(), round, fault);
  }
  printf("%s: %u refused, %u equal, %u different, %u crashed, %u hung\n", kind.c_str(), refused, equal, different,
         crashed, hung);
  return crashed || hung || silent || (different && kind != "plan");
}
