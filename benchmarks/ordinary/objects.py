"""Classes with state: filters, models, controllers, matrices, accounts."""

import math
from collections import deque

import numpy as np

from benchmarks.programs.program import Program


class KalmanFilter:
    def __init__(self, F, H, Q, R, x, P):
        self.F, self.H, self.Q, self.R = F, H, Q, R
        self.x, self.P = x, P

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ y
        self.P = (np.eye(len(self.x)) - K @ self.H) @ self.P


def track(measurements):
    kf = KalmanFilter(
        F=np.array([[1.0, 0.1], [0.0, 1.0]]),
        H=np.array([[1.0, 0.0]]),
        Q=1e-3 * np.eye(2),
        R=np.array([[0.1]]),
        x=np.zeros(2),
        P=np.eye(2),
    )
    estimates = []
    for z in measurements:
        kf.predict()
        kf.update(np.array([z]))
        estimates.append(kf.x)
    return np.array(estimates), kf.P


class RunningMean:
    def __init__(self, size):
        self.size = size
        self.values = deque()
        self.total = 0.0

    def add(self, value):
        self.values.append(value)
        self.total += value
        if len(self.values) > self.size:
            self.total -= self.values.popleft()
        return self.mean

    @property
    def mean(self):
        return self.total / len(self.values) if self.values else float("nan")


def smooth(values, size):
    running = RunningMean(size)
    empty = running.mean
    return empty, np.array([running.add(v) for v in values])


class KMeans:
    def __init__(self, k, max_iter=20):
        self.k = k
        self.max_iter = max_iter
        self.centers = None

    def fit(self, X):
        self.centers = X[: self.k].copy()
        for self.n_iter in range(1, self.max_iter + 1):
            labels = self.predict(X)
            new = np.array([
                X[labels == j].mean(axis=0) if (labels == j).any() else self.centers[j]
                for j in range(self.k)
            ])  # fmt: skip
            if np.allclose(new, self.centers):
                break
            self.centers = new
        return self

    def predict(self, X):
        distances = ((X[:, None, :] - self.centers[None]) ** 2).sum(axis=2)
        return distances.argmin(axis=1)


def cluster(X):
    model = KMeans(3).fit(X)
    return model, model.predict(X)


class Perceptron:
    def __init__(self, n, rate=0.5):
        self.w = np.zeros(n)
        self.b = 0.0
        self.rate = rate
        self.mistakes = 0

    def __call__(self, x):
        return 1 if self.w @ x + self.b > 0 else -1

    def learn(self, x, target):
        if self(x) != target:
            self.w += self.rate * target * x
            self.b += self.rate * target
            self.mistakes += 1


def learn_a_line(points):
    targets = [1 if x > 2 * y - 0.3 else -1 for x, y in points]
    p = Perceptron(2)
    for _ in range(5):
        before = p.mistakes
        for x, t in zip(points, targets):
            p.learn(x, t)
        if p.mistakes == before:
            break
    return p.w, p.b, p.mistakes, [p(x) for x in points] == targets


class InsufficientFunds(Exception):
    def __init__(self, needed, available):
        super().__init__(f"{needed - available:.2f} missing")
        self.needed = needed


class Account:
    interest = 0.01

    def __init__(self, owner, balance=0.0):
        self.owner = owner
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amounts are positive")
        self.balance += amount
        self.history.append(amount)

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(amount, self.balance)
        self.balance -= amount
        self.history.append(-amount)

    def __repr__(self):
        return f"Account({self.owner!r}, {self.balance:.2f})"


class Savings(Account):
    interest = 0.03

    def end_of_year(self):
        super().deposit(self.balance * self.interest + 0.01)


def run_bank(orders):
    accounts = {"ann": Account("ann", 50.0), "bob": Savings("bob")}
    failures = []
    for name, amount in orders:
        try:
            if amount >= 0:
                accounts[name].deposit(amount)
            else:
                accounts[name].withdraw(-amount)
        except (InsufficientFunds, ValueError) as error:
            failures.append(f"{name}: {error}")
    accounts["bob"].end_of_year()
    print(accounts)
    histories = {name: np.cumsum(a.history) for name, a in accounts.items()}
    return failures, histories, repr(accounts["ann"])


