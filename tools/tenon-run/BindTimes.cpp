//===- BindTimes.cpp - what it takes to bind sizes ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/BindTimes.h"

#include "tools/tenon-run/Benchmark.h"

#include <algorithm>

namespace tenon::run {

namespace {
class BindClock {
public:
  explicit BindClock(Model &model);
  Status run(BindTimes *times);

private:
  struct Port {
    tenon_tensor tensor;
    std::vector<int64_t> dims; // as they were bound
    std::vector<bool> varies;  // the dimensions that are the symbol
  };
  void chooseSymbol();
  Status bind(int64_t value, double *microseconds);
  Status medianOf(const std::vector<int64_t> &values, double *median);

  Model &model;
  std::vector<Port> ports;
  int64_t largest = 0, least = 0; // of the symbol: as it is bound, and as it may be
};
} // namespace

BindClock::BindClock(Model &model) : model(model) {
  for (uint32_t i = 0; i < model.inputs.size(); ++i)
    for (const HostTensor &tensor : model.boundTensors(i))
      ports.push_back({tensor.view(), tensor.dims, std::vector<bool>(tensor.dims.size())});
  chooseSymbol();
}

/// Selects the dynamic dimension with the largest extent, and its position.
void BindClock::chooseSymbol() {
  std::string symbol;
  size_t index = 0;
  for (const Model::Value &input : model.inputs)
    for (const Model::Port &port : input.ports) {
      const std::vector<int64_t> &dims = ports[index++].dims;
      for (size_t d = 0; d < dims.size(); ++d)
        if (port.dims[d].value < 0 && dims[d] > largest) {
          symbol = port.dims[d].text;
          largest = dims[d];
          least = std::max<int64_t>(port.dims[d].min, 1);
        }
    }
  index = 0;
  for (const Model::Value &input : model.inputs)
    for (const Model::Port &port : input.ports) {
      Port &mine = ports[index++];
      for (size_t d = 0; d < mine.dims.size(); ++d)
        mine.varies[d] = port.dims[d].value < 0 && symbol == port.dims[d].text;
    }
}

/// Binds all inputs, with `value` for the symbol, and does everything that precedes a run.
Status BindClock::bind(int64_t value, double *microseconds) {
  std::vector<std::vector<int64_t>> dims;
  for (Port &port : ports) {
    dims.push_back(port.dims);
    for (size_t d = 0; d < port.dims.size(); ++d)
      if (port.varies[d])
        dims.back()[d] = value;
    port.tensor.dims = dims.back().data();
  }
  tenon_error error;
  tenon_status code = TENON_OK;
  double begin = milliseconds();
  for (uint32_t i = 0; i < ports.size() && code == TENON_OK; ++i)
    code = tenon_session_bind_input(model.session, i, &ports[i].tensor, &error);
  if (code == TENON_OK)
    code = tenon_session_prepare(model.session, &error);
  *microseconds = (milliseconds() - begin) * 1e3;
  return code == TENON_OK ? Status() : Status::make(code, "%s", error.message);
}

Status BindClock::medianOf(const std::vector<int64_t> &values, double *median) {
  std::vector<double> times(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    TENON_TRY(bind(values[i], &times[i]));
  std::nth_element(times.begin(), times.begin() + ptrdiff_t(times.size() / 2), times.end());
  *median = times[times.size() / 2];
  return {};
}

Status BindClock::run(BindTimes *times) {
  constexpr int64_t kFresh = 100;
  constexpr int kSeen = 1000;
  std::vector<int64_t> fresh, seen;
  for (int64_t value = largest - 1; value >= least && value >= largest - kFresh; --value)
    fresh.push_back(value);
  if (fresh.empty())
    return {};
  for (int i = 0; i < kSeen; ++i)
    seen.push_back(largest - i % 2);
  // Sizes that the model rejects, because another dimension depends on this one, are no error.
  if (medianOf(fresh, &times->fresh).failed() || medianOf(seen, &times->seen).failed())
    *times = {};
  double ignored;
  return bind(largest, &ignored);
}

Status measureBinding(Model &model, BindTimes *times) { return BindClock(model).run(times); }

} // namespace tenon::run
