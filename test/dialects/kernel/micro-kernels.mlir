// RUN: tenon-opt %s | FileCheck %s
// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// Each micro-kernel by its name in a schedule. test/unit/kernel/MicroKernelTests.cpp compares with what is registered.

// `automatic` is the default, which is left out.
// CHECK: @automatic(f32 {test.schedule = #kernel.schedule<>})
func.func private @automatic(f32 {test.schedule = #kernel.schedule<micro_kernel = automatic>})

// CHECK: @fma(f32 {test.schedule = #kernel.schedule<micro_kernel = fma>})
func.func private @fma(f32 {test.schedule = #kernel.schedule<micro_kernel = fma>})

// CHECK: @fma_columnwise(f32 {test.schedule = #kernel.schedule<micro_kernel = fma_columnwise>})
func.func private @fma_columnwise(f32 {test.schedule = #kernel.schedule<micro_kernel = fma_columnwise>})

// CHECK: @dequantize_fma(f32 {test.schedule = #kernel.schedule<micro_kernel = dequantize_fma>})
func.func private @dequantize_fma(f32 {test.schedule = #kernel.schedule<micro_kernel = dequantize_fma>})

// CHECK: @dequantize_panel(f32 {test.schedule = #kernel.schedule<micro_kernel = dequantize_panel>})
func.func private @dequantize_panel(f32 {test.schedule = #kernel.schedule<micro_kernel = dequantize_panel>})

// CHECK: @i16_dot(f32 {test.schedule = #kernel.schedule<micro_kernel = i16_dot>})
func.func private @i16_dot(f32 {test.schedule = #kernel.schedule<micro_kernel = i16_dot>})

// CHECK: @i8_mul(f32 {test.schedule = #kernel.schedule<micro_kernel = i8_mul>})
func.func private @i8_mul(f32 {test.schedule = #kernel.schedule<micro_kernel = i8_mul>})

// CHECK: @pmaddwd(f32 {test.schedule = #kernel.schedule<micro_kernel = pmaddwd>})
func.func private @pmaddwd(f32 {test.schedule = #kernel.schedule<micro_kernel = pmaddwd>})

// CHECK: @pmaddwd_panel(f32 {test.schedule = #kernel.schedule<micro_kernel = pmaddwd_panel>})
func.func private @pmaddwd_panel(f32 {test.schedule = #kernel.schedule<micro_kernel = pmaddwd_panel>})

// CHECK: @pmaddubsw(f32 {test.schedule = #kernel.schedule<micro_kernel = pmaddubsw>})
func.func private @pmaddubsw(f32 {test.schedule = #kernel.schedule<micro_kernel = pmaddubsw>})

// CHECK: @vnni(f32 {test.schedule = #kernel.schedule<micro_kernel = vnni>})
func.func private @vnni(f32 {test.schedule = #kernel.schedule<micro_kernel = vnni>})

// CHECK: @bf16_dot(f32 {test.schedule = #kernel.schedule<micro_kernel = bf16_dot>})
func.func private @bf16_dot(f32 {test.schedule = #kernel.schedule<micro_kernel = bf16_dot>})

// CHECK: @f16_fma(f32 {test.schedule = #kernel.schedule<micro_kernel = f16_fma>})
func.func private @f16_fma(f32 {test.schedule = #kernel.schedule<micro_kernel = f16_fma>})

// CHECK: @amx_i8(f32 {test.schedule = #kernel.schedule<micro_kernel = amx_i8>})
func.func private @amx_i8(f32 {test.schedule = #kernel.schedule<micro_kernel = amx_i8>})

// CHECK: @amx_bf16(f32 {test.schedule = #kernel.schedule<micro_kernel = amx_bf16>})
func.func private @amx_bf16(f32 {test.schedule = #kernel.schedule<micro_kernel = amx_bf16>})

// CHECK: @vnni_groups(f32 {test.schedule = #kernel.schedule<micro_kernel = vnni_groups>})
func.func private @vnni_groups(f32 {test.schedule = #kernel.schedule<micro_kernel = vnni_groups>})

// CHECK: @vnni_i16_groups(f32 {test.schedule = #kernel.schedule<micro_kernel = vnni_i16_groups>})
func.func private @vnni_i16_groups(f32 {test.schedule = #kernel.schedule<micro_kernel = vnni_i16_groups>})

// CHECK: @bf16_pairs(f32 {test.schedule = #kernel.schedule<micro_kernel = bf16_pairs>})
func.func private @bf16_pairs(f32 {test.schedule = #kernel.schedule<micro_kernel = bf16_pairs>})

// CHECK: @amx_bf16_pairs(f32 {test.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>})
func.func private @amx_bf16_pairs(f32 {test.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>})

// CHECK: @amx_i8_terms(f32 {test.schedule = #kernel.schedule<micro_kernel = amx_i8_terms>})
func.func private @amx_i8_terms(f32 {test.schedule = #kernel.schedule<micro_kernel = amx_i8_terms>})

// CHECK: @strassen_fma(f32 {test.schedule = #kernel.schedule<micro_kernel = strassen_fma>})
func.func private @strassen_fma(f32 {test.schedule = #kernel.schedule<micro_kernel = strassen_fma>})
