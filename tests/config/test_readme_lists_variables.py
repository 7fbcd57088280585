"""The README's configuration table is the environment as it is read."""

from config.env import ROOT, Environment, variable


def rows() -> list[str]:
    home = str(Environment.model_fields["home"].default)
    lines = []
    for name, field in Environment.model_fields.items():
        default = "" if field.default in (None, "", []) else f"`{field.default}`"
        default = default.replace(home, "var").replace("['*']", "*")
        lines.append(f"| `{variable(name)}` | {default} | {field.description} |")
    return lines


def test_every_variable_stands_in_the_table_with_its_default_and_meaning() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [row for row in rows() if row not in readme] == []
