"""Recipes with parameters in a JSON file, as `fusejit.transform.tune` finds them.

The file names the recipe, ``module:name``, and has its parameters. For readers it also has the
function, the arguments and all times. The steps themselves stay in the program: they may be edited.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fusejit.errors import ScheduleError
from fusejit.notices import warn


def machine() -> dict[str, Any]:
    """What times depend on."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text("utf-8").splitlines() if facts.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": names[0] if names else platform.machine(), "cores": cores}


def name_of(function: Callable[..., Any]) -> str:
    """``module:name``, by which `load_recipe` finds a function again."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', '')}:{name}"


def load_recipe(
    path: str | os.PathLike[str], recipe: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """A recipe with the parameters of a file that `TuneResult.save` has written.

    A `FuseWarning` says if the file was written on another machine.

    Parameters
    ----------
    path : path
        The file.
    recipe : callable, optional
        The recipe; without it the one that the file names is imported.

    Raises
    ------
    ScheduleError
        If the file has no recipe in it, the recipe cannot be imported, or it has other parameters.
    OSError
        If the file cannot be read.
    """
    try:
        saved = json.loads(Path(path).read_text("utf-8"))
        name, parameters = saved["recipe"], dict(saved["parameters"])
    except (ValueError, KeyError, TypeError) as error:
        raise ScheduleError(f"{path} is no file of a recipe: {error!r}") from error
    if recipe is None:
        recipe = _imported(name, path)
    try:
        inspect.signature(recipe).bind(None, **parameters)
    except TypeError as error:
        given = ", ".join(parameters)
        raise ScheduleError(f"{path} has the parameters {given}: {error} of {name}") from error
    here, there = machine(), saved.get("machine", {})
    if here != there:
        warn(f"{path} was tuned on {_text(there)}, and this is {_text(here)}: tune again")
    return functools.partial(recipe, **parameters)


def _imported(name: str, path: str | os.PathLike[str]) -> Callable[..., Any]:
    module, _, attributes = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for attribute in attributes.split("."):
            found = getattr(found, attribute)
    except (ImportError, AttributeError, ValueError) as error:
        remedy = "give it: load_recipe(path, recipe)"
        raise ScheduleError(
            f"{path} names the recipe {name}, which cannot be imported ({error}); {remedy}"
        ) from error
    recipe: Callable[..., Any] = found
    return recipe


def _text(facts: dict[str, Any]) -> str:
    return f"{facts.get('cpu', 'another machine')} with {facts.get('cores', '?')} cores"
