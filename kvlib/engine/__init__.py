"""A real model on the paged cache: `LLM().generate(prompts, SamplingParams(...))`. Needs torch."""

from kvlib.errors import MissingPackage

try:
    import tqdm  # noqa: F401

    import kvlib.models  # noqa: F401
except ImportError as error:
    raise MissingPackage(
        f'kvlib.engine needs another package ({error}); in the clone, run: pip install ".[torch]"'
    ) from error

from kvlib.engine.beam_params import BeamSearchParams
from kvlib.engine.engine import LLMEngine
from kvlib.engine.llm import LLM
from kvlib.engine.outputs import BeamSearchOutput, BeamSearchSequence, CompletionOutput, RequestOutput
from kvlib.engine.params import SamplingParams
from kvlib.engine.settings import Settings
from kvlib.engine.without_cache import generate_without_cache, stream_without_cache
from kvlib.models import (
    DecoderConfig,
    Detokenizer,
    Llama,
    LoRARequest,
    Model,
    NoCache,
    PagedAttention,
    Tokenizer,
    load,
    packaged_model,
)

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
    "Settings",
    "Tokenizer",
    "generate_without_cache",
    "load",
    "packaged_model",
    "stream_without_cache",
]
