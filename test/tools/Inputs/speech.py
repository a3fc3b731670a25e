# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""A tiny speech model of bytes: speech.py FOLDER [FIELD=JSON...] writes it, with these fields in generation_config.json, and beside
it the inputs features.npy, none.npy (no recording) and short.npy, which is too short, and recordings: speech.wav, which fits, long.wav with
half a second more, and fast.wav with another sampling rate."""

import json
import os
import sys
import wave

sys.dont_write_bytecode = True
folder = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [folder, os.path.join(folder, "..", "..", "e2e")]

import huggingface
import whisper
from generate import writeTokenizer
from safetensors_writer import writeFile
from tensors import Tensor, randoms, writeNpy

SPECIALS = ["<|end|>", "<|start|>", "<|en|>", "<|de|>", "<|transcribe|>", "<|notimestamps|>"]
CONFIG = {
    **huggingface.WHISPER, "vocab_size": 256 + len(SPECIALS), "max_source_positions": 7, "max_target_positions": 40, "decoder_start_token_id": 257,
    "eos_token_id": 256, "tie_word_embeddings": False,
}  # fmt: skip


def writeWave(path, count, rate=16000):
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(b"".join((i * 7919 % 20011 - 10000).to_bytes(2, "little", signed=True) for i in range(count)))


def main(folder, *fields):
    huggingface.writeFolder(huggingface.Model(CONFIG, huggingface.whisper, whisper.Lively(CONFIG)), folder)
    writeTokenizer(folder, SPECIALS)
    if fields:
        writeFile(folder, "generation_config.json", {key: json.loads(value) for key, value in (field.split("=", 1) for field in fields)})
    bands, columns = CONFIG["num_mel_bins"], 2 * CONFIG["max_source_positions"]
    writeNpy("features.npy", randoms("features", 1, bands, columns))
    writeNpy("none.npy", Tensor((0, bands, columns), []))
    writeNpy("short.npy", randoms("short", 1, bands, columns - 2))
    writeWave("speech.wav", 160 * columns)
    writeWave("long.wav", 160 * columns + 8000)
    writeWave("fast.wav", 160 * columns, 44100)


main(*sys.argv[1:])
