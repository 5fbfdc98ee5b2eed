#!/usr/bin/env python3
"""Writes the configuration and the tokenizer of a small Llama for vLLM, which makes the weights itself (--load-format dummy).

    PYTHONPATH=FOLDER scripts/upstreams/vllm-model.py TARGET
"""
import json, os, sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

target = sys.argv[1]
os.makedirs(target, exist_ok=True)
specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
vocabulary = {word: number for number, word in enumerate(specials + sorted(pre_tokenizers.ByteLevel.alphabet()))}
tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_special_tokens(specials)
tokenizer.save(os.path.join(target, "tokenizer.json"))


def write(name, body):
    with open(os.path.join(target, name), "w") as file:
        json.dump(body, file)


write("tokenizer_config.json", {
    "tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "model_max_length": 2048,
    "chat_template": "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
                     "<|im_start|>assistant\n"})
write("config.json", {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": len(vocabulary), "max_position_embeddings": 2048,
    "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": True, "torch_dtype": "float32",
    "bos_token_id": 0, "eos_token_id": 2})
