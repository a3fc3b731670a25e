// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-finish-spirv | FileCheck %s

// Push constants belong to no set, storage buffers do; the version is what storage buffers need.
// CHECK: spirv.module Logical GLSL450 requires #spirv.vce<v1.3, [Shader], []>
// CHECK: spirv.GlobalVariable @constants : !spirv.ptr<{{.*}}, PushConstant>
// CHECK: spirv.GlobalVariable @buffer bind(0, 0)
spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Shader], []> {
  spirv.GlobalVariable @constants bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.array<2 x i32, stride=4> [0])>, PushConstant>
  spirv.GlobalVariable @buffer bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
}

// -----

// CHECK: spirv.module Logical GLSL450 requires #spirv.vce<v1.5
spirv.module Logical GLSL450 requires #spirv.vce<v1.5, [Shader], []> {
}

// -----

// expected-error @+1 {{has no version and capabilities; spirv-update-vce has to run first}}
spirv.module Logical GLSL450 {
}
