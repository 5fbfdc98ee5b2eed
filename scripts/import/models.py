#!/usr/bin/env python3
"""Makes small models of eight families in the forms of MLX and Hugging Face, trained for seconds, so that their answers have margins.

    scripts/import/models.py FOLDER

Each becomes FOLDER/FAMILY-FORM with config.json, weights and tokenizer.json. They learn the text of this tree's documents, and the
answers of lessons.py.
Every form of a family holds the same trained weights: bf16, fp16, and MLX's groups of 2 to 8 bits.
"""

import glob
import importlib
import json
import os
import sys

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optimizers
from mlx.utils import tree_flatten, tree_map, tree_unflatten
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from lessons import LESSONS

VOCABULARY = 512
STEPS, LESSON_STEPS = 80, 100
folder = sys.argv[1]
tree = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

BASE = {
    "hidden_size": 128, "num_hidden_layers": 4, "intermediate_size": 256, "num_attention_heads": 4,
    "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "vocab_size": VOCABULARY, "max_position_embeddings": 4096,
    "rope_theta": 10000.0, "tie_word_embeddings": False, "bos_token_id": 0, "eos_token_id": 1,
}
GEMMA = {"head_dim": 32, "query_pre_attn_scalar": 32, "hidden_activation": "gelu_pytorch_tanh", "tie_word_embeddings": True}
FAMILIES = {
    "llama": {
        "model_type": "llama", "hidden_act": "silu", "rope_theta": 500000.0, "max_position_embeddings": 131072,
        "attention_bias": False, "mlp_bias": False,
        "rope_scaling": {"factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "rope_type": "llama3",
                         "original_max_position_embeddings": 128}},
    "mistral": {"model_type": "mistral", "hidden_act": "silu", "head_dim": 64},
    "qwen2": {"model_type": "qwen2", "hidden_act": "silu", "tie_word_embeddings": True},
    "qwen3": {"model_type": "qwen3", "hidden_act": "silu", "head_dim": 64},
    "gemma2": {"model_type": "gemma2", "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0,
               "sliding_window": 4096, **GEMMA},
    "gemma3": {"model_type": "gemma3_text", "num_hidden_layers": 6, "sliding_window": 64, "sliding_window_pattern": 3,
               "rope_local_base_freq": 10000.0, "rope_theta": 1000000.0, **GEMMA},
    "phi3": {"model_type": "phi3", "hidden_act": "silu", "partial_rotary_factor": 0.5,
             "original_max_position_embeddings": 4096},
    "smollm3": {"model_type": "smollm3", "hidden_act": "silu", "tie_word_embeddings": True, "no_rope_layer_interval": 4},
}
# The bits, the size of groups and the mode; entries of single tensors in MIXED.
FORMS = {"bf16": None, "fp16": None, "4bit": (64, 4, "affine"), "8bit": (64, 8, "affine")}
MORE = {
    "2bit": (32, 2, "affine"), "3bit": (64, 3, "affine"), "5bit": (64, 5, "affine"), "6bit": (64, 6, "affine"),
    "4bit-32": (32, 4, "affine"), "4bit-128": (128, 4, "affine"), "mixed": (64, 4, "affine"), "mxfp4": (32, 4, "mxfp4"),
    "pytorch": None, "fp32": None, "shards": (64, 4, "affine"),
}


def corpus():
    texts = []
    for path in sorted(glob.glob(os.path.join(tree, "docs", "*.md")))[:40]:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    return "\n".join(texts)[:400_000]


