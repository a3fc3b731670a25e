# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Element by element: arithmetic, comparison, logic, bits, choice; broadcast in all forms."""

from draw import NUMBERS, isFloat, isInteger, toOnnx

# No operation has a path of its own error: measuring one would only take time.
OPTIONS = ("--no-measure-error",)

# What each takes where not any number will do.
DOMAINS = {
    "Acos": "unit",
    "Asin": "unit",
    "Atanh": "unit",
    "Acosh": "positive",
    "Log": "positive",
    "Sqrt": "positive",
    "Reciprocal": "positive",
}
EXACT = ("Abs", "Ceil", "Floor", "Identity", "IsInf", "IsNaN", "Neg", "Not", "BitwiseNot", "Relu", "Round", "Sign")
SMOOTH = ("Atan", "Asinh", "Cos", "Cosh", "Erf", "Exp", "HardSwish", "Mish", "Sigmoid", "Sin", "Sinh", "Softplus", "Softsign", "Tan", "Tanh")


def drawUnary(d, operator):
    dtype = d.dtype(operator)
    isBool = operator in ("IsInf", "IsNaN")
    kind = DOMAINS.get(operator) or ("special" if operator in EXACT else "plain")
    x = d.input(dtype, d.shape(), kind)
    d.isSingle = operator == "HardSwish"
    d.node(operator, [x], dtypes=[NUMBERS["bool"]] if isBool else None)


# Functions with attributes, and how those are drawn.
SHAPED = {
    "LeakyRelu": {"alpha": (-0.5, 0.5)},
    "Elu": {"alpha": (0.1, 2.0)},
    "Celu": {"alpha": (0.2, 2.0)},
    "Selu": {"alpha": (0.5, 2.0), "gamma": (0.5, 2.0)},
    "HardSigmoid": {"alpha": (0.05, 0.5), "beta": (0.1, 0.9)},
    "Swish": {"alpha": (0.1, 2.0)},
}


def drawShaped(d, operator):
    attributes = {name: d.real(*limits) for name, limits in SHAPED[operator].items() if d.chance(0.8)}
    d.isSingle = True
    d.node(operator, [d.input(d.dtype(operator), d.shape())], **attributes)


# Where a function jumps: numbers that every type holds, or an element might lie on either side.
STEPS = (0.25, 0.5, 1.0, 2.0)


def drawShrink(d, operator):
    x = d.input(d.dtype(operator, only=isFloat), d.shape())
    d.isSingle = True
    d.node(operator, [x], bias=d.real(0.0, 1.0), lambd=d.choose(*STEPS))


def drawThreshold(d, operator):
    d.node(operator, [d.input(d.dtype(operator), d.shape())], alpha=d.choose(None, *STEPS))


def drawGelu(d, operator):
    d.isSingle = True
    d.node(operator, [d.input(d.dtype(operator), d.shape())], approximate=d.choose("none", "tanh"))


def drawPair(d, dtype, kind="plain", **options):
    shape = d.shape()
    left, right = (shape, d.operandOf(shape)) if d.chance(0.5) else (d.operandOf(shape), d.operandOf(shape))
    return d.input(dtype, left, kind), d.input(dtype, right, options.pop("right", kind), **options)


def drawArithmetic(d, operator):
    dtype = d.dtype(operator)
    d.node(operator, drawPair(d, dtype, "special" if isFloat(dtype) else "plain"))


def drawDivision(d, operator):
    """No integer is divided by zero, which means nothing."""
    d.node(operator, drawPair(d, d.dtype(operator), right="positive"))


def drawMod(d, operator):
    dtype = d.dtype(operator)
    d.node(operator, drawPair(d, dtype, right="positive"), fmod=1 if isFloat(dtype) else d.choose(0, 1))


def drawPow(d, operator):
    dtype = d.dtype(operator)
    exponent = d.dtype(operator, 1)
    shape = d.shape()
    base = d.input(dtype, shape, "positive", high=4)
    power = d.input(exponent, d.operandOf(shape), **({} if isFloat(exponent) and isFloat(dtype) else {"kind": "whole", "low": 0, "high": 3}))
    d.slack = 4
    d.node(operator, [base, power])


