#!/usr/bin/env python3
"""Makes the small models that the tests need beside the default one, with random weights and always the same bytes.

    scripts/tiny-models.py SmolLM2-135M-Instruct.Q4_1.gguf FOLDER

    projector.gguf            sees for the default model: 64x64 pixels, 16 tokens a picture
    projector-two-way.gguf    the same, of the kind whose picture tokens look at each other both ways
    grid.gguf                 a text model whose positions have sections for height and width (M-RoPE) ...
    projector-grid.gguf       ... and what sees for it: as many tokens as the picture is large
    recurrent.gguf            a text model that keeps one state (Mamba)
    vectors.gguf              a text model that gives vectors and answers nobody (BERT)
    window.gguf               a text model half of whose layers see the last 64 tokens only (Gemma 2)
    split-0000?-of-0000?.gguf the same in three files
    plain.gguf                a text model like the default one (Llama)
    thinking.gguf             the default model, whose template opens <think> in the model's place

What they say is nonsense; that it is the same nonsense as llama.cpp's own tools say is what can be tested with them. They
speak the default model's vocabulary and use its template, so everything but the weights is as it is with real ones.
"""

import os
import sys

import gguf
import numpy as np

WIDTH = 64
source, folder = sys.argv[1:]
default = gguf.GGUFReader(source)


class Model:
    """A GGUF file under construction."""

    def __init__(self, name, architecture, seed, most_tensors=0):
        self.path = os.path.join(folder, name)
        self.architecture = architecture
        self.random = np.random.default_rng(seed)
        self.is_split = most_tensors > 0
        to = self.path if self.is_split else self.path + ".tmp"
        self.file = gguf.GGUFWriter(to, architecture, split_max_tensors=most_tensors)

    def fact(self, key, value):
        add = {bool: self.file.add_bool, int: self.file.add_uint32, float: self.file.add_float32,
               str: self.file.add_string, list: self.file.add_array}
        add[type(value)](key, value)

    def facts(self, prefix, **facts):
        for key, value in facts.items():
            self.fact(f"{prefix}.{key.replace('__', '.')}", value)

    def weight(self, name, *shape, scale=None, dtype=np.float32):
        """A matrix of `shape` (rows first) that keeps about the size of what goes through it."""
        scale = scale if scale is not None else shape[-1] ** -0.5
        self.file.add_tensor(name, self.random.normal(0, scale, shape).astype(dtype))

    def ones(self, name, count):
        """A norm's factors, not all the same."""
        self.file.add_tensor(name, self.random.normal(1, 0.1, count).astype(np.float32))

    def linear(self, name, rows, columns):
        self.weight(f"{name}.weight", rows, columns)
        self.weight(f"{name}.bias", rows, scale=0.02)

    def norm(self, name, count):
        self.ones(f"{name}.weight", count)
        self.weight(f"{name}.bias", count, scale=0.02)

    def copy(self, prefix, **replaced):
        """The default model's facts whose keys begin so, some with another value."""
        for field in default.fields.values():
            if not field.name.startswith(prefix) or field.name.startswith("GGUF."):
                continue
            value = replaced.get(field.name, field.contents())
            if field.types[0] == gguf.GGUFValueType.ARRAY:
                self.file.add_key_value(field.name, value, gguf.GGUFValueType.ARRAY, field.types[-1])
            elif field.name != "general.architecture":
                self.file.add_key_value(field.name, value, field.types[0])

    def write(self):
        self.file.write_header_to_file()
        self.file.write_kv_data_to_file()
        self.file.write_tensors_to_file()
        self.file.close()
        if not self.is_split:
            os.replace(self.path + ".tmp", self.path)


def fact_of_default(key):
    return default.fields[key].contents()


# Of the text models.
VOCABULARY = len(default.fields["tokenizer.ggml.tokens"].data)
TEXT_WIDTH = fact_of_default("llama.embedding_length")


