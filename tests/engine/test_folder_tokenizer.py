"""Tokenizers of model folders against transformers' on the same files."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from kvlib.engine import LLM, Detokenizer, Model, SamplingParams, Tokenizer, load
from kvlib.errors import BadInput, BadModelFile
from kvlib.models.folder_tokenizer import read_folder_tokenizer

from .checkpoints import CORPUS, VOCAB_SIZE, byte_level, change, make, metaspace, write

USER = [{"role": "user", "content": "Hi"}]
KINDS = {"byte-level": byte_level(), "byte-level with bos": byte_level(bos="<|endoftext|>"), "metaspace": metaspace()}
TEXTS = [
    *CORPUS,
    "",
    " ",
    "  two  spaces ",
    "\n\ttabs\r\n",
    "unknown: Привет 你好 🙂🙂",
    "<|im_start|>user\nHi<|im_end|>",
    "<s>a</s> b",
    "a<tool>b",
    "▁Ġ",
]


def write_tokenizer(folder: Path, tokenizer: PreTrainedTokenizerFast) -> Tokenizer:
    tokenizer.save_pretrained(folder)
    (folder / "config.json").write_text(json.dumps({"eos_token_id": 2}))
    return read_folder_tokenizer(folder, VOCAB_SIZE)


@pytest.fixture(scope="module", params=KINDS)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tokenizer, PreTrainedTokenizerFast]:
    theirs = KINDS[request.param]
    return write_tokenizer(tmp_path_factory.mktemp("tokenizer"), theirs), theirs


@pytest.mark.parametrize("text", TEXTS)
def test_token_ids_are_those_of_transformers(pair: tuple[Tokenizer, PreTrainedTokenizerFast], text: str) -> None:
    ours, theirs = pair
    assert ours.encode(text) == theirs(text)["input_ids"]
    assert ours.encode(text, add_special_tokens=False) == theirs(text, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("skip", [True, False])
def test_decoding_is_that_of_transformers(
    pair: tuple[Tokenizer, PreTrainedTokenizerFast], text: str, skip: bool
) -> None:
    ours, theirs = pair
    token_ids = ours.encode(text)
    assert ours.decode(token_ids, skip_special_tokens=skip) == theirs.decode(token_ids, skip_special_tokens=skip)


@settings(deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\u2581")))
def test_decoding_gives_the_text_back(pair: tuple[Tokenizer, PreTrainedTokenizerFast], text: str) -> None:
    ours, _ = pair
    assert ours.decode(ours.encode(text)) == text


@settings(deadline=None)
@given(token_ids=st.lists(st.integers(0, VOCAB_SIZE - 1)))
def test_streamed_pieces_join_to_the_decoded_text_but_keep_the_space_they_continue_with(
    pair: tuple[Tokenizer, PreTrainedTokenizerFast], token_ids: list[int]
) -> None:
    ours, _ = pair
    detokenizer = Detokenizer(ours)
    streamed = "".join([detokenizer.add(token) for token in token_ids] + [detokenizer.flush()])
    assert ours.decode(token_ids) in (streamed, streamed.removeprefix(" "))


def test_an_answer_that_goes_on_after_a_space_begins_with_it(tmp_path: Path) -> None:
    tokenizer = write_tokenizer(tmp_path, metaspace())
    [first, *_] = tokenizer.encode("table", add_special_tokens=False)
    assert tokenizer.token_bytes(first).startswith(b" ")
    assert Detokenizer(tokenizer).add(first) == " " + tokenizer.decode([first])


def test_single_bytes_make_a_character(tmp_path: Path) -> None:
    tokenizer = write_tokenizer(tmp_path, metaspace())
    token_ids = tokenizer.encode("\U0001f642", add_special_tokens=False)[1:]
    assert [tokenizer.token_bytes(token) for token in token_ids] == [b"\xf0", b"\x9f", b"\x99", b"\x82"]
    assert tokenizer.decode(token_ids[:2]) == "\ufffd"


def test_ids_beyond_the_tokenizers_stand_for_nothing(tmp_path: Path) -> None:
    tokenizer = write_tokenizer(tmp_path, byte_level())
    assert tokenizer.vocab_size == VOCAB_SIZE
    assert tokenizer.decode([VOCAB_SIZE - 1, 70, VOCAB_SIZE - 2]) == tokenizer.decode([70]) != ""
    with pytest.raises(BadInput, match="ids run from 0 to 319"):
        tokenizer.decode([VOCAB_SIZE])


def test_fieldsfor_training_change_nothing(tmp_path: Path) -> None:
    trained = byte_level()
    trained.backend_tokenizer.enable_truncation(2)
    trained.backend_tokenizer.enable_padding(length=9)
    assert write_tokenizer(tmp_path, trained).encode(CORPUS[0]) == byte_level()(CORPUS[0])["input_ids"]


def test_a_token_that_only_the_fieldscall_special_is_special(tmp_path: Path) -> None:
    write_tokenizer(tmp_path, byte_level())
    added = json.loads((tmp_path / "tokenizer.json").read_text())["added_tokens"]
    change(tmp_path / "tokenizer.json", added_tokens=[token for token in added if token["content"] != "<|im_end|>"])
    ours, theirs = read_folder_tokenizer(tmp_path, VOCAB_SIZE), PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert ours.encode("a<|im_end|>") == theirs("a<|im_end|>")["input_ids"]
    assert ours.decode(ours.encode("a<|im_end|>")) == "a"


@pytest.mark.parametrize("kind", ["opt", "gpt2"])
def test_the_two_files_of_gpt2_and_opt_are_read_as_transformers_reads_them(tmp_path: Path, kind: str) -> None:
    byte_level().backend_tokenizer.model.save(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind, "eos_token_id": 2}))
    named = dict.fromkeys(["bos_token", "eos_token", "unk_token"], "<|im_end|>") | {"pad_token": "<|im_start|>"}
    fields = named | {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": kind == "opt"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(fields))
    ours, theirs = read_folder_tokenizer(tmp_path, VOCAB_SIZE), AutoTokenizer.from_pretrained(tmp_path)
    for text in TEXTS:
        assert ours.encode(text) == theirs(text)["input_ids"]
        assert ours.decode(ours.encode(text)) == theirs.decode(ours.encode(text), skip_special_tokens=True)
    assert (ours.encode("a")[0] == 2) == (kind == "opt")


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt"])
def test_one_of_two_files_is_not_enough(tmp_path: Path, name: str) -> None:
    byte_level().backend_tokenizer.model.save(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "opt"}))
    (tmp_path / name).unlink()
    with pytest.raises(BadModelFile, match=r"the tokenizer in .* cannot be read \(.*\); download it again"):
        read_folder_tokenizer(tmp_path, VOCAB_SIZE)


def test_control_tokens_are_special_and_added_words_are_not(tmp_path: Path) -> None:
    tokenizer = write_tokenizer(tmp_path, byte_level())
    assert tokenizer.special_ids == {0, 1, 2}
    assert tokenizer.decode(tokenizer.encode("a<tool><|im_end|>")) == "a<tool>"


@pytest.mark.parametrize(
    ("config", "generation", "expected"),
    [
        ({"eos_token_id": 2}, {}, {2}),
        ({"eos_token_id": [0, 2]}, {}, {0, 2}),
        ({"eos_token_id": 0}, {"eos_token_id": [1, 2]}, {0, 1, 2}),
        ({"eos_token_id": None}, {"eos_token_id": 1}, {1}),
        ({}, {}, {2}),
    ],
)
def test_end_ids_come_from_both_configs_else_from_the_tokenizer(
    tmp_path: Path, config: dict, generation: dict, expected: set[int]
) -> None:
    byte_level().save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "generation_config.json").write_text(json.dumps(generation))
    assert read_folder_tokenizer(tmp_path, VOCAB_SIZE).end_ids == expected


@pytest.mark.parametrize("given", [-1, "2", [2, None], True, 2.0])
def test_an_end_that_is_no_token_id_is_refused(tmp_path: Path, given: object) -> None:
    write_tokenizer(tmp_path, byte_level())
    (tmp_path / "config.json").write_text(json.dumps({"eos_token_id": given}))
    with pytest.raises(BadModelFile, match=r"config\.json has eos_token_id = .*; expected a token id or a list"):
        read_folder_tokenizer(tmp_path, VOCAB_SIZE)


TEMPLATE = "{{ bos_token }}{% if tools is none %}{{ messages[0].content }}{% endif %}{{ eos_token }}"


@pytest.mark.parametrize("place", ["a file of its own", "the tokenizer's config", "a list of templates"])
def test_a_chat_template_is_found_and_reads_as_transformers_reads_it(tmp_path: Path, place: str) -> None:
    theirs = byte_level(bos_token="<|im_start|>")
    theirs.chat_template = TEMPLATE
    theirs.save_pretrained(tmp_path)
    assert (tmp_path / "chat_template.jinja").exists()
    if place != "a file of its own":
        (tmp_path / "chat_template.jinja").unlink()
        named = [{"name": "tool_use", "template": "no"}, {"name": "default", "template": TEMPLATE}]
        change(tmp_path / "tokenizer_config.json", chat_template=named if "list" in place else TEMPLATE)
    ours = read_folder_tokenizer(tmp_path, VOCAB_SIZE)
    assert ours.apply_chat_template(USER) == theirs.apply_chat_template(USER, tokenize=False)
    assert ours.apply_chat_template(USER) == "<|im_start|>Hi<|im_end|>"


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    make("qwen2").save_pretrained(tmp_path)
    with pytest.raises(BadModelFile, match=r"has no tokenizer\.json; save the tokenizer beside the model"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("change_", "message"),
    [
        ({"decoder": None}, "has the decoder None; this reads byte-level vocabularies"),
        ({"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}}, "has the decoder {'type': 'WordPiece'"),
        ({"model": {"type": "none"}}, "cannot be read"),
    ],
)
def test_a_tokenizer_of_another_kind_is_refused(tmp_path: Path, change_: dict, message: str) -> None:
    write_tokenizer(tmp_path, byte_level())
    change(tmp_path / "tokenizer.json", **change_)
    with pytest.raises(BadModelFile, match=f"the tokenizer in .* {message}"):
        read_folder_tokenizer(tmp_path, VOCAB_SIZE)


@pytest.fixture(scope="module")
def with_bos(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = write(tmp_path_factory.mktemp("model"), make("llama"))
    theirs = byte_level(bos="<|endoftext|>", bos_token="<|endoftext|>")
    theirs.chat_template = "{{ bos_token }}{{ messages[0].content }}"
    theirs.save_pretrained(folder)
    return load(folder)


def test_a_prompt_has_the_token_ids_that_transformers_gives_it(with_bos: Model) -> None:
    [output] = LLM(with_bos).generate("the cat", SamplingParams(max_tokens=1))
    assert output.prompt_token_ids == byte_level(bos="<|endoftext|>")("the cat")["input_ids"]
    assert output.prompt_token_ids[0] == 0


def test_a_chat_begins_with_one_first_token_and_not_with_two(with_bos: Model) -> None:
    [output] = LLM(with_bos).chat([{"role": "user", "content": "the cat"}], SamplingParams(max_tokens=1))
    assert output.prompt_token_ids == with_bos.tokenizer.encode("the cat")
