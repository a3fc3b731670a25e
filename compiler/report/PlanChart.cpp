//===- PlanChart.cpp - times of plans over their errors --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/PlanChart.h"
#include "compiler/report/Html.h"
#include "compiler/report/HtmlPage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace tenon;

namespace {
/// The room that points have, in pixels.
constexpr double kLeft = 70, kTop = 20, kWidth = 640, kHeight = 360, kRight = 20, kBottom = 50;

class PlanChart {
public:
  PlanChart(llvm::ArrayRef<PlanPoint> points, double tolerance, llvm::raw_ostream &os);
  void print();

private:
  void printAxes() const;
  void printFront() const;
  void printPoint(const PlanPoint &point) const;
  double getX(double error) const {
    return kLeft + kWidth * (std::log10(std::max(error, least)) - firstDecade) / (lastDecade - firstDecade);
  }
  double getY(double milliseconds) const {
    return kTop + kHeight * (1 - (milliseconds - bottom) / std::max(top - bottom, 1e-12));
  }

  std::vector<PlanPoint> points; ///< the most exact first
  double tolerance;
  llvm::raw_ostream &os;
  double least;                   ///< where exact results stand, which have no logarithm
  double firstDecade, lastDecade; ///< exponents of ten
  double top, bottom, step;       ///< milliseconds
};
} // namespace

static double getMilliseconds(const PlanPoint &point) { return point.nanoseconds / 1e6; }

PlanChart::PlanChart(llvm::ArrayRef<PlanPoint> all, double tolerance, llvm::raw_ostream &os)
    : points(all.vec()), tolerance(tolerance), os(os) {
  assert(!points.empty() && "there is a plan to show");
  llvm::stable_sort(points, [](const PlanPoint &x, const PlanPoint &y) {
    return std::pair(x.error, x.nanoseconds) < std::pair(y.error, y.nanoseconds);
  });
  // Roundoff of f32 is as exact as a result can be.
  constexpr double kRoundoff = 1e-8;
  least = tolerance;
  double largest = tolerance;
  for (const PlanPoint &point : points) {
    least = std::min(least, std::max(point.error, kRoundoff));
    largest = std::max(largest, point.error);
  }
  firstDecade = std::floor(std::log10(least));
  lastDecade = std::max(std::ceil(std::log10(largest)), firstDecade + 1);
  auto [fastest, slowest] = std::minmax_element(
      points.begin(), points.end(), [](const auto &x, const auto &y) { return x.nanoseconds < y.nanoseconds; });
  // The axis has about six steps of 1, 2 or 5 times a power of ten.
  double range = std::max(getMilliseconds(*slowest) - getMilliseconds(*fastest), 0.05 * getMilliseconds(*slowest));
  double raw = range / 6, power = std::pow(10, std::floor(std::log10(raw)));
  step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
  bottom = std::max(std::floor(getMilliseconds(*fastest) / step - 0.5) * step, 0.0);
  top = std::ceil(getMilliseconds(*slowest) / step + 0.5) * step;
}

void PlanChart::printAxes() const {
  constexpr double kEnd = kLeft + kWidth, kFloor = kTop + kHeight;
  auto line = [&](double x1, double y1, double x2, double y2, const char *style) {
    os << llvm::formatv("<line x1='{0:F1}' y1='{1:F1}' x2='{2:F1}' y2='{3:F1}' class='{4}'/>\n", x1, y1, x2, y2, style);
  };
  auto text = [&](double x, double y, const char *anchor, llvm::StringRef content) {
    os << llvm::formatv("<text x='{0:F1}' y='{1:F1}' text-anchor='{2}'>{3}</text>\n", x, y, anchor, content);
  };
  for (int decade = int(firstDecade); decade <= int(lastDecade); ++decade) {
    double x = getX(std::pow(10, decade));
    line(x, kTop, x, kFloor, "grid");
    text(x, kFloor + 16, "middle", llvm::formatv("1e{0}", decade).str());
  }
  int numSteps = int(std::lround((top - bottom) / step));
  for (int i = 0; i <= numSteps; ++i) {
    double milliseconds = bottom + i * step;
    line(kLeft, getY(milliseconds), kEnd, getY(milliseconds), "grid");
    text(kLeft - 6, getY(milliseconds) + 4, "end", llvm::formatv("{0:F3}", milliseconds).str());
  }
  line(getX(tolerance), kTop, getX(tolerance), kFloor, "tolerance");
  text(getX(tolerance), kTop - 6, "middle", "tolerance");
  text(kLeft + kWidth / 2, kFloor + 38, "middle", "largest error of an output");
  text(kLeft - 6, kTop - 6, "end", "ms");
}

/// Prints the Pareto front as a step function.
void PlanChart::printFront() const {
  std::string path;
  double fastest = std::numeric_limits<double>::infinity();
  for (const PlanPoint &point : points) {
    if (point.nanoseconds >= fastest)
      continue;
    if (!path.empty())
      path += llvm::formatv(" H{0:F1}", getX(point.error)).str();
    path +=
        llvm::formatv("{0}{1:F1} {2:F1}", path.empty() ? "M" : " L", getX(point.error), getY(getMilliseconds(point)))
            .str();
    fastest = point.nanoseconds;
  }
  os << "<path class='front' d='" << path << "'/>\n";
}

void PlanChart::printPoint(const PlanPoint &point) const {
  std::string title = llvm::formatv("{0}: {1:F3} ms, error {2:e1}", point.label, getMilliseconds(point), point.error);
  if (!point.paths.empty())
    title += "\n" + point.paths;
  os << llvm::formatv("<circle cx='{0:F1}' cy='{1:F1}' r='{2}' class='{3}'><title>{4}</title></circle>\n",
                      getX(point.error), getY(getMilliseconds(point)), point.isChosen ? 6 : 4,
                      point.isChosen ? "chosen" : "plan", Html(title).getMarkup());
}

void PlanChart::print() {
  os << llvm::formatv("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}'>\n",
                      kLeft + kWidth + kRight, kTop + kHeight + kBottom)
     << "<style>\ntext { font: 12px sans-serif; fill: #555 }\n.grid { stroke: #8884 }\n"
        ".tolerance { stroke: #b33; stroke-dasharray: 4 3 }\n.front { fill: none; stroke: #2a7ab0 }\n"
        ".plan { fill: #2a7ab0; fill-opacity: 0.7 }\n.chosen { fill: none; stroke: #d07000; stroke-width: 2 }\n"
        "</style>\n";
  printAxes();
  printFront();
  for (const PlanPoint &point : points)
    printPoint(point);
  os << "</svg>\n";
}

void tenon::printPlanChart(llvm::ArrayRef<PlanPoint> points, double tolerance, llvm::raw_ostream &os) {
  PlanChart(points, tolerance, os).print();
}

void tenon::printPlanPage(llvm::StringRef model, llvm::ArrayRef<PlanPoint> points, double tolerance,
                          llvm::raw_ostream &os) {
  std::string content;
  llvm::raw_string_ostream page(content);
  printPlanChart(points, tolerance, page);
  HtmlTable table({"plan", ">ms", ">error", "~paths"});
  std::vector<PlanPoint> sorted = points.vec();
  llvm::stable_sort(sorted, [](const PlanPoint &x, const PlanPoint &y) { return x.nanoseconds < y.nanoseconds; });
  for (const PlanPoint &point : sorted)
    table.add({point.label, llvm::formatv("{0:F3}", getMilliseconds(point)).str(),
               llvm::formatv("{0:e1}", point.error).str(), point.paths});
  table.print(page);
  printPage(Html("Plans of ") + Html(model), content, os);
}
