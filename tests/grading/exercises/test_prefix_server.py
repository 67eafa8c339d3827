"""The prefix cache that attacks are tried on says what it computed, and what was another prompt's."""

from kvlib.grading.exercises.prefixes.server import Served, Server

PROMPT = list(range(100, 118))


def exact(parent, token_ids):
    return parent, tuple(token_ids)


def test_a_prompt_asked_again_computes_what_no_full_block_holds():
    server = Server(exact, block_size=4)
    assert server.ask(PROMPT) == Served(18, 0)
    assert server.ask(PROMPT) == Served(2, 0)
    assert server.ask(PROMPT[:16]) == Served(4, 0)


def test_a_key_that_two_blocks_have_serves_the_one_with_what_the_other_holds():
    server = Server(lambda parent, token_ids: (parent, sum(token_ids)), block_size=4)
    server.ask(PROMPT)
    forged = [PROMPT[0] + 1, PROMPT[1] - 1, *PROMPT[2:]]
    assert server.ask(forged) == Served(2, 16)


def test_nothing_is_shared_under_another_root():
    server = Server(exact, block_size=4)
    server.ask(PROMPT, root=b"one")
    assert server.ask(PROMPT, root=b"other") == Served(18, 0)


def test_what_follows_a_salt_is_shared_by_those_who_have_it():
    server = Server(exact, block_size=4)
    server.ask(PROMPT, salts=["", "one", "", ""])
    assert server.ask(PROMPT, salts=["", "other", "", ""]) == Served(14, 0)
    assert server.ask(PROMPT, salts=["", "one", "", ""]) == Served(2, 0)
