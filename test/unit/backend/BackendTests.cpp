//===- BackendTests.cpp - the backends, by what they offer ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/registry/Backends.h"
#include "compiler/errors/CompileError.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <set>

using namespace mlir;
using namespace tenon;

TEST_CASE("names of backends, formats and options are each given once") {
  std::set<std::string> names, formats, options;
  for (const std::unique_ptr<Backend> &backend : getBackendRegistry().getBackends()) {
    CHECK(names.insert(backend->getName().str()).second);
    CHECK_FALSE(backend->getFormats().empty());
    for (const CodeFormat &format : backend->getFormats())
      CHECK(formats.insert(format.name).second);
    for (const BackendOption &option : backend->getOptions())
      CHECK(options.insert(option.name).second);
  }
  CHECK(formats == std::set<std::string>{"asm", "llvm", "obj", "ptx", "so", "spirv"});
}

TEST_CASE("a format leads to its backend") {
  for (const std::unique_ptr<Backend> &backend : getBackendRegistry().getBackends())
    for (const CodeFormat &format : backend->getFormats()) {
      auto [found, foundFormat] = getBackendRegistry().findFormat(format.name);
      CHECK(found == backend.get());
      CHECK(foundFormat == &format);
    }
  CHECK(getBackendRegistry().findFormat("tape").first == nullptr);
}

TEST_CASE("code of an artifact has a format of its backend") {
  unsigned count = 0;
  for (const std::unique_ptr<Backend> &backend : getBackendRegistry().getBackends())
    if (const std::string &format = backend->getCapabilities().artifactFormat; !format.empty()) {
      ++count;
      CHECK(getBackendRegistry().findFormat(format).first == backend.get());
    }
  CHECK(count > 0);
}

TEST_CASE("a target knows the backend that generates its code") {
  std::optional<Target> host = getBackendRegistry().getTarget("host");
  REQUIRE(host);
  REQUIRE(host->backend);
  CHECK(host->runsHere);
  CHECK_FALSE(host->backend->getCapabilities().artifactFormat.empty());
  CHECK_FALSE(getBackendRegistry().getTarget("abacus"));
}

TEST_CASE("a backend without a kernel library refuses kernels that are none of the module's") {
  DialectRegistry registry;
  registerDialects(registry);
  getBackendRegistry().registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> kernels = parseSourceString<ModuleOp>("module @known {}", &context);
  auto outer = ModuleOp::create(kernels->getLoc());
  outer.push_back(kernels.release());
  OwningOpRef<ModuleOp> owned(outer);
  BackendSettings settings = getBackendRegistry().getDefaultSettings();
  Target host = *getBackendRegistry().getTarget("host");
  auto runNothing = [](StringRef, ModuleOp, llvm::function_ref<void(OpPassManager &)>) {
    return llvm::Error::success();
  };
  unsigned count = 0;
  for (const std::unique_ptr<Backend> &backend : getBackendRegistry().getBackends()) {
    if (backend->getCapabilities().hasKernelLibrary)
      continue;
    ++count;
    std::vector<std::string> entries = {"known", "tenon_text_find"};
    llvm::Expected<std::vector<CodeFile>> files =
        backend->emit(outer, {host, backend->getFormats().front().name, entries, settings, runNothing});
    std::string message;
    REQUIRE_FALSE(static_cast<bool>(files));
    CHECK(takeError(files.takeError(), message) == CompileStatus::unsupported);
    CHECK_THAT(message, Catch::Contains("'tenon_text_find'"));
  }
  CHECK(count > 0);
}

TEST_CASE("a chip that does not exist is refused by name") {
  DialectRegistry registry;
  registerDialects(registry);
  getBackendRegistry().registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(UnknownLoc::get(&context));
  Target host = *getBackendRegistry().getTarget("host");
  BackendSettings settings = {{"--chip", "sm_1"}};
  auto runNothing = [](StringRef, ModuleOp, llvm::function_ref<void(OpPassManager &)>) {
    return llvm::Error::success();
  };
  llvm::Expected<std::vector<CodeFile>> files =
      getBackendRegistry().findFormat("ptx").first->emit(*kernels, {host, "ptx", {}, settings, runNothing});
  std::string message;
  REQUIRE_FALSE(static_cast<bool>(files));
  CHECK(takeError(files.takeError(), message) == CompileStatus::unsupported);
  CHECK(message == "no CUDA chip 'sm_1'; give one as sm_80 or sm_90a");
}
