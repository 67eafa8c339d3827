"""What a caller may give as prompts, brought to one form and checked before anything is queued."""

from typing import Any, NamedTuple

from kvlib.engine.beam_params import BeamSearchParams
from kvlib.engine.params import SamplingParams
from kvlib.errors import BadInput, RequestTooLarge
from kvlib.models.model import Model
from kvlib.shown import shown

FORMS = "give a text, a list of token ids, {'prompt': text} or {'prompt_token_ids': ids}, or a list of these"
KEYS = ("prompt", "prompt_token_ids", "cache_salt")


class Prompt(NamedTuple):
    """`text` is None where only token ids were given; `name` is what messages call the prompt. Prompts with different
    `cache_salt` share no cached block."""

    text: str | None
    token_ids: list[int]
    name: str
    cache_salt: str | None = None


def read_prompts(given: Any, model: Model) -> list[Prompt]:
    """The prompts in `given`, which is one prompt or a list of them, in order.

    Raises BadInput for another type, an empty prompt or a token id outside the vocabulary, RequestTooLarge for a
    prompt that leaves no room in the model's context for one more token; the message names the prompt.
    """
    if isinstance(given, list | tuple) and given and isinstance(given[0], str | dict | list | tuple):
        return [read_prompt(item, model, f"prompt {index} of {len(given)}") for index, item in enumerate(given)]
    return [read_prompt(given, model)]


def read_prompt(given: Any, model: Model, name: str = "the prompt") -> Prompt:
    """One prompt, called `name` in messages. Raises what read_prompts raises."""
    prompt = _to_tokens(given, model, name)
    vocab_size, context = model.decoder.config.vocab_size, model.decoder.config.context_length
    if not prompt.token_ids:
        raise BadInput(f"{name} is empty; give at least one token")
    for token in prompt.token_ids:
        if type(token) is not int:
            raise BadInput(f"{name} has the token id {shown(token)}; give whole numbers (of a tensor, its tolist())")
        if not 0 <= token < vocab_size:
            raise BadInput(
                f"{name} has the token id {shown(token)}; the vocabulary's ids run from 0 to {vocab_size - 1}"
            )
    if len(prompt.token_ids) >= context:
        raise RequestTooLarge(
            f"{name} has {len(prompt.token_ids)} tokens; the model's context holds {context}, prompt and answer "
            f"together: shorten it to at most {context - 1}"
        )
    return prompt


def read_params(given: Any, count: int) -> list[SamplingParams]:
    """Sampling parameters for `count` prompts from one for all, a list with one for each, or None for the defaults."""
    values = [given or SamplingParams()] * count if given is None or isinstance(given, SamplingParams) else given
    if not isinstance(values, list | tuple) or not all(isinstance(value, SamplingParams) for value in values):
        raise BadInput(f"sampling_params is {shown(given)}; give a SamplingParams, or a list with one for each prompt")
    if len(values) != count:
        raise BadInput(f"{len(values)} sampling_params for {count} prompts; give one for all or one for each")
    return list(values)


def read_beam_params(given: Any, model: Model) -> BeamSearchParams:
    """Parameters of a beam search that this model's vocabulary can serve. Raises BadInput."""
    if not isinstance(given, BeamSearchParams):
        raise BadInput(f"params is {shown(given)}; give a BeamSearchParams")
    given.check_vocabulary(model.decoder.config.vocab_size)
    return given


def _to_tokens(given: Any, model: Model, name: str) -> Prompt:
    match given:
        case str() as text:
            return _from_text(text, model, name)
        case list() | tuple():
            return Prompt(None, list(given), name)
        case dict():
            return _from_dict(given, model, name)
    raise BadInput(f"{name} is {shown(given)}; {FORMS}")


def _from_text(text: str, model: Model, name: str) -> Prompt:
    try:
        token_ids = model.tokenizer.encode(text)
    except BadInput as error:
        raise BadInput(f"{name}: {error}") from None
    if text and not token_ids:
        raise BadInput(f"{name} is {shown(text)}, of which the vocabulary can spell nothing; give another text")
    return Prompt(text, token_ids, name)


def _from_dict(given: dict[Any, Any], model: Model, name: str) -> Prompt:
    """As in vLLM, the token ids count where both are given, and the text is only kept."""
    unknown = [shown(key) for key in given if key not in KEYS]
    if unknown:
        raise BadInput(f"{name} has the unknown keys {', '.join(unknown)}; the known ones are {', '.join(KEYS)}")
    salt = given.get("cache_salt")
    if salt is not None and (not isinstance(salt, str) or not salt):
        raise BadInput(f"{name} has the cache_salt {shown(salt)}; give a text that is not empty, or leave it out")
    match given.get("prompt"), given.get("prompt_token_ids"):
        case str() as text, None:
            return _from_text(text, model, name)._replace(cache_salt=salt)
        case (str() | None) as kept, (list() | tuple()) as token_ids:
            return Prompt(kept, list(token_ids), name, salt)
    raise BadInput(f"{name} is {shown(given)}; {FORMS}")
