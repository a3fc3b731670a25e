//===- KernelCacheTests.cpp - what makes kernels the same -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Backends.h"
#include "compiler/driver/KernelCache.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <catch2/catch.hpp>
#include <set>

using namespace mlir;
using namespace tenon;

namespace {
/// A context that knows all dialects.
struct Kernels {
  Kernels() : context(makeRegistry(), MLIRContext::Threading::DISABLED) { context.loadAllAvailableDialects(); }
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    getBackendRegistry().registerDialects(registry);
    return registry;
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    return module;
  }
  std::string fingerprint(const std::string &text, const char *target = "x86-64-v3",
                          CodeEffort effort = CodeEffort::most) {
    OwningOpRef<ModuleOp> module = parse(text);
    return fingerprintKernel(*module->getOps<func::FuncOp>().begin(), *getBackendRegistry().getTarget(target), effort);
  }

  MLIRContext context;
};
} // namespace

static std::string makeKernel(const std::string &name, const std::string &attributes = "",
                              const std::string &number = "1.0", const std::string &value = "%0",
                              const std::string &loc = "") {
  return "func.func private @" + name + "(%arg0: tensor<4xf32> {tenon.output}) -> tensor<4xf32> attributes {" +
         attributes + "tenon.kernel} {\n  " + value + " = arith.constant " + number + " : f32" + loc +
         "\n  %r = linalg.fill " + "ins(" + value +
         " : f32) outs(%arg0 : tensor<4xf32>) -> tensor<4xf32>\n  return %r : tensor<4xf32>\n}\n";
}

TEST_CASE("names, locations and what is only shown do not tell kernels apart") {
  Kernels kernels;
  std::string one = kernels.fingerprint(makeKernel("k0_fill"));
  CHECK(one.size() == 64);
  CHECK(one == kernels.fingerprint(makeKernel("k7_other")));
  CHECK(one == kernels.fingerprint(makeKernel("k0_fill", "", "1.0", "%value")));
  CHECK(one == kernels.fingerprint(makeKernel("k0_fill", "", "1.0", "%0", " loc(\"conv1\")")));
  CHECK(one == kernels.fingerprint(makeKernel("k0_fill", "tenon.path = \"direct\", tenon.paths = {direct = 384 : i64}, "
                                                         "tenon.flops = #tenon.shape<4>, ")));
}

TEST_CASE("what code follows from tells kernels apart") {
  Kernels kernels;
  std::set<std::string> all = {
      kernels.fingerprint(makeKernel("k0_fill")),
      kernels.fingerprint(makeKernel("k0_fill", "", "2.0")),
      kernels.fingerprint(makeKernel("k0_fill", "", "-1.0")),
      // The next float after 1, and zeros of both signs.
      kernels.fingerprint(makeKernel("k0_fill", "", "0x3F800001")),
      kernels.fingerprint(makeKernel("k0_fill", "", "0.0")),
      kernels.fingerprint(makeKernel("k0_fill", "", "-0.0")),
      kernels.fingerprint(makeKernel("k0_fill", "tenon.tiles = #tenon.shape<4>, ")),
      kernels.fingerprint(makeKernel("k0_fill", "tenon.tiles = #tenon.shape<5>, ")),
      kernels.fingerprint(makeKernel("k0_fill", "tenon.scratch = 64 : i64, ")),
      kernels.fingerprint(makeKernel("k0_fill"), "x86-64-v4"),
      kernels.fingerprint(makeKernel("k0_fill"), "x86-64-v2"),
      kernels.fingerprint(makeKernel("k0_fill"), "znver4"),
      kernels.fingerprint(makeKernel("k0_fill"), "aarch64"),
      kernels.fingerprint(makeKernel("k0_fill"), "x86-64-v3", CodeEffort::little),
  };
  CHECK(all.size() == 14);
}

