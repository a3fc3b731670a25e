# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""compare_sentencepiece.py FOLDER: trains models of SentencePiece, and compares what the package and
`tenon tokenize` make of the same texts."""

import io
import os
import sys

import compare_tokenizers
import sentencepiece

TEXTS = compare_tokenizers.TEXTS
MODELS = {
    "spm_unigram": {"model_type": "unigram", "vocab_size": 800},
    "spm_bytes": {"model_type": "unigram", "vocab_size": 1000, "byte_fallback": True, "user_defined_symbols": ["<extra>", "fold"]},
    "spm_bpe": {"model_type": "bpe", "vocab_size": 900, "byte_fallback": True, "normalization_rule_name": "identity",
                "remove_extra_whitespaces": False, "user_defined_symbols": ["<extra>", "-a"]},
    "spm_bpe_rules": {"model_type": "bpe", "vocab_size": 700, "normalization_rule_name": "nmt_nfkc_cf"},
    "spm_plain": {"model_type": "unigram", "vocab_size": 700, "add_dummy_prefix": False, "normalization_rule_name": "nfkc"},
}


class Reference:
    """The package, called as `tokenizers` is."""

    def __init__(self, model):
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)

    def encode(self, text):
        pieces = self.processor.encode(text, return_type="proto").pieces
        # It counts bytes.
        characters = [len(text.encode()[:byte].decode()) for piece in pieces for byte in (piece.begin, piece.end)]
        return {"ids": [piece.id for piece in pieces], "tokens": [piece.piece for piece in pieces],
                "offsets": [list(span) for span in zip(characters[::2], characters[1::2], strict=True)],
                "decoded": self.processor.decode([piece.id for piece in pieces])}


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    wrong = 0
    for name, options in MODELS.items():
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(compare_tokenizers.EUROPEAN), model_writer=model,
                                                 hard_vocab_limit=False, minloglevel=5, num_threads=1, **options)
        path = os.path.join(folder, name + ".model")
        with open(path, "wb") as file:
            file.write(model.getvalue())
        reference = Reference(model.getvalue())
        wrong += compare_tokenizers.compare(name, TEXTS, reference.encode, path)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
