//===- Sizes.cpp - sizes that a user asks about ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Sizes.h"
#include "compiler/report/ArtifactView.h"
#include "runtime/plan/Expressions.h"
#include "runtime/plan/Symbols.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace tenon;
using rt::Status;

namespace {
/// Assumed sizes, before they are clamped to the ranges of the symbols.
struct AssumedSizes {
  int64_t first, others;
};
} // namespace

/// limit: small enough for a map of any model, and not 1, which would make dimensions indistinguishable.
static constexpr int64_t kAssumedSize = 64;
/// The alternatives are tried in order if the plan's checks reject the earlier ones.
static constexpr AssumedSizes kAssumedSizes[] = {
    {1, kAssumedSize}, {kAssumedSize, kAssumedSize}, {INT64_MAX, INT64_MAX}};

namespace {
class SizeReader {
public:
  SizeReader(const rt::Plan &plan, PlanSizes &result) : plan(plan), result(result) {}
  Status readShape(llvm::StringRef argument);
  Status readSize(llvm::StringRef argument);
  Status refuseMissing();
  Status assumeMissing(const AssumedSizes &assumed);
  Status finish();

private:
  Status set(uint32_t symbol, int64_t value, const std::string &where);

  const rt::Plan &plan;
  PlanSizes &result;
  std::vector<std::string> origins = std::vector<std::string>(plan.symbols.size());
  std::vector<int64_t> dims = std::vector<int64_t>(plan.dims.size()); // of the inputs whose shapes are given
  std::vector<bool> isGiven = std::vector<bool>(plan.inputs.size());
};
} // namespace

/// Sets the value of a symbol; a second value must be equal.
Status SizeReader::set(uint32_t symbol, int64_t value, const std::string &where) {
  const char *name = plan.symbols[symbol].name;
  if (result.symbolKnown[symbol] && result.symbols[symbol] != value)
    return Status::make(TENON_MISUSE, "symbol '%s' is %lld in %s and %lld in %s", name,
                        static_cast<long long>(result.symbols[symbol]), origins[symbol].c_str(),
                        static_cast<long long>(value), where.c_str());
  TENON_TRY(rt::checkRange(plan.symbols[symbol], value, where.c_str()));
  result.symbols[symbol] = value;
  result.symbolKnown[symbol] = 1;
  origins[symbol] = where;
  return {};
}

Status SizeReader::readSize(llvm::StringRef argument) {
  auto [name, text] = argument.rsplit('=');
  int64_t value;
  if (text.getAsInteger(10, value) || value < 0)
    return Status::make(TENON_MISUSE, "--size: expected SYMBOL=N, got '%s'", argument.str().c_str());
  for (auto [i, symbol] : llvm::enumerate(plan.symbols))
    if (name == symbol.name && symbol.isEarly())
      return set(i, value, ("--size " + argument).str());
  return Status::make(TENON_MISUSE, "--size '%s': no input has the open dimension '%s'", argument.str().c_str(),
                      name.str().c_str());
}

Status SizeReader::readShape(llvm::StringRef argument) {
  auto [name, text] = argument.contains('=') ? argument.rsplit('=') : std::pair(llvm::StringRef(), argument);
  llvm::SmallVector<llvm::StringRef> parts;
  if (text != "scalar")
    text.split(parts, 'x');
  for (auto [index, input] : llvm::enumerate(plan.inputs)) {
    bool isMeant = name.empty() ? plan.inputs.size() == 1 : name == input.name;
    if (!isMeant || isGiven[index])
      continue;
    if (parts.size() != input.dims.count)
      return Status::make(TENON_MISUSE, "--input-shape '%s': input '%s' has %u dimensions", argument.str().c_str(),
                          input.name, input.dims.count);
    isGiven[index] = true;
    for (auto [d, part] : llvm::enumerate(parts)) {
      int64_t &dim = dims[input.dims.begin + d];
      if (part.getAsInteger(10, dim) || dim < 0)
        return Status::make(TENON_MISUSE, "--input-shape: expected a shape like 1x3x32 or scalar, got '%s'",
                            argument.str().c_str());
      const rt::Expr &expr = plan.exprs[plan.dims[input.dims.begin + d]];
      if (expr.op == rt::ExprOp::symbol)
        TENON_TRY(set(expr.a, dim, "--input-shape " + argument.str()));
    }
    return {};
  }
  return Status::make(TENON_MISUSE, "--input-shape '%s': no such input, or it has its shape already",
                      argument.str().c_str());
}

