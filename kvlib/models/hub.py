"""A model by its name on the Hugging Face hub, as a local folder."""

import re
from pathlib import Path

from kvlib.errors import BadConfig, BadModelFile, MissingPackage
from kvlib.shown import shown

NAME = re.compile(r"[A-Za-z0-9_][\w.-]*/[A-Za-z0-9_][\w.-]*")
FILES = ["*.json", "model*.safetensors", "*.jinja", "merges.txt"]
SECONDS = 10  # for the hub's first answer


def is_hub_name(text: str) -> bool:
    """Whether `text` reads owner/name, as names on the hub do, and not like a file."""
    return NAME.fullmatch(text) is not None and not text.endswith((".gguf", ".safetensors"))


def fetch(name: str, revision: str | None = None) -> Path:
    """The folder of the model `name` at a branch, tag or commit: downloaded, or from the hub's own cache on this disk.

    Raises MissingPackage without huggingface_hub, BadConfig for a revision that is no text, and BadModelFile, saying
    what to do, if there is no such model or revision, if it asks for a login, or if the hub does not answer and the
    cache has no copy.
    """
    if not isinstance(revision, str | None):
        raise BadConfig(f"revision is {shown(revision)}; give a branch, a tag or a commit as text, or None")
    try:
        from huggingface_hub import HfApi, snapshot_download
    except ImportError as error:
        raise MissingPackage(
            f"{name!r} is no local file or folder, and taking it from the hub needs another package ({error}); "
            "run: pip install huggingface_hub, or give a local folder"
        ) from None
    refused, files = None, FILES
    try:
        info = HfApi().model_info(name, revision=revision, timeout=SECONDS)  # the download would wait without end
        if not any(file.rfilename.endswith(".safetensors") for file in info.siblings or []):
            files = [*FILES, "pytorch_model*.bin"]
    except Exception as error:  # every release raises the errors of another network library
        refused = error
    try:
        folder = snapshot_download(name, revision=revision, allow_patterns=files, local_files_only=refused is not None)
    except Exception as error:
        raise BadModelFile(
            f"{name!r} is no local file or folder (if one was meant, check its path), and "
            f"{_problem(refused or error, revision)}"
        ) from None
    return Path(folder)


def _problem(error: Exception, revision: str | None) -> str:
    from huggingface_hub import errors

    match error:
        case errors.GatedRepoError():
            return (
                "on the hub it asks for a login: accept its terms on its page there, then run: hf auth login; or give "
                "a local folder"
            )
        case errors.RevisionNotFoundError():
            return f"on the hub it has no revision {revision!r}: give a branch, a tag or a commit that its page lists"
        case errors.RepositoryNotFoundError():
            return (
                "the hub shows no model of that name: check the spelling, run: hf auth login if it is private, or give "
                "a local folder"
            )
        case errors.HFValidationError():
            return "it is no name for the hub either: give owner/name, such as Qwen/Qwen2.5-0.5B-Instruct"
    [reason, *_] = str(error).splitlines() or [""]
    return (
        f"the hub could not be reached ({type(error).__name__}: {reason:.200}), nor does its cache on this disk hold "
        "the whole model: check the connection, or give a local folder"
    )
