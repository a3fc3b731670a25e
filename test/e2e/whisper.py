# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Whisper with states: the text of a recording, token by token, against the model that computes each text from its beginning.

usage: whisper.py [NAME...]      all models where none is named; build/bin has to be on the PATH
"""

import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import huggingface
from safetensors_writer import writeFile
from tensors import Tensor, integers, randoms, readNpy, writeNpy

CONTEXT, COUNT, PROMPT = 72, 64, [3, 1, 4, 1, 5]

SMALL = {
    **huggingface.WHISPER, "vocab_size": 61, "d_model": 24, "max_source_positions": 11, "max_target_positions": 80, "encoder_attention_heads": 6,
    "decoder_attention_heads": 3, "encoder_ffn_dim": 40, "decoder_ffn_dim": 56, "tie_word_embeddings": False,
}  # fmt: skip
MODELS = {
    "small": SMALL,
    "one-frame": {**SMALL, "max_source_positions": 1, "num_mel_bins": 1, "decoder_layers": 1},
    "many-frames": {**SMALL, "max_source_positions": 90, "encoder_layers": 2, "decoder_layers": 3},
}


def call(*command, code=0):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != code:
        sys.exit(f"{' '.join(command)}\nexit code {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout if code == 0 else result.stderr


class Lively(huggingface.Weights):
    """Tokens, positions and a recording count for so much that a text does not repeat itself; nor do tokens resemble those that follow."""

    def __init__(self, config):
        super().__init__(str(config))
        if not config["tie_word_embeddings"]:
            self.matrix("proj_out.weight", config["vocab_size"], config["d_model"])

    def matrix(self, name, rows, columns, low=-0.5, high=0.5, shape=None):
        scale = 10 if ".embed_" in name else 1.5 if "encoder_attn.v_proj" in name or "encoder_attn.out_proj" in name else 1
        return super().matrix(name, rows, columns, scale * low, scale * high, shape)


class Speech:
    """A folder of a model, its spectrogram, and two artifacts: that of whole texts, and that with states."""

    def __init__(self, folder, config, compileOptions=(), stateOptions=()):
        self.folder, self.config = folder, config
        source = os.path.join(folder, "model")
        huggingface.writeFolder(huggingface.Model(config, huggingface.whisper, Lively(config)), source)
        self.features = os.path.join(folder, "features.npy")
        shape = (config["num_mel_bins"], 2 * config["max_source_positions"])
        writeNpy(self.features, randoms("features", 1, *shape))
        self.silence = os.path.join(folder, "silence.npy")
        writeNpy(self.silence, Tensor((0, *shape), []))
        self.whole, self.artifact = (os.path.join(folder, name) for name in ("whole.tenon", "model.tenon"))
        compile = ["tenon", "compile", "--no-measure-error", "-q", source, *compileOptions]
        call(*compile, "-o", self.whole)
        call(*compile, *stateOptions, "--context", str(CONTEXT), "-o", self.artifact)

    def getLogits(self, ids):
        """Of the token after these, from the model without states."""
        path = os.path.join(self.folder, "ids.npy")
        writeNpy(path, integers(ids, (1, len(ids))))
        call("tenon-run", self.whole, "--input", f"decoder_input_ids={path}", "--input", f"input_features={self.features}", "--output-dir", self.folder)
        return readNpy(os.path.join(self.folder, "logits.npy")).data[-self.config["vocab_size"] :]

    def getText(self, prompt, suppressed=(), first=(), count=COUNT):
        """The most probable text after a prompt, and by how much the most probable token leads at least."""
        ids, lead = list(prompt), float("inf")
        while len(ids) < len(prompt) + count and len(ids) <= CONTEXT:
            logits = self.getLogits(ids)
            banned = {*suppressed, *(first if len(ids) == len(prompt) else ())}
            order = sorted((token for token in range(len(logits)) if token not in banned), key=lambda token: -logits[token])
            lead = min(lead, logits[order[0]] - logits[order[1]])
            ids.append(order[0])
        return ids[len(prompt) :], lead

    def generate(self, *options, count=COUNT):
        output = call("tenon", "generate", self.artifact, "--input", f"input_features={self.features}", "-n", str(count), "--ignore-eos", "-q", *options)
        return [int(token) for token in output.split(",")]

    def run(self, ids, features, *options):
        """The next token after a run of the artifact with states."""
        path = os.path.join(self.folder, "run.npy")
        writeNpy(path, integers(ids, (1, len(ids))))
        command = ("tenon-run", self.artifact, "--input", f"input_ids={path}", "--input", f"input_features={features}", "--output-dir", self.folder)
        call(*command, *options)
        return readNpy(os.path.join(self.folder, "token.npy")).data[0]


def join(tokens):
    return ",".join(map(str, tokens))


def checkText(name, speech):
    """The text, however its prompt is divided into runs, and whatever else a session has heard."""
    want, lead = speech.getText(PROMPT)
    if sum(token != before for before, token in zip(want, want[1:])) < 4 or lead < 1e-4:
        return [f"{name}: the text {want} shows little, with a lead of {lead}"]
    faults = []
    for chunk in (1, 2, 3, 4, 5, 512):
        got = speech.generate("--tokens", join(PROMPT), "--chunk", str(chunk))
        if got != want:
            faults.append(f"{name}: in runs of {chunk} tokens, goes on with {got} and not {want}")
    one, _ = speech.getText([7])
    got = speech.generate("--tokens", "7")
    if got != one:
        faults.append(f"{name}: after one token, goes on with {got} and not {one}")
    # Sampling depends on the text alone.
    sampled = [speech.generate("--tokens", join(PROMPT), "--temperature", "2", "--seed", "5", "--chunk", chunk) for chunk in ("2", "512")]
    if sampled[0] != sampled[1] or sampled[0] == want:
        faults.append(f"{name}: samples {sampled[0]} and {sampled[1]}, and takes {want} without")
    return faults


def checkSlots(name, speech):
    """What a slot keeps of a recording goes to a file and back with the text."""
    state = os.path.join(speech.folder, "slot")
    want, _ = speech.getText(PROMPT)
    got = [speech.run(PROMPT, speech.features, "--save-state", state)]
    while len(got) < 5:
        got.append(speech.run(got[-1:], speech.silence, "--restore-state", state, "--save-state", state))
    faults = [] if got == want[:5] else [f"{name}: saved and restored, goes on with {got} and not {want[:5]}"]
    # A session that has heard nothing has nothing to go on with.
    error = call("tenon-run", speech.artifact, "--input", f"input_ids={speech.folder}/run.npy", "--input", f"input_features={speech.silence}", code=1)
    if "there is no audio yet: the first run of a text takes input_features" not in error:
        faults.append(f"{name}: without audio, says {error}")
    return faults


def checkRules(folder):
    """generation_config.json suppresses tokens, some of them after the prompt alone."""
    speech = Speech(folder, SMALL)
    plain, _ = speech.getText(PROMPT)
    common = max(set(plain), key=plain.count)
    rules = {"suppress_tokens": [common, 1000], "begin_suppress_tokens": [plain[0], 8, 9]}
    writeFile(os.path.join(folder, "model"), "generation_config.json", rules)
    call("tenon", "compile", "--no-measure-error", "-q", os.path.join(folder, "model"), "--context", str(CONTEXT), "-o", speech.artifact)
    want, _ = speech.getText(PROMPT, rules["suppress_tokens"], rules["begin_suppress_tokens"])
    faults = [] if want != plain else [f"rules: leave {want} as it is"]
    for chunk in (2, 4, 5):
        got = speech.generate("--tokens", join(PROMPT), "--chunk", str(chunk))
        if got != want:
            faults.append(f"rules: in runs of {chunk} tokens, go on with {got} and not {want}")
    sampled = speech.generate("--tokens", join(PROMPT), "--temperature", "9", "--seed", "1")
    if common in sampled or sampled[0] in rules["begin_suppress_tokens"]:
        faults.append(f"rules: suppressed tokens are sampled: {sampled}")
    return faults


def checkPrompts(folder):
    """Without a prompt, the files of the folder say how a text begins; the model chooses the language."""
    speech, faults = Speech(folder, SMALL), []
    logits = speech.getLogits([50])
    language = max((30, 31, 32, 33), key=lambda token: logits[token])
    languages = {"lang_to_id": {"<|d|>": 33, "<|a|>": 30, "<|c|>": 32, "<|b|>": 31}}
    cases = [
        ({"forced_decoder_ids": [[1, 31], [2, 40], [3, 45]]}, [50, 31, 40, 45]),
        ({"forced_decoder_ids": [[1, 31], [2, 40]], "no_timestamps_token_id": 45, **languages}, [50, 31, 40, 45]),
        ({"forced_decoder_ids": [[1, None], [2, 40]], "no_timestamps_token_id": 45, **languages}, [50, language, 40, 45]),
        ({"no_timestamps_token_id": 45, **languages}, [50, language, 45]),
        ({"forced_decoder_ids": [[1, 31], [2, 45]], "no_timestamps_token_id": 45}, [50, 31, 45]),
        ({}, [50]),
    ]
    for settings, prompt in cases:
        writeFile(folder, "generation_config.json", {"decoder_start_token_id": 50, **settings})
        got, (want, _) = speech.generate(count=9), speech.getText(prompt, count=9)
        if got != want:
            faults.append(f"prompts: {json.dumps(settings)} goes on with {got} and not {want}")
    return faults


def checkTypes(folder):
    """Weights of eight bits, and keys and values of sixteen."""
    speech = Speech(folder, SMALL, ["--weights", "int8"])
    want, _ = speech.getText(PROMPT)
    got = speech.generate("--tokens", join(PROMPT))
    faults = [] if got == want else [f"int8: goes on with {got} and not {want}"]
    speech = Speech(folder, {**SMALL, "tie_word_embeddings": True}, stateOptions=["--context-type", "f16"])
    want, _ = speech.getText(PROMPT)
    speech.run(PROMPT, speech.features)
    logits, exact = readNpy(os.path.join(folder, "logits.npy")).data, speech.getLogits(PROMPT)
    worst = max(abs(a - b) for a, b in zip(logits, exact, strict=True)) / max(map(abs, exact))
    if not 1e-7 < worst < 5e-3:
        faults.append(f"f16: logits differ by {worst}")
    got = speech.generate("--tokens", join(PROMPT))
    if got[:8] != want[:8]:
        faults.append(f"f16: goes on with {got} and not {want}")
    return faults


def main():
    faults, names = [], sys.argv[1:] or [*MODELS, "rules", "prompts", "types"]
    others = {"rules": checkRules, "prompts": checkPrompts, "types": checkTypes}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TENON_CACHE_DIR"] = cache
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                if name in others:
                    faults += others[name](folder)
                else:
                    speech = Speech(folder, MODELS[name])
                    faults += checkText(name, speech) + checkSlots(name, speech)
    print("\n".join(faults + [f"{len(names)} models, {len(faults)} faults"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