/// Sets the remaining symbols whose range has a single value.
Status SizeReader::refuseMissing() {
  for (auto [i, symbol] : llvm::enumerate(plan.symbols)) {
    if (!symbol.isEarly() || result.symbolKnown[i])
      continue;
    if (symbol.min != symbol.max)
      return Status::make(TENON_MISUSE, "symbol '%s' has no size: pass --size '%s=1', for example, or --input-shape",
                          symbol.name, symbol.name);
    TENON_TRY(set(i, symbol.max, "its range"));
  }
  return {};
}

Status SizeReader::assumeMissing(const AssumedSizes &assumed) {
  bool isFirst = true;
  for (auto [i, symbol] : llvm::enumerate(plan.symbols)) {
    if (!symbol.isEarly())
      continue;
    int64_t size = isFirst ? assumed.first : assumed.others;
    isFirst = false;
    if (result.symbolKnown[i])
      continue;
    if (size == INT64_MAX && symbol.max == INT64_MAX)
      size = kAssumedSize;
    TENON_TRY(set(i, std::clamp(size, symbol.min, symbol.max), "its range"));
    result.symbolAssumed[i] = symbol.min != symbol.max;
  }
  return {};
}

/// Evaluates all expressions, and checks the requirements.
Status SizeReader::finish() {
  rt::Known known{result.symbolKnown.data(), result.exprKnown.data()};
  TENON_TRY(rt::evaluate(plan, result.symbols.data(), 0, plan.exprs.size(), result.exprs.data(), &known));
  for (auto [i, input] : llvm::enumerate(plan.inputs))
    for (uint32_t d = input.dims.begin; d < input.dims.begin + input.dims.count; ++d)
      if (!isGiven[i])
        dims[d] = result.exprs[plan.dims[d]];
  TENON_TRY(rt::checkShapes(plan, dims.data(), result.symbols.data(), result.exprs.data()));
  for (const rt::Check &check : plan.checks)
    if (!check.inPlace && result.exprKnown[check.expr] && result.exprs[check.expr] < 0)
      return rt::requirementFails(plan, check, result.symbols.data(), nullptr);
  return {};
}

static Status evaluate(const rt::Plan &plan, const SizeArguments &arguments, const AssumedSizes *assumed,
                       PlanSizes &sizes) {
  sizes.symbols.assign(plan.symbols.size(), 0);
  sizes.symbolKnown.assign(plan.symbols.size(), 0);
  sizes.symbolAssumed.assign(plan.symbols.size(), 0);
  sizes.exprs.assign(plan.exprs.size(), 0);
  sizes.exprKnown.assign(plan.exprs.size(), 0);
  SizeReader reader(plan, sizes);
  for (const std::string &shape : arguments.shapes)
    TENON_TRY(reader.readShape(shape));
  for (const std::string &size : arguments.sizes)
    TENON_TRY(reader.readSize(size));
  TENON_TRY(assumed ? reader.assumeMissing(*assumed) : reader.refuseMissing());
  return reader.finish();
}

Status tenon::evaluateSizes(const rt::Plan &plan, const SizeArguments &arguments, MissingSizes missing,
                            PlanSizes &sizes) {
  if (missing == MissingSizes::refused)
    return evaluate(plan, arguments, nullptr, sizes);
  for (const AssumedSizes &assumed : llvm::ArrayRef(kAssumedSizes).drop_back())
    if (Status status = evaluate(plan, arguments, &assumed, sizes); !status.failed())
      return status;
  return evaluate(plan, arguments, &std::end(kAssumedSizes)[-1], sizes);
}
