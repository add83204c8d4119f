"""Conway's game of life on a torus."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 64
generations = 100

rng = np.random.default_rng(0)
board = (rng.random((n, n)) < 0.3).astype(np.int8)

for generation in range(generations):
    padded = np.zeros((n + 2, n + 2), dtype=np.int8)
    padded[1:-1, 1:-1] = board
    padded[0, 1:-1], padded[-1, 1:-1] = board[-1], board[0]
    padded[:, 0], padded[:, -1] = padded[:, -2], padded[:, 1]
    neighbours = (
        padded[:-2, :-2] + padded[:-2, 1:-1] + padded[:-2, 2:]
        + padded[1:-1, :-2] + padded[1:-1, 2:]
        + padded[2:, :-2] + padded[2:, 1:-1] + padded[2:, 2:]
    )  # fmt: skip
    births = (neighbours == 3) & (board == 0)
    survivors = ((neighbours == 2) | (neighbours == 3)) & (board == 1)
    board[:] = 0
    board[births | survivors] = 1
    if generation % 20 == 0:
        print(generation, "alive:", int(board.sum()), "born:", np.count_nonzero(births))

print("rows without life:", int((~board.any(axis=1)).sum()))
print("column sums:", board.sum(axis=0)[:10])
