// Rows of a table: by tensor.gather, and by tensor.extract as torch-mlir writes it, with i64 indices.
// CHECK: tm.func @gather
// CHECK: tm.gather %arg0, %{{.*}} along [D
func.func @gather(%table: tensor<11x6xf32>, %ids: tensor<4x1xi32>) -> tensor<4x6xf32> {
  %rows = tensor.gather %table[%ids] gather_dims([0]) : (tensor<11x6xf32>, tensor<4x1xi32>) -> tensor<4x6xf32>
  return %rows : tensor<4x6xf32>
}
// CHECK: tm.func @extract(%arg0: !tm.tensor<f32, [{{.*}}]>, %arg1: !tm.tensor<i32, [{{.*}}]>)
// CHECK: tm.gather
func.func @extract(%table: tensor<11x6xf32>, %ids: tensor<2x3xi64>) -> tensor<2x3x6xf32> {
  %e = tensor.empty() : tensor<2x3x6xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
    iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%ids : tensor<2x3xi64>) outs(%e : tensor<2x3x6xf32>) {
  ^bb0(%in: i64, %out: f32):
    %row = arith.index_cast %in : i64 to index
    %column = linalg.index 2 : index
    %x = tensor.extract %table[%row, %column] : tensor<11x6xf32>
    linalg.yield %x : f32
  } -> tensor<2x3x6xf32>
  return %rows : tensor<2x3x6xf32>
}
