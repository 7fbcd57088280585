"""Events count in the window they fall into, whenever their request began."""

from inference.bench.load import ClientHealth, LoadPlan, Sample, Window
from inference.bench.load.window import first_error
from inference.bench.throughput import Measured, throughput_row

WINDOW = Window(10.0, 20.0)
BEFORE = Sample(1.0, first=2.0, ended=9.9, tokens=[2.0, 9.9])
INTO = Sample(8.0, first=9.0, ended=11.0, tokens=[9.0, 11.0])
INSIDE = Sample(12.0, first=12.5, ended=14.0, tokens=[12.5, 13.0, 14.0])
OUT_OF = Sample(18.0, first=19.0, tokens=[19.0, 19.5])
FAILED = Sample(15.0, ended=15.5, error="500: no")
ALL = [BEFORE, INTO, INSIDE, OUT_OF, FAILED]
PLAN = LoadPlan("http://engine", "key", "model", ("a", "b"), "inject", top_k=50, max_tokens=3)


def test_requests_count_where_they_end() -> None:
    assert WINDOW.completed(ALL) == 2
    assert WINDOW.errors(ALL) == ["500: no"]


def test_first_tokens_count_where_they_come() -> None:
    assert WINDOW.ttft_ms(ALL) == [500.0, 1000.0]


def test_gaps_count_where_their_later_token_comes() -> None:
    assert WINDOW.itl_ms(ALL) == [2000.0, 500.0, 1000.0, 500.0]
    assert WINDOW.tokens(ALL) == 6


def test_time_per_token_is_of_whole_answers() -> None:
    assert WINDOW.tpot_ms(ALL) == [2000.0, 750.0]


def test_a_row_sums_its_windows() -> None:
    measured = Measured([(WINDOW, ALL), (Window(30.0, 40.0), [Sample(31.0, 32.0, 33.0, [32.0, 33.0])])])

    measured.health = [ClientHealth(0.25, [1.0, 3.0]), ClientHealth(0.5, [2.0])]
    row = throughput_row(PLAN, "inject", measured, {"shape": "tiny"})
    assert (row["requests"], row["failed"], row["first_error"]) == (3, 1, "500: no")
    assert row["requests_per_s"] == 0.15
    assert row["requests_per_s_by_window"] == [0.2, 0.1]
    assert row["ttft_samples_ms"] == [500.0, 1000.0, 1000.0]
    assert row["ttft_ms"]["p50"] == 1000.0
    assert row["tokens_per_s"] == 0.4
    assert row["client"] == {"processes": 2, "cpu_share": 0.5, "loop_lag_ms": {"p50": 2.0, "p95": 2.9, "p99": 2.98}}


def test_the_first_error_is_told() -> None:
    assert first_error([(WINDOW, [INSIDE]), (WINDOW, [FAILED])]) == "500: no"
    assert first_error([(WINDOW, [INSIDE])]) == ""


def test_client_processes_share_users_and_rate() -> None:
    plan = LoadPlan("u", "k", "m", tuple("abcde"), "inject", top_k=1, max_tokens=1, rate=10.0, seed="s")
    shares = [plan.share(index, 2) for index in range(plan.processes(2))]
    assert [share.users for share in shares] == [("a", "c", "e"), ("b", "d")]
    assert [share.rate for share in shares] == [5.0, 5.0]
    assert len({share.seed for share in shares}) == 2
    assert plan.processes(8) == 5
