"""Series of prices and measurements: back-tests, runs, windows, events."""
# mypy: ignore-errors
# ruff: noqa: B905, RUF007

import numpy as np


def crossings(x, n):
    trades = []
    position = 0
    entry = 0.0
    for i in range(n, len(x)):
        fast = np.mean(x[i - n : i])
        slow = np.mean(x[:i])
        if position == 0 and fast > slow:
            position = 1
            entry = x[i]
        elif position == 1 and fast < slow:
            trades.append((i, x[i] - entry))
            position = 0
    return trades


def equity_curve(x):
    cash = 100.0
    shares = 0
    curve = []
    for i in range(1, len(x)):
        if x[i] < x[i - 1] and cash >= x[i]:
            shares += 1
            cash -= x[i]
        elif x[i] > x[i - 1] and shares > 0:
            shares -= 1
            cash += x[i]
        curve.append(cash + shares * x[i])
    return curve


def drawdowns(x):
    peak = x[0]
    begin = None
    found = []
    for i in range(len(x)):
        if x[i] >= peak:
            if begin is not None:
                found.append((begin, i))
                begin = None
            peak = x[i]
        elif begin is None:
            begin = i
    if begin is not None:
        found.append((begin, len(x)))
    return found


def fifo_lots(x):
    lots = []
    gains = []
    for i in range(len(x)):
        if i % 3 != 2:
            lots.append(x[i])
        elif lots:
            gains.append(x[i] - lots.pop(0))
    return gains, lots, sum(gains)


def run_length_encoding(k):
    codes = []
    for v in k:
        if codes and codes[-1][0] == v:
            codes[-1][1] += 1
        else:
            codes.append([v, 1])
    return codes


def run_length_tuples(k):
    codes = []
    i = 0
    while i < len(k):
        j = i
        while j < len(k) and k[j] == k[i]:
            j += 1
        codes.append((int(k[i]), j - i))
        i = j
    return codes


def local_maxima(x):
    peaks = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1]:
            peaks.append(i)
    gaps = [b - a for a, b in zip(peaks, peaks[1:])]
    return peaks, gaps


def moving_average(x, n):
    window = []
    total = 0.0
    result = []
    for v in x:
        window.append(v)
        total += v
        if len(window) > n:
            total -= window.pop(0)
        result.append(total / len(window))
    return np.array(result)


def window_maxima(x, n):
    queue = []
    result = []
    for i in range(len(x)):
        while queue and x[queue[-1]] <= x[i]:
            queue.pop()
        queue.append(i)
        if queue[0] <= i - n:
            queue.pop(0)
        if i >= n - 1:
            result.append(x[queue[0]])
    return result


def window_medians(x, n):
    result = []
    for i in range(len(x) - n + 1):
        window = list(x[i : i + n])
        window.sort()
        result.append(window[n // 2])
    return result


def outliers(x):
    kept = []
    dropped = []
    mean = x.mean()
    for i, v in enumerate(x):
        if abs(v - mean) > 0.4:
            dropped.append(i)
        else:
            kept.append(v)
    return kept, dropped, len(kept) + len(dropped) == len(x)


def gaps_filled(x):
    result = []
    last = None
    for v in x:
        if v < 0.2:
            result.append(last)
        else:
            last = v
            result.append(v)
    return result


def segments_above(x):
    segments = []
    current = []
    for v in x:
        if v > 0.5:
            current.append(v)
        elif current:
            segments.append(current)
            current = []
    if current:
        segments.append(current)
    best = []
    for segment in segments:
        if len(segment) > len(best):
            best = segment
    return segments, best


def debounced(x):
    events = []
    last = -10
    for i in range(len(x)):
        if x[i] > 0.6 and i - last > 3:
            events.append({"at": i, "value": x[i]})
            last = i
    return events


def signals(x):
    states = []
    state = "flat"
    for v in x:
        if v > 0.7:
            state = "long"
        elif v < 0.3:
            state = "short"
        states.append(state)
    return states, states.count("long")


def alternating(x):
    up, down = [], []
    target, other = up, down
    for v in x:
        target.append(v)
        if v > 0.5:
            target, other = other, target
    return up, down


def cumulative(x):
    sums = [0.0]
    for v in x:
        sums.append(sums[-1] + v)
    means = []
    for i in range(1, len(sums)):
        means.append(sums[i] / i)
    return sums, means


def exponential(x):
    level = x[0]
    smooth = [level]
    for v in x[1:]:
        level = 0.3 * v + 0.7 * level
        smooth.append(level)
    errors = [a - b for a, b in zip(x, smooth)]
    return smooth, max(errors), min(errors)


def quantised(x):
    levels = [0.0, 0.25, 0.5, 0.75, 1.0]
    result = []
    for v in x:
        best = levels[0]
        for level in levels:
            if abs(v - level) < abs(v - best):
                best = level
        result.append(best)
    return result


def histogram(x, n):
    counts = [0] * n
    for v in x:
        counts[min(int(v * n), n - 1)] += 1
    total = sum(counts)
    return counts, [c / total for c in counts], counts.index(max(counts))


def top(x, n):
    best = []
    for v in x:
        i = 0
        while i < len(best) and best[i] >= v:
            i += 1
        if i < n:
            best.insert(i, v)
            if len(best) > n:
                best.pop()
    return best


def stop_losses(x):
    open_orders = []
    log = []
    for i in range(len(x)):
        still = []
        for order in open_orders:
            if x[i] < order[1]:
                log.append((order[0], i))
            else:
                still.append(order)
        open_orders = still
        if x[i] > 0.6:
            open_orders.append((i, x[i] * 0.5))
    return log, open_orders
