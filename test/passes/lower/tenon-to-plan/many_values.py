# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a function whose loop passes on so many values, each to the place of the one before it. It has so many arguments more.

import sys

TYPE = "tensor<4xf32>"


def join(text, count):
    return ", ".join(text.format(i) for i in range(count))


def main(values, unused):
    types = join(TYPE, values)
    rotated = ", ".join(f"%v{(i + 1) % values}" for i in range(values))
    arguments = join(f'%a{{0}}: {TYPE} {{{{tenon.name = "a{{0}}"}}}}', 1 + unused)
    print(f'func.func @rotate(%c: tensor<i1> {{tenon.name = "c"}}, {arguments}) -> ({TYPE} {{tenon.name = "y"}}) {{')
    print(f"  %0:{values} = tenon.loop %c({join('%a0', values)}) : tensor<i1>, ({types}) -> ({types}) {{")
    print(f"  ^bb0({join(f'%v{{}}: {TYPE}', values)}):")
    print(f"    tenon.yield %c, {rotated} : tensor<i1>, {types}")
    print("  } {symbols = []}")
    print(f"  return %0#0 : {TYPE}\n}}")


main(*map(int, sys.argv[1:]))
