// Element types that GPUs treat apart: half precision, bytes (booleans among them), 64-bit integers.

func.func @main(%h: tensor<70xf16>, %b: tensor<70xbf16>, %i: tensor<70xi64>)
    -> (tensor<70xf16>, tensor<70xbf16>, tensor<70xi1>, tensor<70xi8>) {
  %0 = tenon.gelu %h : (tensor<70xf16>) -> tensor<70xf16>
  %1 = tenon.mul %b, %b : (tensor<70xbf16>, tensor<70xbf16>) -> tensor<70xbf16>
  %2 = tenon.compare lt, %h, %0 : (tensor<70xf16>, tensor<70xf16>) -> tensor<70xi1>
  %3 = tenon.cast %i : (tensor<70xi64>) -> tensor<70xi8>
  return %0, %1, %2, %3 : tensor<70xf16>, tensor<70xbf16>, tensor<70xi1>, tensor<70xi8>
}
