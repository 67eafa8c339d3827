"""Many simulations at once: one function, many points, on this machine's cores or on a cluster.

joblib does the work (joblib docs, Embarrassingly parallel for loops); it is asked for only when a sweep runs.
"""

import importlib
import pickle
from collections.abc import Callable, Iterable
from types import ModuleType

from kvlib.checks import whole
from kvlib.errors import BadConfig, BadInput, MissingPackage, PointFailed

BACKENDS = (None, "threading", "sequential", "dask", "ray")
ALL_CORES = -1


def sweep(
    function: Callable[..., object],
    points: Iterable[object],
    *,
    backend: str | None = None,
    n_jobs: int = ALL_CORES,
    progress: bool = True,
) -> list[object]:
    """`[function(point) for point in points]`, several at a time; a point that is a dict is passed as `**point`.

    `n_jobs` workers, 1 or more, or -1 for as many as there are cores. `backend` says where they are:

    ============  ==========================================================================================
    None          processes on this machine
    "threading"   threads of this process; "sequential": this process, one point after the other
    "dask"        the cluster of the current Dask client: make a `distributed.Client` first
    "ray"         the Ray cluster that `ray.init` connected to, or one that Ray starts here
    ============  ==========================================================================================

    Function, points and results travel between processes, so they must be picklable. The progress bar is shown only
    on a terminal. Raises PointFailed, naming the point, when the function raises, and stops the others; BadInput for a
    function or points that are none; BadConfig for a setting out of range or a cluster that is not there;
    MissingPackage, with the command that installs it, when a package is needed.
    """
    points = _checked_points(function, points)
    if n_jobs != ALL_CORES:
        whole("n_jobs", n_jobs)
    joblib, tqdm = _package("joblib"), _package("tqdm")
    _register(backend)
    with (
        joblib.parallel_config(backend=backend or "loky", n_jobs=n_jobs),
        tqdm.tqdm(total=len(points), disable=None if progress else True) as bar,
    ):
        parallel = joblib.Parallel()
        # The one call that joblib makes after every point with every backend.
        parallel.print_progress = lambda: bar.update(parallel.n_completed_tasks - bar.n)
        try:
            return list(parallel(joblib.delayed(_run)(function, index, point) for index, point in enumerate(points)))
        except _Failed as failed:
            index, error = failed.args
        except Exception as broken:
            raise PointFailed(
                f"the sweep broke off with {type(broken).__name__}: {broken!s:.200}; a worker died, or the function, a "
                "point or a result cannot travel to another process: try backend='sequential'"
            ) from broken
    raise PointFailed(
        f"point {index} of {len(points)}, {points[index]!r:.200}, failed with {type(error).__name__}: {error!s:.500}; "
        "call the function with this point alone to see where"
    ) from error


class _Failed(Exception):
    """Carries (index of the point, what the function raised) out of a worker."""


def _run(function: Callable[..., object], index: int, point: object) -> object:
    try:
        return function(**point) if isinstance(point, dict) else function(point)
    except (Exception, SystemExit) as error:
        raise _Failed(index, _portable(error)) from None


def _portable(error: BaseException) -> BaseException:
    """`error`, or its text where it could not be read back in another process: that would end the whole sweep."""
    try:
        pickle.loads(_package("cloudpickle").dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _checked_points(function: Callable[..., object], points: Iterable[object]) -> list[object]:
    if not callable(function):
        raise BadInput(f"function is {function!r}; give a function of one point")
    try:
        return list(points)
    except TypeError:
        raise BadInput(f"points is {points!r}; give a list of points") from None


def _register(backend: str | None) -> None:
    """Make `backend` known to joblib, each by its own package's way."""
    if backend not in BACKENDS:
        raise BadConfig(f"backend is {backend!r}; give one of {', '.join(map(repr, BACKENDS))}")
    if backend == "dask":
        try:
            _package("distributed").get_client()
        except ValueError:
            raise BadConfig(
                'backend "dask" needs a Dask client, and there is none; make one around the call: '
                "with distributed.Client(): ..., or Client(address) for a cluster that runs"
            ) from None
    if backend == "ray":
        _package("ray.util.joblib").register_ray()


def _package(module: str) -> ModuleType:
    name = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingPackage(f"this sweep needs {name}, which is not installed; run: pip install {name}") from error
