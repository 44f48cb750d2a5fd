"""Passes over a source whose rows do not fit into memory: what one pass finds, keeps or adds up.

Every pass reads all blocks of the source again, in the same order. What stays in memory is a few numbers per row and
per column, a sample of the rows, or some of the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from gossamer.estimators import targets, units
from gossamer.registry import record
from gossamer.sources.blocks import Block
from gossamer.sources.rows import refuse_large_offsets
from gossamer.validation import FEWER, Array, check_memory

MOST = 1e150  # of a value, so that it can be squared
PER_COLUMN = 96  # bytes that a fit takes for every column, at least


@record
class Sample:
    """Some rows of a source, as they were read."""

    X: Any  # CSR
    numbers: Array  # of the rows, among all
    complete: bool  # whether these are all rows


@record
class Found:
    """What the first pass has found."""

    rows: int
    width: int
    y: Array  # as read
    weight: Array | None
    offset: Array | None
    counts: Array  # entries of each column
    sample: Sample


class Passes:
    """A source that is read again and again; `blocks` starts from its beginning, and `count` is how often it was."""

    def __init__(self, blocks: Callable[[], Iterator[Block]]) -> None:
        self._blocks, self.count = blocks, 0
        self.spread: Array | None = None  # what the columns are divided by

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of one pass, those with rows."""
        self.count += 1
        for block in self._blocks():
            if len(block):
                yield block if self.spread is None else self._divided(block)

    def _divided(self, block: Block) -> Block:
        spread = self.spread
        assert spread is not None
        known = np.minimum(block.index, len(spread) - 1)
        return replace(block, rows=replace(block.rows, value=block.value / spread[known]))

    def standardized(self, found: Found, weight: Array | None) -> Found:
        """Divide all columns by their standard deviations from now on, found in one more pass if need be."""
        c = np.ones(found.rows) if weight is None else weight / weight.max()
        sample = found.sample
        if sample.complete:
            spread = units.spreads(sample.X, c)
        else:
            near = np.asarray(sample.X.mean(axis=0)).ravel()  # sums around a mean of some rows keep their digits
            sums, squares, entered = np.zeros(found.width), np.zeros(found.width), np.zeros(found.width)
            for seen, _, block in self._marked(found.rows, None):
                of_row = np.repeat(c[seen : seen + len(block)], block.rows.ends - block.rows.begins)
                away = block.value - near[block.index]
                np.add.at(sums, block.index, of_row * away)
                np.add.at(squares, block.index, of_row * away**2)
                np.add.at(entered, block.index, of_row)
            total = c.sum()
            rest = np.maximum(total - entered, 0.0)
            mean = (sums - rest * near) / total
            variance = np.maximum((squares + rest * near**2) / total - mean**2, 0.0)
            spread = np.sqrt(variance)
            spread = np.where(spread > 1e-12 * np.maximum(np.abs(near + mean), 1e-300), spread, 1.0)
        self.spread = spread
        return replace(found, sample=replace(sample, X=units.divided(sample.X, spread)))

    def pieces(self, entries: float) -> Iterator[tuple[list[Block], int]]:
        """Yield the blocks of one pass, several together, and their rows, with about so many entries at a time."""
        kept: list[Block] = []
        for block in self.blocks():
            kept.append(block)
            if sum(len(one.index) for one in kept) >= entries:
                yield kept, sum(map(len, kept))
                kept = []
        if kept:
            yield kept, sum(map(len, kept))

    def first(self, regression: bool, who: str, entries: int) -> Found:
        """Look at all rows, and keep a sample of at most so many entries: rows at random, or all if they fit."""
        marks, random = _Kept(entries), np.random.default_rng(0)
        labels: list[Array] = []
        weights: list[Array | None] = []
        offsets: list[Array | None] = []
        sizes: list[int] = []
        counts = np.zeros(0, np.int64)
        for block in self.blocks():
            if block.label is None:
                raise ValueError("The source has no labels to learn from.")
            targets.refuse_other_kind(block.label, regression, who)
            if len(block.value) and not np.abs(block.value).max() < MOST:
                raise ValueError(f"The source holds a value of {np.abs(block.value).max():.3g}; scale the features.")
            refuse_large_offsets(block.offset)
            labels.append(block.label)
            weights.append(block.weight)
            offsets.append(block.offset)
            if block.width > len(counts):
                check_memory(PER_COLUMN * block.width, f"A fit in passes over {block.width:,} columns", FEWER)
            counts = _longer(counts, block.width)
            np.add.at(counts, block.index, 1)
            marks.take(block, sum(sizes), random.random(len(block)))
            sizes.append(len(block))
        if not sizes:
            raise ValueError("The source has no rows: there is nothing to learn from.")
        y = np.concatenate(labels)
        y = y if regression else targets.whole_numbers(y)
        rows = sum(sizes)
        return Found(
            rows,
            len(counts),
            y,
            _joined(weights, sizes, 1.0),
            _joined(offsets, sizes, 0.0),
            counts,
            marks.sample(rows, len(counts)),
        )

    def gathered(self, columns: Array, found: Found, some: Array | None) -> Any:
        """Return some columns (of the rows that `some` marks): CSR, or an array if most cells have an entry."""
        number = np.full(found.width, -1, np.int32)
        number[columns] = np.arange(len(columns), dtype=np.int32)
        entries, rows = int(found.counts[columns].sum()), found.rows if some is None else int(some.sum())
        if entries > 0.5 * found.rows * len(columns):
            X = np.zeros((rows, len(columns)), order="F")
            for at, row, new, value in self._entries(number, found.rows, some):
                X[at + row, new] = value
            return X
        index, values, starts = np.empty(entries, np.int32), np.empty(entries), np.zeros(rows + 1, np.int64)
        end = 0
        for at, row, new, value in self._entries(number, found.rows, some):
            index[end : end + len(new)], values[end : end + len(new)] = new, value
            np.add.at(starts, at + row + 1, 1)
            end += len(new)
        np.cumsum(starts, out=starts)
        return sp.csr_array((values[:end], index[:end], starts), shape=(rows, len(columns)))

    def _entries(self, number: Array, rows: int, some: Array | None) -> Iterator[tuple[int, Array, Array, Array]]:
        """Yield the entries of the numbered columns: how many rows came before, row after that, column, value."""
        for at, kept, block in self._marked(rows, some):
            row = np.repeat(np.cumsum(kept) - 1, block.rows.ends - block.rows.begins)
            new = number[block.index]
            stay = (new >= 0) & np.repeat(kept, block.rows.ends - block.rows.begins)
            yield at, row[stay], new[stay], block.value[stay]

    def _marked(self, rows: int, some: Array | None) -> Iterator[tuple[int, Array, Block]]:
        """Yield the blocks, how many marked rows came before each, and which of its rows are marked."""
        seen = at = 0
        for block in self.blocks():
            if seen + len(block) > rows:
                seen += len(block)
                break
            kept = np.ones(len(block), bool) if some is None else some[seen : seen + len(block)]
            yield at, kept, block
            seen, at = seen + len(block), at + int(kept.sum())
        if seen != rows:
            raise ValueError(f"The source had {rows:,} rows in the first pass, and other rows now: it was changed.")

    def gradient(self, S: Array, width: int, some: Array | None, rows: int) -> Array:
        """Return XᵀS over all columns; S has a row for every row that `some` marks."""
        G = np.zeros((width, S.shape[1]))
        for at, kept, block in self._marked(rows, some):
            here = np.zeros((len(block), S.shape[1]))
            here[kept] = S[at : at + int(kept.sum())]
            G[: block.width] += matrix(block, block.width).T @ here
        return G


