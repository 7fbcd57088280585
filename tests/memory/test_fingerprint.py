"""What would make other KV, or files that others cannot read, has another fingerprint."""

from pathlib import Path

from memory.fingerprint import model_fingerprint


def test_dtypes_ranks_and_files_tell_models_apart(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    plain = model_fingerprint(tmp_path)
    others = [
        model_fingerprint(tmp_path, "fp8"),
        model_fingerprint(tmp_path, row_dtype="fp8"),
        model_fingerprint(tmp_path, ranks=2),
        model_fingerprint(tmp_path, ranks=4),
    ]
    assert len({plain, *others}) == 5
    assert model_fingerprint(tmp_path, "auto", "auto", ranks=1) == plain
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert model_fingerprint(tmp_path) != plain
