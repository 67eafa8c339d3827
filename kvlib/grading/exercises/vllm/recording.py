"""A run of a workload on vLLM as a file: what it must hold, how it is read, and how one is made.

    date, device, versions, commit    as in every file of data/measurements
    measured      "vllm metrics"
    gpu           its name, as torch says it
    workload      sha256 of the workload, see `digest`
    num_gpu_blocks                    as vllm:cache_config_info has it
    steps         for each of METRICS its value after each step of the engine

Written against vLLM 0.33.0: its `LLM`, `SamplingParams` and `get_metrics`.
"""

import hashlib
import importlib
import importlib.util
import json
import os
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kvlib.bench.measurements import FOLDER
from kvlib.bench.record import record
from kvlib.errors import BadInput, MissingPackage
from kvlib.grading.exercises.vllm.workload import METRICS, Course, Workload

VERSION = "0.33.0"
MEASURED = "vllm metrics"
NOT_MEASURED = "Not measured: data/measurements holds no run of this workload on vLLM."
ALONE = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
CONFIG = {  # SmolLM2-135M's shape: the sizes decide what the memory does, and the weights nothing
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": 576,
    "intermediate_size": 1536,
    "max_position_embeddings": 8192,
    "num_attention_heads": 9,
    "num_hidden_layers": 30,
    "num_key_value_heads": 3,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": True,
    "torch_dtype": "float16",
    "vocab_size": 49152,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def missing() -> str:
    """What a run on vLLM lacks here, in a sentence; "" if nothing. Imports neither vLLM nor anything of it."""
    if importlib.util.find_spec("vllm") is None:
        return f"vLLM is not installed; with a GPU, in an environment of its own: pip install vllm=={VERSION}"
    if not importlib.import_module("torch").cuda.is_available():
        return "vLLM is installed, and there is no CUDA GPU."
    return ""


def digest(workload: Workload) -> str:
    """SHA-256 of all that a workload says, as JSON."""
    return hashlib.sha256(json.dumps(workload).encode()).hexdigest()


def checked(recording: Any) -> dict[str, Any]:
    """`recording` if it is one. Raises BadInput, which names what is missing or does not fit."""
    if not isinstance(recording, dict) or recording.get("measured") != MEASURED:
        raise BadInput(f"this is no recording of vLLM's metrics: 'measured' has to be {MEASURED!r}")
    texts = [name for name in ("date", "device", "gpu", "workload") if not isinstance(recording.get(name), str)]
    if texts or not isinstance(recording.get("versions"), dict) or not recording["versions"].get("vllm"):
        raise BadInput(f"the recording lacks {', '.join(texts) or 'the version of vllm in versions'}; record it again")
    if type(recording.get("num_gpu_blocks")) is not int or recording["num_gpu_blocks"] < 2:
        raise BadInput(f"num_gpu_blocks is {recording.get('num_gpu_blocks')!r}; a cache has 2 blocks or more")
    steps = recording.get("steps")
    if not isinstance(steps, dict) or set(steps) != set(METRICS):
        raise BadInput(f"steps has to hold {', '.join(METRICS)}, and nothing else; record it again")
    if not all(isinstance(values, list) and values and all(map(_is_number, values)) for values in steps.values()):
        raise BadInput("steps has to hold a list of numbers, 0 or more, for each metric; record it again")
    if len({len(values) for values in steps.values()}) != 1:
        raise BadInput("the metrics of steps have different numbers of steps; the file is cut: record it again")
    return recording


def recordings(workload: Workload, folder: Traversable = FOLDER) -> list[dict[str, Any]]:
    """Those in `folder` that are of this workload, in the order of the files' names; none may be there.

    Files of other measurements are left alone. Raises BadInput, which names the file, for a damaged recording.
    """
    found = []
    files = sorted(folder.iterdir(), key=lambda file: file.name) if folder.is_dir() else []
    for file in files:
        if not file.name.endswith(".json"):
            continue
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(content, dict) or content.get("measured") != MEASURED:
                continue
            found.append(checked(content))
        except (ValueError, BadInput) as error:
            raise BadInput(f"{file.name} cannot be played: {error}") from None
    return [recording for recording in found if recording["workload"] == digest(workload)]


def record_run(workload: Workload, file: str | Path | None = None) -> dict[str, Any]:
    """Run the workload on vLLM and return its recording, written to `file` as well if one is given.

    The engine stays in this process, so that all requests of a wave are there before its first step; weights are made
    up, nothing is downloaded, and vLLM's usage statistics are off. Raises MissingPackage where `missing` says so.
    """
    if lack := missing():
        raise MissingPackage(lack)
    os.environ.update(ALONE)
    vllm = importlib.import_module("vllm")
    with TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
        llm = vllm.LLM(
            folder,
            load_format="dummy",
            skip_tokenizer_init=True,
            dtype="float16",
            max_model_len=2048,
            block_size=workload.block_size,
            num_gpu_blocks_override=workload.num_gpu_blocks,
            max_num_seqs=workload.max_num_seqs,
            max_num_batched_tokens=workload.max_num_batched_tokens,
            enable_prefix_caching=True,
            async_scheduling=False,
            enforce_eager=True,
            disable_log_stats=False,
        )
        steps = _steps(vllm, llm, workload)
    num_gpu_blocks = next(
        int(metric.labels["num_gpu_blocks"]) for metric in llm.get_metrics() if metric.name == "vllm:cache_config_info"
    )
    recording = checked(
        {
            **record("vllm", "torch"),
            "measured": MEASURED,
            "gpu": importlib.import_module("torch").cuda.get_device_name(),
            "workload": digest(workload),
            "num_gpu_blocks": num_gpu_blocks,
            "steps": steps,
        }
    )
    if file is not None:
        Path(file).write_text(json.dumps(recording, indent=1) + "\n", encoding="utf-8")
    return recording


def _steps(vllm: Any, llm: Any, workload: Workload) -> Course:
    course: Course = {name: [] for name in METRICS}
    for wave in workload.waves:
        llm.enqueue(
            [{"prompt_token_ids": list(prompt)} for prompt, _ in wave],
            [
                vllm.SamplingParams(temperature=0, max_tokens=count, ignore_eos=True, detokenize=False)
                for _, count in wave
            ],
            use_tqdm=False,
        )
        while llm.llm_engine.has_unfinished_requests():
            llm.llm_engine.step()
            now = {metric.name: metric.value for metric in llm.get_metrics() if metric.name in METRICS}
            for name in METRICS:
                course[name].append(now[name])
    return course


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < float("inf")  # type: ignore[operator]
