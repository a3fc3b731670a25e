// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// What verification of launches says.

func.func @launch_of_nothing(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{launches 'nothing', which is no function of this module}}
  %0 = tenon.launch @nothing(%a) {sizes = #tenon.shape<>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func private @kernel(tensor<4xf32>) -> tensor<4xf32>
func.func @kernel_of_other_types(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{does not fit the kernel 'kernel', which has other types}}
  %0 = tenon.launch @kernel(%a) {sizes = #tenon.shape<>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @call_of_what_is_no_list(%a: tensor<2x3xui8>) {
  // expected-error @+1 {{takes and gives lists, found 'tensor<2x3xui8>'}}
  %0 = tenon.call "tenon_upper_case"(%a) : (tensor<2x3xui8>) -> tensor<6xui8>
  return
}
