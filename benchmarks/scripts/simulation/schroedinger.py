"""A wave packet meets a barrier: the split-step Fourier method."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
L = 200.0
x = np.linspace(-L / 2, L / 2, n, endpoint=False)
dx = L / n
k = 2 * np.pi * np.fft.fftfreq(n, d=dx)
dt = 0.05

psi = np.exp(-((x + 30) ** 2) / 40) * np.exp(2j * x)
psi /= np.sqrt(np.sum(np.abs(psi) ** 2) * dx)
V = np.where(np.abs(x) < 1.0, 1.8, 0.0)

half_potential = np.exp(-0.5j * dt * V)
kinetic = np.exp(-0.5j * dt * k**2)
for _ in range(8):
    psi *= half_potential
    psi = np.fft.ifft(kinetic * np.fft.fft(psi))
    psi *= half_potential

density = psi.real**2 + psi.imag**2
norm = density.sum() * dx
position = (x * density).sum() * dx
print(f"norm {norm:.12g}")
print(f"mean position {position:.12g}")
print(f"width {np.sqrt((x**2 * density).sum() * dx - position**2):.10g}")
print(f"density at the peak {density.max():.12g} at x = {x[density.argmax()]:.8g}")
print(
    f"momentum {np.sum(k * np.abs(np.fft.fft(psi)) ** 2) / np.sum(np.abs(np.fft.fft(psi)) ** 2):.12g}"
)
