"""The real model, the same model in Hugging Face transformers, and a tiny random one written to a GGUF file."""

import os
from collections.abc import Callable
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported

import gguf
import pytest
import torch
from tokenizers import pre_tokenizers
from torch import Tensor
from transformers import AutoModelForCausalLM, LlamaForCausalLM
from transformers import LlamaConfig as HFConfig

from kvlib.engine import LLM, Llama, Model, load, packaged_model

CONTROL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["h e", "l l", "Ġ t", "Ġt he"]
TOKENS = CONTROL_TOKENS + sorted(pre_tokenizers.ByteLevel.alphabet()) + [merge.replace(" ", "") for merge in MERGES]
END = TOKENS.index("<|im_end|>")
NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


@pytest.fixture(scope="session")
def model() -> Model:
    """SmolLM2-135M-Instruct as kvlib reads it."""
    return load()


@pytest.fixture(scope="session")
def hf_model() -> LlamaForCausalLM:
    """SmolLM2-135M-Instruct as transformers reads the same file; takes about half a minute."""
    path = packaged_model()
    return AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)


@pytest.fixture(scope="session")
def tiny_hf() -> LlamaForCausalLM:
    """Random weights; four query heads for two KV heads, heads of 16 in a hidden size of 48, untied embeddings."""
    torch.manual_seed(0)
    config = HFConfig(
        vocab_size=len(TOKENS),
        hidden_size=48,
        intermediate_size=80,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=512,
        rms_norm_eps=1e-5,
        initializer_range=0.3,
        tie_word_embeddings=False,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="session")
def tiny_tensors(tiny_hf: LlamaForCausalLM) -> dict[str, Tensor]:
    """The tiny model's weights under GGUF's names, queries and keys with their rotated pairs side by side."""
    state = tiny_hf.state_dict()
    tensors = {
        "token_embd.weight": state["model.embed_tokens.weight"],
        "output_norm.weight": state["model.norm.weight"],
        "output.weight": state["lm_head.weight"],
    }
    for layer in range(tiny_hf.config.num_hidden_layers):
        for theirs, ours in NAMES.items():
            weight = state[f"model.layers.{layer}.{theirs}.weight"]
            if ours in ("attn_q", "attn_k"):
                weight = weight.view(-1, 2, 8, 48).transpose(1, 2).reshape(weight.shape)
            tensors[f"blk.{layer}.{ours}.weight"] = weight
    return tensors


@pytest.fixture(scope="session")
def write_gguf(tiny_tensors: dict[str, Tensor]) -> Callable[..., Path]:
    """write_gguf(path, tensors=..., **metadata): the tiny model's file, with tensors or llama.* metadata replaced."""

    def write(path: Path, tensors: dict[str, Tensor] = tiny_tensors, **changes: object) -> Path:
        writer = gguf.GGUFWriter(path, "llama")
        sizes = {
            "block_count": 2,
            "embedding_length": 48,
            "feed_forward_length": 80,
            "attention.head_count": 4,
            "attention.head_count_kv": 2,
            "attention.key_length": 16,
            "context_length": 512,
        }
        for name, value in (sizes | {key.replace("__", "."): value for key, value in changes.items()}).items():
            if value is not None:
                writer.add_uint32(f"llama.{name}", value)
        writer.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-5)
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("smollm")
        writer.add_token_list(TOKENS)
        writer.add_token_types([3] * len(CONTROL_TOKENS) + [1] * (len(TOKENS) - len(CONTROL_TOKENS)))
        writer.add_token_merges(MERGES)
        writer.add_eos_token_id(END)
        for name, tensor in tensors.items():
            writer.add_tensor(name, tensor.numpy())
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    return write


@pytest.fixture(scope="session")
def tiny_path(write_gguf: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="session")
def tiny(tiny_path: Path) -> Model:
    return load(tiny_path)


class Scripted(Llama):
    """Writes `answer` after a prompt of `prompt_length` tokens, then end tokens, whatever the prompt says."""

    def __init__(self, tiny: Llama, answer: list[int], prompt_length: int) -> None:
        super().__init__(tiny.config, tiny.weights)
        self.answer = [*answer, END]
        self.prompt_length = prompt_length

    def forward(self, token_ids: Tensor, positions: Tensor, attention: object) -> Tensor:
        return positions[:, None]

    def logits(self, hidden: Tensor) -> Tensor:
        numbers = (hidden[:, 0] - self.prompt_length + 1).clamp(max=len(self.answer) - 1)
        return torch.nn.functional.one_hot(torch.tensor(self.answer)[numbers], len(TOKENS)).float()


@pytest.fixture(scope="session")
def scripted(tiny: Model) -> Callable[..., LLM]:
    """scripted(text) is an LLM that answers the one-token prompt [5] with that text, one byte a token, and ends."""

    def make(answer: str | list[int], **settings: object) -> LLM:
        token_ids = tiny.tokenizer.encode(answer) if isinstance(answer, str) else answer
        return LLM(tiny._replace(decoder=Scripted(tiny.decoder, token_ids, 1)), **settings)

    return make