def drawComparison(d, operator):
    pair = drawPair(d, d.dtype(operator), d.choose("whole", "special"))
    d.node(operator, pair, dtypes=[NUMBERS["bool"]])


def drawLogic(d, operator):
    d.node(operator, drawPair(d, NUMBERS["bool"]))


def drawBits(d, operator):
    d.node(operator, drawPair(d, d.dtype(operator), "special"))


def drawShift(d, operator):
    dtype = d.dtype(operator)
    shape = d.shape()
    x = d.input(dtype, shape, "special")
    amount = d.input(dtype, d.operandOf(shape), low=0, high=dtype.itemsize * 8 - 1)
    d.node(operator, [x, amount], direction=d.choose("LEFT", "RIGHT"))


def drawVariadic(d, operator):
    dtype = d.dtype(operator)
    shape = d.shape()
    kind = "special" if operator in ("Max", "Min") else "plain"
    d.node(operator, [d.input(dtype, d.operandOf(shape), kind) for _ in range(d.integer(1, 4))])


def drawClip(d, operator):
    dtype = d.dtype(operator)
    x = d.input(dtype, d.shape(), "plain" if dtype.kind != "u" else "positive")
    bounds = [d.operand(d.numbers(dtype, (), low=low, high=high, isConstant=True)) if d.chance(0.8) else "" for low, high in ((0, 2), (3, 5))]
    d.node(operator, [x, *bounds])


def drawWhere(d, operator):
    dtype = d.dtype(operator, 1)
    shape = d.shape()
    condition = d.input(NUMBERS["bool"], d.operandOf(shape))
    d.node(operator, [condition, *(d.input(dtype, d.operandOf(shape), "special") for _ in range(2))], dtypes=[dtype])


def drawPRelu(d, operator):
    dtype, shape = d.dtype(operator), d.shape()
    d.node(operator, [d.input(dtype, shape), d.input(dtype, d.operandOf(shape))])


def drawCast(d, operator):
    source = d.dtype(operator)
    target = d.dtype(operator, -1)
    # A float that the integer type does not hold gives what it may.
    inRange = isFloat(source) and isInteger(target)
    x = d.input(source, d.shape(), "plain" if inRange else "special", **({"low": 0, "high": 100} if inRange else {}))
    d.isWidened = False
    if operator == "Cast":
        d.node(operator, [x], dtypes=[target], to=toOnnx(target))
    else:
        d.node(operator, [x, d.input(target, d.shape())], dtypes=[target])


def drawChain(d, operator):
    """Several operators in a row, which are fused into one kernel."""
    dtype, shape = d.choose(NUMBERS["float32"], NUMBERS["float64"]), d.shape()
    value = d.input(dtype, shape)
    length = d.integer(2, 5)
    for step in range(length):
        isResult = step == length - 1
        which = d.choose("Add", "Mul", "Sub", "Tanh", "Sigmoid", "Abs", "Max", "Neg")
        operands = [value] if which in ("Tanh", "Sigmoid", "Abs", "Neg") else [value, d.input(dtype, d.operandOf(shape))]
        value = d.node(which, operands, dtypes=[dtype], isResult=isResult)


OPERATORS = {
    **dict.fromkeys(EXACT, drawUnary),
    **dict.fromkeys(SMOOTH, drawUnary),
    **dict.fromkeys(DOMAINS, drawUnary),
    **dict.fromkeys(SHAPED, drawShaped),
    "Shrink": drawShrink,
    "ThresholdedRelu": drawThreshold,
    "Gelu": drawGelu,
    **dict.fromkeys(("Add", "Sub", "Mul"), drawArithmetic),
    "Div": drawDivision,
    "Mod": drawMod,
    "Pow": drawPow,
    **dict.fromkeys(("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"), drawComparison),
    **dict.fromkeys(("And", "Or", "Xor"), drawLogic),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), drawBits),
    "BitShift": drawShift,
    **dict.fromkeys(("Max", "Min", "Sum", "Mean"), drawVariadic),
    "Clip": drawClip,
    "Where": drawWhere,
    "PRelu": drawPRelu,
    **dict.fromkeys(("Cast", "CastLike"), drawCast),
    # A name for several operators stands beside those it begins with.
    "Add chain": drawChain,
}
