# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Whole graphs, for the planning of memory: slices, concats, splits and reshapes that may be views, chains with several readers that may
be computed in place, sizes that inputs or data decide."""

import numpy
from draw import NUMBERS

FLOAT, LONG, BOOL = NUMBERS["float32"], NUMBERS["int64"], NUMBERS["bool"]
# Each is also run with every buffer alone between pages that nobody may touch, and its offsets are checked at many sizes.
GUARDED = True
UNARY = ("Relu", "Neg", "Abs", "Tanh")
BINARY = ("Add", "Sub", "Max", "Mul")
# No open size is below this one, so that slices of a few elements always fit.
LEAST = 3


class Dim:
    """A sum of named sizes and a constant, so that shapes can be compared whatever the sizes are."""

    def __init__(self, symbols, constant, least):
        self.symbols, self.constant, self.least = tuple(sorted(symbols)), constant, least

    @staticmethod
    def of(size):
        name = getattr(size, "name", None)
        return Dim([name], 0, LEAST) if name else Dim([], int(size), int(size))

    def plus(self, other):
        return Dim(self.symbols + other.symbols, self.constant + other.constant, self.least + other.least)

    def minus(self, count):
        return Dim(self.symbols, self.constant - count, self.least - count)

    def isConstant(self):
        return not self.symbols

    def __eq__(self, other):
        return (self.symbols, self.constant) == (other.symbols, other.constant)

    def __hash__(self):
        return hash((self.symbols, self.constant))


class Value:
    def __init__(self, name, shape):
        self.name, self.shape, self.readers = name, tuple(shape), 0


class Graph:
    """A graph that grows by one operation at a time. What is drawn must not depend on the sizes of a take."""

    def __init__(self, d):
        self.d, self.values = d, []
        sizes = [d.size(LEAST, 33) for _ in range(2)]
        for _ in range(d.integer(1, 3)):
            shape = [d.choose(*sizes) if d.chance(0.7) else d.integer(2, 8) for _ in range(d.integer(1, 3))]
            self.values.append(Value(d.input(FLOAT, shape, "unit"), map(Dim.of, shape)))

    def pick(self, isWanted=lambda value: True):
        """A value, the youngest ones more often; None where there is none."""
        found = [value for value in self.values if isWanted(value)]
        return self.d.choose(*found[-4:], *found) if found else None

    def read(self, value):
        value.readers += 1
        return value.name

    def add(self, operator, operands, shape, others=(), **attributes):
        names = [self.read(value) for value in operands] + list(others)
        name = self.d.node(operator, names, dtypes=[FLOAT], isResult=False, **attributes)
        self.values.append(Value(name, shape))
        return self.values[-1]

    def integers(self, *values):
        return self.d.constant(numpy.array(values, LONG))

    # Operations

    def addUnary(self):
        x = self.pick()
        self.add(self.d.choose(*UNARY), [x], x.shape)

    def addBinary(self):
        x = self.pick()
        y = self.pick(lambda value: value.shape == x.shape)
        self.add(self.d.choose(*BINARY), [x, y], x.shape)

    def addSlice(self):
        axis = self.d.integer(0, 2)
        x = self.pick(lambda value: len(value.shape) > axis and value.shape[axis].least > 1)
        if x:
            self.cut(x, axis, *self.drawCut(x.shape[axis]))

    def drawCut(self, dim):
        front = self.d.integer(0, min(dim.least - 1, 4))
        return front, self.d.integer(0, min(dim.least - 1 - front, 4))

    def cut(self, x, axis, front, back):
        shape = list(x.shape)
        shape[axis] = shape[axis].minus(front + back)
        end = -back if back else numpy.iinfo(LONG).max
        self.add("Slice", [x], shape, [self.integers(front), self.integers(end), self.integers(axis)])

    def addSplit(self):
        """Two parts that are all of it."""
        axis = self.d.integer(0, 1)
        x = self.pick(lambda value: len(value.shape) > axis and value.shape[axis].least > 1)
        if not x:
            return
        dim = x.shape[axis]
        at = self.d.integer(1, min(dim.least - 1, 4))
        self.cut(x, axis, at, 0)
        if dim.isConstant():
            self.cut(x, axis, 0, dim.constant - at)

    def addConcat(self):
        x = self.pick()
        axis = self.d.integer(0, len(x.shape) - 1)
        around = lambda value: (len(value.shape), value.shape[:axis], value.shape[axis + 1 :])
        parts = [x] + [self.pick(lambda value: around(value) == around(x)) for _ in range(self.d.integer(1, 2))]
        shape = list(x.shape)
        for part in parts[1:]:
            shape[axis] = shape[axis].plus(part.shape[axis])
        # Not without end: what is joined is joined again.
        if sum(len(dim.symbols) for dim in shape) <= 4 and sum(dim.constant for dim in shape) <= 100:
            self.add("Concat", parts, shape, axis=axis)

    def addReshape(self):
        """Splits or joins the last dimensions where they are constant; else puts a 1 somewhere or takes it away."""
        x = self.pick(lambda value: value.shape[-1].isConstant())
        if not x:
            return
        last = x.shape[-1].constant
        if len(x.shape) > 1 and x.shape[-2].isConstant():
            shape = [*x.shape[:-2], Dim.of(x.shape[-2].constant * last)]
        elif last % 2 == 0 and len(x.shape) < 4:
            shape = [*x.shape[:-1], Dim.of(2), Dim.of(last // 2)]
        else:
            shape = [*x.shape[:-1], Dim.of(1), x.shape[-1]]
        if len(shape) <= 4:
            wanted = [dim.constant if dim.isConstant() else 0 for dim in shape]
            self.add("Reshape", [x], shape, [self.integers(*wanted)])

    def addTranspose(self):
        x = self.pick()
        order = list(range(len(x.shape)))
        self.d.structure.shuffle(order)
        self.add("Transpose", [x], [x.shape[i] for i in order], perm=order)

    def addProduct(self):
        x = self.pick(lambda value: value.shape[-1].isConstant() and value.shape[-1].constant > 0)
        if x:
            n = self.d.integer(1, 9)
            weight = self.d.constant(self.d.numbers(FLOAT, [x.shape[-1].constant, n], "unit", isConstant=True) / 4)
            self.add("MatMul", [x], [*x.shape[:-1], Dim.of(n)], [weight])

    def addRows(self):
        """Something that reads a row for each element of it."""
        x = self.pick()
        self.add("Softmax", [x], x.shape, axis=len(x.shape) - 1)

    def addCompress(self):
        """Rows that data picks: how many is known during the run."""
        x = self.pick(lambda value: not any("late" in name for dim in value.shape for name in dim.symbols))
        if not x:
            return
        row = self.d.node("ReduceMax" if self.d.opset < 18 else "ReduceMax", *self.reduction(x), dtypes=[FLOAT], isResult=False, keepdims=0)
        x.readers += 1
        zero = self.d.constant(numpy.array(0.1, FLOAT))
        mask = self.d.node("Greater", [row, zero], dtypes=[BOOL], isResult=False)
        late = Dim([f"late{len(self.values)}"], 0, 0)
        self.add("Compress", [x], [late, *x.shape[1:]], [mask], axis=0)

    def reduction(self, x):
        """Operands of a reduction of all dimensions but the first."""
        axes = list(range(1, len(x.shape)))
        if not axes:
            flat = self.d.node("Reshape", [x.name, self.integers(0, 1)], dtypes=[FLOAT], isResult=False)
            return [[flat, *self.axes([1])]]
        return [[x.name, *self.axes(axes)]]

    def axes(self, axes):
        return [self.integers(*axes)]

    OPERATIONS = (
        ("addUnary", 4), ("addBinary", 4), ("addSlice", 3), ("addSplit", 2), ("addConcat", 4), ("addReshape", 3), ("addTranspose", 1),
        ("addProduct", 2), ("addRows", 1), ("addCompress", 1),
    )

    def grow(self, count):
        names = [name for name, weight in self.OPERATIONS for _ in range(weight)]
        for _ in range(count):
            getattr(self, self.d.choose(*names))()

    def finish(self):
        """What nothing reads is a result, and some of the rest."""
        made = [value for value in self.values if value.name not in self.d.inputs and value.name not in self.d.constants]
        for value in made:
            if value.readers == 0 or self.d.chance(0.1):
                self.d.outputs.append((value.name, FLOAT))


def drawGraph(d, operator):
    graph = Graph(d)
    graph.grow(d.integer(6, 30))
    if not any(value.readers == 0 and value.name in [name for node in d.nodes for name in node.output] for value in graph.values):
        graph.addUnary()
    graph.finish()
    d.isWhole, d.slack = True, 8


OLDEST = 18
OPERATORS = {"Concat and others": drawGraph}
