//===- Pooling.cpp - one vector for a text, as sentence-transformers make it ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Pooling.h"
#include "compiler/errors/CompileError.h"
#include "compiler/import/huggingface/Config.h"
#include "compiler/import/huggingface/ModelContext.h"
#include "llvm/ADT/StringRef.h"

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

static constexpr char kModulesFile[] = "modules.json";

/// Reads the config of a Pooling module.
static void readPoolingModule(ExternalFiles &files, Report &report, const std::string &folder, Pooling &pooling) {
  std::string name = folder + "/config.json";
  llvm::Expected<std::shared_ptr<const MappedFile>> file = files.open(name);
  llvm::Expected<Json> fields = file ? parseJsonObject((*file)->getBytes()) : file.takeError();
  if (!fields)
    return report.add(prefixError(fields.takeError(), name + ", which " + kModulesFile + " names: "));
  Config config(*fields, report, "", name);
  pooling.isMean = config.getBool("pooling_mode_mean_tokens", false);
  bool isFirst = config.getBool("pooling_mode_cls_token", false);
  for (const auto &[key, value] : fields->items())
    if (llvm::StringRef(key).starts_with("pooling_mode_") && key != "pooling_mode_mean_tokens" &&
        key != "pooling_mode_cls_token")
      config.refuse(key);
  if (pooling.isMean == isFirst)
    report.add(ImportFault::unsupported,
               name + ": just one of 'pooling_mode_mean_tokens' and 'pooling_mode_cls_token' has to be true");
}

/// The field of a module, or nothing.
static std::string getField(const Json &module, const char *key) {
  auto it = module.is_object() ? module.find(key) : module.end();
  return module.is_object() && it != module.end() && it->is_string() ? it->get<std::string>() : "";
}

std::optional<Pooling> huggingface::readPooling(ExternalFiles &files, Report &report) {
  // A model without such a file has no pooling.
  std::optional<std::shared_ptr<const MappedFile>> file = llvm::expectedToOptional(files.open(kModulesFile));
  if (!file)
    return std::nullopt;
  llvm::Expected<Json> modules = parseJson((*file)->getBytes());
  if (modules && !modules->is_array())
    modules = makeError(CompileStatus::invalid, "holds no list");
  if (!modules) {
    report.add(prefixError(modules.takeError(), llvm::Twine(kModulesFile) + " "));
    return std::nullopt;
  }
  std::optional<Pooling> pooling;
  for (const Json &module : *modules) {
    std::string type = getField(module, "type");
    llvm::StringRef name = llvm::StringRef(type).rsplit('.').second;
    if (name == "Pooling")
      readPoolingModule(files, report, getField(module, "path"), pooling.emplace());
    else if (name == "Normalize" && pooling)
      pooling->isNormalized = true;
    else if (name != "Transformer")
      report.add(ImportFault::unsupported, llvm::Twine(kModulesFile) + ": a module of type '" + type +
                                               "' is not supported; known are Transformer, Pooling and Normalize");
  }
  return pooling;
}

Tensor huggingface::pool(const Tensor &tokens, const Tensor &mask, const Pooling &pooling) {
  Graph::Scope scope(*tokens.getGraph(), "pooling");
  Tensor pooled;
  if (pooling.isMean) {
    Tensor counts = unsqueeze(cast(mask, DType::f32), 2);
    pooled = sum(tokens * counts, 1) / maximum(sum(counts, 1), tokens.getGraph()->scalar(1e-9));
  } else {
    pooled = takeFirst(tokens);
  }
  if (!pooling.isNormalized)
    return pooled;
  Tensor length = sqrt(sum(pooled * pooled, 1, /*keepdims=*/true));
  return pooled / maximum(length, tokens.getGraph()->scalar(1e-12));
}
