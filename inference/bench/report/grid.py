"""A table once, shown on the terminal and written into Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table


@dataclass(frozen=True)
class Grid:
    """Cells as text; the first column names the row."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def rich(self, title: str) -> Table:
        table = Table(title=title)
        for column in self.columns:
            table.add_column(column, justify="right")
        for row in self.rows:
            table.add_row(*row)
        return table
