"""What the programs are given: texts, tables, graphs and mazes, from a seeded generator."""

import json
from typing import Any

import numpy as np

WORDS = """the quick brown fox jumps over a lazy dog while seven wizards quietly mix very big
jugs of liquid; pack my box with five dozen jars, said her uncle. How vexingly quick are daft
zebras! 3 of 12 took 0.5 hours and -2 more than 100 others?""".split()


def text(rng: np.random.Generator, n: int) -> str:
    """``n`` words."""
    return " ".join(WORDS[i] for i in rng.integers(0, len(WORDS), n))


def csv_text(rng: np.random.Generator, n: int) -> str:
    """A header and ``n`` lines of numbers, some of which are missing."""
    rows = ["time,speed,load"]
    for k in range(n):
        rows.append(f"{k * 0.1:.1f},{rng.random() * 9:.3f},{'n/a' if k % 9 == 4 else k % 7}")
    return "\n".join(rows) + "\n"


def log_text(rng: np.random.Generator, n: int) -> str:
    """``n`` lines with a time, a level and fields."""
    levels = ["INFO", "WARN", "ERROR"]
    lines = ["# log"]
    for k in range(n):
        seconds = 2 * k
        time = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        what = f"path=/p{k % 5} ms={rng.random() * 100:.2f}" if k % 4 else "restarted"
        lines.append(f"{time} {levels[rng.integers(3)]} {what}")
    return "\n".join(lines)


def ini_text(rng: np.random.Generator, n: int) -> str:
    """Sections of keys and values."""
    waves = [
        f"[wave{k}]\namplitude = {rng.random():.3f} ; volts\nfrequency = {k + 1}\n"
        for k in range(3)
    ]
    return f"; a comment\n[time]\nend = 10\npoints = {n}\n\n" + "\n".join(waves)


def json_lines(rng: np.random.Generator, n: int) -> list[str]:
    """``n`` records of positions."""
    return [
        json.dumps({"id": f"car{k % 3}", "position": rng.random(2).round(4).tolist()})
        for k in range(n)
    ]


def neighbours(rng: np.random.Generator, n: int) -> dict[int, list[int]]:
    """A connected graph: a ring, and as many random edges again."""
    links: dict[int, list[int]] = {v: [(v + 1) % n] for v in range(n)}
    for a, b in rng.integers(0, n, (n, 2)).tolist():
        if a != b and b not in links[a]:
            links[a].append(b)
    return links


def weighted(rng: np.random.Generator, n: int) -> dict[str, dict[str, float]]:
    """The same with names and lengths."""
    return {
        f"v{a}": {f"v{b}": round(float(rng.random()) + 0.1, 3) for b in links}
        for a, links in neighbours(rng, n).items()
    }


def maze(rng: np.random.Generator, n: int) -> Any:
    """A square grid with walls of 1; both corners are free."""
    grid = (rng.random((n, n)) < 0.25).astype(int)
    grid[0, :] = grid[:, -1] = 0
    return grid
