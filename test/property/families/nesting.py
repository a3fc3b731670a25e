# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""All pairs and triples of If, Loop, Scan and model-local functions, each inside of the one before. Every body reads values of every level
around it: vectors, conditions, trip counts and matrices, from inputs, initializers, constants and nodes."""

import itertools

import numpy
from draw import NUMBERS
from onnx import AttributeProto, TensorProto, helper, numpy_helper

# Results are compared with the evaluator's, and no path here needs a budget.
OPTIONS = ("--no-measure-error",)
FLOAT, LONG, BOOL = NUMBERS["float32"], NUMBERS["int64"], NUMBERS["bool"]
CONSTRUCTS = ("If", "Loop", "Scan", "Function")
DOMAIN = "local"
BINARY = ("Add", "Sub", "Max", "Min")
UNARY = ("Tanh", "Neg", "Abs", "Sigmoid")
MAX_TRIPS = 3
# What a level offers to those within: vectors of one length, booleans, numbers of 0 to MAX_TRIPS, and matrices of such vectors.
VECTOR, CONDITION, COUNT, ROWS = "vector", "condition", "count", "rows"
KINDS = {VECTOR: (TensorProto.FLOAT, [None]), CONDITION: (TensorProto.BOOL, []), COUNT: (TensorProto.INT64, []), ROWS: (TensorProto.FLOAT, [None, None])}


def _infos(names):
    return [helper.make_tensor_value_info(name, *KINDS[kind]) for name, kind in names]


class Level:
    """The body of a graph or a function while it is made.

    `visible`: by kind, the names that it sees of each level, outermost first, its own last. `zeros`: a vector that gives what it is added
    to the length that all vectors have. `hasSlope`: a function around has that attribute. A function itself has no initializers.
    """

    def __init__(self, d, outer, zeros, hasSlope=False, isFunction=False):
        self.d, self.zeros, self.hasSlope, self.isFunction = d, zeros, hasSlope, isFunction
        self.nodes, self.initializers = [], []
        self.visible = [*outer, {kind: [] for kind in KINDS}]

    def inner(self):
        return Level(self.d, self.visible, self.zeros, self.hasSlope)

    def name(self):
        self.d.nameCount = getattr(self.d, "nameCount", 0) + 1
        return f"{self.d.name}.v{self.d.nameCount}"

    def offer(self, kind, name=None):
        """A value of this level, which those within see."""
        self.visible[-1][kind].append(name or self.name())
        return self.visible[-1][kind][-1]

    def add(self, operator, inputs, outputs=1, **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, name=self.d.name, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value, dtype):
        """A scalar as a node or as an initializer."""
        name, tensor = self.name(), numpy_helper.from_array(numpy.array(value, dtype))
        if self.isFunction or self.d.chance(0.5):
            self.nodes.append(helper.make_node("Constant", [], [name], name=self.d.name, value=tensor))
        else:
            tensor.name = name
            self.initializers.append(tensor)
        return name

    def number(self):
        """A constant, or the attribute of the function around."""
        if not self.hasSlope or self.d.chance(0.5):
            return self.constant(self.d.real(-1, 1), FLOAT)
        name = self.add("Constant", [])
        self.nodes[-1].attribute.add(name="value_float", type=AttributeProto.FLOAT, ref_attr_name="slope")
        return name

    # Values that are seen here

    def pick(self, kind):
        """A value of any level, of the outermost more often."""
        levels = [names[kind] for names in self.visible if names[kind]]
        return self.d.choose(*(levels[0] if self.d.chance(0.4) else self.d.choose(*levels)))

    def condition(self):
        if self.d.chance(0.6):
            return self.pick(CONDITION)
        largest = self.add("ReduceMax", [self.pick(VECTOR)], keepdims=0)
        return self.offer(CONDITION, self.add("Greater", [largest, self.constant(self.d.real(-0.2, 0.6), FLOAT)]))

    def count(self):
        return self.pick(COUNT) if self.d.chance(0.6) else self.offer(COUNT, self.constant(self.d.integer(1, MAX_TRIPS), LONG))

    def computeLocals(self):
        x = self.add(self.d.choose(*BINARY), [self.pick(VECTOR), self.pick(VECTOR)])
        self.offer(VECTOR, self.add(self.d.choose(*UNARY), [x]))
        self.offer(VECTOR, self.add("Add", [self.zeros, self.number()]))
        self.condition()

    def readEveryLevel(self, result):
        """A vector to which each level contributes."""
        for names in self.visible:
            if names[VECTOR]:
                result = self.add(self.d.choose(*BINARY), [result, self.d.choose(*names[VECTOR])])
        return self.add("Tanh", [result])

    # Constructs: each returns a vector

    def body(self, constructs):
        """The vector that this level results in, with `constructs` nested in it."""
        self.computeLocals()
        if not constructs:
            return self.readEveryLevel(self.pick(VECTOR))
        inner = getattr(self, "add" + constructs[0])(constructs[1:])
        # What was read inside is read again behind it.
        return self.readEveryLevel(self.offer(VECTOR, inner))

    def graph(self, outputs, inputs=()):
        return helper.make_graph(self.nodes, self.name(), _infos(inputs), _infos(outputs), self.initializers)

    def addIf(self, constructs):
        branches = []
        for nested in (constructs, ()):
            level = self.inner()
            branches.append(level.graph([(level.body(nested), VECTOR)]))
        if self.d.chance(0.5):
            branches.reverse()
        return self.add("If", [self.condition()], then_branch=branches[0], else_branch=branches[1])

    def addLoop(self, constructs):
        """Its state is a vector, and in some loops one more that grows."""
        level = self.inner()
        inputs = [(level.offer(COUNT), COUNT), (level.offer(CONDITION), CONDITION), (level.offer(VECTOR), VECTOR)]
        goesOn = inputs[1][0]
        inits, outputs = [self.pick(VECTOR)], [(level.body(constructs), VECTOR)]
        if self.d.chance(0.3):
            inputs.append((level.name(), VECTOR))
            inits.append(self.pick(VECTOR))
            outputs.append((level.add("Concat", [inputs[-1][0], level.pick(VECTOR)], axis=0), VECTOR))
        next = level.add("Identity", [goesOn]) if self.d.chance(0.4) else level.add("Or", [level.pick(CONDITION), level.condition()])
        graph = level.graph([(next, CONDITION), *outputs], inputs)
        results = self.add("Loop", [self.count(), self.condition() if self.d.chance(0.7) else "", *inits], outputs=len(inits), body=graph)
        if len(inits) == 1:
            return results
        return self.add("Add", [results[0], self.add("ReduceMax", [results[1]], keepdims=1)])

    def addScan(self, constructs):
        """Its slices are rows for what follows."""
        level = self.inner()
        inputs = [(level.offer(VECTOR), VECTOR), (level.offer(VECTOR), VECTOR)]
        state, rows = self.pick(VECTOR), self.pick(ROWS)
        next = level.body(constructs)
        slice = level.add("Sub", [next, level.pick(VECTOR)])
        graph = level.graph([(next, VECTOR), (slice, VECTOR)], inputs)
        result, slices = self.add("Scan", [state, rows], outputs=2, body=graph, num_scan_inputs=1)
        last = self.add("Gather", [self.offer(ROWS, slices), self.constant(-1, LONG)], axis=0)
        return self.add("Add", [result, last])

    def addFunction(self, constructs):
        """Its parameters are what it reads of each level."""
        level, parameters = Level(self.d, [], None, hasSlope=True, isFunction=True), {}
        rename = lambda name: parameters.setdefault(name, self.name())
        level.zeros = rename(self.zeros)
        level.visible[:0] = [{kind: [rename(name) for name in names[kind][-2:]] for kind in KINDS} for names in self.visible]
        result = level.body(constructs)
        function = self.name()
        imports = [helper.make_opsetid("", self.d.opset), helper.make_opsetid(DOMAIN, 1)]
        self.d.functions.append(helper.make_function(DOMAIN, function, [*parameters.values()], [result], level.nodes, imports, ["slope"]))
        return self.add(function, [*parameters], domain=DOMAIN, slope=self.d.real(0.1, 0.9))


def draw(d, constructs):
    main = Level(d, [], None)
    length, count = d.size(1, 9), d.size(1, 4)
    main.zeros = d.given(numpy.zeros(length, FLOAT), [length])
    for _ in range(2):
        main.offer(VECTOR, d.given(d.numbers(FLOAT, [length], "unit"), [length]))
    main.offer(CONDITION, d.given(d.numbers(BOOL, [])))
    main.offer(COUNT, d.given(d.numbers(LONG, [], low=0, high=MAX_TRIPS)))
    main.offer(ROWS, d.given(d.numbers(FLOAT, [count, length], "unit"), [count, length]))
    result = main.body(constructs)
    d.constants |= {tensor.name: numpy_helper.to_array(tensor) for tensor in main.initializers}
    d.nodes += main.nodes
    d.outputs.append((result, FLOAT))


# Number i of a run has combination i, so that as many cases as there are combinations have each once.
IN_TURN = True
COMBINATIONS = [nest for depth in (2, 3) for nest in itertools.product(CONSTRUCTS, repeat=depth)]
OPERATORS = {" ".join(nest): (lambda d, _, nest=nest: draw(d, nest)) for nest in COMBINATIONS}
