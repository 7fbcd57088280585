# ruff: noqa: N803 - constants of a kernel are written in capitals, as Triton has it
"""Triton kernels between arena rows and the paged cache: one launch moves all layers of all requests of a step.

A layer's place: `layers` int64 `[layers, 3]` holds the address of block 0's first K element, the first element of the
layer in a row, and the byte of its first scale. The cache's other distances are elements of its dtype.
"""

from vllm.triton_utils import tl, triton


@triton.jit
def _turn(moved, frequencies, d, HALF: tl.constexpr, NEOX: tl.constexpr):
    """cos and signed sin for each element of a head, and the element it is turned with."""
    turning = d < 2 * HALF
    if NEOX:
        partner = tl.where(d < HALF, d + HALF, d - HALF)
        frequency = d % HALF
        is_first = d < HALF
    else:
        partner = d ^ 1
        frequency = d // 2
        is_first = d % 2 == 0
    partner = tl.where(turning, partner, d)
    # Angles in float64: a float32 product of a far position is off by more than a bfloat16 key can hide.
    turns = moved.to(tl.float64) * tl.load(frequencies + frequency, mask=turning, other=0.0) / 6.283185307179586
    angle = ((turns - tl.floor(turns + 0.5)) * 6.283185307179586).to(tl.float32)
    sine = tl.sin(angle)
    return tl.cos(angle), tl.where(turning, tl.where(is_first, -sine, sine), 0.0), partner


@triton.jit
def _round(values, VALUES: tl.constexpr):
    """To the model's dtype and back: `VALUES` is 1 (bfloat16), 2 (float16) or 0 (float32)."""
    if VALUES == 1:
        return values.to(tl.bfloat16).to(tl.float32)
    if VALUES == 2:
        return values.to(tl.float16).to(tl.float32)
    return values


@triton.jit
def _load_row(
    rows,
    offset,
    scale_offset,
    h,
    d,
    HEADS: tl.constexpr,
    DIM: tl.constexpr,
    ROW_FP8: tl.constexpr,
    VALUES: tl.constexpr,
):
    """Values `[heads, dim]` in float32 of K or V of one layer in a stored row."""
    mask = (h < HEADS)[:, None] & (d < DIM)[None, :]
    stored = tl.load(rows + offset + h[:, None] * DIM + d[None, :], mask=mask, other=0)
    if ROW_FP8:
        scales = tl.load((rows + scale_offset).to(tl.pointer_type(tl.float32)) + h, mask=h < HEADS, other=0.0)
        return _round(stored.to(tl.float8e4nv, bitcast=True).to(tl.float32) * scales[:, None], VALUES)
    return stored.to(tl.float32)


@triton.jit
def _to_cache(values, scale, FP8: tl.constexpr, dtype: tl.constexpr):
    """As the backend's own writer rounds: `FP8` is 0 (none), 4 (e4m3) or 5 (e5m2)."""
    if FP8 == 4:
        limited = tl.minimum(tl.maximum(values / scale, -448.0), 448.0)
        return limited.to(tl.float8e4nv).to(tl.uint8, bitcast=True)
    if FP8 == 5:
        limited = tl.minimum(tl.maximum(values / scale, -57344.0), 57344.0)
        return limited.to(tl.float8e5).to(tl.uint8, bitcast=True)
    return values.to(dtype)


