//===- PlaceCommand.cpp - tenon place -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/artifact/OutputFile.h"
#include "compiler/report/Table.h"
#include "passes/memory/placement/Place.h"
#include "passes/memory/placement/Validate.h"
#include "tools/tenon/BufferFile.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <limits>
#include <nlohmann/json.hpp>

using namespace tenon;

namespace {

struct PlaceOptions {
  std::string input, output;
  double timeLimit = 0; ///< seconds; 0 for a fixed number of steps
  int64_t capacity = 0; ///< bytes; 0 for as few as can be
  bool json = false;
};

} // namespace

/// Without a time limit the number of steps is limited, to about a second, so that the result is deterministic.
static placement::Budget getBudget(double timeLimit) {
  if (timeLimit == 0)
    return placement::Budget(300'000'000);
  auto duration =
      std::chrono::duration_cast<placement::Budget::Clock::duration>(std::chrono::duration<double>(timeLimit));
  return placement::Budget(std::numeric_limits<int64_t>::max() / 4, placement::Budget::Clock::now() + duration);
}

static void printJson(const BufferFile &file, const placement::PlaceResult &result, llvm::raw_ostream &os) {
  nlohmann::json places = nlohmann::json::array();
  for (size_t i = 0; i < file.buffers.size(); ++i)
    places.push_back({{"id", file.ids[i]}, {"size", file.buffers[i].size}, {"offset", result.placement.offsets[i]}});
  nlohmann::json all = {
      {"peak", result.placement.peak}, {"lower_bound", result.lowerBound}, {"buffers", std::move(places)}};
  os << all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

static void printText(const BufferFile &file, const placement::PlaceResult &result, llvm::raw_ostream &os) {
  double sum = 0;
  for (const placement::Buffer &buffer : file.buffers)
    sum += static_cast<double>(buffer.takesPlace() ? buffer.size : 0);
  double peak = static_cast<double>(result.placement.peak), bound = static_cast<double>(result.lowerBound);
  Table table({">buffers", ">bytes of all", ">lower bound", ">peak", ">above bound"});
  table.add({groupDigits(file.buffers.size()), groupDigits(static_cast<uint64_t>(sum)),
             groupDigits(static_cast<uint64_t>(result.lowerBound)),
             groupDigits(static_cast<uint64_t>(result.placement.peak)),
             llvm::formatv("{0:F2} %", bound == 0 ? 0 : (peak / bound - 1) * 100).str()});
  table.print(os);
  os << "peak " << result.placement.peak << '\n';
}

static int report(int status, const std::string &file, const llvm::Twine &text) {
  errors() << "tenon: error: " << file << ':' << text << '\n';
  return status;
}

static int placeBuffers(const PlaceOptions &options) {
  auto bytes = llvm::MemoryBuffer::getFileOrSTDIN(options.input, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes)
    return report(1, options.input, " cannot be read: " + bytes.getError().message());
  llvm::Expected<BufferFile> file = parseBuffers((*bytes)->getBuffer());
  if (!file)
    return report(1, options.input, llvm::toString(file.takeError()));
  placement::PlaceResult result = placement::place(file->buffers, getBudget(options.timeLimit), options.capacity);
  if (auto fault = placement::findPlacementFault(file->buffers, result.placement))
    return report(70, options.input,
                  " buffers " + quoteCell(file->ids[fault->first]) + " and " + quoteCell(file->ids[fault->second]) +
                      " overlap: internal error; please report it and attach this file");
  int64_t peak = result.placement.peak;
  if (options.capacity != 0 && peak > options.capacity)
    return report(
        4, options.input,
        llvm::formatv(" the smallest arena that was found has {0} bytes, {1} more than the capacity of {2}; {3}", peak,
                      peak - options.capacity, options.capacity,
                      result.lowerBound > options.capacity
                          ? llvm::formatv("none has less than {0}", result.lowerBound).str()
                          : "a longer --time-limit may find a smaller one"));
  if (!options.output.empty())
    if (llvm::Error error = writeOutputFile(
            options.output, [&](llvm::raw_pwrite_stream &os) { printBuffers(*file, result.placement, os); }))
      return report(4, options.output, " cannot be written: " + llvm::toString(std::move(error)));
  // If the result is written to standard output, nothing else is.
  llvm::raw_ostream &os = options.output == "-" ? llvm::errs() : llvm::outs();
  (options.json ? printJson : printText)(*file, result, os);
  return 0;
}

void tenon::addPlaceCommand(CLI::App &app, int &status) {
  auto options = std::make_shared<PlaceOptions>();
  CLI::App *command = app.add_subcommand("place", "pack a list of buffers into the smallest arena");
  command
      ->add_option("buffers", options->input,
                   "CSV file with columns id, lower, upper, size and maybe alignment; each "
                   "buffer is in use at times from lower to before upper")
      ->type_name("FILE.csv")
      ->required();
  command->add_option("-o,--output", options->output, "CSV file to write, with a column offset")->type_name("FILE.csv");
  command->add_option("--time-limit", options->timeLimit, "time to search at most, instead of a fixed number of steps")
      ->check(CLI::Range(0.001, 1e6))
      ->type_name("SECONDS");
  command
      ->add_option("--capacity", options->capacity, "stop at an arena of this size; exit 4 if a larger one is needed")
      ->check(CLI::PositiveNumber)
      ->type_name("BYTES");
  command->add_flag("--json", options->json, "print JSON, with all offsets");
  command->callback([options, &status] { status = placeBuffers(*options); });
}
