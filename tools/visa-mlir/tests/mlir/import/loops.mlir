// A loop with constant bounds: its iterations one after the other.
// CHECK: tm.func @loop
// CHECK-COUNT-3: tm.map [x: x + x]
// CHECK-NOT: tm.map
// CHECK: tm.return
func.func @loop(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 2 : index
  %6 = arith.constant 6 : index
  %r = scf.for %i = %0 to %6 step %1 iter_args(%a = %x) -> (tensor<8xf32>) {
    %b = arith.addf %a, %a : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
// A choice of elements: an index of a branch that is not taken stays inside of the tensor.
// CHECK: tm.func @joined
// CHECK: min(max(
// CHECK: tm.where
func.func @joined(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi ult, %i, %c4 : index
    %v = scf.if %c -> (f32) {
      %a = tensor.extract %x[%i] : tensor<4xf32>
      scf.yield %a : f32
    } else {
      %j = arith.subi %i, %c4 : index
      %b = tensor.extract %y[%j] : tensor<4xf32>
      scf.yield %b : f32
    }
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
// A sum that subtracts, and products of integers by halves: 6 elements are 3 products, 4 with a 1 are 2, and 1.
// CHECK: tm.func @less
// CHECK: %[[NEGATIVE:.*]] = tm.map [x: 0 - x * x]
// CHECK: tm.reduce Add %[[NEGATIVE]]
func.func @less(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.subf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// CHECK: tm.func @product
// CHECK-COUNT-3: tm.map [a, b: a * b]
// CHECK-NOT: a * b
func.func @product(%x: tensor<4x6xi32>) -> tensor<4xi32> {
  %one = arith.constant 1 : i32
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%one : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %r = linalg.reduce { arith.muli } ins(%x : tensor<4x6xi32>) outs(%f : tensor<4xi32>) dimensions = [1]
  return %r : tensor<4xi32>
}
