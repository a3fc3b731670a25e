//===- Mutate.cpp - a fuzzer for builds without libFuzzer ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
//   fuzz-TARGET [--runs N] [--seed S] [--seconds T] [CORPUS...]
//
// Runs the files of the corpora, and then N inputs that are made of them: bits that
// are flipped, words that are special, parts that are cut, repeated and exchanged.
// The same seed gives the same inputs. One that crashes, or takes longer than T
// seconds, is left as crash-input in the current folder.
//
// libFuzzer sees which code an input reaches, and this does not: it is for a quick look
// in every build. tools/fuzz runs libFuzzer.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

using Bytes = std::vector<uint8_t>;

static Bytes current; ///< the input at hand, for the handler

static void keepInput(int signal) {
  int file = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  bool isKept = file >= 0 && write(file, current.data(), current.size()) == ssize_t(current.size());
  const char *text = isKept ? "the input is in crash-input\n" : "the input could not be written\n";
  (void)!write(2, text, strlen(text));
  std::signal(signal, SIG_DFL);
  raise(signal);
}

static void run(const Bytes &input, unsigned seconds) {
  current = input;
  alarm(seconds);
  LLVMFuzzerTestOneInput(current.data(), current.size());
  alarm(0);
}

static void readCorpus(const std::string &folder, std::vector<Bytes> &inputs) {
  DIR *directory = opendir(folder.c_str());
  if (!directory) {
    fprintf(stderr, "error: %s: no folder that can be read\n", folder.c_str());
    exit(2);
  }
  std::vector<std::string> names;
  while (dirent *entry = readdir(directory))
    if (entry->d_name[0] != '.')
      names.push_back(folder + "/" + entry->d_name);
  closedir(directory);
  std::sort(names.begin(), names.end());
  for (const std::string &name : names) {
    FILE *file = fopen(name.c_str(), "rb");
    if (!file)
      continue;
    Bytes &bytes = inputs.emplace_back();
    uint8_t block[4096];
    while (size_t count = fread(block, 1, sizeof block, file))
      bytes.insert(bytes.end(), block, block + count);
    fclose(file);
  }
}

using Random = std::mt19937_64;

static void changeOnce(Bytes &input, const std::vector<Bytes> &all, Random &random) {
  static const uint64_t special[] = {0,      1,          0x7f,       0x80,       0xff,      0x7fff,
                                     0xffff, 0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX};
  size_t at = input.empty() ? 0 : random() % input.size();
  size_t length = input.empty() ? 0 : std::min<size_t>(1 + random() % 16, input.size() - at);
  const Bytes &other = all[random() % all.size()];
  switch (input.empty() ? 5 : random() % 7) {
  case 0:
    input[at] ^= uint8_t(1u << random() % 8);
    break;
  case 1:
    memcpy(&input[at], &special[random() % std::size(special)], std::min<size_t>(length, 8));
    break;
  case 2:
    input[at] = uint8_t(random());
    break;
  case 3:
    input.erase(input.begin() + long(at), input.begin() + long(at + length));
    break;
  case 4: {
    Bytes part(input.begin() + long(at), input.begin() + long(at + length));
    input.insert(input.begin() + long(random() % (input.size() + 1)), part.begin(), part.end());
    break;
  }
  case 5: {
    size_t from = other.empty() ? 0 : random() % other.size(),
           count = std::min<size_t>(other.size() - from, 1 + random() % 64);
    input.insert(input.begin() + long(at), other.begin() + long(from), other.begin() + long(from + count));
    break;
  }
  case 6:
    input.resize(at);
    break;
  }
}

int main(int count, char **arguments) {
  uint64_t runs = 1000, seed = 1, seconds = 20;
  std::vector<Bytes> inputs;
  for (int i = 1; i < count; ++i) {
    std::string name = arguments[i];
    uint64_t *value = name == "--runs" ? &runs : name == "--seed" ? &seed : name == "--seconds" ? &seconds : nullptr;
    if (value && i + 1 < count)
      *value = strtoull(arguments[++i], nullptr, 10);
    else
      readCorpus(name, inputs);
  }
  if (inputs.empty())
    inputs.emplace_back();
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
    std::signal(signal, keepInput);
  for (const Bytes &input : inputs)
    run(input, unsigned(seconds));
  constexpr size_t kMaxBytes = 1 << 20;
  for (uint64_t i = 0; i < runs; ++i) {
    Random random(seed * 1'000'003 + i);
    Bytes input = inputs[random() % inputs.size()];
    for (unsigned times = 1 + random() % 6; times; --times)
      changeOnce(input, inputs, random);
    if (input.size() <= kMaxBytes)
      run(input, unsigned(seconds));
  }
  printf("%zu inputs of the corpus and %llu made of them\n", inputs.size(), (unsigned long long)runs);
  return 0;
}