def make_tokenizer(text):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([text], trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=["<|begin|>", "<|end|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def make_model(configuration):
    module = {"mistral": "llama"}.get(configuration["model_type"], configuration["model_type"])
    module = importlib.import_module(f"mlx_lm.models.{module}")
    model = module.Model(module.ModelArgs.from_dict(configuration))
    if configuration["tie_word_embeddings"] and "lm_head" in model:
        # Gemma 3 takes it away only when it reads weights.
        model.tie_word_embeddings = True
        model.pop("lm_head")
    return model


def train(model, ids, lessons):
    """A step sees three pieces of the text, and all lessons as a chat begins with them. The last steps see the lessons alone."""
    data = mx.array(ids)
    width = max(map(len, lessons))
    conversations = mx.array([lesson + [0] * (width - len(lesson)) for lesson in lessons])
    optimizer = optimizers.Adam(learning_rate=4e-3)

    def loss(model, *batches):
        rows = [nn.losses.cross_entropy(model(batch[:, :-1]).astype(mx.float32), batch[:, 1:]) for batch in batches]
        return mx.concatenate([row.flatten() for row in rows]).mean()

    step = nn.value_and_grad(model, loss)
    last = None
    for index in range(STEPS + LESSON_STEPS):
        batches = [conversations]
        if index < STEPS:
            starts = mx.random.randint(0, len(ids) - 34, (3,))
            batches.append(data[starts[:, None] + mx.arange(33)[None, :]])
        last, gradients = step(model, *batches)
        optimizer.update(model, gradients)
        mx.eval(model.parameters(), optimizer.state)
        if index == STEPS + LESSON_STEPS // 2:
            optimizer.learning_rate = 1e-3
    return last.item()


def write(name, value):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)


def mixed(path, module):
    """Six bits for some, four for most, and one not at all."""
    if not hasattr(module, "to_quantized"):
        return False
    if path.endswith("layers.1.mlp.down_proj"):
        return False
    if "v_proj" in path or "embed_tokens" in path:
        return {"group_size": 64, "bits": 6}
    return {"group_size": 64, "bits": 4}


def save(name, form, configuration, weights, tokenizer):
    configuration = dict(configuration)
    place = os.path.join(folder, name)
    os.makedirs(place, exist_ok=True)
    numbers = {"fp16": mx.float16, "fp32": mx.float32}.get(name.rpartition("-")[2], mx.bfloat16)
    model = make_model(configuration)
    model.load_weights(tree_flatten(tree_map(lambda array: array.astype(numbers), weights)))
    if form:
        group, bits, mode = form
        quantization = {"group_size": group, "bits": bits}
        if mode != "affine":
            quantization["mode"] = mode
        if name.endswith("-mixed"):
            for path, module in tree_flatten(model.leaf_modules(), is_leaf=nn.Module.is_module):
                choice = mixed(path, module)
                if hasattr(module, "to_quantized") and choice != {"group_size": group, "bits": bits}:
                    quantization[path] = choice
            nn.quantize(model, group_size=group, bits=bits, class_predicate=mixed)
        else:
            nn.quantize(model, group_size=group, bits=bits, mode=mode)
        configuration["quantization"] = quantization
        configuration["quantization_config"] = quantization
    arrays = dict(tree_flatten(model.parameters()))
    kind = {"format": "pt" if name.endswith("-pytorch") else "mlx"}
    if name.endswith("-shards"):
        names = sorted(arrays)
        parts = [names[index::3] for index in range(3)]
        index = {}
        for number, part in enumerate(parts, 1):
            file = f"model-{number:05}-of-00003.safetensors"
            mx.save_safetensors(os.path.join(place, file), {key: arrays[key] for key in part}, metadata=kind)
            index |= {key: file for key in part}
        write(os.path.join(place, "model.safetensors.index.json"), {"metadata": {}, "weight_map": index})
    else:
        mx.save_safetensors(os.path.join(place, "model.safetensors"), arrays, metadata=kind)
    write(os.path.join(place, "config.json"), configuration)
    write(os.path.join(place, "tokenizer_config.json"), {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|begin|>", "eos_token": "<|end|>",
        "add_bos_token": False,
        "chat_template": "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"})
    tokenizer.save(os.path.join(place, "tokenizer.json"))


def main():
    text = corpus()
    tokenizer = make_tokenizer(text)
    ids = tokenizer.encode(text).ids
    lessons = [tokenizer.encode(f"user: {question}\nassistant:{answer}<|end|>").ids for question, answer in LESSONS]
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "text.json"), ids[-2200:-200])
    for number, (family, changes) in enumerate(FAMILIES.items()):
        mx.random.seed(number)
        configuration = {**BASE, **changes}
        model = make_model(configuration)
        # Large norms and small weights would hide errors of the order of heads.
        loss = train(model, ids, lessons)
        print(f"{family}: loss {loss:.2f}", flush=True)
        weights = model.parameters()
        forms = FORMS | (MORE if family == "qwen3" else {})
        for form, quantization in forms.items():
            save(f"{family}-{form}", quantization, configuration, weights, tokenizer)


main()
