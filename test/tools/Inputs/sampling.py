# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""How often `tenon generate` samples each token of a model whose logits are known: those of a folder whose words are all one.

A word is four ones, layers add nothing, and row i of the head is a quarter of logit i, so that each token has these logits
whatever the text is.
"""

import collections
import math
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

import huggingface
import tensors
from safetensors_writer import safetensors, writeFile

TOKENS = 2000


def writeModel(folder, logits):
    size = len(logits)
    config = {**huggingface.LLAMA, "vocab_size": size, "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1,
              "num_key_value_heads": 1, "head_dim": 4, "intermediate_size": 4, "max_position_embeddings": 2 * TOKENS}  # fmt: skip
    config["tie_word_embeddings"] = False
    square, ones = ((4, 4), [0.0] * 16), ((4,), [1.0] * 4)
    layer = "model.layers.0."
    weights = {layer + f"self_attn.{name}_proj.weight": square for name in "qkvo"}
    weights |= {layer + f"mlp.{name}_proj.weight": square for name in ("gate", "up", "down")}
    weights |= {layer + name + "_layernorm.weight": ones for name in ("input", "post_attention")}
    weights |= {"model.norm.weight": ones, "model.embed_tokens.weight": ((size, 4), [1.0] * 4 * size)}
    weights["lm_head.weight"] = ((size, 4), [logit / 4 for logit in logits for _ in range(4)])
    os.makedirs(folder, exist_ok=True)
    writeFile(folder, "config.json", config)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(safetensors(weights))


def generate(artifact, *options, prompt="0", count=TOKENS):
    command = ["tenon", "generate", "-q", artifact, "--tokens", prompt, "-n", str(count), "--ignore-eos", *options]
    return [int(token) for token in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split(",")]


def shares(tokens):
    return {token: number / len(tokens) for token, number in collections.Counter(tokens).items()}


def build(name, logits, *options):
    writeModel(name, logits)
    artifact = name + ".tenon"
    subprocess.run(["tenon", "compile", "-q", name, "-o", artifact, "--context", str(TOKENS + 8), *options], check=True)
    return artifact


def logitsOf(probabilities):
    return [math.log(probability) for probability in probabilities]


def checkShares(artifact, wanted, *options):
    """A share of so many tokens is within four deviations of its probability."""
    got = shares(generate(artifact, "--seed", "3", *options))
    for token, probability in wanted.items():
        margin = 4 * math.sqrt(probability * (1 - probability) / TOKENS)
        assert abs(got.get(token, 0) - probability) <= margin, f"{options}: wanted {wanted}, got {got}"
    assert set(got) <= set(wanted), f"{options}: wanted {wanted}, got {got}"


def checkFilters():
    model = build("filters", logitsOf([0.05, 0.4, 0.3, 0.15, 0.1]))
    checkShares(model, {0: 0.05, 1: 0.4, 2: 0.3, 3: 0.15, 4: 0.1}, "--temperature", "1")
    squares = 0.05**2 + 0.4**2 + 0.3**2 + 0.15**2 + 0.1**2
    checkShares(model, {token: p * p / squares for token, p in enumerate([0.05, 0.4, 0.3, 0.15, 0.1])}, "--temperature", "0.5")
    checkShares(model, {1: 1.0})
    checkShares(model, {1: 1.0}, "--temperature", "1", "--top-k", "1")
    checkShares(model, {1: 4 / 7, 2: 3 / 7}, "--temperature", "1", "--top-k", "2")
    # 0.4 is not enough.
    checkShares(model, {1: 4 / 7, 2: 3 / 7}, "--temperature", "1", "--top-p", "0.6")
    checkShares(model, {1: 8 / 17, 2: 6 / 17, 3: 3 / 17}, "--temperature", "1", "--top-p", "0.75")
    # Of 0.4.
    checkShares(model, {1: 8 / 17, 2: 6 / 17, 3: 3 / 17}, "--temperature", "1", "--min-p", "0.3")
    checkShares(model, {1: 1.0}, "--temperature", "1", "--min-p", "1")
    # Together, of what is left of the one before: 0.8 of 0.85 is 0.68.
    checkShares(model, {1: 4 / 7, 2: 3 / 7}, "--temperature", "1", "--top-k", "3", "--top-p", "0.8")


def checkPenalty():
    """Tokens of the text become less probable, whatever the sign of their logits; a new text begins without any."""
    model = build("penalty", [3.0, 2.0, -1.0, -1.5])
    # 3, then 2 rather than 3 / 2, then 3 / 2 rather than 2 / 2.
    assert generate(model, "--repetition-penalty", "2", prompt="3", count=4) == [0, 1, 0, 0]
    assert generate(model, "--repetition-penalty", "8", prompt="3", count=3) == [0, 1, 0]
    negative = build("negative", [-1.5, -2.0, -4.0])
    assert generate(negative, "--repetition-penalty", "2", prompt="2", count=3) == [0, 1, 0]
    assert generate(negative, prompt="2", count=3) == [0, 0, 0]


def checkSeeds():
    """A seed gives the same tokens again, however the prompt is divided and whatever runs beside the text."""
    model = build("seeds", [0.0] * 1000, "--sequences", "3")

    def sample(seed, *options, prompt="1,2,3,4,5"):
        return generate(model, "--temperature", "1", "--seed", str(seed), *options, prompt=prompt, count=50)

    first = sample(1)
    assert first == sample(1) == sample(1, "--chunk", "2")
    others = [first, sample(2), sample(3), sample(2**40 + 1)]
    assert len(set(map(tuple, others))) == 4
    # No text is a part of another one's.
    assert max(max(shares(a + b).values()) for a in others for b in others if a is not b) < 0.1
    lines = "".join(f"{prompt}\n" for prompt in ["1,2,3,4,5"] * 4)
    command = ["tenon", "generate", "-q", model, "--ids", "--parallel", "3", "-n", "50", "--temperature", "1", "--seed", "1"]
    done = subprocess.run(command + ["--ignore-eos"], input=lines, check=True, capture_output=True, text=True)
    together = [[int(token) for token in line.split(",")] for line in done.stdout.splitlines()]
    assert together == [sample(seed) for seed in (1, 2, 3, 4)]


def checkEnds():
    """Of logits without a largest number the first token is taken."""
    for name, logits in (("nan", [math.nan, -math.inf, 2.0, math.nan, 2.0]), ("inf", [-math.inf] * 3)):
        model = build(name, logits, "--no-measure-error")
        assert generate(model, count=2) == [2, 2] if name == "nan" else [0, 0]
        assert set(generate(model, "--temperature", "1", count=20)) <= ({2, 4} if name == "nan" else {0})


def checkOneCall():
    """The settings are states, so that another program that takes input_ids alone gets the token, too."""
    model = build("call", logitsOf([0.2, 0.5, 0.3]))

    def run(*options):
        command = ["tenon-run", model, "--input", "input_ids=ids.npy", "--output", "token=token.npy", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stderr if done.returncode else list(tensors.readNpy("token.npy").data)

    tensors.writeNpy("ids.npy", tensors.Tensor((1, 2), [0, 2], "i64"))
    assert run() == (0, [1])
    # With a penalty of 4 the logits of 0 and 2, which are negative, become less; that of 1 too, once it is in the text.
    tensors.writeNpy("ids.npy", tensors.Tensor((1, 2), [0, 1], "i64"))
    tensors.writeNpy("sampling.npy", tensors.Tensor((1, 5), [0, 4, 0, 0, 0]))
    assert run("--set-state", "sampling=sampling.npy") == (0, [2])
    # Seeds give several tokens.
    tensors.writeNpy("sampling.npy", tensors.Tensor((1, 5), [1, 0, 0, 0, 0]))
    drawn = []
    for seed in range(40):
        tensors.writeNpy("seed.npy", tensors.Tensor((1,), [seed], "i64"))
        drawn += run("--set-state", "sampling=sampling.npy", "--set-state", "seed=seed.npy")[1]
    assert set(drawn) == {0, 1, 2}, drawn
    for argument, code, text in (
        ("sample=sampling.npy", 2, "--set-state: expected NAME=FILE.npy, got 'sample=sampling.npy'"),
        ("sampling=none.npy", 1, "none.npy"),
        ("sampling=seed.npy", 1, "seed.npy"),
        ("seed=token.npy", 0, ""),
        ("model.layers.0.self_attn.keys=sampling.npy", 2, "is written by runs alone"),
    ):
        got, message = run("--set-state", argument)
        assert got == code and (code == 0 or text in message), f"{argument}: exit {got}, {message}"
    tensors.writeNpy("sampling.npy", tensors.Tensor((5,), [1, 0, 0, 0, 0]))
    code, message = run("--set-state", "sampling=sampling.npy")
    assert code == 2 and "state 'sampling' has another type or other dimensions" in message, message


for check in (checkFilters, checkPenalty, checkSeeds, checkEnds, checkOneCall):
    check()