TEST_CASE("each field of a target that code generation reads tells kernels apart") {
  Kernels kernels;
  OwningOpRef<ModuleOp> module = kernels.parse(makeKernel("k0_fill"));
  auto kernel = *module->getOps<func::FuncOp>().begin();
  Target target = *getBackendRegistry().getTarget("x86-64-v3");
  std::set<std::string> all = {fingerprintKernel(kernel, target, CodeEffort::most)};
  unsigned count = 1;
  for (auto change : {+[](Target &t) { t.triple += "x"; }, +[](Target &t) { t.cpu = "haswell"; },
                      +[](Target &t) { t.features += ",+fma4"; }, +[](Target &t) { t.needed += ",avx512f"; },
                      +[](Target &t) { t.tuneCpu = "znver3"; }, +[](Target &t) { t.machine.vectorBytes *= 2; },
                      +[](Target &t) { t.machine.vectorRegisters *= 2; }, +[](Target &t) { t.machine.l1Ways += 1; },
                      +[](Target &t) { t.machine.int8Dot = Int8Dot::vnni; }}) {
    Target changed = target;
    change(changed);
    all.insert(fingerprintKernel(kernel, changed, CodeEffort::most));
    ++count;
  }
  CHECK(all.size() == count);
  // What only decides how a kernel is tiled is in its text.
  Target other = target;
  other.machine.llcBytes *= 2;
  other.name = "host";
  CHECK(fingerprintKernel(kernel, other, CodeEffort::most) == fingerprintKernel(kernel, target, CodeEffort::most));
}

TEST_CASE("bytes of a resource tell kernels apart, though its name does not") {
  auto get = [](const std::string &bytes) {
    return Kernels().fingerprint(
        "func.func private @k() -> tensor<1xi32> attributes {tenon.kernel} {\n  %0 = arith.constant "
        "dense_resource<weight> : tensor<1xi32>\n  return %0 : tensor<1xi32>\n}\n{-#\n  dialect_resources: {\n    "
        "builtin: {\n      weight: \"0x04000000" +
        bytes + "\"\n    }\n  }\n#-}\n");
  };
  CHECK(get("01000000") == get("01000000"));
  CHECK(get("01000000") != get("02000000"));
}

TEST_CASE("kernels are taken from the cache by what they are, and their modules are emptied") {
  llvm::SmallString<128> folder;
  REQUIRE(!llvm::sys::fs::createUniqueDirectory("tenon-kernel-cache-test", folder));
  Kernels kernels;
  Target target = *getBackendRegistry().getTarget("x86-64-v3");
  auto makeModules = [&](const std::string &first, const std::string &second) {
    return kernels.parse("module @k0_fill {\n" + makeKernel("k0_fill", "", first) + "}\nmodule @k1_fill {\n" +
                         makeKernel("k1_fill", "", second) + "}\n");
  };
  {
    std::shared_ptr<KernelCache> cache = KernelCache::open(folder.str().str(), "model.onnx");
    REQUIRE(cache);
    OwningOpRef<ModuleOp> modules = makeModules("1.0", "2.0");
    KernelObjects objects = cache->take(*modules, target, CodeEffort::most, {{"k0_fill", {"node"}}});
    CHECK(objects.known.empty());
    objects.onObject("k0_fill", "first object");
    objects.onObject("k1_fill", "second object");
    cache->commit();
    CHECK(cache->getNumGenerated() == 2);
  }
  // The same kernels in another order, and one that is new.
  std::shared_ptr<KernelCache> cache = KernelCache::open(folder.str().str(), "other.onnx");
  OwningOpRef<ModuleOp> modules = makeModules("2.0", "3.0");
  KernelObjects objects = cache->take(*modules, target, CodeEffort::most, {});
  REQUIRE(objects.known.size() == 1);
  CHECK(objects.known["k0_fill"] == "second object");
  CHECK(cache->getNumTaken() == 1);
  std::vector<ModuleOp> own(modules->getOps<ModuleOp>().begin(), modules->getOps<ModuleOp>().end());
  CHECK(own[0].getOps<func::FuncOp>().empty());
  CHECK(llvm::hasSingleElement(own[1].getOps<func::FuncOp>()));
  cache->commit();
  CHECK(cache->getNote().empty());
  cache = nullptr;
  CHECK(KernelCache::open("", "model") == nullptr);
  CHECK(KernelCache::open("/proc/no-such-folder", "model") == nullptr);
  llvm::sys::fs::remove_directories(folder);
}
