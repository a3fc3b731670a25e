//===- MemoryMap.cpp - a picture of the arena over time --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rectangles are SVG, stretched to whatever room there is; all text is HTML
// beside and above them, so that it is never stretched.
//
//===----------------------------------------------------------------------===//

#include "compiler/report/MemoryMap.h"
#include "compiler/report/ArtifactView.h"
#include "compiler/report/Describe.h"
#include "compiler/report/Html.h"
#include "compiler/report/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>

using namespace tenon;

/// Buffers of the peak that the table shows.
static constexpr size_t kPeakRows = 40;

namespace {
struct Box {
  uint32_t buffer;
  rt::LiveRange range;
  uint64_t offset, size;
  bool isShared; ///< another buffer has bytes in common with it
  bool isAtPeak;
};

class MapPrinter {
public:
  MapPrinter(const ArtifactView &view, llvm::raw_ostream &os);
  void print(bool isLinked);
  void printPeak();

private:
  void findBoxes();
  void printBoxes(bool isLinked);
  void printLiveLine();
  void printLabels();
  void printAxes();
  std::string getTitle(const Box &box) const;
  std::string getNodes(uint32_t instruction) const;
  Html getWriter(uint32_t instruction) const;

  // Positions as percentages of the width and, from the top, of the height.
  double getX(double instruction) const { return 100 * instruction / double(count); }
  double getY(double bytes) const { return 100 - 100 * bytes / double(height); }

  const ArtifactView &view;
  const rt::Plan &plan;
  const rt::Liveness &liveness;
  llvm::raw_ostream &os;
  uint32_t count, peak; // instructions, and the one with the most live bytes
  uint64_t arena, height;
  std::vector<Box> boxes;
};
} // namespace

static std::string number(double value) { return llvm::formatv("{0:F2}", value).str(); }

/// "1.5 MiB".
static std::string getUnits(double bytes) {
  const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  std::string text = number(bytes);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text + " " + units[unit];
}

/// Returns 1, 2 or 5 times a power of ten, such that `most` has at most `steps` of them.
static double getRoundStep(double most, double steps) {
  double step = 1;
  assert(steps > 0 && "an axis has steps");
  for (int i = 0; step * steps < most; ++i)
    step *= i % 3 == 1 ? 2.5 : 2;
  return step;
}

/// The same for bytes, in units of 1024.
static double getByteStep(double most, double steps) {
  double unit = 1;
  while (most / unit >= 1024)
    unit *= 1024;
  return unit * getRoundStep(most / unit, steps);
}

MapPrinter::MapPrinter(const ArtifactView &view, llvm::raw_ostream &os)
    : view(view), plan(view.getPlan()), liveness(*view.getLiveness()), os(os), count(plan.instructions.size()),
      peak(liveness.peakInstruction()), arena(std::max<int64_t>(*view.getConstant(plan.arenaSize), 0)),
      height(std::max<uint64_t>(arena, 1)) {
  findBoxes();
}

void MapPrinter::findBoxes() {
  assert(liveness.groups.size() == plan.buffers.size() && liveness.ranges.size() == plan.buffers.size() &&
         "a buffer has a group and a live range");
  std::vector<uint32_t> members(plan.buffers.size());
  for (uint32_t i = 0; i < plan.buffers.size(); ++i)
    members[liveness.groups[i]] += liveness.ranges[i].isAny();
  for (auto [i, buffer] : llvm::enumerate(plan.buffers)) {
    const rt::LiveRange &range = liveness.ranges[i];
    auto offset = view.getConstant(buffer.offset), size = view.getConstant(buffer.size);
    if (buffer.hasRoom() && !(offset && size)) {
      offset = view.getConstant(buffer.start);
      size = view.getConstant(buffer.room);
    }
    if (range.isAny() && offset && size)
      boxes.push_back({uint32_t(i), range, uint64_t(*offset), uint64_t(*size), members[liveness.groups[i]] > 1,
                       range.first <= peak && peak <= range.last});
  }
  // Small ones last, so that they lie on top.
  llvm::sort(boxes,
             [](const Box &a, const Box &b) { return std::pair(b.size, a.buffer) < std::pair(a.size, b.buffer); });
}

