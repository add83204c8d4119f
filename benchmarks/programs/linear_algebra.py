"""Factorisations, triangular solves, iterations with a stopping test."""

import numpy as np

from benchmarks.programs.program import Program


def cholesky(A):
    n = A.shape[0]
    L = np.zeros_like(A)
    for j in range(n):
        s = A[j, j] - np.dot(L[j, :j], L[j, :j])
        L[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - np.dot(L[i, :j], L[j, :j])) / L[j, j]
    return L


def cholesky_blocked_columns(a):
    n = a.shape[0]
    for k in range(n):
        a[k, k] = np.sqrt(a[k, k])
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k + 1 :, k])
    return np.tril(a)


def lu(a):
    n = a.shape[0]
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k : k + 1] * a[k, k + 1 :]
    return a


def lu_pivoted(a):
    a = a.copy()
    n = a.shape[0]
    perm = np.arange(n)
    sign = 1
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            perm[[k, p]] = perm[[p, k]]
            sign = -sign
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, perm, sign


def forward_substitution(L, b):
    n = L.shape[0]
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


def back_substitution(U, b):
    n = b.shape[0]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= U[i, j] * x[j]
        x[i] = s / U[i, i]
    return x


def gram_schmidt(A):
    m, n = A.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for j in range(n):
        v = A[:, j].copy()
        for i in range(j):
            R[i, j] = np.dot(Q[:, i], A[:, j])
            v -= R[i, j] * Q[:, i]
        R[j, j] = np.linalg.norm(v)
        Q[:, j] = v / R[j, j]
    return Q, R


def householder_qr(A):
    m, n = A.shape
    R = A.copy()
    Q = np.eye(m)
    for k in range(n):
        x = R[k:, k]
        alpha = -np.sign(x[0]) * np.sqrt(np.sum(x**2))
        v = x.copy()
        v[0] -= alpha
        v /= np.sqrt(np.sum(v**2))
        R[k:, k:] -= 2 * np.outer(v, v @ R[k:, k:])
        Q[:, k:] -= 2 * np.outer(Q[:, k:] @ v, v)
    return Q, R


def power_iteration(A, v, tol, max_iter):
    value = 0.0
    for k in range(max_iter):
        w = A @ v
        norm = np.sqrt((w * w).sum())
        v = w / norm
        new = v @ (A @ v)
        if abs(new - value) < tol * abs(new):
            break
        value = new
    return new, v, k


def conjugate_gradient(A, b, tol, max_iter):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    iterations = 0
    while iterations < max_iter and np.sqrt(rs) > tol:
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        rs_new = r @ r
        p = r + (rs_new / rs) * p
        rs = rs_new
        iterations += 1
    return x, iterations


def jacobi_solver(A, b, tol, max_iter):
    d = np.diag(A)
    R = A - np.diag(d)
    x = np.zeros(len(b))
    for k in range(max_iter):
        x_new = (b - R @ x) / d
        if np.max(np.abs(x_new - x)) < tol:
            return x_new, k
        x = x_new
    return x, max_iter


def gauss_jordan_inverse(A):
    n = len(A)
    M = np.hstack([A, np.eye(n)])
    for i in range(n):
        M[i] /= M[i, i]
        for j in range(n):
            if j != i:
                M[j] -= M[i] * M[j, i]
    return M[:, n:]


def jacobi_eigenvalues(a, sweeps):
    n = a.shape[0]
    v = np.eye(n)
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-14:
                    continue
                theta = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0:
                    t = -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                col_p = a[:, p].copy()
                a[:, p] = c * col_p - s * a[:, q]
                a[:, q] = s * col_p + c * a[:, q]
                row_p = a[p, :].copy()
                a[p, :] = c * row_p - s * a[q, :]
                a[q, :] = s * row_p + c * a[q, :]
                vec_p = v[:, p].copy()
                v[:, p] = c * vec_p - s * v[:, q]
                v[:, q] = s * vec_p + c * v[:, q]
    return np.diag(a).copy(), v


def determinant(A):
    a = A.copy()
    det = 1.0
    for k in range(a.shape[0]):
        det *= a[k, k]
        for i in range(k + 1, a.shape[0]):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
    return det


def matmul_loops(a, b):
    n, m = a.shape
    p = b.shape[1]
    c = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            total = 0.0
            for k in range(m):
                total += a[i, k] * b[k, j]
            c[i, j] = total
    return c


def lanczos(A, v, m):
    n = A.shape[0]
    V = np.zeros((m, n))
    alpha = np.zeros(m)
    beta = np.zeros(m)
    V[0] = v / np.sqrt(v @ v)
    for j in range(m):
        w = A @ V[j]
        alpha[j] = w @ V[j]
        w = w - alpha[j] * V[j]
        if j > 0:
            w = w - beta[j - 1] * V[j - 1]
        beta[j] = np.sqrt(w @ w)
        if j + 1 < m:
            V[j + 1] = w / beta[j]
    return alpha, beta, V


def positive_definite(rng, n):
    a = rng.standard_normal((n, n))
    return a @ a.T / n + 2 * np.eye(n)


def dominant(rng, n):
    return rng.standard_normal((n, n)) + 2 * n * np.eye(n)


def lower_triangle(rng, n):
    return np.tril(rng.standard_normal((n, n)), -1) / n + np.diag(1 + rng.random(n))


PROGRAMS = (
    Program(cholesky, lambda rng, n: (positive_definite(rng, n),), (5, 40), 150),
    Program(
        cholesky_blocked_columns, lambda rng, n: (positive_definite(rng, n),), (5, 60), 300, True
    ),
    Program(lu, lambda rng, n: (dominant(rng, n),), (5, 60), 300, True),
    Program(lu_pivoted, lambda rng, n: (rng.standard_normal((n, n)),), (5, 60), 300, True),
    Program(
        forward_substitution,
        lambda rng, n: (lower_triangle(rng, n), rng.standard_normal(n)),
        (6, 200),
        3_000,
    ),
    Program(
        back_substitution,
        lambda rng, n: (lower_triangle(rng, n).T.copy(), rng.standard_normal(n)),
        (6, 80),
        600,
        True,
    ),
    Program(gram_schmidt, lambda rng, n: (rng.standard_normal((n + 3, n)),), (4, 40), 150),
    Program(householder_qr, lambda rng, n: (rng.standard_normal((n + 3, n)),), (4, 40), 150),
    Program(
        power_iteration,
        lambda rng, n: (positive_definite(rng, n), rng.random(n), 1e-9, 400),
        (5, 80),
        500,
    ),
    Program(
        conjugate_gradient,
        lambda rng, n: (positive_definite(rng, n), rng.standard_normal(n), 1e-8, 200),
        (6, 100),
        1_200,
    ),
    Program(
        jacobi_solver,
        lambda rng, n: (dominant(rng, n), rng.standard_normal(n), 1e-10, 100),
        (6, 100),
        1_200,
    ),
    Program(gauss_jordan_inverse, lambda rng, n: (dominant(rng, n),), (5, 40), 150, True),
    Program(jacobi_eigenvalues, lambda rng, n: (positive_definite(rng, n), 2), (5, 16), 50, True),
    Program(determinant, lambda rng, n: (dominant(rng, n) / n,), (5, 40), 200, True),
    Program(
        matmul_loops,
        lambda rng, n: (rng.random((n, n + 1)), rng.random((n + 1, n + 2))),
        (4, 24),
        80,
        True,
    ),
    Program(
        lanczos,
        lambda rng, n: (positive_definite(rng, n), rng.random(n), 3 + n // 10),
        (6, 80),
        900,
    ),
)
