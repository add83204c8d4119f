"""Filters, transforms and detectors over samples."""

import numpy as np

from benchmarks.programs.program import Program


def moving_average(x, window):
    c = np.cumsum(np.insert(x, 0, 0.0))
    return (c[window:] - c[:-window]) / window


def moving_average_loop(x, window):
    n = len(x) - window + 1
    out = np.empty(n)
    for i in range(n):
        out[i] = x[i : i + window].mean()
    return out


def exponential_average(x, alpha):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = alpha * x[i] + (1 - alpha) * y[i - 1]
    return y


def biquad(x, b0, b1, b2, a1, a2):
    y = np.zeros_like(x)
    x1 = x2 = y1 = y2 = 0.0
    for n in range(x.size):
        y[n] = b0 * x[n] + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2
        x2, x1 = x1, x[n]
        y2, y1 = y1, y[n]
    return y


def filter_channels(x, b, a):
    channels, samples = x.shape
    y = np.zeros_like(x)
    state = np.zeros((channels, len(b) - 1))
    for n in range(samples):
        y[:, n] = b[0] * x[:, n] + state[:, 0]
        state[:, 0] = b[1] * x[:, n] + state[:, 1] - a[1] * y[:, n]
        state[:, 1] = b[2] * x[:, n] - a[2] * y[:, n]
    return y


def convolve(signal, kernel):
    n, k = len(signal), len(kernel)
    out = np.zeros(n + k - 1)
    for i in range(n):
        for j in range(k):
            out[i + j] += signal[i] * kernel[j]
    return out


def convolve_taps(signal, kernel):
    n = len(signal) - len(kernel) + 1
    out = np.zeros(n)
    for j in range(len(kernel)):
        out += kernel[j] * signal[j : j + n]
    return out


def autocorrelation(x, lags):
    x = x - x.mean()
    result = np.empty(lags)
    variance = np.dot(x, x)
    result[0] = 1.0
    for k in range(1, lags):
        result[k] = np.dot(x[:-k], x[k:]) / variance
    return result


def dft(x):
    n = len(x)
    re = np.zeros(n)
    im = np.zeros(n)
    t = np.arange(n)
    for k in range(n):
        angle = 2 * np.pi * k * t / n
        re[k] = np.sum(x * np.cos(angle))
        im[k] = -np.sum(x * np.sin(angle))
    return re, im


def fft(re, im):
    n = len(re)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    size = 2
    while size <= n:
        half = size // 2
        angle = -2 * np.pi * np.arange(half) / size
        wr = np.cos(angle)
        wi = np.sin(angle)
        for start in range(0, n, size):
            top = slice(start, start + half)
            bottom = slice(start + half, start + size)
            tr = wr * re[bottom] - wi * im[bottom]
            ti = wr * im[bottom] + wi * re[bottom]
            re[bottom] = re[top] - tr
            im[bottom] = im[top] - ti
            re[top] += tr
            im[top] += ti
        size *= 2
    return re, im


def goertzel(x, frequencies):
    power = np.zeros(len(frequencies))
    for k in range(len(frequencies)):
        coeff = 2.0 * np.cos(2.0 * np.pi * frequencies[k])
        s1 = 0.0
        s2 = 0.0
        for sample in x:
            s0 = sample + coeff * s1 - s2
            s2 = s1
            s1 = s0
        power[k] = s1 * s1 + s2 * s2 - coeff * s1 * s2
    return power


def kalman_1d(z, q, r):
    n = len(z)
    xhat = np.zeros(n)
    P = np.zeros(n)
    gain = np.zeros(n)
    P[0] = 1.0
    for k in range(1, n):
        x_prior = xhat[k - 1]
        p_prior = P[k - 1] + q
        gain[k] = p_prior / (p_prior + r)
        xhat[k] = x_prior + gain[k] * (z[k] - x_prior)
        P[k] = (1 - gain[k]) * p_prior
    return xhat, P, gain


def kalman_tracking(z, F, H, Q, R, x, P):
    estimates = np.zeros((len(z), len(x)))
    identity = np.eye(len(x))
    for k in range(len(z)):
        x = F @ x
        P = F @ P @ F.T + Q
        innovation = z[k] - H @ x
        s = H @ P @ H + R
        gain = P @ H / s
        x = x + gain * innovation
        P = (identity - np.outer(gain, H)) @ P
        estimates[k] = x
    return estimates, P


