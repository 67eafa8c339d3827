"""Names on the hub: huggingface_hub's own client against a small server in its place."""

import json
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants

from kvlib.engine import LLM, SamplingParams, load
from kvlib.errors import BadConfig, BadModelFile, MissingPackage
from kvlib.models import hub

from .checkpoints import make, write

NAME = "owner/model-0.5B"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ELSEWHERE = {
    "README.md": b"Hello",
    "onnx/model.onnx": b"1",
    "consolidated.safetensors": b"2",
    "pytorch_model.bin": b"3",
}


class Hub(BaseHTTPRequestHandler):
    """The four calls that a download makes. `refusals` has an error code of the hub's for a part of a path."""

    files: dict[str, bytes]
    refusals: dict[str, tuple[int, str]]
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        status, code = next((self.refusals[part] for part in self.refusals if part in self.path), (200, ""))
        content = b"" if code else self.content()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{len(content)}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("X-Error-Code", code) if code else None
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET

    def content(self) -> bytes:
        if "/resolve/" in self.path:
            return self.files[self.path.split(f"/resolve/{COMMIT}/")[1]]
        if "/tree/" in self.path:
            files = [{"type": "file", "path": name, "size": len(data), "oid": "0"} for name, data in self.files.items()]
            return json.dumps(files).encode()
        return json.dumps(
            {"id": NAME, "sha": COMMIT, "siblings": [{"rfilename": name} for name in self.files]}
        ).encode()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = write(tmp_path_factory.mktemp("model"), make("qwen2"))
    return {path.name: path.read_bytes() for path in folder.iterdir()} | ELSEWHERE


@pytest.fixture
def online(files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    """A hub with one model, and an empty cache."""
    handler = type("OneModel", (Hub,), {"files": files, "refusals": {}, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    yield handler
    server.shutdown()


def test_a_name_is_downloaded_without_what_is_not_needed(online: type[Hub]) -> None:
    model = load(NAME)
    assert {path.name for path in model.path.iterdir()} >= {"config.json", "model.safetensors", "tokenizer.json"}
    assert not any(name in path for path in online.asked for name in ELSEWHERE)
    assert LLM(model).generate([5], SamplingParams(max_tokens=3))


def test_a_model_without_safetensors_comes_as_torch_saved_it(online: type[Hub], tmp_path: Path) -> None:
    hf = make("qwen2")
    torch.save(hf.state_dict(), tmp_path / "pytorch_model.bin")
    kept = {name: data for name, data in online.files.items() if not name.endswith(".safetensors")}
    online.files = kept | {"pytorch_model.bin": (tmp_path / "pytorch_model.bin").read_bytes()}
    assert torch.equal(load(NAME).decoder.weights.embedding, hf.model.embed_tokens.weight)


def test_a_model_that_the_cache_holds_needs_no_network(online: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    downloaded = load(NAME)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert load(NAME).path == downloaded.path
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert load(NAME).path == downloaded.path


REFUSALS = {
    "no such model": ({"/api/": (401, "RepoNotFound")}, "the hub shows no model of that name: check the spelling"),
    "a login": ({"/resolve/": (403, "GatedRepo")}, "on the hub it asks for a login: accept its terms on its page"),
    "no such revision": ({"/api/": (404, "RevisionNotFound")}, "on the hub it has no revision 'v2': give a branch"),
    "a fault of the hub's": ({"/api/": (500, "Broken")}, r"the hub could not be reached \(HfHubHTTPError: "),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_of_the_hub_says_what_to_do(online: type[Hub], refusal: str) -> None:
    online.refusals, message = REFUSALS[refusal]
    with pytest.raises(BadModelFile, match=f"'{NAME}' is no local file or folder .*, and {message}") as caught:
        load(NAME, revision="v2")
    assert "\n" not in str(caught.value)


def test_without_a_network_the_error_says_so(online: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    message = r"could not be reached \(ConnectError: .*\), nor does its cache on this disk hold the whole model: check"
    with pytest.raises(BadModelFile, match=message):
        load(NAME)


def test_where_the_hub_is_switched_off_the_error_says_so(online: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(BadModelFile, match=r"could not be reached \(OfflineModeIsEnabled: .*HF_HUB_OFFLINE"):
        load(NAME)
    assert online.asked == []


def test_a_hub_that_does_not_answer_is_given_up(online: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    silent = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
    monkeypatch.setattr(hub, "SECONDS", 0.2)
    with silent, pytest.raises(BadModelFile, match=r"could not be reached \(ReadTimeout: "):
        load(NAME)


def test_without_huggingface_hub_the_error_gives_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingPackage, match="run: pip install huggingface_hub, or give a local folder"):
        load(NAME)


@pytest.mark.parametrize("path", ["gpt2", "a/b/c", "owner/model.gguf", "owner/model.safetensors", Path(NAME), "~/x"])
def test_what_is_no_name_is_not_looked_for_on_the_hub(online: type[Hub], path: str | Path) -> None:
    with pytest.raises(BadModelFile, match=f"there is no file or folder '{path}'; give a GGUF file, a folder"):
        load(path)
    assert online.asked == []


def test_a_form_that_is_none_is_refused_before_anything_is_asked(online: type[Hub]) -> None:
    with pytest.raises(BadConfig, match="linear is 'int4'; the known ones are"):
        load(NAME, "int4")
    assert online.asked == []


def test_a_local_folder_comes_before_a_name(
    online: type[Hub], tmp_path: Path, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(NAME).mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (Path(NAME) / name).write_bytes(files[name])
    assert load(NAME).path == Path(NAME)
    assert online.asked == []


def test_a_revision_is_for_names_on_the_hub(online: type[Hub], tmp_path: Path) -> None:
    for path in (tmp_path, None):
        with pytest.raises(BadConfig, match="revision is 'v2'"):
            load(path, revision="v2")
    with pytest.raises(BadConfig, match="revision is 2; give a branch"):
        load(NAME, revision=2)
