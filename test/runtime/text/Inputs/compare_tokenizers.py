# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""compare_tokenizers.py FOLDER [FILE.json]: trains tokenizers of every kind with the package `tokenizers`, and compares what
it and `tenon tokenize` make of the same texts: numbers, tokens, offsets, types, and the text again. Or of a file alone."""

import base64
import functools
import io
import json
import os
import subprocess
import sys

import corpus
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXTS = corpus.make()
TRAINING = [text for text in TEXTS if text]
EUROPEAN = [text for text in TRAINING if max(map(ord, text)) < 0x500]
SPECIAL = ["<unk>", "<s>", "</s>", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
            r"|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def train(tokenizer, trainer, texts=None):
    tokenizer.train_from_iterator(texts or TRAINING, trainer)
    return tokenizer


def byte_level(pattern=None, prefix=False, size=900, **options):
    tokenizer = Tokenizer(models.BPE(**options))
    steps = [pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=pattern is None)]
    if pattern:
        steps.insert(0, pre_tokenizers.Split(Regex(pattern), "isolated"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps) if pattern else steps[0]
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    return train(tokenizer, trainer)


def gpt2():
    tokenizer = byte_level(prefix=False)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def roberta():
    tokenizer = byte_level(prefix=True)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 1), trim_offsets=True, add_prefix_space=True)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    return tokenizer


def llama3():
    tokenizer = byte_level(LLAMA3)
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])])
    return tokenizer


def qwen2():
    tokenizer = byte_level(QWEN2)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([AddedToken("<extra>", special=False, normalized=False), AddedToken("abc", single_word=True)])
    return tokenizer


def deepseek():
    tokenizer = byte_level(DEEPSEEK)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"), pre_tokenizers.Split(Regex("[一-龥぀-ゟ゠-ヿ]+"), "isolated"),
        pre_tokenizers.Split(Regex(DEEPSEEK), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return tokenizer


def ignore_merges():
    text = json.loads(byte_level(GPT4O, size=1500).to_str())
    text["model"]["ignore_merges"] = True
    text["model"]["merges"] = text["model"]["merges"][: len(text["model"]["merges"]) // 2]
    return Tokenizer.from_str(json.dumps(text))


def llama2():
    """BPE with bytes for what is not there, and spaces as letters, all in the normalizer."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    trainer = trainers.BpeTrainer(vocab_size=1200, show_progress=False, limit_alphabet=300,
                                  special_tokens=SPECIAL + [f"<0x{byte:02X}>" for byte in range(256)])
    # Trained on words, as without a pre-tokenizer lines would be words.
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=True, prepend_scheme="never")
    train(tokenizer, trainer)
    tokenizer.pre_tokenizer = None
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return tokenizer


def gemma():
    tokenizer = Tokenizer.from_str(llama2().to_str())
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def word_suffix():
    """The BPE of CLIP and of the first GPT: the last character of a word is another one."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder()
    return train(tokenizer, trainers.BpeTrainer(vocab_size=900, special_tokens=SPECIAL, show_progress=False, limit_alphabet=200,
                                                end_of_word_suffix="</w>"))


def bpe_prefix():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return train(tokenizer, trainers.BpeTrainer(vocab_size=800, special_tokens=SPECIAL, show_progress=False, limit_alphabet=200,
                                                continuing_subword_prefix="##"))


def bert(**options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    train(tokenizer, trainers.WordPieceTrainer(vocab_size=1200, special_tokens=SPECIAL, show_progress=False, limit_alphabet=400))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 4), ("[CLS]", 3))
    tokenizer.add_special_tokens([AddedToken("[MASK]", lstrip=True, rstrip=True)])
    tokenizer.enable_truncation(40)
    tokenizer.enable_padding(length=48, pad_id=5, pad_token="[PAD]", pad_type_id=0)
    return tokenizer


def bert_cased():
    tokenizer = bert(lowercase=False, strip_accents=None, handle_chinese_chars=False, clean_text=False)
    tokenizer.enable_truncation(23, direction="left")
    tokenizer.no_padding()
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    return tokenizer


def unigram(normalizer, scheme="always", bytes_too=False, split=True):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=True)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    # Each letter that it sees is a token, so that all scripts would need a large vocabulary.
    train(tokenizer, trainers.UnigramTrainer(vocab_size=900, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False),
          EUROPEAN)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)])
    if bytes_too:
        text = json.loads(tokenizer.to_str())
        text["model"]["vocab"] += [[f"<0x{byte:02X}>", -20.0] for byte in range(256)]
        text["model"]["byte_fallback"] = True
        text["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, text["decoder"]]}
        tokenizer = Tokenizer.from_str(json.dumps(text))
    return tokenizer


def charsmap():
    """The rules nmt_nfkc_cf of SentencePiece, as a file of the package has them."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(EUROPEAN), model_writer=model, vocab_size=800, minloglevel=5,
                                             hard_vocab_limit=False, normalization_rule_name="nmt_nfkc_cf")
    proto = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    return base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()


