# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Tiny models with random weights, as transformers makes and computes them, against what Tenon compiles from their folders.

usage: transformers_models.py [--generate] [NAME...]      all models where none is named; build/bin has to be on the PATH

It wants a Python with torch and transformers, which are several gigabytes: huggingface.py, which has the architectures
written out in plain Python, is what every run of the tests does.
"""

import os
import subprocess
import sys
import tempfile
import wave

import numpy
import torch
import transformers

SMALL = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 40, "vocab_size": 37, "max_position_embeddings": 64}
PLAIN = {**SMALL, "num_attention_heads": 6, "num_key_value_heads": 6}
ROPE = {"rope_type": "default", "rope_theta": 300.0}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 100.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32}
LONG = {"rope_type": "longrope", "rope_theta": 100.0, "short_factor": [1.0, 1.5], "long_factor": [1.0, 9.0], "original_max_position_embeddings": 8}

TEXT = {**SMALL, "num_key_value_heads": None, "hidden_size": 24, "type_vocab_size": 2, "num_labels": 5, "max_position_embeddings": 40}
DISTIL = {"vocab_size": 37, "dim": 24, "n_layers": 2, "n_heads": 3, "hidden_dim": 40, "num_labels": 5, "max_position_embeddings": 40}
IMAGE = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 40, "image_size": 12, "patch_size": 4, "num_labels": 5}

SPEECH = {
    "vocab_size": 37, "d_model": 24, "num_mel_bins": 10, "max_source_positions": 11, "max_target_positions": 30, "encoder_layers": 2, "decoder_layers": 3,
    "encoder_attention_heads": 3, "decoder_attention_heads": 6, "encoder_ffn_dim": 40, "decoder_ffn_dim": 56, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2, "decoder_start_token_id": 1, "scale_embedding": True,
}  # fmt: skip

# What Whisper's generation_config.json says: tokens that are suppressed, and how a text begins. The language is chosen, or given.
LANGUAGES = {"lang_to_id": {"<|c|>": 22, "<|a|>": 20, "<|b|>": 21}, "no_timestamps_token_id": 30, "forced_decoder_ids": [[1, None], [2, 25]]}
SPEECH_SETTINGS = [
    {},
    LANGUAGES,
    {**LANGUAGES, "forced_decoder_ids": [[1, 21], [2, 25]]},
    {**LANGUAGES, "forced_decoder_ids": None, "suppress_tokens": [18, 31, 7], "begin_suppress_tokens": [5, 6, 17]},
]  # fmt: skip

# Name, class of the model, fields of its config.
MODELS = [
    ("llama", "LlamaForCausalLM", {**SMALL, "rope_parameters": LLAMA3}),
    ("llama-biases", "LlamaForCausalLM", {**SMALL, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True, "head_dim": 8}),
    ("mistral", "MistralForCausalLM", {**SMALL, "sliding_window": 5, "head_dim": 8}),
    ("mistral-no-window", "MistralForCausalLM", {**SMALL, "sliding_window": None}),
    ("mixtral", "MixtralForCausalLM", {**SMALL, "num_local_experts": 5, "num_experts_per_tok": 2}),
    ("mixtral-window", "MixtralForCausalLM", {**SMALL, "num_local_experts": 8, "num_experts_per_tok": 3, "sliding_window": 5, "head_dim": 8}),
    ("qwen2", "Qwen2ForCausalLM", SMALL),
    ("qwen2-window", "Qwen2ForCausalLM", {**SMALL, "use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}),
    ("qwen2-tied", "Qwen2ForCausalLM", {**SMALL, "tie_word_embeddings": True}),
    ("qwen3", "Qwen3ForCausalLM", {**SMALL, "head_dim": 8}),
    ("qwen3-biases", "Qwen3ForCausalLM", {**SMALL, "head_dim": 8, "attention_bias": True, "tie_word_embeddings": True}),
    ("phi3", "Phi3ForCausalLM", {**SMALL, "sliding_window": 6, "pad_token_id": 0}),
    ("phi3-part", "Phi3ForCausalLM", {**SMALL, "hidden_size": 48, "pad_token_id": 0, "rope_parameters": {**ROPE, "partial_rotary_factor": 0.5}}),
    ("phi3-long", "Phi3ForCausalLM", {**SMALL, "pad_token_id": 0, "original_max_position_embeddings": 8, "rope_parameters": LONG}),
    ("gemma2", "Gemma2ForCausalLM", {**SMALL, "head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 5, "attn_logit_softcapping": 0.5, "final_logit_softcapping": 1.0}),
    ("gemma2-no-caps", "Gemma2ForCausalLM", {**SMALL, "head_dim": 8, "sliding_window": 4, "attn_logit_softcapping": None, "final_logit_softcapping": None}),
    ("gemma3", "Gemma3ForCausalLM", {**SMALL, "head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 5}),
    ("olmo2", "Olmo2ForCausalLM", SMALL),
    ("olmo2-plain-heads", "Olmo2ForCausalLM", {**PLAIN, "attention_bias": True}),
    # An answer has two ends, whatever number of labels a configuration has.
    *((f"{kind.lower()}-{task.lower()}", kind + task, {**TEXT, "num_labels": 2 if task == "ForQuestionAnswering" else 5}) for kind in ("Bert", "Roberta", "XLMRoberta")
      for task in ("Model", "ForMaskedLM", "ForQuestionAnswering", "ForSequenceClassification", "ForTokenClassification")),
    ("distilbert", "DistilBertModel", DISTIL),
    ("distilbert-classes", "DistilBertForSequenceClassification", DISTIL),
    ("whisper", "WhisperForConditionalGeneration", SPEECH),
    ("vit", "ViTModel", IMAGE),
    ("vit-classes", "ViTForImageClassification", {**IMAGE, "qkv_bias": False}),
]  # fmt: skip


def makeModel(kind, fields):
    torch.manual_seed(1)
    model = getattr(transformers, kind)
    config = model.config_class(**{key: value for key, value in fields.items() if value is not None or key in model.config_class().to_dict()})
    model = model._from_config(config, attn_implementation="eager").to(torch.float32).eval()
    # Weights that nobody trained are so small that many a mistake would not show.
    for parameter in model.parameters():
        torch.nn.init.uniform_(parameter, -0.5, 0.5)
    return model


def makeInputs(kind, fields, batch, length):
    generator = numpy.random.default_rng(length)
    if "image_size" in fields:
        return {"pixel_values": generator.uniform(-1, 1, (batch, 3, fields["image_size"], fields["image_size"])).astype(numpy.float32)}
    if "num_mel_bins" in fields:
        features = generator.uniform(-1, 1, (batch, fields["num_mel_bins"], 2 * fields["max_source_positions"])).astype(numpy.float32)
        return {"input_features": features, "decoder_input_ids": generator.integers(0, fields["vocab_size"], (batch, length))}
    inputs = {"input_ids": generator.integers(0, fields["vocab_size"], (batch, length))}
    if kind.endswith("ForCausalLM"):
        return inputs
    # Texts end in padding, of which one has none.
    inputs["attention_mask"] = (numpy.arange(length)[None, :] < numpy.maximum(length - 3 * numpy.arange(batch), 1)[:, None]).astype(numpy.int64)
    if kind.startswith("Bert"):
        inputs["token_type_ids"] = generator.integers(0, 2, (batch, length))
    return inputs


def check(name, kind, fields):
    """What is wrong with a model, a line each."""
    model, faults = makeModel(kind, fields), []
    with tempfile.TemporaryDirectory() as folder:
        source, artifact = os.path.join(folder, "model"), os.path.join(folder, "model.tenon")
        model.save_pretrained(source)
        subprocess.run(["tenon", "compile", source, "-o", artifact], check=True)
        for batch, length in ((1, 1), (1, 13), (3, 7), (2, 24)):
            inputs, command = makeInputs(kind, fields, batch, length), ["tenon-run", artifact, "--output-dir", folder]
            for key, value in inputs.items():
                numpy.save(os.path.join(folder, key + ".npy"), value)
                command += ["--input", f"{key}={folder}/{key}.npy"]
            subprocess.run(command, check=True)
            with torch.no_grad():
                outputs = model(**{key: torch.tensor(value) for key, value in inputs.items()})
            for key in ("logits", "start_logits", "end_logits", "last_hidden_state", "pooler_output", "encoder_last_hidden_state"):
                if outputs.get(key) is None:
                    continue
                want, got = outputs[key].numpy(), numpy.load(os.path.join(folder, key + ".npy"))
                error = float(abs(got - want).max() / abs(want).max()) if got.shape == want.shape else float("inf")
                if not error < 1e-4:
                    faults.append(f"{name}: {key} of {batch} texts of {length} tokens differs by {error}")
    return faults


def checkGeneration(name, kind, fields):
    """The most probable continuation, which transformers computes with its own cache."""
    model = makeModel(kind, fields)
    # Rotary positions that turn otherwise in longer texts allow a context of shorter ones alone.
    context = fields.get("original_max_position_embeddings", 64)
    with tempfile.TemporaryDirectory() as folder:
        source, artifact = os.path.join(folder, "model"), os.path.join(folder, "model.tenon")
        model.save_pretrained(source)
        subprocess.run(["tenon", "compile", "--context", str(context), source, "-o", artifact], check=True)
        prompt = [3, 1, 4, 1, 5, 9]
        count = min(48, context + 1 - len(prompt))
        command = ["tenon", "generate", artifact, "--tokens", ",".join(map(str, prompt)), "--max-tokens", str(count), "--ignore-eos"]
        got = [int(token) for token in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split(",")]
        with torch.no_grad():
            want = model.generate(torch.tensor([prompt]), do_sample=False, max_new_tokens=count, min_new_tokens=count, eos_token_id=None, pad_token_id=0)
        want = want[0].tolist()[len(prompt) :]
        return [] if got == want else [f"{name}: goes on with {got} and not {want}"]


def hear(folder, fields):
    """A second of a recording, as a file, and what transformers' feature extractor makes of it."""
    generator, path = numpy.random.default_rng(5), os.path.join(folder, "speech.wav")
    tone = numpy.sin(numpy.arange(15000) ** 1.5 / 300) * 0.3 + generator.uniform(-0.05, 0.05, 15000)
    samples = numpy.round(tone * 32768).astype("<i2")
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(samples.tobytes())
    extractor = transformers.WhisperFeatureExtractor(feature_size=fields["num_mel_bins"], chunk_length=1)
    return path, extractor(samples / 32768, sampling_rate=16000, return_tensors="np").input_features.astype(numpy.float32)


