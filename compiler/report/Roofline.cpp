//===- Roofline.cpp - kernels and the limits of a machine ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After Williams, Waterman and Patterson, "Roofline", 2009. Both axes are
// logarithmic. The roof is SVG that is stretched to the room there is; points and
// texts are HTML above it, which is not.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/Roofline.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Html.h"
#include "compiler/report/LaunchNames.h"
#include "compiler/report/Measurements.h"
#include "compiler/report/Meta.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>
#include <cmath>

using namespace tenon;

namespace {
struct Point {
  uint32_t kernel;
  double intensity, height;
  double share; ///< of all work or time
  std::string tooltip;
};

/// Whole decades around some values.
struct Axis {
  int begin = 0, end = 0; // exponents of ten

  void include(double value) {
    begin = std::min(begin, int(std::floor(std::log10(value))));
    end = std::max(end, int(std::ceil(std::log10(value))));
  }
  /// From 0 to 1.
  double get(double value) const { return (std::log10(value) - begin) / std::max(end - begin, 1); }
};

class RooflinePlot {
public:
  RooflinePlot(const ArtifactView &view, const Measurements *measured, llvm::raw_ostream &os)
      : view(view), plan(view.getPlan()), measured(measured), meta(readMeta(view)), os(os) {}
  void print();

private:
  void findPoints();
  void addPoint(uint32_t kernel, const RunWork &work, uint64_t whole);
  void findAxes();
  void printNote() const;
  void printRoof() const;
  void printTicks() const;
  void printPoints() const;
  bool hasTimes() const { return measured && !measured->kernels.empty(); }

  const ArtifactView &view;
  const rt::Plan &plan;
  const Measurements *measured;
  nlohmann::ordered_json meta; // that names of kernels are from
  llvm::raw_ostream &os;
  std::vector<Point> points;
  double allSeconds = 0;        // that were measured
  size_t withoutArithmetic = 0; // kernels that have no place in the plot
  bool hasOtherSizes = false;   // times were measured for others than those of the page
  Axis x, y;
};
} // namespace

static std::string percent(double part) { return llvm::formatv("{0:F2}%", 100 * part).str(); }

/// "0.01", "1", "1,000".
static std::string getPower(int exponent) {
  return exponent < 0 ? "0." + std::string(-exponent - 1, '0') + "1"
                      : groupDigits(std::llround(std::pow(10, exponent)));
}

static std::string describeRate(double flopsPerSecond) {
  return llvm::formatv("{0:F1} GFLOP/s", flopsPerSecond / 1e9).str();
}

void RooflinePlot::addPoint(uint32_t kernel, const RunWork &work, uint64_t whole) {
  uint64_t flops = work.open ? 0 : work.flops, bytes = work.open ? 0 : work.bytes;
  std::string name = getPrintable(plan.kernels[kernel].name) + ", " + nameKernel(view, meta, kernel);
  double height = 0, share = whole ? double(flops) / double(whole) : 0;
  if (hasTimes()) {
    auto time = measured->kernels.find(plan.kernels[kernel].name);
    if (time == measured->kernels.end())
      return;
    hasOtherSizes |= flops && time->second.flops != flops;
    flops = time->second.flops;
    bytes = time->second.bytes;
    share = time->second.seconds / allSeconds;
    height = double(flops) / time->second.seconds;
  }
  if (!flops || !bytes) {
    ++withoutArithmetic;
    return;
  }
  double intensity = double(flops) / double(bytes);
  std::string tooltip = name + llvm::formatv("\n{0:F2} flops/byte", intensity).str();
  if (hasTimes())
    tooltip += llvm::formatv("\n{0}, {1:F0} % of the limit\n{2:F1} % of the time", describeRate(height),
                             100 * height / measured->getLimit(intensity), 100 * share)
                   .str();
  else if (measured)
    tooltip += "\nat most " + describeRate(height = measured->getLimit(intensity));
  if (!hasTimes())
    tooltip += llvm::formatv("\n{0:F1} % of all flops", 100 * share).str();
  // The axis of shares starts at a thousandth.
  points.push_back({kernel, intensity, measured ? height / 1e9 : std::max(100 * share, 0.1), share, tooltip});
}

void RooflinePlot::findPoints() {
  std::vector<RunWork> own = view.addUpKernels();
  uint64_t whole = view.addUpWork().flops;
  if (measured)
    for (const auto &kernel : measured->kernels)
      allSeconds += kernel.second.seconds;
  for (uint32_t i = 0; i < plan.kernels.size(); ++i)
    if (own[i].launches)
      addPoint(i, own[i], whole);
  // Small ones last, so that they lie on top.
  llvm::stable_sort(points, [](const Point &a, const Point &b) { return a.share > b.share; });
}

void RooflinePlot::findAxes() {
  assert(!points.empty() && "a plot without points is not drawn");
  x = {0, 1};
  y = measured ? Axis{int(std::floor(std::log10(points.front().height))), 0} : Axis{-1, 2};
  if (measured) {
    y.end = y.begin + 1;
    y.include(measured->flopsPerSecond / 1e9);
    // The x axis includes the ridge point and a part of the compute roof.
    x.include(2 * measured->flopsPerSecond / measured->bytesPerSecond);
  }
  for (const Point &point : points) {
    x.include(point.intensity);
    y.include(point.height);
  }
}

