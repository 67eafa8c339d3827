"""A real model on the paged cache: `LLM().generate(prompts, SamplingParams(...))`. Needs torch."""

import kvlib.attention  # noqa: F401  first: it settles how torch's threads wait
from kvlib.errors import MissingPackage

try:
    import gguf  # noqa: F401
    import jinja2  # noqa: F401
    import numpy  # noqa: F401
    import safetensors  # noqa: F401
    import tokenizers  # noqa: F401
    import tqdm  # noqa: F401
except ImportError as error:
    raise MissingPackage(
        f'kvlib.engine needs another package ({error}); in the clone, run: pip install ".[torch]"'
    ) from error

from kvlib.engine.adapters import LoRARequest
from kvlib.engine.attending import NoCache, PagedAttention
from kvlib.engine.beam_params import BeamSearchParams
from kvlib.engine.config import DecoderConfig
from kvlib.engine.detokenizer import Detokenizer
from kvlib.engine.engine import LLMEngine
from kvlib.engine.llama import Llama
from kvlib.engine.llm import LLM
from kvlib.engine.model import Model, load
from kvlib.engine.outputs import BeamSearchOutput, BeamSearchSequence, CompletionOutput, RequestOutput
from kvlib.engine.params import SamplingParams
from kvlib.engine.tokenizer import Tokenizer
from kvlib.engine.without_cache import generate_without_cache, stream_without_cache
from kvlib.packaged import packaged_model

__all__ = [
    "LLM",
    "BeamSearchOutput",
    "BeamSearchParams",
    "BeamSearchSequence",
    "CompletionOutput",
    "DecoderConfig",
    "Detokenizer",
    "LLMEngine",
    "Llama",
    "LoRARequest",
    "Model",
    "NoCache",
    "PagedAttention",
    "RequestOutput",
    "SamplingParams",
    "Tokenizer",
    "generate_without_cache",
    "load",
    "packaged_model",
    "stream_without_cache",
]