def encoder(name, projector, seed, image, patch, out):
    """The part that most vision models share."""
    model = Model(name, "clip", seed)
    model.fact("general.type", "mmproj")
    model.facts("clip", projector_type=projector, has_vision_encoder=True, use_gelu=True)
    model.facts(
        "clip.vision", embedding_length=WIDTH, feed_forward_length=3 * WIDTH, block_count=2, projection_dim=out,
        image_size=image, patch_size=patch, attention__head_count=4, attention__layer_norm_epsilon=1e-5,
        image_mean=[0.5, 0.5, 0.5], image_std=[0.5, 0.5, 0.5])
    for layer in range(2):
        for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
            model.linear(f"v.blk.{layer}.{part}", WIDTH, WIDTH)
        model.norm(f"v.blk.{layer}.ln1", WIDTH)
        model.norm(f"v.blk.{layer}.ln2", WIDTH)
        model.linear(f"v.blk.{layer}.ffn_up", 3 * WIDTH, WIDTH)
        model.linear(f"v.blk.{layer}.ffn_down", WIDTH, 3 * WIDTH)
    # Larger than a trained one's, for what a picture shows to matter after two layers of noise.
    model.weight("v.patch_embd.weight", WIDTH, 3, patch, patch, scale=3.0 / patch)
    return model


def projector():
    model = encoder("projector.gguf", "mlp", 1, image=64, patch=16, out=TEXT_WIDTH)
    model.weight("v.position_embd.weight", 16, WIDTH, scale=0.5)
    model.linear("mm.0", 4 * WIDTH, WIDTH)
    model.linear("mm.2", TEXT_WIDTH, 4 * WIDTH)
    model.write()


def two_way_projector():
    model = encoder("projector-two-way.gguf", "gemma3", 2, image=64, patch=8, out=TEXT_WIDTH)
    model.facts("clip.vision", projector__scale_factor=2)
    model.weight("v.position_embd.weight", 64, WIDTH, scale=0.5)
    model.norm("v.post_ln", WIDTH)
    model.ones("mm.soft_emb_norm.weight", WIDTH)
    model.weight("mm.input_projection.weight", WIDTH, TEXT_WIDTH, scale=WIDTH ** -0.5)
    model.write()


def grid_projector():
    model = encoder("projector-grid.gguf", "qwen2vl_merger", 3, image=112, patch=14, out=WIDTH)
    model.weight("v.patch_embd.weight.1", WIDTH, 3, 14, 14, scale=3.0 / 14)
    model.norm("v.post_ln", WIDTH)
    model.linear("mm.0", 4 * WIDTH, 4 * WIDTH)
    model.linear("mm.2", WIDTH, 4 * WIDTH)
    model.write()


def text_model(name, architecture, seed, most_tensors=0, context=2048, **facts):
    """Everything of a text model but its layers; in several files if they hold no more than so many tensors."""
    model = Model(name, architecture, seed, most_tensors)
    model.fact("general.name", f"tiny random {architecture}")
    model.facts(architecture, context_length=context, embedding_length=WIDTH, block_count=2, vocab_size=VOCABULARY, **facts)
    model.copy("tokenizer.")
    model.weight("token_embd.weight", VOCABULARY, WIDTH, scale=1.0, dtype=np.float16)
    model.ones("output_norm.weight", WIDTH)
    return model


def attention(model, layer, bias=False, after=False):
    for part, rows in (("attn_q", 64), ("attn_k", 32), ("attn_v", 32)):
        model.weight(f"blk.{layer}.{part}.weight", rows, WIDTH)
        if bias:
            model.weight(f"blk.{layer}.{part}.bias", rows, scale=0.02)
    model.weight(f"blk.{layer}.attn_output.weight", WIDTH, 64)
    model.weight(f"blk.{layer}.ffn_gate.weight", 2 * WIDTH, WIDTH)
    model.weight(f"blk.{layer}.ffn_up.weight", 2 * WIDTH, WIDTH)
    model.weight(f"blk.{layer}.ffn_down.weight", WIDTH, 2 * WIDTH)
    for norm in ("attn_norm", "ffn_norm") + (("post_attention_norm", "post_ffw_norm") if after else ()):
        model.ones(f"blk.{layer}.{norm}.weight", WIDTH)


def grid():
    model = text_model(
        "grid.gguf", "qwen2vl", 4, feed_forward_length=2 * WIDTH, attention__head_count=4, attention__head_count_kv=2,
        attention__layer_norm_rms_epsilon=1e-6, rope__freq_base=10000.0)
    model.fact("qwen2vl.rope.dimension_sections", [2, 3, 3, 0])
    # Not the tokens' own vectors, or a model without skill says the same word again and again.
    model.weight("output.weight", VOCABULARY, WIDTH, dtype=np.float16)
    for layer in range(2):
        attention(model, layer, bias=True)
    model.write()