def matrix(block: Block, width: int) -> Any:
    """Return the entries of a block as a CSR matrix."""
    return sp.csr_array((block.value.astype(np.float64, copy=False), block.index, block.starts), (len(block), width))


def joined(blocks: list[Block], width: int) -> Any:
    """Return the entries of some blocks as one CSR matrix."""
    return sp.csr_array(sp.vstack([matrix(block, width) for block in blocks], format="csr"))


class _Kept:
    """Rows at random: those whose mark is below a limit, which falls when there are too many."""

    def __init__(self, entries: int) -> None:
        self.most, self.limit, self.entries = entries, 1.0, 0
        self.kept: list[tuple[Block, Array, Array]] = []  # rows, their numbers and marks

    def take(self, block: Block, first: int, marks: Array) -> None:
        self._add(block, first + np.arange(len(block)), marks)
        while self.entries + sum(len(numbers) for _, numbers, _ in self.kept) > self.most and self.limit > 1e-12:
            self.limit /= 2
            before, self.kept, self.entries = self.kept, [], 0
            for rows, numbers, marked in before:
                self._add(rows, numbers, marked)

    def _add(self, block: Block, numbers: Array, marks: Array) -> None:
        which = np.flatnonzero(marks < self.limit)
        if len(which):
            rows = block if len(which) == len(block) else block.taken(which)
            self.kept.append((rows, numbers[which], marks[which]))
            self.entries += len(rows.index)

    def sample(self, rows: int, width: int) -> Sample:
        numbers = np.concatenate([np.empty(0, np.intp), *(numbers for _, numbers, _ in self.kept)])
        parts = [matrix(block, width) for block, _, _ in self.kept]
        X = sp.csr_array(sp.vstack(parts, format="csr")) if parts else sp.csr_array((0, width))
        return Sample(X, numbers, len(numbers) == rows)


def _longer(counts: Array, width: int) -> Array:
    return counts if width <= len(counts) else np.concatenate([counts, np.zeros(width - len(counts), np.int64)])


def _joined(parts: list[Array | None], sizes: list[int], otherwise: float) -> Array | None:
    if all(part is None for part in parts):
        return None
    return np.concatenate(
        [np.full(n, otherwise) if part is None else part for part, n in zip(parts, sizes, strict=True)]
    )
