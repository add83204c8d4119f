"""Indicators of price series: returns, moving averages, volatility, drawdown."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 3000

rng = np.random.default_rng(0)


def moving_average(x, w):
    total = np.cumsum(np.insert(x, 0, 0.0))
    return (total[w:] - total[:-w]) / w


def relative_strength(returns, w=14):
    gains = np.where(returns > 0, returns, 0.0)
    losses = np.where(returns < 0, -returns, 0.0)
    rs = moving_average(gains, w) / (moving_average(losses, w) + 1e-6)
    return 100 - 100 / (1 + rs)


for share, sigma in [("dull", 0.0002), ("steady", 0.0005), ("lively", 0.001), ("wild", 0.002)]:
    price = 100 * np.exp(np.cumsum(rng.normal(0.00001, sigma, n)))
    returns = np.diff(price) / price[:-1]
    log_returns = np.log(price[1:] / price[:-1])

    fast = moving_average(price, 20)[180:]
    slow = moving_average(price, 200)
    signal = np.where(fast > slow, 1, -1)
    crossings = np.flatnonzero(np.diff(signal) != 0)

    mean = moving_average(returns, 50)
    square = moving_average(returns**2, 50)
    volatility = np.sqrt(np.maximum(square - mean**2, 0))

    drawdown = 1 - price / np.maximum.accumulate(price)
    strategy = signal[:-1] * returns[-(len(signal) - 1) :]
    rsi = relative_strength(returns)

    print(f"{share}: last price {price[-1]:.12g}, mean return {returns.mean():.8g}")
    print(f"log returns: {log_returns.std():.12g}")
    print(f"{len(crossings)} crossings, the first at {crossings[:3]}")
    print(f"volatility {np.median(volatility):.8g}, largest drawdown {drawdown.max():.12g}")
    print(f"strategy {np.sum(strategy):.8g}")
    print("overbought:", np.count_nonzero(rsi > 70), "oversold:", np.count_nonzero(rsi < 30))
