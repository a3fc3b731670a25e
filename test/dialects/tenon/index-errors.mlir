// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// What verification of gathers and scatters says.

func.func @gather_axis(%a: tensor<2x3xf32>, %i: tensor<4x2xi64>) {
  // expected-error @+1 {{has axis 2, but the input has 2 dimensions}}
  %0 = tenon.gather %a, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<4x2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_elements_ranks(%a: tensor<2x3xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{needs an input and indices of one rank, found 'tensor<2x3xf32>' and 'tensor<3xi64>'}}
  %0 = tenon.gather_elements %a, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_elements_axis(%a: tensor<2x3xf32>, %i: tensor<4x2xi64>) {
  // expected-error @+1 {{has axis 5, but the input has 2 dimensions}}
  %0 = tenon.gather_elements %a, %i {axis = 5 : i64} : (tensor<2x3xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @too_many_coordinates(%a: tensor<2x3xf32>, %i: tensor<4x3xi64>) {
  // expected-error @+1 {{indices of shape 4x3 after 0 batch dimensions do not address an input of rank 2}}
  %0 = tenon.gather_nd %a, %i {batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @coordinates_of_unknown_count(%a: tensor<2x3xf32>, %i: tensor<4x?xi64, #tenon.shape<4, K>>) {
  // expected-error @+1 {{indices of shape 4xK after 0 batch dimensions do not address an input of rank 2}}
  %0 = tenon.gather_nd %a, %i {batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<4x?xi64, #tenon.shape<4, K>>) -> tensor<4xf32>
  return
}

// -----

func.func @updates_of_another_shape(%a: tensor<2x3xf32>, %i: tensor<4x2xi64>, %u: tensor<4x1xf32>) {
  // expected-error @+1 {{needs indices and updates of one shape, and of the input's rank}}
  %0 = tenon.scatter_elements assign, %a, %i, %u {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x2xi64>, tensor<4x1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_elements_axis(%a: tensor<2x3xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>) {
  // expected-error @+1 {{has axis -1, but the input has 2 dimensions}}
  %0 = tenon.scatter_elements add, %a, %i, %u {axis = -1 : i64} : (tensor<2x3xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_nd_updates(%a: tensor<2x3xf32>, %i: tensor<4x1xi64>, %u: tensor<4xf32>) {
  // expected-error @+1 {{needs updates of shape 4x3, found 4}}
  %0 = tenon.scatter_nd add, %a, %i, %u : (tensor<2x3xf32>, tensor<4x1xi64>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @top_k_axis(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{has axis 2, but the input has 2 dimensions}}
  %v, %i = tenon.top_k %a {axis = 2 : i64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return
}

// -----

func.func @top_k_of_too_few(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{takes the first 4 of 3 elements}}
  %v, %i = tenon.top_k %a {axis = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  return
}

// -----

func.func @top_k_results(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{needs results of the input's shape but for axis 1}}
  %v, %i = tenon.top_k %a {axis = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<4x2xi64>)
  return
}

// -----

func.func @sample_of_a_number(%w: tensor<f32>, %f: tensor<3xf32>, %u: tensor<f32>) {
  // expected-error @+1 {{needs lines of weights, found a single number}}
  %0 = tenon.sample %w, %f, %u : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<i64>
  return
}

// -----

func.func @sample_filters(%w: tensor<2x9xf32>, %f: tensor<2x4xf32>, %u: tensor<2xf32>) {
  // expected-error @+1 {{needs three filters and a number for each line of 'tensor<2x9xf32>', found 'tensor<2x4xf32>' and 'tensor<2xf32>'}}
  %0 = tenon.sample %w, %f, %u : (tensor<2x9xf32>, tensor<2x4xf32>, tensor<2xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @search_keys(%a: tensor<2x3xf32>, %k: tensor<4xi64>) {
  // expected-error @+1 {{needs a list of keys of the input's element type, found 'tensor<4xi64>'}}
  %0 = tenon.searchsorted %a, %k : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3xi64>
  return
}

// -----

func.func @tree_tables(%x: tensor<5x3xf32>, %r: tensor<2xi64>, %f: tensor<7xi64>, %t: tensor<6xf32>) {
  // expected-error @+1 {{needs tables of one element a node, found shapes 7 and 6}}
  %0 = tenon.tree_ensemble %x, %r, %f, %t, %f, %f, %f
    : (tensor<5x3xf32>, tensor<2xi64>, tensor<7xi64>, tensor<6xf32>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>) -> tensor<5x2xi64>
  return
}

// -----

func.func @nms_boxes(%b: tensor<1x6x5xf32>, %s: tensor<1x2x6xf32>, %n: tensor<i64>, %t: tensor<f32>) {
  // expected-error @+1 {{needs boxes [batch, box, 4], found 1x6x5}}
  %i, %k = tenon.nms %b, %s, %n, %t
    : (tensor<1x6x5xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>) -> (tensor<1x2x6xi64>, tensor<1x2xi64>)
  return
}

// -----

func.func @nms_scores(%b: tensor<1x6x4xf32>, %s: tensor<1x2x7xf32>, %n: tensor<i64>, %t: tensor<f32>) {
  // expected-error @+1 {{needs a score for each box and class, found boxes 1x6x4 and scores 1x2x7}}
  %i, %k = tenon.nms %b, %s, %n, %t
    : (tensor<1x6x4xf32>, tensor<1x2x7xf32>, tensor<i64>, tensor<f32>) -> (tensor<1x2x7xi64>, tensor<1x2xi64>)
  return
}

// -----

func.func @nms_threshold(%b: tensor<1x6x4xf32>, %s: tensor<1x2x6xf32>, %n: tensor<i64>, %t: tensor<f32>, %l: tensor<1xf32>) {
  // expected-error @+1 {{needs single numbers as limit, overlap and threshold}}
  %i, %k = tenon.nms %b, %s, %n, %t, %l
    : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>, tensor<1xf32>) -> (tensor<1x2x6xi64>, tensor<1x2xi64>)
  return
}

// -----

func.func @roi_align_result(%x: tensor<1x3x10x10xf32>, %r: tensor<2x4xf32>, %b: tensor<2xi64>) {
  // expected-error @+1 {{needs regions of the input's element type, and a result [R, C, y, x] of it}}
  %0 = tenon.roi_align average, %x, %r, %b {scale = 1.0 : f64, shift = 0.5 : f64, samples = 2 : i64}
    : (tensor<1x3x10x10xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x4x5x5xf32>
  return
}

// -----

func.func @roi_align_regions(%x: tensor<1x3x10x10xf32>, %r: tensor<2x5xf32>, %b: tensor<2xi64>) {
  // expected-error @+1 {{needs an input [N, C, H, W], regions [R, 4] and batch indices [R], found 1x3x10x10, 2x5 and 2}}
  %0 = tenon.roi_align average, %x, %r, %b {scale = 1.0 : f64, shift = 0.5 : f64, samples = 2 : i64}
    : (tensor<1x3x10x10xf32>, tensor<2x5xf32>, tensor<2xi64>) -> tensor<2x3x5x5xf32>
  return
}

// -----

func.func @roi_align_samples(%x: tensor<1x3x10x10xf32>, %r: tensor<2x4xf32>, %b: tensor<2xi64>) {
  // expected-error @+1 {{takes -1 samples}}
  %0 = tenon.roi_align average, %x, %r, %b {scale = 1.0 : f64, shift = 0.5 : f64, samples = -1 : i64}
    : (tensor<1x3x10x10xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x3x5x5xf32>
  return
}

// -----

func.func @check_range_limits(%i: tensor<2xi64>) {
  // expected-error @+1 {{needs two limits, found 1}}
  %0 = tenon.check_range %i {limits = #tenon.shape<4>} : (tensor<2xi64>) -> tensor<2xi64>
  return
}

// -----

func.func @top_k_rank(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{has results of rank 1 for an input of rank 2}}
  %v, %i = tenon.top_k %a {axis = 0 : i64} : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return
}

// -----

func.func @tree_input(%x: tensor<3xf32>, %r: tensor<2xi64>, %f: tensor<7xi64>, %t: tensor<7xf32>) {
  // expected-error @+2 {{needs an input [rows, features], found shape 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.tree_ensemble %x, %r, %f, %t, %f, %f, %f
    : (tensor<3xf32>, tensor<2xi64>, tensor<7xi64>, tensor<7xf32>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>) -> tensor<5x2xi64>
  return
}

// -----

func.func @tree_thresholds(%x: tensor<5x3xf32>, %r: tensor<2xi64>, %f: tensor<7xi64>, %t: tensor<7xf64>) {
  // expected-error @+1 {{compares 'f32' with thresholds of type 'f64'}}
  %0 = tenon.tree_ensemble %x, %r, %f, %t, %f, %f, %f
    : (tensor<5x3xf32>, tensor<2xi64>, tensor<7xi64>, tensor<7xf64>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>) -> tensor<5x2xi64>
  return
}

// -----

func.func @nms_score_rank(%b: tensor<1x6x4xf32>, %s: tensor<2x6xf32>, %n: tensor<i64>, %t: tensor<f32>) {
  // expected-error @+2 {{needs scores [batch, class, box], found 2x6}}
  // expected-error @+1 {{failed to infer returned types}}
  %i, %k = tenon.nms %b, %s, %n, %t
    : (tensor<1x6x4xf32>, tensor<2x6xf32>, tensor<i64>, tensor<f32>) -> (tensor<1x2x6xi64>, tensor<1x2xi64>)
  return
}

// -----

func.func @nms_overlap(%b: tensor<1x6x4xf32>, %s: tensor<1x2x6xf32>, %n: tensor<i64>, %t: tensor<f64>) {
  // expected-error @+1 {{needs an overlap of the boxes' element type}}
  %i, %k = tenon.nms %b, %s, %n, %t
    : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f64>) -> (tensor<1x2x6xi64>, tensor<1x2xi64>)
  return
}

// -----

func.func @nms_threshold_type(%b: tensor<1x6x4xf32>, %s: tensor<1x2x6xf32>, %n: tensor<i64>, %t: tensor<f32>, %l: tensor<f64>) {
  // expected-error @+1 {{needs a threshold of the scores' element type}}
  %i, %k = tenon.nms %b, %s, %n, %t, %l
    : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>, tensor<f64>) -> (tensor<1x2x6xi64>, tensor<1x2xi64>)
  return
}
