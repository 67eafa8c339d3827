"""Models from files: configurations, weights and tokenizers, and forward passes that know nothing of a cache.

Needs torch. `load` reads one; `kvlib.engine` serves it.
"""

import kvlib.attention  # noqa: F401  first: it settles how torch's threads wait
from kvlib.errors import MissingPackage

try:
    import gguf  # noqa: F401
    import jinja2  # noqa: F401
    import numpy  # noqa: F401
    import safetensors  # noqa: F401
    import tokenizers  # noqa: F401
except ImportError as error:
    raise MissingPackage(
        f'kvlib.models needs another package ({error}); in the clone, run: pip install ".[torch]"'
    ) from error

from kvlib.models.adapters import LoRARequest
from kvlib.models.attending import NoCache, PagedAttention
from kvlib.models.config import DecoderConfig
from kvlib.models.decoder import Decoder
from kvlib.models.detokenizer import Detokenizer
from kvlib.models.llama import Llama
from kvlib.models.model import Model, load
from kvlib.models.tokenizer import Tokenizer
from kvlib.packaged import packaged_model

__all__ = [
    "Decoder",
    "DecoderConfig",
    "Detokenizer",
    "Llama",
    "LoRARequest",
    "Model",
    "NoCache",
    "PagedAttention",
    "Tokenizer",
    "load",
    "packaged_model",
]
