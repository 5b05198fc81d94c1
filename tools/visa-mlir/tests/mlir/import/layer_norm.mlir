// A layer norm of odd sizes, with the sum of squares in the body of the reduction, and its loops in another order.
// CHECK: tm.axes [D = 5, D2 = 7]
// CHECK: tm.func @norm(%arg0: !tm.tensor<f32, [D, D2]>, %arg1: !tm.tensor<f32, [D2]>)
// CHECK: %[[SUM:.*]] = tm.reduce Add %arg0 over [D2], free
// CHECK: %[[MEAN:.*]] = tm.map [x: x / 7] %[[SUM]]
// CHECK: %[[CENTRED:.*]] = tm.map [a, b: a - b] %arg0, %[[MEAN]]
// CHECK: %[[SQUARE:.*]] = tm.map [x: x * x] %[[CENTRED]]
// CHECK: tm.reduce Add %[[SQUARE]] over [D2], free
// CHECK: tm.map [a, b, c: a * rsqrt(b / 7 + 0.00001) * c]
#rows = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d1)>
#column = affine_map<(d0, d1) -> (d0)>
func.func @norm(%x: tensor<5x7xf32>, %g: tensor<7xf32>) -> tensor<5x7xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 7.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["reduction", "parallel"]}
    ins(%x : tensor<5x7xf32>) outs(%init : tensor<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<5xf32>
  %mean = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%sum : tensor<5xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.divf %in, %count : f32
    linalg.yield %a : f32
  } -> tensor<5xf32>
  %full = tensor.empty() : tensor<5x7xf32>
  %centred = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
    ins(%x, %mean : tensor<5x7xf32>, tensor<5xf32>) outs(%full : tensor<5x7xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %a = arith.subf %in, %m : f32
    linalg.yield %a : f32
  } -> tensor<5x7xf32>
  %squares = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["reduction", "parallel"]}
    ins(%centred : tensor<5x7xf32>) outs(%init : tensor<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.mulf %in, %in : f32
    %b = arith.addf %out, %a : f32
    linalg.yield %b : f32
  } -> tensor<5xf32>
  %out = linalg.generic {indexing_maps = [#rows, #row, #column, #rows], iterator_types = ["parallel", "parallel"]}
    ins(%centred, %squares, %g : tensor<5x7xf32>, tensor<5xf32>, tensor<7xf32>) outs(%full : tensor<5x7xf32>) {
  ^bb0(%in: f32, %s: f32, %scale: f32, %o: f32):
    %a = arith.divf %s, %count : f32
    %b = arith.addf %a, %eps : f32
    %c = math.rsqrt %b : f32
    %d = arith.mulf %in, %c : f32
    %e2 = arith.mulf %d, %scale : f32
    linalg.yield %e2 : f32
  } -> tensor<5x7xf32>
  return %out : tensor<5x7xf32>
}