std::string MapPrinter::getNodes(uint32_t instruction) const {
  const rt::Instruction &at = plan.instructions[instruction];
  return *at.name ? getPrintable(at.name) : fmt::kInstructions[uint32_t(at.op)].name;
}

/// Returns "#12 k3_contract". The nodes are omitted, because the buffer is named after them.
Html MapPrinter::getWriter(uint32_t index) const {
  const rt::Instruction &instruction = plan.instructions[index];
  if (instruction.op != fmt::Opcode::launch)
    return getInstructionLink(index) + " " + fmt::kInstructions[uint32_t(instruction.op)].name;
  return getInstructionLink(index) + " " +
         Html::link("k" + std::to_string(instruction.a), getPrintable(plan.kernels[instruction.a].name));
}

std::string MapPrinter::getTitle(const Box &box) const {
  return view.getBufferName(box.buffer) + "\n" + groupDigits(box.size) + " bytes at " + groupDigits(box.offset) +
         "\ninstructions " + std::to_string(box.range.first) + " to " + std::to_string(box.range.last) + "\nfirst " +
         getNodes(box.range.first) + "\nlast " + getNodes(box.range.last) +
         (box.isShared ? "\nshares bytes with other buffers" : "");
}

void MapPrinter::printBoxes(bool isLinked) {
  for (const Box &box : boxes) {
    double x = getX(box.range.first), y = getY(box.offset + box.size);
    os << "<a";
    if (isLinked)
      os << " href=\"#b" << box.buffer << '"';
    os << "><rect class=\"" << (box.isShared ? "shared" : "own") << (box.isAtPeak ? " peak" : "") << "\" x=\""
       << number(x) << "\" y=\"" << llvm::formatv("{0:F4}", y) << "\" width=\"" << number(getX(box.range.last + 1) - x)
       << "\" height=\"" << llvm::formatv("{0:F4}", getY(box.offset) - y) << "\"><title>" << Html(getTitle(box))
       << "</title></rect></a>\n";
  }
}

/// The bytes that are live, as steps.
void MapPrinter::printLiveLine() {
  os << "<path class=\"live\" d=\"";
  for (uint32_t i = 0; i < count; ++i)
    os << (i ? "L" : "M") << number(getX(i)) << ' ' << number(getY(liveness.liveBytes[i])) << 'H'
       << number(getX(i + 1));
  os << "\"/>\n<line class=\"bound\" x1=\"0\" x2=\"100\" y1=\"" << number(getY(liveness.peak())) << "\" y2=\""
     << number(getY(liveness.peak())) << "\"/>\n<line class=\"at\" x1=\"" << number(getX(peak + 0.5)) << "\" x2=\""
     << number(getX(peak + 0.5)) << "\" y1=\"0\" y2=\"100\"/>\n";
}

/// Prints names in rectangles that are large enough, for fused nodes only the first one. Names of a model differ at
/// their ends, so the style sheet truncates them at the front, as right-to-left text; the inner element restores the
/// order of the letters.
void MapPrinter::printLabels() {
  for (const Box &box : boxes) {
    double width = getX(box.range.last + 1) - getX(box.range.first),
           boxHeight = getY(box.offset) - getY(box.offset + box.size);
    if (width < 6 || boxHeight < 5)
      continue;
    os << "<span class=\"label\" style=\"left:" << number(getX(box.range.first))
       << "%;top:" << number(getY(box.offset + box.size)) << "%;width:" << number(width) << "%\">"
       << "<bdi dir=\"ltr\">" << Html(llvm::StringRef(view.getBufferName(box.buffer)).split(" + ").first)
       << "</bdi></span>\n";
  }
}

