"""``rocpath demo``: documented properties of its tables, and repeatable commands."""

import shlex

import numpy as np
import polars as pl
import pytest

from rocpath.cli import demo_table, main


@pytest.fixture(scope="module")
def customers():
    return demo_table.customer_table()


def rate(customers, condition):
    return (customers.filter(condition)["cancels"] == "yes").mean()


def test_customers_are_unbalanced_and_repeated(customers):
    # 1,250 customers with 1 + Poisson(3) rows: 5,000 rows, standard deviation 61.
    assert customers["customer"].n_unique() == 1250
    assert abs(customers.height - 5000) < 3 * 61
    assert abs(rate(customers, pl.lit(True)) - 0.06) < 0.01


def test_customers_have_dates_categories_and_missing_values(customers):
    kinds = customers.schema
    assert [kinds[name] for name in ("month", "signup", "last_login")] == [pl.Date] * 3
    assert kinds["plan"] == kinds["contract"] == kinds["region"] == pl.String
    missing = {name: customers[name].null_count() / customers.height for name in kinds}
    assert missing.pop("rating") == pytest.approx(0.5, abs=0.03)
    assert missing.pop("hours") == pytest.approx(0.08, abs=0.02)
    assert missing.pop("region") == pytest.approx(0.05, abs=0.02)
    assert set(missing.values()) == {0.0}
    assert (customers["signup"] < customers["month"]).all()


def test_cancellations_follow_the_documented_rule(customers):
    is_new = (pl.col("month") - pl.col("signup")).dt.total_days() < 90
    for increases_risk in (
        is_new,
        pl.col("contract") == "monthly",
        pl.col("complaints") > 0,
        pl.col("failed_payments") > 0,
        pl.col("hours") < 3.0,
        pl.col("rating") < 6,
    ):
        assert rate(customers, increases_risk) > 1.3 * rate(customers, ~increases_risk)
    # The charge has no effect: its correlation is within three standard errors of 0.
    is_positive = (customers["cancels"] == "yes").to_numpy()
    correlation = np.corrcoef(customers["charge"].to_numpy(), is_positive)[0, 1]
    assert abs(correlation) < 3 / np.sqrt(customers.height)


def test_each_server_has_values_for_one_day():
    servers = demo_table.server_table()
    sizes = servers.group_by("sequence").len()["len"]
    assert sizes.to_list() == [24 * 12] * 6
    by_time = servers.filter(sequence="server-1")["position"].diff().drop_nulls()
    assert by_time.unique().dt.total_minutes().to_list() == [5]


def test_demo_shows_the_commands_that_it_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo_table, "_N_CUSTOMERS", 120)
    out = str(tmp_path / "demo")
    assert main(["demo", "--out", out, "--quiet"]) == 0
    table, notes = capsys.readouterr()
    assert "rows of 'yes' (positive)" in table
    lines = [line for line in notes.splitlines() if line.startswith("$ rocpath ")]
    fit, label = (shlex.split(line)[2:] for line in lines)
    assert fit[:2] == ["fit", f"{out}/customers.csv"]
    assert label[:2] == ["changepoint", "label"]
    written = [tmp_path / "demo" / name for name in ("fit/report.html", "labels.html")]
    assert all(path.stat().st_size > 10_000 for path in written)
    # The commands shown can be repeated without changes.
    written[1].unlink()
    assert main(label) == 0
    assert written[1].exists()


def test_demo_does_not_overwrite_a_folder(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path)]) == 2
    assert "already exists" in capsys.readouterr().err
