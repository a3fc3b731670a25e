// RUN: tenon-opt %s | tenon-opt | FileCheck %s

func.func private @norm(tensor<4xf32>, tensor<4xf32>, index, index)
func.func private @product(tensor<4xf32>, tensor<?xf32>, index, index, index)
// CHECK: kernel.merged @merged buffers 2 sizes 1 scratch 64 slots [16] [#kernel.part<@norm, whole, buffers = [0, 2], sizes = []>, #kernel.part<@product, tiles, buffers = [2, 1], sizes = [0]>]
kernel.merged @merged buffers 2 sizes 1 scratch 64 slots [16] [
    #kernel.part<@norm, whole, buffers = [0, 2], sizes = []>,
    #kernel.part<@product, tiles, buffers = [2, 1], sizes = [0]>]
