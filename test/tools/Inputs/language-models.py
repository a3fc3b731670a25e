# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""NAME.mlir: models of one line that look like language models, and what they lack."""

HEAD = """func.func @main(%ids: tensor<1x?xi64, #tenon.shape<1, m>> {tenon.name = "input_ids"}) -> (OUTPUTS) {
  %place = tenon.iota {axis = 1 : i64} : () -> tensor<1x5xf32>
  %first = tenon.slice %ids {starts = #tenon.shape<0, 0>, steps = array<i64: 1, 1>} : (tensor<1x?xi64, #tenon.shape<1, m>>) -> tensor<1x1xi64>
  %shift = tenon.cast %first : (tensor<1x1xi64>) -> tensor<1x1xf32>
  %logits = tenon.add %place, %shift : (tensor<1x5xf32>, tensor<1x1xf32>) -> tensor<1x5xf32>
  %token = tenon.arg_reduce max, %logits {axis = 1 : i64} : (tensor<1x5xf32>) -> tensor<1xi64>
"""
APPEND = """  tenon.state.update @rows at #tenon.shape<past> extends, %row : tensor<?x1xi64, #tenon.shape<m, 1>>
"""
ROW = """  %row = tenon.reshape %ids : (tensor<1x?xi64, #tenon.shape<1, m>>) -> tensor<?x1xi64, #tenon.shape<m, 1>>
"""
GROWING = """tenon.state @rows : tensor<8x1xi64> live "past"
"""
WHOLE = """tenon.state @kept : tensor<1x5xf32>
"""
KEEP = """  tenon.state.update @kept at #tenon.shape<0>, %logits : tensor<1x5xf32>
"""
LOGITS, TOKEN = 'tensor<1x5xf32> {tenon.name = "logits"}', 'tensor<1xi64> {tenon.name = "token"}'
PLACE = 'tensor<1xi64> {tenon.name = "place"}'


def write(name, states, outputs, body):
    values = ["%logits", "%token"][: len(outputs)]
    types = [output.split(" {")[0] for output in outputs]
    with open(name + ".mlir", "w") as file:
        file.write(states + HEAD.replace("OUTPUTS", ", ".join(outputs)) + body)
        file.write(f"  return {', '.join(values)} : {', '.join(types)}\n}}\n")


write("good", GROWING, [LOGITS, TOKEN], ROW + APPEND)
write("silent", GROWING, [LOGITS], ROW + APPEND)
write("other", GROWING, [LOGITS, PLACE], ROW + APPEND)
write("fixed", WHOLE, [LOGITS, TOKEN], KEEP)
