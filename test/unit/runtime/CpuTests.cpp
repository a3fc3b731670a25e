//===- CpuTests.cpp - code images, CPU features, CPU counts --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/CpuCount.h"
#include "runtime/device/cpu/CodeImage.h"
#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/device/cpu/CpuNodes.h"
#include "runtime/format/Target.h"
#include "test/unit/runtime/ArtifactBuilder.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <elf.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::rt;
using namespace tenon::test;
using Catch::Matchers::Contains;

static Status parse(const Bytes &file, uint16_t machine = EM_X86_64, uint64_t pageSize = 4096) {
  ElfFile elf;
  return elf.parse(file.data(), file.size, machine, pageSize);
}

TEST_CASE("code of both processors is read on any") {
  for (auto [arch, machine, pageSize] : {std::tuple{"x86_64", EM_X86_64, 4096u}, {"aarch64", EM_AARCH64, 65536u}}) {
    Bytes file = kernelCode(arch);
    ElfFile elf;
    Status status = elf.parse(file.data(), file.size, uint16_t(machine), pageSize);
    INFO(status.message());
    REQUIRE_FALSE(status.failed());
    CHECK(elf.functions.size() == 17);
    CHECK(elf.relocations.size() == 3);
    REQUIRE(elf.find("add_f32"));
    CHECK_FALSE(elf.find("add"));
    CHECK_FALSE(elf.find(""));
    CHECK(parse(file, uint16_t(machine == EM_X86_64 ? EM_AARCH64 : EM_X86_64), pageSize).failed());
  }
}

namespace {
/// A change of one program header or dynamic entry.
struct Editor {
  Bytes file = kernelCode("x86_64");

  Elf64_Ehdr *header() { return reinterpret_cast<Elf64_Ehdr *>(file.data()); }
  Elf64_Phdr *program(unsigned type, unsigned skip = 0) {
    auto *programs = reinterpret_cast<Elf64_Phdr *>(file.data() + header()->e_phoff);
    for (unsigned i = 0; i < header()->e_phnum; ++i)
      if (programs[i].p_type == type && skip-- == 0)
        return &programs[i];
    throw std::string("no such program header");
  }
  Elf64_Dyn *dynamic(int64_t tag) {
    auto *entry = reinterpret_cast<Elf64_Dyn *>(file.data() + program(PT_DYNAMIC)->p_offset);
    while (entry->d_tag != tag)
      if ((entry++)->d_tag == DT_NULL)
        throw std::string("no such dynamic entry");
    return entry;
  }
  Elf64_Rela *relocation() {
    Elf64_Phdr *first = program(PT_LOAD);
    return reinterpret_cast<Elf64_Rela *>(file.data() + first->p_offset + dynamic(DT_RELA)->d_un.d_val -
                                          first->p_vaddr);
  }
};
} // namespace

static void refuses(const char *text, void (*damage)(Editor &)) {
  Editor editor;
  damage(editor);
  Status status = parse(editor.file);
  CHECK(status.failed());
  CHECK_THAT(status.message(), Contains(text));
}

