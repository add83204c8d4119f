"""A picture of a run: the ratio NumPy / engine over size, one small panel per family."""

from collections import defaultdict
from math import ceil
from pathlib import Path
from statistics import geometric_mean
from textwrap import fill

import matplotlib

matplotlib.use("Agg")

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from benchmarks.records import CaseRecord, RunRecord
from benchmarks.summary import speedups

COLUMNS = 4
LETTERS_PER_INCH = 13  # of the title
LEGEND_ENTRY_INCHES = 1.9
COLOURS = {"fusejit": "#c2410c", "numexpr": "#1d6fa5"}
SPARE_COLOURS = ("#4d7c0f", "#7e22ce", "#0f766e", "#6b7280")
TICKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)

Points = dict[int, list[float]]


def draw(run: RunRecord) -> Figure:
    """Draw a run: thick lines are geometric means of a family, thin ones its workloads."""
    families = list(dict.fromkeys(case.family for case, _, _ in speedups(run.cases)))
    engines = sorted({engine for _, engine, _ in speedups(run.cases)}, key=_engine_order)
    colours = dict(zip([e for e in engines if e not in COLOURS], SPARE_COLOURS, strict=False))
    colours = {engine: COLOURS.get(engine, colours.get(engine, "black")) for engine in engines}
    columns = min(COLUMNS, max(1, len(families)))
    rows = max(1, ceil(len(families) / columns))
    figure = Figure(figsize=(1.2 + 3.3 * columns, 1.5 + 2.6 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    low, high = _limits(run)
    sizes = [case.size for case in run.cases] or [1, 10]
    for position, axes in enumerate(grid.flat):
        if position >= len(families):
            axes.set_axis_off()
            continue
        cases = [case for case in run.cases if case.family == families[position]]
        _draw_family(axes, cases, colours)
        axes.set_title(families[position], fontsize=11, loc="left", fontweight="bold")
        axes.set_xlim(min(sizes) / 1.7, max(sizes) * 1.7)
        axes.set_ylim(low, high)
        axes.tick_params(labelbottom=True, labelleft=position % columns == 0)
        if position + columns >= len(families):  # nothing below
            axes.set_xlabel("elements of the largest array", fontsize=10)
    _legend(figure, colours)
    figure.supylabel("times as fast as NumPy", fontsize=10)
    machine = (
        f"{run.machine['cpu']}, {run.machine['cores']} cores, "
        f"NumPy {run.versions.get('numpy', '?')}, {run.machine['date'][:10]}"
    )
    figure.suptitle(
        fill(machine, int(figure.get_figwidth() * LETTERS_PER_INCH)),
        fontsize=9,
        color="#555555",
        x=0.01,
        horizontalalignment="left",
    )
    return figure


def _draw_family(axes: Axes, cases: list[CaseRecord], colours: dict[str, str]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axhspan(1e-9, 1.0, color="#b91c1c", alpha=0.06, linewidth=0)
    axes.axhline(1.0, color="#444444", linewidth=1.0)
    for engine, colour in colours.items():
        for points in _by_line(cases, engine).values():
            _line(axes, points, color=colour, linewidth=0.7, alpha=0.3)
        overall: Points = defaultdict(list)
        for case, name, speedup in speedups(cases):
            if name == engine:
                overall[case.size].append(speedup)
        _line(axes, overall, color=colour, linewidth=2.2, marker="o", markersize=4)
    axes.yaxis.set_major_locator(FixedLocator(TICKS))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)


def _by_line(cases: list[CaseRecord], engine: str) -> dict[tuple[str, str, bool], Points]:
    lines: dict[tuple[str, str, bool], Points] = defaultdict(lambda: defaultdict(list))
    for case, name, speedup in speedups(cases):
        if name == engine:
            lines[case.workload, case.dtype, case.with_out][case.size].append(speedup)
    return lines


def _line(axes: Axes, points: Points, **style: object) -> None:
    sizes = sorted(points)
    if sizes:
        axes.plot(sizes, [geometric_mean(points[size]) for size in sizes], **style)  # type: ignore[arg-type]


def _legend(figure: Figure, colours: dict[str, str]) -> None:
    handles = [
        Line2D([], [], color=colour, linewidth=2.2, marker="o", markersize=4, label=engine)
        for engine, colour in colours.items()
    ]
    handles += [
        Line2D([], [], color="#888888", linewidth=0.8, label="single workloads"),
        Line2D([], [], color="#444444", linewidth=1.0, label="NumPy"),
    ]
    # below the panels, in as many rows as it takes: beside the title a wide one would be cut off
    columns = min(len(handles), max(1, int(figure.get_figwidth() / LEGEND_ENTRY_INCHES)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)


def _limits(run: RunRecord) -> tuple[float, float]:
    ratios = [ratio for _, _, ratio in speedups(run.cases)] or [1.0]
    return max(0.02, min(0.5, *ratios) / 1.2), min(150.0, max(2.0, *ratios) * 1.2)


def _engine_order(engine: str) -> tuple[bool, str]:
    return engine == "fusejit", engine


def save_plot(run: RunRecord, path: Path) -> None:
    """Write the picture as PNG, creating the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draw(run).savefig(path, dpi=130)
