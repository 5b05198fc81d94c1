// Slices that are one of several equal parts are views; others are gathers.
// CHECK: tm.func @views
// CHECK: tm.split
// CHECK-NOT: tm.gather
// CHECK: tm.func @unaligned
func.func @views(%x: tensor<4x96xf32>) -> (tensor<4x32xf32>, tensor<4x48xf32>) {
  %a = tensor.extract_slice %x[0, 32] [4, 32] [1, 1] : tensor<4x96xf32> to tensor<4x32xf32>
  %b = tensor.extract_slice %x[0, 1] [4, 48] [1, 2] : tensor<4x96xf32> to tensor<4x48xf32>
  return %a, %b : tensor<4x32xf32>, tensor<4x48xf32>
}
// CHECK: tm.gather
func.func @unaligned(%x: tensor<4x96xf32>) -> tensor<4x32xf32> {
  %a = tensor.extract_slice %x[0, 33] [4, 32] [1, 1] : tensor<4x96xf32> to tensor<4x32xf32>
  return %a : tensor<4x32xf32>
}
// CHECK: tm.func @computed
// CHECK: tm.gather
func.func @computed(%x: tensor<96xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %e = tensor.extract %i[] : tensor<i32>
  %o = arith.index_cast %e : i32 to index
  %a = tensor.extract_slice %x[%o] [8] [1] : tensor<96xf32> to tensor<8xf32>
  return %a : tensor<8xf32>
}
// Every second position of the result has an element.
// CHECK: tm.func @strided
// CHECK: tm.gather
// CHECK: tm.where
func.func @strided(%x: tensor<4xf32>) -> tensor<9xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %a = tensor.insert_slice %x into %f[1] [4] [2] : tensor<4xf32> into tensor<9xf32>
  return %a : tensor<9xf32>
}
// CHECK: tm.func @size
// CHECK: tm.constant i32, values [4]
func.func @size(%x: tensor<4x7xf32>) -> tensor<i32> {
  %c = arith.constant 0 : index
  %d = tensor.dim %x, %c : tensor<4x7xf32>
  %i = arith.index_cast %d : index to i32
  %r = tensor.from_elements %i : tensor<i32>
  return %r : tensor<i32>
}
