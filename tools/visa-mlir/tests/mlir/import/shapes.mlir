// Tensors that are padded, cut, joined, inserted, transposed and reshaped.
// CHECK: tm.func @pad
// CHECK: tm.extend %arg0 axis [{{.*}}], to [{{.*}}], from 1, with 2
func.func @pad(%x: tensor<3x5xf32>) -> tensor<4x8xf32> {
  %two = arith.constant 2.0 : f32
  %y = tensor.pad %x low[1, 0] high[0, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f32
  } : tensor<3x5xf32> to tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
// CHECK: tm.func @cut
// CHECK: %[[COORDINATE:.*]] = tm.index [{{.*}}]
// CHECK: %[[ROW:.*]] = tm.map [x: x * 2 + 2] %[[COORDINATE]]
// CHECK: tm.gather %arg0, %[[ROW]] along
// CHECK: tm.extract %{{.*}} along [{{.*}}], index 4
func.func @cut(%x: tensor<7x9x4xf32>) -> tensor<3x4xf32> {
  %y = tensor.extract_slice %x[2, 4, 0] [3, 1, 4] [2, 1, 1] : tensor<7x9x4xf32> to tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
// CHECK: tm.func @join
// CHECK: tm.concat
func.func @join(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x7xf32> {
  %y = tensor.concat dim(1) %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  return %y : tensor<2x7xf32>
}
// CHECK: tm.func @insert
// CHECK: tm.extend %{{.*}} from 1
// CHECK: tm.compare %{{.*}} with [less 1]
// CHECK: tm.compare %{{.*}} with [greater 2]
// CHECK: tm.where
func.func @insert(%a: tensor<2x3xf32>, %b: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %y = tensor.insert_slice %a into %b[1, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}
// CHECK: tm.func @transposed_sum
// CHECK: tm.rename
func.func @transposed_sum(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %y = linalg.add ins(%x, %t : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
// CHECK: tm.func @reshape
// CHECK: tm.merge
// CHECK: tm.split
func.func @reshape(%x: tensor<6x1x4xf32>) -> tensor<3x8x1xf32> {
  %c = tensor.collapse_shape %x [[0, 1, 2]] : tensor<6x1x4xf32> into tensor<24xf32>
  %y = tensor.expand_shape %c [[0, 1, 2]] output_shape [3, 8, 1] : tensor<24xf32> into tensor<3x8x1xf32>
  return %y : tensor<3x8x1xf32>
}
// CHECK: tm.func @diagonal
// CHECK: tm.gather
func.func @diagonal(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%x : tensor<4x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
