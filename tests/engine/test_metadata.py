"""A model file whose metadata have the wrong type, or do not fit together, is refused by the key that is wrong."""

import re
from math import inf, nan
from pathlib import Path

import pytest

from kvlib.engine import Tokenizer
from kvlib.errors import BadInput, BadModelFile
from kvlib.gguf import read_header
from kvlib.models.gguf_config import read_gguf_config
from kvlib.models.gguf_tokenizer import read_gguf_tokenizer

PATH = Path("a.gguf")
USER = [{"role": "user", "content": "Hi"}]


@pytest.fixture(scope="module")
def metadata(tiny_path: Path) -> dict:
    return read_header(tiny_path).metadata


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("block_count", 2.0, "a whole number of at least 1"),
        ("block_count", True, "a whole number of at least 1"),
        ("attention.head_count", 4.0, "a whole number of at least 1"),
        ("attention.head_count", [4, 4], "a whole number of at least 1"),
        ("attention.head_count_kv", -2, "a whole number of at least 1"),
        ("context_length", 64.5, "a whole number of at least 1"),
        ("context_length", "512", "a whole number of at least 1"),
        ("rope.freq_base", nan, "a number above 0"),
        ("rope.freq_base", inf, "a number above 0"),
        ("attention.layer_norm_rms_epsilon", "small", "a number above 0"),
    ],
)
def test_a_size_of_the_wrong_type_is_refused(metadata: dict, key: str, value: object, expected: str) -> None:
    with pytest.raises(BadModelFile, match=re.escape(f"a.gguf has llama.{key} = {value!r}; {expected} is expected")):
        read_gguf_config(metadata | {f"llama.{key}": value}, PATH)


def test_heads_of_odd_size_are_refused(metadata: dict) -> None:
    with pytest.raises(BadModelFile, match="heads of size 15, expected an even size"):
        read_gguf_config(metadata | {"llama.attention.key_length": 15}, PATH)


@pytest.mark.parametrize("tokens", [5, [], ["a", 3], "abc", None])
def test_a_malformed_token_list_is_refused_by_config_and_tokenizer(metadata: dict, tokens: object) -> None:
    changed = metadata | {"tokenizer.ggml.tokens": tokens}
    for read in (read_gguf_config, read_gguf_tokenizer):
        with pytest.raises(
            BadModelFile, match=r"has tokenizer\.ggml\.tokens = .*; a list of str, not empty, is expected"
        ):
            read(changed, PATH)


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("tokens", lambda tokens: [*tokens[:-1], tokens[-2]], "a list without repeated tokens is expected"),
        ("tokens", lambda tokens: [*tokens[:-1], "a b"], "GPT-2's alphabet, which does not spell token 262, 'a b'"),
        ("token_type", lambda types: types[:-1], "one type for each of 263 tokens, not 262, is expected"),
        ("token_type", lambda types: [1.0, *types[1:]], "a list of int, not empty, is expected"),
        ("merges", lambda merges: [*merges, "he"], "two tokens that join to a third, unlike 'he'"),
        ("merges", lambda merges: [*merges, "h q"], "two tokens that join to a third, unlike 'h q'"),
        ("merges", lambda _: None, "a list of str, not empty, is expected"),
        ("eos_token_id", lambda _: 263, "a whole number of at least 0 and below 263 is expected"),
        ("eos_token_id", lambda _: 2.0, "a whole number of at least 0 and below 263 is expected"),
        ("model", lambda _: 2, "a text is expected"),
    ],
)
def test_a_vocabulary_that_does_not_fit_together_is_refused(
    metadata: dict, key: str, change: object, message: str
) -> None:
    name = f"tokenizer.ggml.{key}"
    with pytest.raises(BadModelFile, match=re.escape(f"a.gguf has {name} = ") + ".*" + re.escape(message)):
        read_gguf_tokenizer(metadata | {name: change(metadata[name])}, PATH)


def test_a_key_that_is_absent_is_named(metadata: dict) -> None:
    without = {key: value for key, value in metadata.items() if key != "tokenizer.ggml.eos_token_id"}
    with pytest.raises(BadModelFile, match=r"a\.gguf has no tokenizer\.ggml\.eos_token_id; a whole number"):
        read_gguf_tokenizer(without, PATH)


def with_template(metadata: dict, template: object) -> Tokenizer:
    return read_gguf_tokenizer(metadata | {"tokenizer.chat_template": template, "tokenizer.ggml.bos_token_id": 1}, PATH)


def test_a_template_may_use_what_transformers_gives_it(metadata: dict) -> None:
    template = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% break %}{% endfor %}{{ eos_token }}"
    assert with_template(metadata, template).apply_chat_template(USER) == "<|im_start|>Hi<|im_end|>"
    assert with_template(metadata, "{{ strftime_now('%Y') | length }}").apply_chat_template(USER) == "4"


def test_a_conversation_that_the_template_refuses_is_bad_input_with_its_words(metadata: dict) -> None:
    tokenizer = with_template(metadata, "{{ raise_exception('roles must alternate') }}")
    with pytest.raises(BadInput, match="refuses the conversation: roles must alternate; change the messages"):
        tokenizer.apply_chat_template(USER)


@pytest.mark.parametrize("template", ["{% for %}", "{{ nothing.at.all }}", "{{ 1 / 0 }}", "{{ unknown() }}"])
def test_a_template_that_fails_is_the_files_fault(metadata: dict, template: str) -> None:
    with pytest.raises(BadModelFile, match=r"the chat template in a\.gguf does not work: .*; use generate"):
        with_template(metadata, template).apply_chat_template(USER)


def test_a_template_that_is_no_text_is_refused(metadata: dict) -> None:
    with pytest.raises(BadModelFile, match=r"tokenizer\.chat_template = 3; a text is expected"):
        with_template(metadata, 3)
