"""A conversation as one text, by the template that came with the model."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from jinja2.sandbox import ImmutableSandboxedEnvironment

from kvlib.errors import BadInput, BadModelFile
from kvlib.shown import shown

Message = Mapping[str, str]
ROLES = ("system", "user", "assistant")


class ChatTemplate:
    """The Jinja template `source` of the model file `path`, with the names that transformers gives to templates.

    `special_tokens` maps names such as "bos_token" to the tokens' texts.
    """

    def __init__(self, source: str, special_tokens: Mapping[str, str], path: Path) -> None:
        self._source = source
        self._special_tokens = special_tokens
        self._path = path

    def render(self, messages: Iterable[Message], add_generation_prompt: bool) -> str:
        """The text of a conversation. Raises BadInput for what is no conversation or what the template refuses,
        BadModelFile for a template that does not work."""
        conversation = read_messages(messages)
        try:
            template = _TEMPLATES.from_string(self._source)
            return template.render(
                messages=conversation,
                add_generation_prompt=add_generation_prompt,
                tools=None,
                documents=None,
                **self._special_tokens,
            )
        except BadInput:
            raise
        except Exception as error:  # a template can fail in any way that a program can
            raise BadModelFile(
                f"the chat template in {self._path} does not work: {type(error).__name__}: {error}; "
                "use generate with a prompt instead"
            ) from error


def read_messages(given: Any) -> list[Message]:
    """`given`, any iterable of messages, as a list. Raises BadInput for what is no conversation."""
    messages = list(given) if isinstance(given, Iterable) and not isinstance(given, str | Mapping) else []
    if not messages or not all(_is_message(message) for message in messages):
        roles = " | ".join(ROLES)
        raise BadInput(
            f"messages is {shown(messages or given)}; give at least one {{'role': {roles}, 'content': text}}"
        )
    for message in messages:
        if message["role"] not in ROLES:
            raise BadInput(f"a message has the role {shown(message['role'])}; the known ones are {', '.join(ROLES)}")
    return messages


def _is_message(message: object) -> bool:
    return isinstance(message, Mapping) and all(isinstance(message.get(key), str) for key in ("role", "content"))


def _raise_exception(message: object) -> NoReturn:
    raise BadInput(f"the model's chat template refuses the conversation: {message}; change the messages")


def _strftime_now(form: str) -> str:
    return datetime.now().strftime(form)


_TEMPLATES = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
_TEMPLATES.globals |= {
    "raise_exception": _raise_exception,
    "strftime_now": _strftime_now,
}
