// RUN: tenon-opt %s -verify-diagnostics -tenon-form-contractions -tenon-tile-kernels

// An intermediate of another extent than a tile's has fits no memory that is known.
func.func private @open_line(%x: tensor<?x?xf32> {tenon.dims = #tenon.shape<N, M>},
    %out: tensor<?x?xf16> {tenon.dims = #tenon.shape<N, M>, tenon.output}) -> tensor<?x?xf16> attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %lines = tensor.empty(%n, %m) : tensor<?x?xf32>
  // expected-error @+1 {{needs an intermediate buffer of a dynamic extent, which no tile can hold}}
  %0 = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n, m)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%lines : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = math.exp %a : f32
    linalg.yield %2 : f32
  } -> tensor<?x?xf32>
  %memory = tensor.empty(%n) : tensor<?xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%memory : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n)>], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<?x?xf32>) outs(%fill : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.addf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n)>, affine_map<(n, m) -> (n, m)>], iterator_types = ["parallel", "parallel"]}
      ins(%0, %1 : tensor<?x?xf32>, tensor<?xf32>) outs(%lines : tensor<?x?xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %2 = arith.divf %a, %s : f32
    linalg.yield %2 : f32
  } -> tensor<?x?xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n, m)>], iterator_types = ["parallel", "parallel"]}
      ins(%3 : tensor<?x?xf32>) outs(%out : tensor<?x?xf16>) {
  ^bb0(%a: f32, %b: f16):
    %2 = arith.truncf %a : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<?x?xf16>
  return %4 : tensor<?x?xf16>
}
