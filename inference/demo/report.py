"""The demo's tables."""

from rich.table import Table

from inference.bench.chat import MODES
from inference.bench.stats import Spread
from inference.demo.run import DemoResult


def answers_table(result: DemoResult) -> Table:
    table = Table(title="The same prompt, prefilled as text and injected as KV", show_lines=True)
    table.add_column("question")
    table.add_column("mode")
    table.add_column("TTFT ms", justify="right")
    table.add_column("tokens prefilled", justify="right")
    table.add_column("answer")
    for asked in result.asked:
        both = (asked.prompt, asked.inject)
        table.add_row(
            asked.question.question,
            "\n".join(answer.mode for answer in both),
            "\n".join(f"{answer.ttft_ms:.0f}" for answer in both),
            "\n".join(f"{answer.prefilled_tokens} of {answer.prompt_tokens}" for answer in both),
            "\n".join(answer.text.replace("\n", " ") for answer in both),
        )
    return table


def latency_table(result: DemoResult) -> Table:
    table = Table(title="Time to first token, facts in random order each time")
    table.add_column("mode")
    table.add_column("median ms (middle half)", justify="right")
    table.add_column("requests", justify="right")
    for mode in MODES:
        samples = result.ttft_ms[mode]
        table.add_row({"none": "no memory"}.get(mode, mode), str(Spread.of(samples)), str(len(samples)))
    table.add_section()
    table.add_row("prompt / inject", f"{result.ratio:.2f} times", "")
    return table