def adaptive_filter(x, desired, order, mu):
    w = np.zeros(order)
    error = np.zeros(len(x))
    for n in range(order, len(x)):
        window = x[n - order : n][::-1]
        error[n] = desired[n] - np.dot(w, window)
        w += 2 * mu * error[n] * window
    return w, error


def median_filter(x, half):
    y = x.copy()
    for i in range(half, len(x) - half):
        y[i] = np.median(x[i - half : i + half + 1])
    return y


def schmitt_trigger(x, low, high):
    state = False
    out = np.zeros(len(x), dtype=bool)
    edges = 0
    for i, value in enumerate(x):
        if state and value < low:
            state = False
            edges += 1
        elif not state and value > high:
            state = True
            edges += 1
        out[i] = state
    return out, edges


def find_peaks(x, threshold):
    peaks = np.zeros(len(x), dtype=np.int64)
    count = 0
    for i in range(1, len(x) - 1):
        if x[i] > threshold and x[i] > x[i - 1] and x[i] >= x[i + 1]:
            peaks[count] = i
            count += 1
    return peaks[:count]


def drawdown(prices):
    peak = prices[0]
    worst = 0.0
    for p in prices:
        if p > peak:
            peak = p
        fall = (peak - p) / peak
        if fall > worst:
            worst = fall
    return worst


def make_tracking(rng, n):
    F = np.array([[1.0, 0.1], [0.0, 1.0]])
    z = np.cumsum(0.1 + 0.1 * rng.standard_normal(n))
    return z, F, np.array([1.0, 0.0]), 0.01 * np.eye(2), 0.1, np.zeros(2), np.eye(2)


def samples(rng, n):
    return np.cumsum(rng.standard_normal(n))


PROGRAMS = (
    Program(moving_average, lambda rng, n: (rng.random(n), 5), (9, 5_000), 2_000_000, True),
    Program(moving_average_loop, lambda rng, n: (rng.random(n), 7), (12, 2_000), 20_000),
    Program(exponential_average, lambda rng, n: (rng.random(n), 0.1), (9, 20_000), 300_000, True),
    Program(
        biquad,
        lambda rng, n: (rng.standard_normal(n), 0.2, 0.4, 0.2, -0.5, 0.3),
        (9, 10_000),
        150_000,
        True,
    ),
    Program(
        filter_channels,
        lambda rng, n: (
            rng.standard_normal((5 + n // 100, n)),
            np.array([0.2, 0.4, 0.2]),
            np.array([1.0, -0.5, 0.3]),
        ),
        (9, 500),
        5_000,
        True,
    ),
    Program(
        convolve, lambda rng, n: (rng.random(n), rng.random(3 + n // 20)), (6, 200), 1_000, True
    ),
    Program(
        convolve_taps,
        lambda rng, n: (rng.random(n), rng.random(3 + n // 200)),
        (9, 5_000),
        100_000,
        True,
    ),
    Program(autocorrelation, lambda rng, n: (samples(rng, n), 3 + n // 20), (9, 1_000), 25_000),
    Program(dft, lambda rng, n: (rng.standard_normal(n),), (6, 100), 1_000),
    Program(fft, lambda rng, n: tuple(rng.standard_normal((2, 1 << n))), (3, 9), 13),
    Program(
        goertzel,
        lambda rng, n: (rng.standard_normal(n), np.array([0.1, 0.2, 0.35])),
        (9, 5_000),
        100_000,
    ),
    Program(
        kalman_1d, lambda rng, n: (rng.standard_normal(n), 1e-5, 0.01), (9, 5_000), 100_000, True
    ),
    Program(kalman_tracking, make_tracking, (5, 500), 5_000),
    Program(
        adaptive_filter,
        lambda rng, n: (rng.standard_normal(n), rng.standard_normal(n), 4, 0.01),
        (12, 2_000),
        30_000,
    ),
    Program(median_filter, lambda rng, n: (rng.random(n), 2), (9, 500), 5_000, True),
    Program(
        schmitt_trigger,
        lambda rng, n: (np.sin(samples(rng, n)), -0.5, 0.5),
        (9, 10_000),
        300_000,
        True,
    ),
    Program(find_peaks, lambda rng, n: (rng.random(n), 0.5), (9, 10_000), 200_000, True),
    Program(drawdown, lambda rng, n: (100 + rng.random(n),), (9, 10_000), 300_000, True),
)
