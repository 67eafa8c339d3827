"""Tiny models of every architecture, with random weights, written to a folder as transformers writes them."""

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

VOCAB_SIZE = 320  # more than the tokenizers have
CORPUS = ["The block table maps logical blocks to physical blocks.", "the cat sat on the mat in 1984, 字 🙂 é"] * 2
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

ROPED = {
    "vocab_size": VOCAB_SIZE,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.3,
    "bos_token_id": 0,
    "eos_token_id": 2,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
OPT = {"vocab_size": VOCAB_SIZE, "hidden_size": 48, "ffn_dim": 80, "num_hidden_layers": 2, "num_attention_heads": 4}
OPT |= {"max_position_embeddings": 512, "init_std": 0.3, "eos_token_id": 2}
GPT2 = {"vocab_size": VOCAB_SIZE, "n_embd": 48, "n_layer": 2, "n_head": 4, "n_positions": 512, "initializer_range": 0.3}
GPT2 |= {"bos_token_id": 0, "eos_token_id": 2}

CASES: dict[str, tuple[type, Any]] = {
    "llama": (LlamaForCausalLM, LlamaConfig(**ROPED)),
    "llama, tied": (LlamaForCausalLM, LlamaConfig(**ROPED, tie_word_embeddings=True)),
    "llama, large heads": (LlamaForCausalLM, LlamaConfig(**ROPED, head_dim=16)),
    "llama, biases": (LlamaForCausalLM, LlamaConfig(**ROPED, attention_bias=True, mlp_bias=True)),
    "llama, stretched": (LlamaForCausalLM, LlamaConfig(**ROPED, rope_parameters=LLAMA3)),
    "mistral": (MistralForCausalLM, MistralConfig(**ROPED, sliding_window=None)),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config(**ROPED, rope_theta=1e6, rms_norm_eps=0.01)),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config(**ROPED, head_dim=16, tie_word_embeddings=True)),
    "qwen3, biases": (Qwen3ForCausalLM, Qwen3Config(**ROPED, attention_bias=True)),
    "opt": (OPTForCausalLM, OPTConfig(**OPT)),
    "opt, untied": (OPTForCausalLM, OPTConfig(**OPT, tie_word_embeddings=False, activation_function="gelu")),
    "opt, no biases": (OPTForCausalLM, OPTConfig(**OPT, enable_bias=False)),
    "gpt2": (GPT2LMHeadModel, GPT2Config(**GPT2, layer_norm_epsilon=0.01)),
    "gpt2, untied": (GPT2LMHeadModel, GPT2Config(**GPT2, n_inner=70, tie_word_embeddings=False)),
}


def make(name: str, **changes: object) -> PreTrainedModel:
    """The model of a case, perhaps with other fields; biases and norms are random too, where new ones are 0 and 1."""
    kind, config = CASES[name]
    torch.manual_seed(0)
    model = kind(type(config).from_dict(config.to_dict() | changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.uniform_(0.4, 1.6)
    return model


def write(folder: Path, model: PreTrainedModel, **settings: Any) -> Path:
    """`folder`, with the model and a tokenizer in it."""
    model.save_pretrained(folder, **settings)
    byte_level().save_pretrained(folder)
    return folder


def change(path: Path, **fields: object) -> None:
    """Replace fields of a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def byte_level(*, bos: str | None = None, **settings: Any) -> PreTrainedTokenizerFast:
    """As GPT-2's, OPT's (with a `bos` before every text), Qwen's and Llama 3's."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator(CORPUS, trainer)
    bpe.add_tokens(["<tool>"])
    if bos is not None:
        bpe.post_processor = processors.TemplateProcessing(f"{bos} $A", special_tokens=[(bos, bpe.token_to_id(bos))])
    return PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", **settings)


def metaspace() -> PreTrainedTokenizerFast:
    """As Llama 2's and Mistral's: a space before every text, and single bytes for characters it does not know."""
    plain = Tokenizer(models.BPE())
    plain.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    plain.train_from_iterator(CORPUS[:1], trainers.BpeTrainer(vocab_size=60, show_progress=False))
    trained = json.loads(plain.to_str())["model"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *trained["vocab"]]
    ids = {token: index for index, token in enumerate(tokens)}
    merges = [tuple(merge) for merge in trained["merges"]]
    bpe = Tokenizer(models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    bpe.normalizer = plain.normalizer
    steps = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    bpe.decoder = decoders.Sequence(steps)
    bpe.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 1)])
    bpe.add_special_tokens(["<unk>", "<s>", "</s>"])
    return PreTrainedTokenizerFast(tokenizer_object=bpe, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