def checkSpeech(name, kind, fields):
    """The text of a recording, which transformers' `generate` computes with what the folder says of it."""
    fields, count, faults = {**fields, "max_target_positions": 80, "max_source_positions": 50}, 64, []
    model, inputs = makeModel(kind, fields), makeInputs(kind, fields, 1, 1)
    with tempfile.TemporaryDirectory() as folder:
        source, features = os.path.join(folder, "model"), os.path.join(folder, "features.npy")
        numpy.save(features, inputs["input_features"])
        recording, heard = hear(folder, fields)
        given = [(settings, ["--input", f"input_features={features}"], inputs["input_features"]) for settings in SPEECH_SETTINGS]
        for settings, option, spectrogram in [*given, (LANGUAGES, ["--audio", recording], heard)]:
            model.generation_config = transformers.GenerationConfig(decoder_start_token_id=1, pad_token_id=36, return_timestamps=False, **settings)
            model.save_pretrained(source)
            command = ["tenon", "generate", source, "--no-cache", *option, "--max-tokens", str(count), "--ignore-eos", "-q"]
            got = [int(token) for token in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split(",")]
            with torch.no_grad():
                want = model.generate(torch.tensor(spectrogram), do_sample=False, max_new_tokens=count, min_new_tokens=count)
            want = want[0].tolist()[-count:]
            if got != want:
                faults.append(f"{name}: with {settings} and {option}, goes on with {got} and not {want}")
    return faults


def main():
    generates = sys.argv[1:2] == ["--generate"]
    names = sys.argv[2 if generates else 1 :] or [name for name, kind, _ in MODELS if not generates or kind.endswith(("ForCausalLM", "ForConditionalGeneration"))]

    def one(name, kind, fields):
        if not generates:
            return check(name, kind, fields)
        return (checkGeneration if kind.endswith("ForCausalLM") else checkSpeech)(name, kind, fields)

    faults = [fault for name, kind, fields in MODELS if name in names for fault in one(name, kind, fields)]
    print("\n".join(faults + [f"{len(names)} models, {len(faults)} faults"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