def xlm():
    text = json.loads(unigram(normalizers.NFKC(), bytes_too=True).to_str())
    text["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Precompiled", "precompiled_charsmap": charsmap()},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "\u2581"}]}
    return Tokenizer.from_str(json.dumps(text))


def words(normalizer, pre_tokenizer, decoder=None):
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    if decoder:
        tokenizer.decoder = decoder
    train(tokenizer, trainers.WordLevelTrainer(vocab_size=3000, special_tokens=SPECIAL, show_progress=False))
    tokenizer.add_tokens([AddedToken("<Extra>", normalized=True, special=False), AddedToken("\u00c9", normalized=True, special=False)])
    return tokenizer


def make_all():
    n, p = normalizers, pre_tokenizers
    yield "gpt2", gpt2
    yield "roberta", roberta
    yield "llama3", llama3
    yield "qwen2", qwen2
    yield "deepseek", deepseek
    yield "ignore_merges", ignore_merges
    yield "llama2", llama2
    yield "gemma", gemma
    yield "word_suffix", word_suffix
    yield "bpe_prefix", bpe_prefix
    yield "bert", bert
    yield "bert_cased", bert_cased
    yield "unigram", lambda: unigram(n.NFKC())
    yield "unigram_first", lambda: unigram(n.Sequence([n.Nmt(), n.NFKC(), n.Strip()]), scheme="first", split=False)
    yield "unigram_bytes", lambda: unigram(n.NFKD(), bytes_too=True)
    yield "xlm", xlm
    yield "words_nfd", lambda: words(n.Sequence([n.NFD(), n.StripAccents(), n.Lowercase()]), p.Sequence([p.Whitespace(), p.Digits()]))
    yield "words_nfc", lambda: words(n.Sequence([n.NFC(), n.Strip(left=True, right=False)]), p.Sequence(
        [p.WhitespaceSplit(), p.Punctuation("contiguous"), p.Digits(individual_digits=True)]), decoders.CTC())
    yield "words_nfkc", lambda: words(n.NFKC(), p.Sequence([p.CharDelimiterSplit(","), p.Punctuation("merged_with_next")]))
    yield "words_nfkd", lambda: words(n.NFKD(), p.Sequence(
        [p.Split(Regex(r"\w+|[^\w\s]+"), "removed", invert=True), p.FixedLength(3)]))
    yield "words_split", lambda: words(n.Replace(Regex(r"\d"), "#"), p.Split(Regex(r"(?i)[aeiou]|\s|\b"), "merged_with_previous"))
    yield "words_bytes", lambda: words(n.ByteLevel(), p.FixedLength(2), decoders.ByteLevel())


def encode(tokenizer, text):
    encoding = tokenizer.encode(*text) if isinstance(text, list) else tokenizer.encode(text)
    return {"ids": encoding.ids, "tokens": encoding.tokens, "offsets": [list(span) for span in encoding.offsets],
            "type_ids": encoding.type_ids, "special_tokens_mask": encoding.special_tokens_mask,
            "attention_mask": encoding.attention_mask, "decoded": tokenizer.decode(encoding.ids)}


def tokenize(path, texts, *options):
    """What `tenon tokenize` prints for texts."""
    command = ["tenon", "tokenize", path, "--null", "--json", *options]
    given = "".join(text + "\0" for text in texts).encode()
    return json.loads(subprocess.run(command, input=given, check=True, stdout=subprocess.PIPE).stdout)


def compare(name, texts, want, path, *options):
    """How many texts `tenon tokenize` and `want` take for different tokens."""
    results = tokenize(path, [text for text in texts if isinstance(text, str)], *options)
    for text in texts[len(results):]:
        results += tokenize(path, text[:1], "--pair", text[1], *options)
    decoded = tokenize(path, [" ".join(map(str, result["ids"])) for result in results], "--decode", "--no-special-tokens")
    wrong = 0
    for text, result, again in zip(texts, results, decoded, strict=True):
        result["decoded"] = again["text"]
        wanted = want(text)
        different = [key for key in wanted if result[key] != wanted[key]]
        wrong += bool(different)
        if different and wrong <= 3:
            print(f"{name}: {different[0]} of {text!r}:\n  want {wanted[different[0]]}\n  got  {result[different[0]]}")
    print(f"{name}: {len(texts)} texts, {wrong} wrong")
    return wrong


def compare_file(name, tokenizer, path, pairs):
    # A fixed padding belongs to the file, and other padding to a batch, of which the package has one text each time.
    options = ["--truncate"] + (["--pad"] if tokenizer.padding and tokenizer.padding["length"] else [])
    return compare(name, TEXTS + pairs, functools.partial(encode, tokenizer), path, *options)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    pairs = [["A first text, " + TEXTS[40], "and a second: " + TEXTS[41] * 3]]
    if len(sys.argv) > 2:
        sys.exit(compare_file(sys.argv[2], Tokenizer.from_file(sys.argv[2]), sys.argv[2], pairs) != 0)
    wrong = 0
    for name, make in make_all():
        tokenizer = make()
        path = os.path.join(folder, name + ".json")
        tokenizer.save(path)
        wrong += compare_file(name, tokenizer, path, pairs)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
