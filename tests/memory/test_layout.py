"""Stored rows give back the layers they were made of."""

import pytest
import torch

from memory.layout import KVLayout, LayerShape, RowDtype

SHAPES = (LayerShape(2, 4), LayerShape(1, 8), LayerShape(3, 64))


def a_layout(row_dtype: RowDtype = "auto", dtype: str = "bfloat16") -> KVLayout:
    return KVLayout(SHAPES, dtype, row_dtype)


def some_layers(layout: KVLayout, tokens: int = 5, scale: float = 1.0) -> list[tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(3)

    def values(shape: LayerShape) -> torch.Tensor:
        drawn = torch.randn(tokens, shape.kv_heads, shape.head_dim, generator=generator)
        return (drawn * scale).to(layout.value_dtype)

    return [(values(shape), values(shape)) for shape in layout.layers]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_plain_rows_are_the_values_bit_for_bit(dtype: str) -> None:
    layout = a_layout(dtype=dtype)
    layers = some_layers(layout)
    rows = layout.pack(layers)
    assert rows.shape == (5, layout.row_width)
    assert layout.row_bytes == layout.row_width * layout.value_dtype.itemsize
    for number, (key, value) in enumerate(layers):
        assert torch.equal(layout.layer_of(rows, number)[0], key)
        assert torch.equal(layout.layer_of(rows, number)[1], value)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 3e4])
def test_fp8_rows_are_within_e4m3_of_each_heads_own_range(scale: float) -> None:
    layout = a_layout("fp8")
    layers = some_layers(layout, scale=scale)
    rows = layout.pack(layers)
    assert rows.dtype == torch.uint8
    assert rows.shape == (5, layout.row_width)
    for number, pair in enumerate(layers):
        for stored, value in zip(layout.layer_of(rows, number), pair, strict=True):
            largest = value.float().abs().amax(dim=2, keepdim=True)
            error = (stored.float() - value.float()).abs()
            assert stored.dtype == torch.bfloat16
            assert bool((error <= value.float().abs() / 16 + largest / 448 / 256).all())


def test_fp8_rows_of_zeros_are_zeros() -> None:
    layout = a_layout("fp8")
    zeros = [(torch.zeros_like(key), torch.zeros_like(value)) for key, value in some_layers(layout)]
    assert not layout.layer_of(layout.pack(zeros), 2)[0].any()


def test_fp8_rows_take_little_more_than_half() -> None:
    plain, small = (
        KVLayout((LayerShape(8, 128),) * 32, "bfloat16"),
        KVLayout((LayerShape(8, 128),) * 32, "bfloat16", "fp8"),
    )
    assert small.row_bytes / plain.row_bytes < 0.52


def test_layouts_that_store_differently_are_told_apart() -> None:
    assert len({a_layout(row, dtype).describe() for row in ("auto", "fp8") for dtype in ("bfloat16", "float16")}) == 4


def test_unknown_dtypes_are_refused() -> None:
    with pytest.raises(ValueError, match="int8"):
        KVLayout(SHAPES, "int8")
    with pytest.raises(ValueError, match="int4"):
        KVLayout(SHAPES, "bfloat16", "int4")  # type: ignore[arg-type]
