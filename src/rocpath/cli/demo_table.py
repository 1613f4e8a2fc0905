"""Simulate the data of ``rocpath demo``: customers who may cancel, and servers.

Both tables have a fixed seed. The docstrings describe how the data are generated, so
that readers know what a model can find in them.
"""

from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

_N_CUSTOMERS = 1250
_FIRST_MONTH = np.datetime64("2025-01")
_PLANS = ("basic", "standard", "premium")
_CHARGES = np.array([9.0, 15.0, 24.0])
_REGIONS = ("north", "east", "south", "west", "islands", "abroad")


def customer_table(random_state: int = 0) -> pl.DataFrame:
    """Simulate the customers of a subscription service, each observed in several months.

    Each of 1,250 customers is observed in one month or more, four on average. The
    logit of the probability of canceling within 30 days is linear in the contract, the
    complaints, the failed payments, the logarithm of the hours of use, and the rating.
    It is larger in the first 90 days after signup, which is not linear in any column,
    and it contains a random effect of the customer, so that rows of the same customer
    are not independent. Plan, charge, region and last login have no effect. About 6%
    of rows are positive; half of the ratings, 8% of the hours and 5% of the regions are
    missing at random.
    """
    rng = np.random.default_rng(random_state)
    customers, random_effect = _customers(rng)
    n_months = 1 + rng.poisson(3.0, _N_CUSTOMERS)
    row = np.repeat(np.arange(_N_CUSTOMERS), n_months)
    # The months of a customer are consecutive.
    first_row = np.repeat(np.cumsum(n_months) - n_months, n_months)
    month = (_FIRST_MONTH + (np.arange(row.size) - first_row)).astype("datetime64[D]")
    usage, logit = _usage(rng, row.size)
    is_new = month - customers["signup"].to_numpy()[row] < np.timedelta64(90, "D")
    is_monthly = (customers["contract"] == "monthly").to_numpy()[row]
    logit += -4.5 + 1.0 * is_monthly + 1.2 * is_new + random_effect[row]
    cancels = rng.random(row.size) < 1 / (1 + np.exp(-logit))
    last_login = month - rng.integers(0, 30, row.size).astype("timedelta64[D]")
    rows = customers[row].insert_column(1, pl.Series("month", month))
    others = {"last_login": last_login, **usage, "cancels": np.where(cancels, "yes", "no")}
    return rows.with_columns(pl.Series(name, values) for name, values in others.items())


def _customers(rng: np.random.Generator) -> tuple[pl.DataFrame, NDArray[np.float64]]:
    """Draw the constant attributes of each customer, and the random effects."""
    n = _N_CUSTOMERS
    plan = rng.choice(3, n, p=[0.5, 0.35, 0.15])
    # An additional tenth signed up less than 90 days before the first month.
    n_days = np.where(rng.random(n) < 0.1, rng.integers(1, 90, n), rng.integers(1, 1000, n))
    region = rng.choice(_REGIONS, n, p=[0.3, 0.25, 0.2, 0.15, 0.06, 0.04])
    customers = {
        "customer": [f"C{10_000 + k}" for k in range(n)],
        "signup": _FIRST_MONTH.astype("datetime64[D]") - n_days,
        "plan": np.array(_PLANS)[plan],
        "charge": _CHARGES[plan],
        "contract": rng.choice(["monthly", "yearly"], n, p=[0.6, 0.4]),
        "region": _with_missing(region, rng.random(n) < 0.05),
    }
    return pl.DataFrame(customers), rng.normal(0.0, 0.7, n)


def _usage(rng: np.random.Generator, n: int) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """Draw the attributes of each month, and their contribution to the logit."""
    log_hours = rng.normal(1.5, 0.8, n)
    complaints, failed_payments = rng.poisson(0.4, n), rng.poisson(0.15, n)
    rating = np.clip(np.rint(rng.normal(7.0 - 0.8 * complaints, 1.8)), 1, 10)
    logit = (
        0.5 * complaints + 0.9 * failed_payments - 0.6 * (log_hours - 1.5) - 0.25 * (rating - 7.0)
    )
    hours = np.exp(log_hours).round(1)
    usage = {
        "hours": _with_missing(hours, rng.random(n) < 0.08),
        "complaints": complaints,
        "failed_payments": failed_payments,
        "rating": _with_missing(rating.astype(int), rng.random(n) < 0.5),
    }
    return usage, logit


def _with_missing(values: NDArray[np.generic], is_missing: NDArray[np.bool_]) -> pl.Series:
    return pl.select(pl.when(~pl.Series(is_missing)).then(pl.Series(values))).to_series()


def server_table(random_state: int = 0) -> pl.DataFrame:
    """Simulate the response times of six servers.

    Each sequence has 288 values, five minutes apart. The noise is normal, with a
    standard deviation that differs between servers. The level changes between zero and
    three times, by two to eight standard deviations of the noise.
    """
    rng = np.random.default_rng(random_state)
    n, start = 288, datetime(2025, 3, 1)
    time = pl.datetime_range(start, start.replace(hour=23, minute=55), "5m", eager=True)
    frames = []
    for server, n_changes in enumerate((0, 1, 1, 2, 2, 3), start=1):
        noise = rng.choice([2.0, 5.0, 20.0])
        jump = np.zeros(n)
        change = rng.choice(np.arange(30, n - 30), n_changes, replace=False)
        sign = rng.choice([-1, 1], n_changes)
        jump[change] = sign * rng.uniform(2, 8, n_changes) * noise
        value = 100 + np.cumsum(jump) + rng.normal(0.0, noise, n)
        columns = {"sequence": f"server-{server}", "position": time, "value": value.round(2)}
        frames.append(pl.DataFrame(columns))
    return pl.concat(frames)
