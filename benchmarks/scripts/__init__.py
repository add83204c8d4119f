"""Scripts in plain NumPy, as people write them, for the change of one import line.

The scripts lie in `simulation` and `analysis`. `benchmarks.scripts.run` executes one as it stands,
with ``import numpy as np``, or with ``import fusejit.numpy as np`` in place of that line. A script
takes its size from the command line and prints its results. Nothing in it is written with fusejit
in mind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

NUMPY_IMPORT = "import numpy as np"
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Script:
    """One script.

    Parameters
    ----------
    area
        The folder it lies in.
    name
        The file, without its suffix.
    large
        The size with about a million numbers in its main arrays, or, of a script whose arrays
        always stay small, with so many steps that NumPy runs for a third of a second or more.
    has_small_arrays
        Whether no array reaches 32 kB.
    needs
        A package that may be missing.
    """

    area: str
    name: str
    large: int
    has_small_arrays: bool = False
    needs: str = "numpy"

    @property
    def path(self) -> Path:
        """The file."""
        return FOLDER / self.area / f"{self.name}.py"

    def source(self, module: str) -> str:
        """Return the text with ``module`` in its import line."""
        text = self.path.read_text("utf-8")
        if text.count(f"{NUMPY_IMPORT}\n") != 1:
            raise ValueError(f"{self.path} must have one line {NUMPY_IMPORT!r}")
        return text.replace(f"{NUMPY_IMPORT}\n", f"import {module} as np\n")


SCRIPTS = (
    Script("simulation", "heat_equation", 1000),
    Script("simulation", "wave_equation", 1000),
    Script("simulation", "shallow_water", 1000),
    Script("simulation", "game_of_life", 1000),
    Script("simulation", "gray_scott", 1000),
    Script("simulation", "lattice_boltzmann", 300),
    Script("simulation", "n_body", 1000),
    Script("simulation", "black_scholes", 1_000_000),
    Script("simulation", "asian_option", 1_000_000),
    Script("simulation", "ising", 1000),
    Script("simulation", "burgers", 1_000_000),
    Script("simulation", "schroedinger", 2**20),
    Script("simulation", "mandelbrot", 1500),
    Script("simulation", "conjugate_gradient", 1000),
    Script("simulation", "lorenz_ensemble", 350_000),
    Script("simulation", "planets", 30_000, True),
    Script("simulation", "double_pendulum", 15_000, True),
    Script("simulation", "markov_chain", 150_000, True),
    Script("analysis", "k_means", 200_000),
    Script("analysis", "image_blur", 1000),
    Script("analysis", "sobel_edges", 1000),
    Script("analysis", "histogram_equalization", 1000),
    Script("analysis", "pca", 20_000),
    Script("analysis", "spectrum", 2_000_000),
    Script("analysis", "mesh_normals", 600),
    Script("analysis", "moving_average", 1_000_000),
    Script("analysis", "sort_and_rank", 1_000_000),
    Script("analysis", "plot_histogram", 3_000_000, needs="matplotlib"),
    Script("analysis", "plot_field", 1300, needs="matplotlib"),
    Script("analysis", "pandas_returns", 2_000_000, needs="pandas"),
    Script("analysis", "haversine", 1_500_000),
    Script("analysis", "color_conversion", 1500),
    Script("analysis", "missing_values", 400_000),
    Script("analysis", "integer_hashing", 1_000_000),
    Script("analysis", "kalman_filter", 10_000, True),
    Script("analysis", "rigid_body", 9000, True),
    Script("analysis", "point_in_polygon", 10_000, True),
    Script("analysis", "curve_fit", 1500, True),
    Script("analysis", "bootstrap", 10_000, True),
    Script("analysis", "edit_distance", 5000, True),
)


@cache
def by_name() -> dict[str, Script]:
    """Return the scripts by name."""
    return {script.name: script for script in SCRIPTS}