def window(name="window.gguf", most_tensors=0):
    model = text_model(
        name, "gemma2", 5, most_tensors, feed_forward_length=2 * WIDTH, attention__head_count=4, attention__head_count_kv=2,
        attention__key_length=16, attention__value_length=16, attention__layer_norm_rms_epsilon=1e-6,
        attention__sliding_window=64, attn_logit_softcapping=50.0, final_logit_softcapping=30.0)
    for layer in range(2):
        attention(model, layer, after=True)
    model.write()


def plain():
    model = text_model(
        "plain.gguf", "llama", 9, context=fact_of_default("llama.context_length"), feed_forward_length=2 * WIDTH,
        attention__head_count=4, attention__head_count_kv=2, attention__layer_norm_rms_epsilon=1e-5,
        rope__dimension_count=16, rope__freq_base=10000.0)
    model.weight("output.weight", VOCABULARY, WIDTH, dtype=np.float16)
    for layer in range(2):
        attention(model, layer)
    model.write()


def split():
    window("split.gguf", most_tensors=10)


def recurrent():
    inner, state, rank = 2 * WIDTH, 16, 4
    model = text_model(
        "recurrent.gguf", "mamba", 6, feed_forward_length=0, attention__head_count=0,
        attention__layer_norm_rms_epsilon=1e-5, ssm__conv_kernel=4, ssm__inner_size=inner, ssm__state_size=state,
        ssm__time_step_rank=rank)
    model.weight("output.weight", VOCABULARY, WIDTH, dtype=np.float16)
    for layer in range(2):
        name = f"blk.{layer}"
        model.ones(f"{name}.attn_norm.weight", WIDTH)
        model.weight(f"{name}.ssm_in.weight", 2 * inner, WIDTH)
        model.weight(f"{name}.ssm_conv1d.weight", inner, 4)
        model.weight(f"{name}.ssm_conv1d.bias", inner, scale=0.02)
        model.weight(f"{name}.ssm_x.weight", rank + 2 * state, inner)
        model.weight(f"{name}.ssm_dt.weight", inner, rank)
        model.weight(f"{name}.ssm_dt.bias", inner, scale=0.5)
        # Negative: what is remembered fades.
        fading = -np.exp(model.random.normal(0, 0.5, (inner, state))).astype(np.float32)
        model.file.add_tensor(f"{name}.ssm_a", fading)
        model.ones(f"{name}.ssm_d", inner)
        model.weight(f"{name}.ssm_out.weight", WIDTH, inner)
    model.write()


def vectors():
    # llama.cpp rounds a context up to a multiple of 256, for which there are no positions.
    model = Model("vectors.gguf", "bert", 8)
    model.fact("general.name", "tiny random bert")
    model.facts("bert", context_length=500, embedding_length=WIDTH, block_count=2, feed_forward_length=2 * WIDTH,
                attention__head_count=4, attention__layer_norm_epsilon=1e-6, pooling_type=1)
    model.copy("tokenizer.")
    model.fact("tokenizer.ggml.token_type_count", 2)
    model.weight("token_embd.weight", VOCABULARY, WIDTH, scale=1.0, dtype=np.float16)
    model.weight("token_types.weight", 2, WIDTH, scale=0.02)
    model.weight("position_embd.weight", 500, WIDTH, scale=0.1)
    model.norm("token_embd_norm", WIDTH)
    for layer in range(2):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            model.linear(f"blk.{layer}.{part}", WIDTH, WIDTH)
        model.linear(f"blk.{layer}.ffn_up", 2 * WIDTH, WIDTH)
        model.linear(f"blk.{layer}.ffn_down", WIDTH, 2 * WIDTH)
        for norm in ("attn_output_norm", "layer_output_norm"):
            model.norm(f"blk.{layer}.{norm}", WIDTH)
    model.write()


def thinking():
    model = Model("thinking.gguf", "llama", 7)
    key, opening = "tokenizer.chat_template", "<|im_start|>assistant\n"
    template = fact_of_default(key)
    if template.count(opening) != 1:
        sys.exit(f"the default model's template does not open the answer with {opening!r} once")
    model.copy("", **{key: template.replace(opening, opening + "<think>\n")})
    for tensor in default.tensors:
        model.file.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    model.write()


os.makedirs(folder, exist_ok=True)
for make in (projector, two_way_projector, grid_projector, grid, recurrent, vectors, window, plain, split, thinking):
    make()