@triton.jit
def _place(tables, table, position, block_stride, token_stride, TABLE_BLOCK: tl.constexpr, BLOCK: tl.constexpr):
    """How far a token lies behind the first of its layer; negative in block 0, vLLM's null block."""
    block_id = tl.load(tables + table + position // TABLE_BLOCK).to(tl.int64)
    slot = block_id * TABLE_BLOCK + position % TABLE_BLOCK
    return tl.where(block_id > 0, (slot // BLOCK) * block_stride + (slot % BLOCK) * token_stride, -1)


@triton.jit
def _scales(scales, layer, CACHE_FP8: tl.constexpr):
    """What stored K and V of a layer are multiplied by."""
    key_scale = 1.0
    value_scale = 1.0
    if CACHE_FP8 != 0:
        key_scale = tl.load(scales + layer * 2)
        value_scale = tl.load(scales + layer * 2 + 1)
    return key_scale, value_scale


@triton.jit(do_not_specialize=["count"])
def inject_kernel(
    tokens,  # int32 [4, count]: row, moved, position, first entry of the request's block table
    count,
    tables,  # int32: block tables, one after the other
    rows,
    layers,
    scales,  # float32 [layers, 2]: of an fp8 cache
    frequencies,  # float64 [rotary_dim / 2]
    cache,  # any layer's: its dtype counts
    row_stride,
    block_stride,
    token_stride,
    head_stride,
    value_offset,
    layer_count,
    TABLE_BLOCK: tl.constexpr,  # tokens of a block in the tables
    BLOCK: tl.constexpr,  # tokens of a block in the cache
    HEADS: tl.constexpr,
    HEADS_PADDED: tl.constexpr,
    DIM: tl.constexpr,
    DIM_PADDED: tl.constexpr,
    HALF: tl.constexpr,
    NEOX: tl.constexpr,
    VALUES: tl.constexpr,
    ROW_FP8: tl.constexpr,
    CACHE_FP8: tl.constexpr,
    LAYERS_EACH: tl.constexpr,
):
    token = tl.program_id(0)
    row = tl.load(tokens + token).to(tl.int64)
    moved = tl.load(tokens + count + token)
    position = tl.load(tokens + 2 * count + token)
    table = tl.load(tokens + 3 * count + token)
    place = _place(tables, table, position, block_stride, token_stride, TABLE_BLOCK, BLOCK)
    if place >= 0:  # else it is outside a sliding window
        h = tl.arange(0, HEADS_PADDED)
        d = tl.arange(0, DIM_PADDED)
        mask = (h < HEADS)[:, None] & (d < DIM)[None, :]
        cosine, sine, partner = _turn(moved, frequencies, d, HALF, NEOX)
        source = row * row_stride
        for i in range(LAYERS_EACH):
            layer = tl.program_id(1) * LAYERS_EACH + i
            if layer < layer_count:
                address = tl.load(layers + layer * 3)
                element = source + tl.load(layers + layer * 3 + 1)
                scale_at = source + tl.load(layers + layer * 3 + 2)
                key = _load_row(rows, element, scale_at, h, d, HEADS, DIM, ROW_FP8, VALUES)
                other = _load_row(rows, element, scale_at, h, partner, HEADS, DIM, ROW_FP8, VALUES)
                element += HEADS * DIM
                scale_at += HEADS * 4
                value = _load_row(rows, element, scale_at, h, d, HEADS, DIM, ROW_FP8, VALUES)
                turned = key * cosine[None, :] + other * sine[None, :]
                if CACHE_FP8 != 0:  # a computed key is one of the model's dtype before the cache's writer rounds it
                    turned = _round(turned, VALUES)
                target = address.to(cache.dtype) + place + h[:, None] * head_stride + d[None, :]
                key_scale, value_scale = _scales(scales, layer, CACHE_FP8)
                tl.store(target, _to_cache(turned, key_scale, CACHE_FP8, cache.dtype.element_ty), mask=mask)
                tl.store(
                    target + value_offset, _to_cache(value, value_scale, CACHE_FP8, cache.dtype.element_ty), mask=mask
                )


@triton.jit
def _from_cache(stored, scale, FP8: tl.constexpr):
    if FP8 == 4:
        return stored.to(tl.float8e4nv, bitcast=True).to(tl.float32) * scale
    if FP8 == 5:
        return stored.to(tl.float8e5, bitcast=True).to(tl.float32) * scale
    return stored.to(tl.float32)


@triton.jit
def _store_row(rows, offset, scale_offset, values, h, d, HEADS: tl.constexpr, DIM: tl.constexpr, ROW_FP8: tl.constexpr):
    mask = (h < HEADS)[:, None] & (d < DIM)[None, :]
    target = rows + offset + h[:, None] * DIM + d[None, :]
    if ROW_FP8:
        largest = tl.max(tl.where(mask, tl.abs(values), 0.0), axis=1)
        scale = tl.maximum(largest, 1.1754943508222875e-38) / 448.0
        small = tl.minimum(tl.maximum(values / scale[:, None], -448.0), 448.0).to(tl.float8e4nv)
        tl.store(target, small.to(tl.uint8, bitcast=True), mask=mask)
        tl.store((rows + scale_offset).to(tl.pointer_type(tl.float32)) + h, scale, mask=h < HEADS)
    else:
        tl.store(target, values.to(rows.dtype.element_ty), mask=mask)


@triton.jit(do_not_specialize=["count"])
def read_kernel(
    tokens,  # int32 [2, count]: position, first entry of the request's block table
    count,
    tables,
    rows,  # [count, row_width], filled in order
    layers,
    scales,
    cache,
    row_stride,
    block_stride,
    token_stride,
    head_stride,
    value_offset,
    layer_count,
    TABLE_BLOCK: tl.constexpr,
    BLOCK: tl.constexpr,
    HEADS: tl.constexpr,
    HEADS_PADDED: tl.constexpr,
    DIM: tl.constexpr,
    DIM_PADDED: tl.constexpr,
    VALUES: tl.constexpr,
    ROW_FP8: tl.constexpr,
    CACHE_FP8: tl.constexpr,
    LAYERS_EACH: tl.constexpr,
):
    token = tl.program_id(0)
    position = tl.load(tokens + token)
    table = tl.load(tokens + count + token)
    place = _place(tables, table, position, block_stride, token_stride, TABLE_BLOCK, BLOCK)
    h = tl.arange(0, HEADS_PADDED)
    d = tl.arange(0, DIM_PADDED)
    mask = (h < HEADS)[:, None] & (d < DIM)[None, :] & (place >= 0)
    target = token.to(tl.int64) * row_stride
    for i in range(LAYERS_EACH):
        layer = tl.program_id(1) * LAYERS_EACH + i
        if layer < layer_count:
            address = tl.load(layers + layer * 3)
            element = target + tl.load(layers + layer * 3 + 1)
            scale_at = target + tl.load(layers + layer * 3 + 2)
            source = address.to(cache.dtype) + place + h[:, None] * head_stride + d[None, :]
            key_scale, value_scale = _scales(scales, layer, CACHE_FP8)
            key = _from_cache(tl.load(source, mask=mask, other=0), key_scale, CACHE_FP8)
            value = _from_cache(tl.load(source + value_offset, mask=mask, other=0), value_scale, CACHE_FP8)
            if CACHE_FP8 != 0:
                key = _round(key, VALUES)
                value = _round(value, VALUES)
            _store_row(rows, element, scale_at, key, h, d, HEADS, DIM, ROW_FP8)
            _store_row(rows, element + HEADS * DIM, scale_at + HEADS * 4, value, h, d, HEADS, DIM, ROW_FP8)


@triton.jit(do_not_specialize=["items"])
def copy_rows_kernel(
    source,
    target,
    source_rows,
    target_rows,
    items,  # rows times chunks of a row
    words,  # of a row, in the tensors' dtype
    CHUNKS: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """Rows from one arena to another. Few programs that go on to the next item: the copy waits for PCIe, and the
    model computes meanwhile on the multiprocessors it leaves."""
    for item in range(tl.program_id(0), items, tl.num_programs(0)):
        number = item // CHUNKS
        word = (item % CHUNKS) * CHUNK + tl.arange(0, CHUNK)
        first = tl.load(source_rows + number).to(tl.int64) * words
        last = tl.load(target_rows + number).to(tl.int64) * words
        mask = word < words
        tl.store(target + last + word, tl.load(source + first + word, mask=mask, other=0), mask=mask)
