//===- Pnm.cpp - portable bitmaps, graymaps and pixmaps -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A header of text, and samples as text or bytes. No library in use has this format alone, so it is read here.
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/image/Reader.h"

using namespace tenon::image;

namespace {
struct Pnm {
  bool isText = false, isBitmap = false;
  int channels = 1;
  uint32_t most = 1; ///< the sample that is full light
};
} // namespace

static bool isPnm(Bytes file) {
  return file.size > 2 && file.data[0] == 'P' && file.data[1] >= '1' && file.data[1] <= '6';
}

static bool isSpace(uint32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Returns the next byte that is neither space nor in a comment.
static uint32_t readSolid(Reader &r) {
  for (;;) {
    uint32_t c = r.u8();
    if (c == '#')
      while (!r.hasEnded() && c != '\n' && c != '\r')
        c = r.u8();
    if (r.hasEnded() || !isSpace(c))
      return c;
  }
}

/// Reads a number and the single space after it; returns -1 if there is none.
static int64_t readNumber(Reader &r) {
  uint32_t c = readSolid(r);
  int64_t value = 0;
  constexpr int kMaxDigits = 9;
  for (int digits = 0; digits < kMaxDigits; ++digits) {
    if (c < '0' || c > '9')
      return -1;
    value = value * 10 + (c - '0');
    if (r.left() == 0)
      return value;
    c = r.u8();
    if (isSpace(c))
      return value;
  }
  return -1;
}

static Result readPnm(Reader &r, Pnm &pnm, Header &header) {
  r.moveTo(1);
  uint32_t kind = r.u8() - '0';
  pnm.isText = kind <= 3;
  pnm.isBitmap = kind == 1 || kind == 4;
  pnm.channels = kind == 3 || kind == 6 ? 3 : 1;
  header.width = readNumber(r);
  header.height = readNumber(r);
  int64_t most = pnm.isBitmap ? 1 : readNumber(r);
  if (r.hasEnded() || most < 1 || most > 65535)
    return damaged(pnmFormat, "its header lacks a number, or has one that is not allowed");
  pnm.most = uint32_t(most);
  return {};
}

static Result measurePnm(Bytes file, Header &header) {
  Pnm pnm;
  Reader r(file, Reader::Endian::big);
  return readPnm(r, pnm, header);
}

/// As a byte, rounded half to even as Python rounds.
static uint8_t scale(uint32_t value, uint32_t most) {
  uint32_t product = value * 255, quotient = product / most, twice = product % most * 2;
  return uint8_t(quotient + (twice > most || (twice == most && quotient % 2)));
}

/// Reads the next sample as a byte; returns false if it is invalid.
static bool readSample(Reader &r, const Pnm &pnm, uint8_t &sample) {
  int64_t value;
  if (!pnm.isText)
    value = pnm.most < 256 ? r.u8() : r.u16();
  else if (pnm.isBitmap)
    value = int64_t(readSolid(r)) - '0';
  else
    value = readNumber(r);
  if (r.hasEnded() || value < 0 || (pnm.isText && value > pnm.most))
    return false;
  sample = value > pnm.most ? 255 : scale(uint32_t(value), pnm.most);
  return true;
}

static Result decodeSamples(Reader &r, const Pnm &pnm, const Canvas &canvas) {
  for (int64_t y = 0; y < canvas.height; ++y)
    for (int64_t x = 0; x < canvas.width; ++x) {
      uint8_t samples[3] = {};
      for (int channel = 0; channel < pnm.channels; ++channel)
        if (!readSample(r, pnm, samples[channel]))
          return damaged(pnmFormat, "its samples are cut short, or one is not allowed");
      // A bit that is set is black.
      if (pnm.isBitmap)
        samples[0] = uint8_t(255 - samples[0]);
      canvas.putRow(y, x, 1, samples, 3, pnm.channels == 1 ? Samples::gray : Samples::rgb);
    }
  return {};
}

static Result decodeBits(Reader &r, const Canvas &canvas) {
  for (int64_t y = 0; y < canvas.height && !r.hasEnded(); ++y) {
    uint32_t byte = 0;
    for (int64_t x = 0; x < canvas.width; ++x) {
      byte = x % 8 ? byte : r.u8();
      uint8_t light = byte >> (7 - x % 8) & 1 ? 0 : 255;
      canvas.putRow(y, x, 1, &light, 1, Samples::gray);
    }
  }
  return r.hasEnded() ? damaged(pnmFormat, "its bits are cut short") : Result();
}

static Result decodePnm(Bytes file, const Canvas &canvas) {
  Pnm pnm;
  Header header;
  Reader r(file, Reader::Endian::big);
  if (Result result = readPnm(r, pnm, header); result.failed())
    return result;
  return pnm.isBitmap && !pnm.isText ? decodeBits(r, canvas) : decodeSamples(r, pnm, canvas);
}

const Format tenon::image::pnmFormat = {"PNM", isPnm, measurePnm, decodePnm};
