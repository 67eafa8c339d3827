# Run this cell first. Where kvlib is installed, as in the clone's own environment, it installs nothing.
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

KVLIB = ""  # what pip takes it from, with a tag, "kvlib @ git+https://HOST/OWNER/NAME@TAG"; it has no address yet

if importlib.util.find_spec("kvlib") is None:
    clones = [str(folder.resolve()) for folder in (Path(".."), Path("kvbook")) if (folder / "labs").is_dir()]
    source = (clones or [KVLIB])[0]
    if not source:
        raise ModuleNotFoundError(
            "kvlib is not installed, and has no public address yet from which it could be. Put a copy of its "
            "repository into the folder kvbook beside this notebook (git clone, or upload and unpack), then run this "
            "cell again."
        )
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", source]
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode != 0:
        raise RuntimeError(f"pip could not install kvlib from {source}: {finished.stderr}")
    importlib.invalidate_caches()
    print(f"Installed kvlib from {source}.")