void MapPrinter::printAxes() {
  double step = getByteStep(height, 8);
  auto printTick = [&](double bytes) {
    os << "<span class=\"tick y\" style=\"top:" << number(getY(bytes)) << "%\">" << getUnits(bytes) << "</span>\n";
  };
  printTick(height);
  // Not where it would touch the one at the top.
  for (uint64_t tick = 0; getY(double(tick) * step) > 4; ++tick)
    printTick(double(tick) * step);
  os << "<span class=\"tick top\" style=\"left:clamp(4rem," << number(getX(peak + 0.5))
     << "%,calc(100% - 4rem))\">peak, instruction " << peak << "</span>\n";
  os << "<span class=\"axis y\">offset</span>\n<span class=\"axis x\">instruction</span>\n";
  step = getRoundStep(count, 10);
  for (uint64_t tick = 0; double(tick) * step < count; ++tick) {
    double i = double(tick) * step;
    os << "<span class=\"tick x\" style=\"left:" << number(getX(i + 0.5)) << "%\">" << uint64_t(i) << "</span>\n";
  }
}

void MapPrinter::printPeak() {
  if (boxes.empty())
    return;
  std::vector<const Box *> live;
  for (const Box &box : boxes)
    if (box.isAtPeak)
      live.push_back(&box);
  uint64_t most = liveness.peak();
  os << beginSection("Live at the peak") << "<p>Instruction " << peak << ", " << Html(getShortNodes(getNodes(peak)))
     << ": " << groupDigits(most) << " bytes in " << live.size() << (live.size() == 1 ? " buffer" : " buffers")
     << ". Bytes that several of them share count once.</p>\n";
  HtmlTable table({">bytes", ">of peak", ">live range", "~buffer", "written by"});
  for (const Box *box : llvm::ArrayRef(live).take_front(kPeakRows)) {
    std::string name = view.getBufferName(box->buffer);
    table.add({groupDigits(box->size),
               llvm::formatv("{0:F1} %", most ? 100.0 * double(box->size) / double(most) : 0.0).str(),
               getInstructionLink(box->range.first) + "–" + getInstructionLink(box->range.last),
               Html::link("b" + std::to_string(box->buffer), getShortNodes(name), name) +
                   (box->isShared ? " " + Html::element("small", "shares bytes") : Html()),
               getWriter(box->range.first)});
  }
  table.print(os);
  if (live.size() > kPeakRows)
    os << "<p>and " << live.size() - kPeakRows << " smaller ones</p>\n";
  os << "</section>\n";
}

void MapPrinter::print(bool isLinked) {
  if (boxes.empty()) {
    os << "<p>The arena holds nothing: no activation outlives the instruction that makes it.</p>\n";
    return;
  }
  double waste = 100.0 * (double(arena) - double(liveness.peak())) / double(height);
  os << "<p>Arena " << groupDigits(arena) << " bytes; at most " << groupDigits(liveness.peak())
     << " are live at once, at instruction " << peak
     << ", and no placement needs fewer: " << llvm::formatv("{0:F1} %", std::max(waste, 0.0))
     << " of the arena lies idle then.</p>\n"
     << "<p class=\"legend\"><span><i class=\"own\"></i>buffer</span> <span><i class=\"shared\"></i>buffer that shares "
        "bytes with another</span> <span><i class=\"own peak\"></i>live at the peak</span> <span><i "
        "class=\"live\"></i>live "
        "bytes</span> <span><i class=\"bound\"></i>peak</span></p>\n"
     << "<div class=\"map\"><div class=\"area\" style=\"min-width:" << std::clamp<uint64_t>(count / 2, 560, 4000)
     << "px\">\n"
     << "<svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"memory map\">\n";
  printBoxes(isLinked);
  printLiveLine();
  os << "</svg>\n";
  printLabels();
  printAxes();
  os << "</div></div>\n";
}

void tenon::printMemoryMap(const ArtifactView &view, llvm::raw_ostream &os, bool isLinked) {
  MapPrinter(view, os).print(isLinked);
}

void tenon::printPeak(const ArtifactView &view, llvm::raw_ostream &os) { MapPrinter(view, os).printPeak(); }