class Matrix:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    def __add__(self, other):
        return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, other.rows)])

    def __matmul__(self, other):
        if self.shape[1] != other.shape[0]:
            raise ValueError(f"shapes {self.shape} and {other.shape} do not fit")
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in columns] for r in self.rows])

    def __pow__(self, n):
        if n == 0:
            return Matrix.identity(len(self.rows))
        half = self ** (n // 2)
        return half @ half @ self if n % 2 else half @ half

    @classmethod
    def identity(cls, n):
        return cls([[int(i == j) for j in range(n)] for i in range(n)])

    def __eq__(self, other):
        return self.rows == other.rows

    def __str__(self):
        return "\n".join(" ".join(f"{v:6g}" for v in row) for row in self.rows)


def matrix_arithmetic(a, b):
    A, B = Matrix(a), Matrix(b)
    print(A + B)
    product = A @ B
    agrees = np.allclose(np.array(product.rows), np.array(a) @ np.array(b))
    try:
        A @ Matrix([[1, 2]])
    except ValueError as error:
        message = str(error)
    return np.array((A**5).rows), agrees, A**2 == A @ A, message


class RingBuffer:
    def __init__(self, capacity):
        self.data = np.zeros(capacity)
        self.start = self.count = 0

    def __len__(self):
        return self.count

    def push(self, value):
        end = (self.start + self.count) % len(self.data)
        self.data[end] = value
        if self.count == len(self.data):
            self.start = (self.start + 1) % len(self.data)
        else:
            self.count += 1

    def __iter__(self):
        for i in range(self.count):
            yield self.data[(self.start + i) % len(self.data)]

    def __getitem__(self, i):
        if not -self.count <= i < self.count:
            raise IndexError(i)
        return self.data[(self.start + i % self.count) % len(self.data)]


def last_values(values, capacity):
    ring = RingBuffer(capacity)
    ranges = []
    for v in values:
        ring.push(v)
        ranges.append(max(ring) - min(ring))
    try:
        ring[capacity]
    except IndexError as error:
        print("no item", error)
    return np.array(list(ring)), ranges, ring[-1], len(ring)


class PID:
    def __init__(self, kp, ki, kd):
        self.gains = kp, ki, kd
        self.integral = 0.0
        self.previous = None

    def __call__(self, error, dt):
        self.integral += error * dt
        slope = 0.0 if self.previous is None else (error - self.previous) / dt
        self.previous = error
        kp, ki, kd = self.gains
        return kp * error + ki * self.integral + kd * slope


def heat_a_room(steps, target):
    controller = PID(0.8, 0.2, 0.05)
    temperature, log = 12.0, []
    for k in range(steps):
        power = min(max(controller(target - temperature, 0.1), 0.0), 20.0)
        temperature += 0.1 * (power - 0.1 * (temperature - 10.0))
        log.append((k * 0.1, temperature, power))
    log = np.array(log)
    settled = np.abs(log[:, 1] - target) < 0.5
    return log, int(settled.argmax()) if settled.any() else None


class MarkovChain:
    def __init__(self, transitions):
        self.states = list(transitions)
        self.index = {s: i for i, s in enumerate(self.states)}
        self.matrix = np.zeros((len(self.states), len(self.states)))
        for state, targets in transitions.items():
            for target, p in targets.items():
                self.matrix[self.index[state], self.index[target]] = p
        if not np.allclose(self.matrix.sum(axis=1), 1):
            raise ValueError("probabilities must add up to 1")

    def walk(self, state, n, rng):
        yield state
        for _ in range(n):
            state = self.states[rng.choice(len(self.states), p=self.matrix[self.index[state]])]
            yield state

    def stationary(self):
        values, vectors = np.linalg.eig(self.matrix.T)
        v = np.real(vectors[:, np.argmin(np.abs(values - 1))])
        return v / v.sum()


def weather(n, seed):
    chain = MarkovChain({"sun": {"sun": 0.8, "rain": 0.2}, "rain": {"sun": 0.4, "rain": 0.6}})
    days = list(chain.walk("sun", n, np.random.default_rng(seed)))
    return days, days.count("sun") / len(days), chain.stationary().round(6)


class DecisionStump:
    def fit(self, X, y, weights):
        self.error = math.inf
        for feature in range(X.shape[1]):
            for threshold in np.unique(X[:, feature]):
                for sign in (1, -1):
                    prediction = np.where(X[:, feature] <= threshold, sign, -sign)
                    error = weights[prediction != y].sum()
                    if error < self.error - 1e-12:
                        self.error, self.feature = error, feature
                        self.threshold, self.sign = threshold, sign
        return self

    def predict(self, X):
        return np.where(X[:, self.feature] <= self.threshold, self.sign, -self.sign)


def ada_boost(X, y, rounds):
    weights = np.full(len(y), 1 / len(y))
    stumps = []
    for _ in range(rounds):
        stump = DecisionStump().fit(X, y, weights)
        error = max(stump.error, 1e-9)
        alpha = 0.5 * math.log((1 - error) / error)
        weights = weights * np.exp(-alpha * y * stump.predict(X))
        weights /= weights.sum()
        stumps.append((alpha, stump))
    votes = sum(alpha * stump.predict(X) for alpha, stump in stumps)
    return [s.feature for _, s in stumps], (np.sign(votes) == y).mean()


class Layer:
    def __init__(self, n_in, n_out, rng):
        self.w = rng.normal(0, n_in**-0.5, (n_in, n_out))
        self.b = np.zeros(n_out)

    def forward(self, x):
        self.x = x
        self.out = 1 / (1 + np.exp(-(x @ self.w + self.b)))
        return self.out

    def backward(self, grad, rate):
        grad = grad * self.out * (1 - self.out)
        before = grad @ self.w.T
        self.w -= rate * self.x.T @ grad
        self.b -= rate * grad.sum(axis=0)
        return before


class MLP:
    def __init__(self, sizes, seed):
        rng = np.random.default_rng(seed)
        self.layers = [Layer(a, b, rng) for a, b in zip(sizes, sizes[1:])]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def fit(self, x, y, epochs, rate=0.5):
        history = []
        for _ in range(epochs):
            error = self.forward(x) - y
            history.append((error**2).mean())
            for layer in reversed(self.layers):
                error = layer.backward(error, rate)
        return history


def learn_xor(epochs, hidden):
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    y = np.array([[0], [1], [1], [0]], dtype=float)
    net = MLP([2, hidden, 1], seed=1)
    history = net.fit(x, y, epochs)
    return history, net.forward(x)


class Life:
    def __init__(self, board):
        self.board = board.copy()
        self.generation = 0
        self.seen = {}

    def neighbours(self):
        total = np.zeros_like(self.board)
        for dr in (-1, 0, 1):
            for dc in (-1, 0, 1):
                if (dr, dc) != (0, 0):
                    total += np.roll(self.board, (dr, dc), axis=(0, 1))
        return total

    def step(self):
        n = self.neighbours()
        self.board = ((n == 3) | ((self.board == 1) & (n == 2))).astype(self.board.dtype)
        self.generation += 1

    def run(self, limit):
        while self.generation < limit:
            key = self.board.tobytes()
            if key in self.seen:
                return self.generation - self.seen[key]
            self.seen[key] = self.generation
            self.step()
        return None


def play_life(board, limit):
    game = Life(board)
    period = game.run(limit)
    return game.board, game.generation, period


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __abs__(self):
        return math.hypot(self.x, self.y)


def n_bodies(bodies, steps, dt):
    positions = [Vector(x, y) for x, y, *_ in bodies]
    velocities = [Vector(u, v) for _, _, u, v, _ in bodies]
    masses = [m for *_, m in bodies]
    for _ in range(steps):
        for i, p in enumerate(positions):
            force = Vector(0.0, 0.0)
            for j, q in enumerate(positions):
                if i != j:
                    d = q - p
                    force += masses[j] / (abs(d) ** 2 + 0.1) ** 1.5 * d
            velocities[i] += force * dt
        positions = [p + v * dt for p, v in zip(positions, velocities)]
    return np.array([(p.x, p.y) for p in positions]), max(map(abs, velocities))


def orders(rng, n):
    names = ["ann", "bob"]
    return ([(names[rng.integers(2)], float(a)) for a in rng.integers(-40, 60, n)],)


def labelled(rng, n):
    X = rng.random((n, 2))
    return X, np.where(X[:, 0] + X[:, 1] > 1, 1, -1), 3


PROGRAMS = (
    Program(track, lambda rng, n: (np.arange(n) * 0.1 + rng.normal(size=n),), (5, 20), 1_000),
    Program(smooth, lambda rng, n: (rng.random(n).tolist(), 4), (8, 90), 20_000),
    Program(cluster, lambda rng, n: (rng.random((n, 2)),), (12, 60), 5_000),
    Program(learn_a_line, lambda rng, n: (rng.random((n, 2)),), (6, 40), 2_000),
    Program(run_bank, orders, (10, 90), 9_000),
    Program(
        matrix_arithmetic,
        lambda rng, n: (rng.integers(0, 5, (n, n)).tolist(), rng.integers(0, 5, (n, n)).tolist()),
        (3, 6),
        15,
    ),
    Program(last_values, lambda rng, n: (rng.random(n).tolist(), 5), (8, 60), 2_000, True),
    Program(heat_a_room, lambda rng, n: (n, 20.0), (10, 100), 9_000),
    Program(weather, lambda rng, n: (n, 4), (9, 60), 1_000),
    Program(ada_boost, labelled, (6, 16), 60),
    Program(learn_xor, lambda rng, n: (n, 4), (4, 20), 1_000),
    Program(play_life, lambda rng, n: (rng.integers(0, 2, (n, n)), n), (5, 12), 60, True),
    Program(n_bodies, lambda rng, n: (rng.random((n, 5)).tolist(), 4, 0.01), (3, 8), 30),
)
