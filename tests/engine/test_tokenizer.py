import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.engine import Detokenizer, Model
from kvlib.errors import BadInput

# Unicode that SmolLM2's vocabulary can spell: it lacks six control characters and lead bytes of unassigned planes.
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"], max_codepoint=0x3FFFF)) | st.text("0123456789 \n½²")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("\n\n    1.", ["\n\n    ", "1", "."]),
        ("in 1984", ["in", " ", "1", "9", "8", "4"]),
        ("x ½", ["x", " ", "½"]),
        ("x²", ["x", "²"]),
        ("Hello world", ["Hello", " world"]),
        ("<|im_start|>user\n", ["<|im_start|>", "user", "\n"]),
        ("字🙂", ["字", "\\xf0\\x9f", "\\x99\\x82"]),
    ],
)
def test_known_texts_split_as_in_llama_cpp(model: Model, text: str, pieces: list[str]) -> None:
    """Every character of the class \\p{N} stands alone before merging; a GGUF read by transformers misses that."""
    assert model.tokenizer.pieces(model.tokenizer.encode(text)) == pieces


@settings(deadline=None)
@given(text=TEXT)
def test_decoding_gives_the_text_back(model: Model, text: str) -> None:
    assert model.tokenizer.decode(model.tokenizer.encode(text)) == text


@settings(deadline=None)
@given(text=TEXT)
def test_there_is_one_piece_for_each_token(model: Model, text: str) -> None:
    token_ids = model.tokenizer.encode(text)
    assert len(model.tokenizer.pieces(token_ids)) == len(token_ids)


@settings(deadline=None)
@given(token_ids=st.lists(st.integers(0, 49151)))
def test_streamed_pieces_join_to_the_decoded_text(model: Model, token_ids: list[int]) -> None:
    detokenizer = Detokenizer(model.tokenizer)
    pieces = [detokenizer.add(token) for token in token_ids] + [detokenizer.flush()]
    assert "".join(pieces) == model.tokenizer.decode(token_ids)


def test_half_a_character_is_held_back(model: Model) -> None:
    first, second = model.tokenizer.encode("🙂")
    detokenizer = Detokenizer(model.tokenizer)
    assert (detokenizer.add(first), detokenizer.add(second), detokenizer.flush()) == ("", "🙂", "")


def test_a_character_cut_off_by_the_end_becomes_a_replacement_character(model: Model) -> None:
    first, _ = model.tokenizer.encode("🙂")
    assert model.tokenizer.decode([first]) == "\ufffd"


def test_control_tokens_have_no_text_unless_asked_for(model: Model) -> None:
    token_ids = model.tokenizer.encode("a<|im_end|>b")
    assert model.tokenizer.decode(token_ids) == "ab"
    assert model.tokenizer.decode(token_ids, skip_special_tokens=False) == "a<|im_end|>b"


def test_characters_the_vocabulary_cannot_spell_are_dropped_as_in_transformers(model: Model) -> None:
    assert model.tokenizer.pieces(model.tokenizer.encode("a\x13b")) == ["a", "b"]


def test_both_end_tokens_end_a_text(model: Model) -> None:
    assert model.tokenizer.pieces(sorted(model.tokenizer.end_ids)) == ["<|endoftext|>", "<|im_end|>"]


def test_the_chat_template_writes_the_form_the_model_was_trained_on(model: Model) -> None:
    text = model.tokenizer.apply_chat_template([{"role": "user", "content": "Hi"}])
    assert text == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_system_message_of_ones_own_replaces_the_default(model: Model) -> None:
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hi"}]
    text = model.tokenizer.apply_chat_template(messages, add_generation_prompt=False)
    assert text == "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"


@pytest.mark.parametrize(
    "messages",
    [
        [],
        None,
        3,
        iter([]),
        {"role": "user", "content": "Hi"},
        "Hi",
        [{"role": "user"}],
        [{"role": "user", "content": 3}],
        ["Hi"],
    ],
)
def test_what_is_no_conversation_is_refused(model: Model, messages: object) -> None:
    with pytest.raises(BadInput, match=r"messages is .*; give at least one \{'role'"):
        model.tokenizer.apply_chat_template(messages)


def test_a_conversation_may_be_any_iterable(model: Model) -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]
    assert model.tokenizer.apply_chat_template(iter(messages)) == model.tokenizer.apply_chat_template(messages)


def test_a_role_that_the_model_does_not_know_is_refused(model: Model) -> None:
    with pytest.raises(BadInput, match="a message has the role 'tool'; the known ones are system, user, assistant"):
        model.tokenizer.apply_chat_template([{"role": "tool", "content": "Hi"}])


def test_a_chat_without_a_template_is_refused(tiny: Model) -> None:
    with pytest.raises(BadInput, match="no chat template"):
        tiny.tokenizer.apply_chat_template([{"role": "user", "content": "Hi"}])


@pytest.mark.parametrize("text", [3, None, b"bytes", "\ud800"])
def test_what_is_no_text_is_refused(model: Model, text: object) -> None:
    with pytest.raises(BadInput, match="give a string of whole Unicode characters"):
        model.tokenizer.encode(text)


@pytest.mark.parametrize("token_id", [-1, 49152])
def test_an_id_outside_the_vocabulary_is_refused(model: Model, token_id: int) -> None:
    with pytest.raises(BadInput, match=f"{token_id} is not in the vocabulary; ids run from 0 to 49151"):
        model.tokenizer.decode([token_id])


@pytest.mark.parametrize("token_ids", [[1.0], ["a"], [True], [[1]], [None], "ab"])
def test_what_is_no_whole_number_is_no_token_id(model: Model, token_ids: object) -> None:
    for call in (model.tokenizer.decode, model.tokenizer.pieces):
        with pytest.raises(BadInput, match=r"token id .* is no whole number; give ints"):
            call(token_ids)
    with pytest.raises(BadInput, match=r"token id .* is no whole number; give ints"):
        model.tokenizer.token_bytes(token_ids[0])


@pytest.mark.parametrize("token_ids", [None, 5])
def test_what_is_no_list_of_ids_is_refused(model: Model, token_ids: object) -> None:
    with pytest.raises(BadInput, match=f"token_ids is {token_ids}; give a list of whole numbers"):
        model.tokenizer.decode(token_ids)
