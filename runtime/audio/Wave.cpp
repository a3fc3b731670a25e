//===- Wave.cpp - recordings in WAV files ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RIFF: chunks of a name, a size and so many bytes, padded to an even number. "fmt " says what the samples are, and
// "data" has them. IBM and Microsoft, "Multimedia Programming Interface and Data Specifications 1.0", 1991.
//
//===----------------------------------------------------------------------===//

#include "runtime/audio/Wave.h"

#include "runtime/base/MappedFile.h"

#include <cmath>
#include <cstring>

using namespace tenon::audio;

namespace {

struct Format {
  uint16_t kind = 0; ///< 1: integers, 3: floats
  uint16_t channels = 0, bits = 0;
  uint32_t rate = 0;

  uint32_t frameBytes() const { return uint32_t(channels) * (bits / 8); }
};

constexpr uint16_t kIntegers = 1, kFloats = 3; // format: WAVE_FORMAT_PCM, WAVE_FORMAT_IEEE_FLOAT
constexpr uint16_t kExtensible = 0xfffe;       // format: the kind is in the extension

/// Reads the chunks of a file in order.
class ChunkReader {
public:
  ChunkReader(const uint8_t *bytes, size_t size) : bytes(bytes), size(size) {}

  struct Chunk {
    char name[5] = {};
    const uint8_t *data = nullptr;
    size_t size = 0;
  };
  /// Returns false at the end. The last chunk may be cut off.
  bool next(Chunk &chunk) {
    if (size - place < 8)
      return false;
    uint32_t announced;
    memcpy(chunk.name, bytes + place, 4);
    memcpy(&announced, bytes + place + 4, 4);
    place += 8;
    chunk.data = bytes + place;
    chunk.size = announced < size - place ? announced : size - place;
    // A program that writes to a pipe does not know the size.
    isCutOff = announced > size - place && announced != UINT32_MAX;
    place += chunk.size;
    place += chunk.size % 2 && place < size;
    return true;
  }
  bool isLastCutOff() const { return isCutOff; }

private:
  const uint8_t *bytes;
  size_t size, place = 12; // format: after "RIFF", a size and "WAVE"
  bool isCutOff = false;
};

} // namespace

template <typename T> static T readLittle(const uint8_t *bytes) {
  T value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static Status readFormat(const ChunkReader::Chunk &chunk, Format &format) {
  constexpr size_t kPlain = 16, kExtended = 26; // format: bytes of the fields; with the kind of an extension
  if (chunk.size < kPlain)
    return Status::make(TENON_INVALID, "is damaged: its format has %zu bytes", chunk.size);
  format.kind = readLittle<uint16_t>(chunk.data);
  format.channels = readLittle<uint16_t>(chunk.data + 2);
  format.rate = readLittle<uint32_t>(chunk.data + 4);
  format.bits = readLittle<uint16_t>(chunk.data + 14);
  if (format.kind == kExtensible && chunk.size >= kExtended)
    format.kind = readLittle<uint16_t>(chunk.data + 24);
  if ((format.kind != kIntegers || format.bits != 16) && (format.kind != kFloats || format.bits != 32))
    return Status::make(TENON_UNSUPPORTED,
                        "has samples of format %u and %u bits; integers of 16 bits and floats of 32 bits are supported",
                        format.kind, format.bits);
  if (format.channels == 0 || format.rate == 0)
    return Status::make(TENON_INVALID, "is damaged: it has %u channels, and %u samples per second", format.channels,
                        format.rate);
  return {};
}

static float readSample(const Format &format, const uint8_t *bytes) {
  return format.kind == kFloats ? readLittle<float>(bytes) : float(readLittle<int16_t>(bytes)) / 32768;
}

static Status readSamples(const ChunkReader::Chunk &chunk, const Format &format, std::vector<float> &samples) {
  size_t count = chunk.size / format.frameBytes(), bytes = format.bits / 8;
  if (count == 0)
    return Status::make(TENON_INVALID, "has no samples");
  samples.resize(count);
  for (size_t i = 0; i < count; ++i) {
    float sum = 0;
    for (size_t channel = 0; channel < format.channels; ++channel)
      sum += readSample(format, chunk.data + i * format.frameBytes() + channel * bytes);
    samples[i] = sum / float(format.channels);
    if (!std::isfinite(samples[i]))
      return Status::make(TENON_INVALID, "has a sample that is no number, at %.3f s", double(i) / format.rate);
  }
  return {};
}

Status tenon::audio::parseWave(const uint8_t *bytes, size_t size, Wave &wave) {
  if (size < 12 || memcmp(bytes, "RIFF", 4) != 0 || memcmp(bytes + 8, "WAVE", 4) != 0)
    return Status::make(TENON_INVALID, "is no WAV file");
  Format format;
  ChunkReader reader(bytes, size);
  for (ChunkReader::Chunk chunk; reader.next(chunk);) {
    if (strcmp(chunk.name, "fmt ") == 0) {
      TENON_TRY(readFormat(chunk, format));
    } else if (strcmp(chunk.name, "data") == 0) {
      if (!format.channels)
        return Status::make(TENON_INVALID, "is damaged: its samples have no format");
      if (reader.isLastCutOff())
        return Status::make(TENON_INVALID, "is damaged: it ends before its last sample");
      wave.rate = format.rate;
      return readSamples(chunk, format, wave.samples);
    }
  }
  return Status::make(TENON_INVALID, "has no samples");
}

Status tenon::audio::readWave(const std::string &path, Wave &wave) {
  rt::MappedFile file;
  TENON_TRY(file.open(path.c_str()));
  Status status = parseWave(file.bytes(), file.size(), wave);
  return status.failed() ? Status::make(status.code(), "%s: %s", path.c_str(), status.message()) : Status();
}