TEST_CASE("code that must not be loaded") {
  CHECK_FALSE(parse(Editor().file).failed());
  refuses("little-endian", [](Editor &e) { e.header()->e_ident[EI_DATA] = ELFDATA2MSB; });
  refuses("expected a shared object", [](Editor &e) { e.header()->e_type = ET_EXEC; });
  refuses("program headers", [](Editor &e) { e.header()->e_phoff = UINT64_MAX - 8; });
  refuses("program headers", [](Editor &e) { e.header()->e_phnum = 60'000; });
  refuses("both writable and executable", [](Editor &e) { e.program(PT_LOAD, 1)->p_flags = PF_W | PF_X; });
  refuses("thread-local", [](Editor &e) { e.program(PT_NOTE)->p_type = PT_TLS; });
  refuses("is a program", [](Editor &e) { e.program(PT_NOTE)->p_type = PT_INTERP; });
  refuses("segment outside", [](Editor &e) { e.program(PT_LOAD)->p_offset = uint64_t(1) << 40; });
  refuses("segment outside", [](Editor &e) { e.program(PT_LOAD)->p_filesz = UINT64_MAX; });
  refuses("larger than the file allows", [](Editor &e) { e.program(PT_LOAD, 2)->p_memsz = uint64_t(1) << 40; });
  refuses("larger than the file allows", [](Editor &e) { e.program(PT_LOAD, 2)->p_vaddr = uint64_t(1) << 50; });
  refuses("overlap", [](Editor &e) { e.program(PT_LOAD, 1)->p_vaddr = 8; });
  refuses("no dynamic section", [](Editor &e) { e.program(PT_DYNAMIC)->p_type = PT_NULL; });
  refuses("dynamic section outside", [](Editor &e) { e.program(PT_DYNAMIC)->p_vaddr = uint64_t(1) << 40; });
  refuses("needs a shared library", [](Editor &e) { e.dynamic(DT_RELACOUNT)->d_tag = DT_NEEDED; });
  refuses("constructors", [](Editor &e) { e.dynamic(DT_RELACOUNT)->d_tag = DT_INIT; });
  refuses("constructors", [](Editor &e) { e.dynamic(DT_RELACOUNT)->d_tag = DT_INIT_ARRAYSZ; });
  refuses("procedure linkage", [](Editor &e) { e.dynamic(DT_RELACOUNT)->d_tag = DT_PLTRELSZ; });
  refuses("not loaded", [](Editor &e) { e.dynamic(DT_RELACOUNT)->d_tag = DT_TEXTREL; });
  refuses("relocations outside", [](Editor &e) { e.dynamic(DT_RELA)->d_un.d_val = UINT64_MAX; });
  refuses("relocations outside", [](Editor &e) { e.dynamic(DT_RELASZ)->d_un.d_val = uint64_t(1) << 60; });
  refuses("which is not writable", [](Editor &e) { e.relocation()->r_offset = 8; });
  refuses("which is not writable", [](Editor &e) { e.relocation()->r_offset = UINT64_MAX - 3; });
  refuses("outside of the code", [](Editor &e) { e.relocation()->r_addend = -1; });
  refuses("relocation of type 6 to '", [](Editor &e) { e.relocation()->r_info = ELF64_R_INFO(1, R_X86_64_GLOB_DAT); });
  refuses("symbols outside", [](Editor &e) { e.dynamic(DT_SYMTAB)->d_un.d_val = uint64_t(1) << 40; });
  refuses("symbols outside", [](Editor &e) { e.dynamic(DT_STRSZ)->d_un.d_val = uint64_t(1) << 40; });
  refuses("has no end", [](Editor &e) { e.dynamic(DT_STRSZ)->d_un.d_val = 4; });
}

TEST_CASE("code cut short or damaged anywhere never crashes the reader") {
  Bytes good = kernelCode("x86_64");
  for (size_t size = 0; size < good.size; size += size < 2048 ? 1 : 13)
    (void)parse(good.cut(size));
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    Bytes file = good.cut(good.size);
    for (unsigned flips = 1 + random() % 8; flips > 0; --flips) {
      size_t at = random() % 3 ? random() % 1100 : random() % good.size;
      file.data()[at] = uint8_t(random() % 2 ? file.data()[at] ^ 1u << random() % 8 : random());
    }
    (void)parse(file);
  }
}

TEST_CASE("a target is compared with the CPU's features") {
  CpuFeatures haswell{"x86_64", fmt::kX86Features, std::size(fmt::kX86Features)};
  for (const char *feature : {"sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "fma"})
    for (size_t i = 0; i < haswell.count; ++i)
      if (std::string(haswell.names[i]) == feature)
        haswell.present |= uint64_t(1) << i;
  CHECK_FALSE(matchTarget("x86_64:", haswell).failed());
  CHECK_FALSE(matchTarget("x86_64", haswell).failed());
  CHECK_FALSE(matchTarget("x86_64:avx2,fma", haswell).failed());
  CHECK(std::string(matchTarget("x86_64:avx2,avx512f,avx512bw", haswell).message()) ==
        "needs avx512f, this CPU has avx2");
  CHECK(std::string(matchTarget("aarch64:sve", haswell).message()) == "needs aarch64, this CPU is x86_64");
  CHECK(matchTarget("x86_64:avx2,,fma", haswell).failed());
  CHECK(matchTarget("x86_64:AVX2", haswell).failed());
  CHECK(matchTarget("x86_64:avx", CpuFeatures{"x86_64", fmt::kX86Features, std::size(fmt::kX86Features)}).failed());
}

TEST_CASE("the target that a CPU can run is the most capable one") {
  auto make = [](const char *target) {
    CpuFeatures cpu{"x86_64", fmt::kX86Features, std::size(fmt::kX86Features)};
    for (size_t i = 0; i < cpu.count; ++i)
      if (strstr(target, cpu.names[i]))
        cpu.present |= uint64_t(1) << i;
    return cpu;
  };
  const std::string v2 = "sse3 ssse3 sse4.1 sse4.2 popcnt", v3 = v2 + " avx2 fma f16c bmi bmi2 lzcnt movbe",
                    v4 = v3 + " avx512f avx512bw avx512cd avx512dq avx512vl";
  CHECK(getTarget(make("sse3")) == std::string());
  CHECK(getTarget(make(v2.c_str())) == std::string("x86-64-v2"));
  CHECK(getTarget(make((v2 + " avx2 fma").c_str())) == std::string("x86-64-v2"));
  CHECK(getTarget(make(v3.c_str())) == std::string("x86-64-v3"));
  CHECK(getTarget(make((v3 + " avx512f").c_str())) == std::string("x86-64-v3"));
  CHECK(getTarget(make(v4.c_str())) == std::string("x86-64-v4"));
  CpuFeatures arm{"aarch64", fmt::kAArch64Features, std::size(fmt::kAArch64Features), 3};
  CHECK(getTarget(arm) == std::string("aarch64"));
}

TEST_CASE("this CPU has what its architecture begins with") {
  CpuFeatures cpu = detectCpu();
#if defined(__x86_64__)
  CHECK(cpu.has(0)); // sse3
#else
  CHECK(cpu.has(1)); // asimd
#endif
}

static void writeText(const std::string &path, const std::string &text) { writeFile(path, text.data(), text.size()); }

TEST_CASE("a cgroup's limit is rounded up to CPUs") {
  std::string root = "/tmp/tenon-cgroup-test-" + std::to_string(getpid());
  for (const char *folder : {"", "/a", "/a/b", "/cpu", "/cpu/c"})
    mkdir((root + folder).c_str(), 0777);
  CHECK(cgroupCpus("0::/a/b\n", root.c_str()) == UINT32_MAX);
  writeText(root + "/a/b/cpu.max", "max 100000\n");
  CHECK(cgroupCpus("0::/a/b\n", root.c_str()) == UINT32_MAX);
  writeText(root + "/a/cpu.max", "250000 100000\n");
  CHECK(cgroupCpus("0::/a/b\n", root.c_str()) == 3);
  writeText(root + "/a/b/cpu.max", "50000 100000\n");
  CHECK(cgroupCpus("0::/a/b\n", root.c_str()) == 1);
  CHECK(cgroupCpus("0::/\n", root.c_str()) == UINT32_MAX);
  writeText(root + "/cpu/c/cpu.cfs_quota_us", "400000\n");
  writeText(root + "/cpu/c/cpu.cfs_period_us", "100000\n");
  CHECK(cgroupCpus("5:memory:/x\n4:cpu,cpuacct:/c\n0::/\n", root.c_str()) == 4);
  CHECK(cgroupCpus("4:cpuset:/c\n", root.c_str()) == UINT32_MAX);
  CHECK(cgroupCpus("", root.c_str()) == UINT32_MAX);
  CHECK(cgroupCpus("nonsense\n::\n0:", root.c_str()) == UINT32_MAX);
  for (const char *file : {"/a/b/cpu.max", "/a/cpu.max", "/cpu/c/cpu.cfs_quota_us", "/cpu/c/cpu.cfs_period_us"})
    unlink((root + file).c_str());
  for (const char *folder : {"/cpu/c", "/cpu", "/a/b", "/a", ""})
    rmdir((root + folder).c_str());
  CHECK(usableCpus() >= 1);
}

static void writeList(const std::string &root, const char *node, const char *text) {
  mkdir((root + "/" + node).c_str(), 0700);
  writeFile(root + "/" + node + "/cpulist", text, strlen(text));
}

TEST_CASE("threads share out the CPUs of nodes") {
  char folder[] = "/tmp/tenon-nodes-XXXXXX";
  std::string root = mkdtemp(folder);
  writeList(root, "node0", "0-3,8-11\n");
  writeList(root, "node1", "4-7,12\n");
  writeList(root, "node2", "\n"); // memory alone
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  for (int cpu : {2, 3, 8, 9, 4, 5, 12})
    CPU_SET(cpu, &allowed);
  CpuNodes nodes = readCpuNodes(root.c_str(), allowed);
  REQUIRE(nodes.nodes.size() == 2);
  CHECK(CPU_COUNT(&nodes.nodes[0]) == 4);
  CHECK(CPU_COUNT(&nodes.nodes[1]) == 3);
  CHECK(CPU_ISSET(12, &nodes.nodes[1]));
  for (uint32_t thread = 0; thread < 7; ++thread)
    CHECK(nodes.cpusFor(thread, 7) == &nodes.nodes[thread < 4 ? 0 : 1]);
  CHECK(nodes.cpusFor(0, 2) == &nodes.nodes[0]);
  CHECK(nodes.cpusFor(1, 2) == &nodes.nodes[0]);
  CHECK(nodes.cpusFor(0, 8) == nullptr);
  // One node, or nothing that is known of nodes: nothing to keep apart.
  CPU_CLR(4, &allowed), CPU_CLR(5, &allowed), CPU_CLR(12, &allowed);
  CHECK(readCpuNodes(root.c_str(), allowed).cpusFor(0, 2) == nullptr);
  CHECK(readCpuNodes("/nowhere", allowed).cpusFor(0, 2) == nullptr);
  for (const char *node : {"node0", "node1", "node2"}) {
    unlink((root + "/" + node + "/cpulist").c_str());
    rmdir((root + "/" + node).c_str());
  }
  rmdir(root.c_str());
}
