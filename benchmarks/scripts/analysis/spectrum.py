"""Welch's power spectrum of a noisy recording."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 8192
fs = 1000.0
segment = 1024

rng = np.random.default_rng(0)
t = np.arange(n) / fs
signal = np.sin(2 * np.pi * 50 * t) + 0.5 * np.sin(2 * np.pi * 120 * t + 0.3)
signal += rng.standard_normal(n)
signal += 0.001 * t  # drift

signal = signal - np.polyval(np.polyfit(t, signal, 1), t)
window = np.hanning(segment)
count = (n - segment) // (segment // 2) + 1
starts = np.arange(count) * (segment // 2)
segments = signal[starts[:, None] + np.arange(segment)] * window
spectra = np.fft.rfft(segments, axis=1)
power = (np.abs(spectra) ** 2).mean(axis=0) / (fs * (window**2).sum())
power[1:-1] *= 2
frequencies = np.fft.rfftfreq(segment, 1 / fs)

top = np.argsort(power)[::-1][:4]
print("peaks at:", np.sort(frequencies[top]))
print(f"power of the noise floor {np.median(power):.10g}")
print(f"total {power.sum() * (frequencies[1] - frequencies[0]):.10g}, variance {signal.var():.10g}")

whole = np.fft.rfft(signal)
whole[np.abs(np.fft.rfftfreq(n, 1 / fs) - 50) > 5] = 0
filtered = np.fft.irfft(whole, n)
print(f"rms after the filter {np.sqrt(np.mean(filtered**2)):.10g}")
