// A causal softmax: the mask compares the loops, and the softmax is the named operation.
// CHECK: tm.func @masked(%arg0: !tm.tensor<f32, [D, D2, D3]>)
// CHECK: %[[QUERY:.*]] = tm.index [D2]
// CHECK: %[[KEY:.*]] = tm.index [D3]
// CHECK: %[[BEHIND:.*]] = tm.map [a, b: a - b] %[[QUERY]], %[[KEY]]
// CHECK: %[[HIDDEN:.*]] = tm.compare %[[BEHIND]] with [less 0]
// CHECK: tm.where
// CHECK: tm.reduce Max %{{.*}} over [D3]
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @masked(%x: tensor<3x6x6xf32>) -> tensor<3x6x6xf32> {
  %low = arith.constant -1.0e30 : f32
  %e = tensor.empty() : tensor<3x6x6xf32>
  %masked = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x : tensor<3x6x6xf32>) outs(%e : tensor<3x6x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = linalg.index 1 : index
    %k = linalg.index 2 : index
    %qi = arith.index_cast %q : index to i32
    %ki = arith.index_cast %k : index to i32
    %seen = arith.cmpi sge, %qi, %ki : i32
    %y = arith.select %seen, %in, %low : f32
    linalg.yield %y : f32
  } -> tensor<3x6x6xf32>
  %s = linalg.softmax dimension(2) ins(%masked : tensor<3x6x6xf32>) outs(%e : tensor<3x6x6xf32>) -> tensor<3x6x6xf32>
  return %s : tensor<3x6x6xf32>
}