void RooflinePlot::printNote() const {
  os << "<p class=\"note\">";
  if (hasTimes())
    os << "What kernels reach, and what the machine can do. Larger points take more of the time; those above the slope "
          "read from caches.";
  else if (measured)
    os << "Where kernels lie below the limits of the machine: on the slope memory bounds them, on the roof arithmetic. "
          "Larger points do more of the arithmetic.";
  else
    os << "Kernels by their arithmetic and how much of it they do for each byte they read and write. For the limits of "
          "a machine and what kernels reach of them: <code>tenon-run MODEL.tenon --layers --json &gt; "
          "times.json</code>, "
          "then <code>tenon inspect --measured times.json --report</code>.";
  if (measured)
    os << " Measured: " << describeRate(measured->flopsPerSecond) << " of f32 multiply-adds and "
       << llvm::formatv("{0:F1}", measured->bytesPerSecond / 1e9) << " GB/s read from memory"
       << (measured->processor.empty() ? Html() : Html(" on " + measured->processor))
       << (measured->threads ? ", " + groupDigits(measured->threads) + (measured->threads == 1 ? " thread" : " threads")
                             : "")
       << '.';
  if (hasOtherSizes)
    os << " The times are of runs with other sizes than those of this page.";
  if (withoutArithmetic)
    os << ' ' << groupDigits(withoutArithmetic) << (withoutArithmetic == 1 ? " kernel does" : " kernels do")
       << " no arithmetic, or it is not known how much.";
  os << "</p>\n";
}

/// Prints the roof over all intensities; a plot of shares has none.
void RooflinePlot::printRoof() const {
  if (!measured)
    return;
  double ridge = measured->flopsPerSecond / measured->bytesPerSecond;
  auto printPoint = [&](char command, double intensity) {
    os << command
       << llvm::formatv("{0:F2} {1:F2}", 100 * x.get(intensity),
                        100 - 100 * y.get(measured->getLimit(intensity) / 1e9));
  };
  os << "<svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path class=\"live\" d=\"";
  printPoint('M', std::pow(10, x.begin));
  printPoint('L', ridge);
  printPoint('L', std::pow(10, x.end));
  os << "\"/></svg>\n";
}

void RooflinePlot::printTicks() const {
  for (int i = x.begin; i <= x.end; ++i)
    os << "<span class=\"tick x\" style=\"left:" << percent(x.get(std::pow(10, i))) << "\">" << getPower(i)
       << "</span>\n";
  for (int i = y.begin; i <= y.end; ++i)
    os << "<span class=\"tick y\" style=\"top:" << percent(1 - y.get(std::pow(10, i))) << "\">" << getPower(i)
       << (measured ? "" : " %") << "</span>\n";
  os << "<span class=\"axis y\">" << (measured ? "GFLOP/s" : "of all flops")
     << "</span>\n<span class=\"axis x\">flops/byte</span>\n";
}

/// Prints points, and names of the largest ones that do not overlap.
void RooflinePlot::printPoints() const {
  constexpr size_t kMaxNames = 8, kMaxColumns = 30;
  std::vector<std::pair<double, double>> named;
  for (const Point &point : points) {
    double left = x.get(point.intensity), bottom = y.get(point.height), size = 8 + 20 * std::sqrt(point.share);
    std::string name = shortenFront(nameKernel(view, meta, point.kernel), kMaxColumns);
    os << "<a class=\"point\" href=\"#k" << point.kernel << "\" title=\"" << Html(point.tooltip)
       << "\" style=\"left:" << percent(left) << ";top:" << percent(1 - bottom)
       << llvm::formatv(";width:{0:F1}px;height:{0:F1}px", size) << "\"></a>\n";
    bool isFree = llvm::all_of(named, [&](const auto &other) {
      return std::abs(other.first - left) > 0.28 || std::abs(other.second - bottom) > 0.06;
    });
    if (!isFree || named.size() == kMaxNames)
      continue;
    named.emplace_back(left, bottom);
    // Towards the side with more room.
    os << "<span class=\"pointname" << (left > 0.6 ? " before" : "") << "\" style=\"left:" << percent(left)
       << ";top:" << percent(1 - bottom) << llvm::formatv(";--r:{0:F0}px", size / 2 + 4) << "\">" << Html(name)
       << "</span>\n";
  }
}

void RooflinePlot::print() {
  findPoints();
  if (points.empty())
    return;
  findAxes();
  os << beginSection("Roofline");
  printNote();
  os << "<div class=\"plot\"><div class=\"area\">\n";
  printRoof();
  printTicks();
  printPoints();
  os << "</div></div>\n</section>\n";
}

void tenon::printRoofline(const ArtifactView &view, const Measurements *measured, llvm::raw_ostream &os) {
  RooflinePlot(view, measured, os).print();
}
