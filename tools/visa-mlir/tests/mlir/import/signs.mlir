// Conditions, of which one that holds is -1 in operations with signs, and integers that are read without their sign.
#m = affine_map<(d0) -> (d0)>
// CHECK: tm.func @sum
// CHECK: tm.map [a, b: xor(a, b)]
func.func @sum(%x0: tensor<4xi8>, %x1: tensor<4xi8>) -> tensor<4xi1> {
  %e = tensor.empty() : tensor<4xi1>
  %y = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
    ins(%x0, %x1 : tensor<4xi8>, tensor<4xi8>) outs(%e : tensor<4xi1>) {
  ^bb0(%a: i8, %b: i8, %o: i1):
    %z = arith.constant 0 : i8
    %p = arith.cmpi sgt, %a, %z : i8
    %q = arith.cmpi slt, %b, %z : i8
    %r = arith.addi %p, %q : i1
    linalg.yield %r : i1
  } -> tensor<4xi1>
  return %y : tensor<4xi1>
}
// CHECK: tm.func @difference
// CHECK: tm.map [a, b: xor(a, b)]
func.func @difference(%x0: tensor<4xi8>, %x1: tensor<4xi8>) -> tensor<4xi1> {
  %e = tensor.empty() : tensor<4xi1>
  %y = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
    ins(%x0, %x1 : tensor<4xi8>, tensor<4xi8>) outs(%e : tensor<4xi1>) {
  ^bb0(%a: i8, %b: i8, %o: i1):
    %z = arith.constant 0 : i8
    %p = arith.cmpi sgt, %a, %z : i8
    %q = arith.cmpi slt, %b, %z : i8
    %r = arith.subi %p, %q : i1
    linalg.yield %r : i1
  } -> tensor<4xi1>
  return %y : tensor<4xi1>
}
// CHECK: tm.func @greatest
// CHECK: tm.map [a, b: and(a, b)]
func.func @greatest(%x0: tensor<4xi8>, %x1: tensor<4xi8>) -> tensor<4xi1> {
  %e = tensor.empty() : tensor<4xi1>
  %y = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
    ins(%x0, %x1 : tensor<4xi8>, tensor<4xi8>) outs(%e : tensor<4xi1>) {
  ^bb0(%a: i8, %b: i8, %o: i1):
    %z = arith.constant 0 : i8
    %p = arith.cmpi sgt, %a, %z : i8
    %q = arith.cmpi slt, %b, %z : i8
    %r = arith.maxsi %p, %q : i1
    linalg.yield %r : i1
  } -> tensor<4xi1>
  return %y : tensor<4xi1>
}
// CHECK: tm.func @least
// CHECK: tm.map [a, b: or(a, b)]
func.func @least(%x0: tensor<4xi8>, %x1: tensor<4xi8>) -> tensor<4xi1> {
  %e = tensor.empty() : tensor<4xi1>
  %y = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
    ins(%x0, %x1 : tensor<4xi8>, tensor<4xi8>) outs(%e : tensor<4xi1>) {
  ^bb0(%a: i8, %b: i8, %o: i1):
    %z = arith.constant 0 : i8
    %p = arith.cmpi sgt, %a, %z : i8
    %q = arith.cmpi slt, %b, %z : i8
    %r = arith.minsi %p, %q : i1
    linalg.yield %r : i1
  } -> tensor<4xi1>
  return %y : tensor<4xi1>
}
// CHECK: tm.func @less
// CHECK: %[[D:.*]] = tm.map [a, b: a - b]
// CHECK: tm.compare %[[D]] with [greater 0]
func.func @less(%x0: tensor<4xi8>, %x1: tensor<4xi8>) -> tensor<4xi1> {
  %e = tensor.empty() : tensor<4xi1>
  %y = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
    ins(%x0, %x1 : tensor<4xi8>, tensor<4xi8>) outs(%e : tensor<4xi1>) {
  ^bb0(%a: i8, %b: i8, %o: i1):
    %z = arith.constant 0 : i8
    %p = arith.cmpi sgt, %a, %z : i8
    %q = arith.cmpi slt, %b, %z : i8
    %r = arith.cmpi slt, %p, %q : i1
    linalg.yield %r : i1
  } -> tensor<4xi1>
  return %y : tensor<4xi1>
}
// CHECK: tm.func @signed
// CHECK: %[[P:.*]] = tm.compare %arg0 with [greater 0]
// CHECK: tm.map [x: 0 - x] %[[P]]
func.func @signed(%x0: tensor<4xf32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%x0 : tensor<4xf32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: f32, %o: i32):
    %z = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %a, %z : f32
    %r = arith.extsi %p : i1 to i32
    linalg.yield %r : i32
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}
// CHECK: tm.func @as_float
// CHECK: tm.map [x: float(0 - x, 31)]
func.func @as_float(%x0: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%x0 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %a, %z : f32
    %r = arith.sitofp %p : i1 to f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK: tm.func @without_sign
// CHECK: tm.map [x: float(x, 31)]
func.func @without_sign(%x0: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%x0 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %a, %z : f32
    %r = arith.uitofp %p : i1 to f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
// CHECK: tm.func @below
// CHECK: tm.map [a, b: sub_sat(xor(a, -128), xor(b, -128))]
func.func @below(%x0: tensor<4xi8>, %x1: tensor<4xi8>) -> tensor<4xi1> {
  %e = tensor.empty() : tensor<4xi1>
  %y = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}
    ins(%x0, %x1 : tensor<4xi8>, tensor<4xi8>) outs(%e : tensor<4xi1>) {
  ^bb0(%a: i8, %b: i8, %o: i1):
    %r = arith.cmpi ult, %a, %b : i8
    linalg.yield %r : i1
  } -> tensor<4xi1>
  return %y : tensor<4xi1>
}
// CHECK: tm.func @index
// CHECK: tm.map [x: and(x, 255)]
func.func @index(%x0: tensor<4xi8>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%x0 : tensor<4xi8>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i8, %o: i32):
    %i = arith.index_castui %a : i8 to index
    %r = arith.index_cast %i : index to i32
    linalg.yield %r : i32
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}
// CHECK: tm.func @shifted
// CHECK: tm.map [x: lshr(and(x, 255), 3)]
func.func @shifted(%x0: tensor<4xi8>) -> tensor<4xi8> {
  %e = tensor.empty() : tensor<4xi8>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%x0 : tensor<4xi8>) outs(%e : tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8):
    %c = arith.constant 3 : i8
    %r = arith.shrui %a, %c : i8
    linalg.yield %r : i8
  } -> tensor<4xi8>
  return %y : tensor<4xi8>
}
// CHECK: tm.func @masked
// CHECK: tm.map [x: and(x, 7)]
func.func @masked(%x0: tensor<4xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%x0 : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %o: i32):
    %c = arith.constant 8 : i32
    %r = arith.remui %a, %c : i32
    linalg.yield %r : i32
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}
// CHECK: tm.func @negative
// CHECK: tm.map [x: 0 - ashr(x + and(ashr(x, 31), 3), 2)]
func.func @negative(%x0: tensor<4xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]}
    ins(%x0 : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %o: i32):
    %c = arith.constant -4 : i32
    %r = arith.divsi %a, %c : i32
    linalg.yield %r : i32
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}
#t = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
// The greatest without a sign, as comparisons and choices.
// CHECK: tm.func @choice
// CHECK: %[[X:.*]] = tm.map [x: xor(x, -128)]
// CHECK: %[[R:.*]] = tm.reduce Max %[[X]]
// CHECK: tm.map [x: xor(x, -128)] %[[R]]
func.func @choice(%x: tensor<3x5xi8>) -> tensor<3xi8> {
  %z = arith.constant dense<0> : tensor<3xi8>
  %y = linalg.generic {indexing_maps = [#t, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<3x5xi8>) outs(%z : tensor<3xi8>) {
  ^bb0(%a: i8, %o: i8):
    %c = arith.cmpi ugt, %a, %o : i8
    %s = arith.select %c, %a, %o : i8
    linalg.yield %s : i8
  } -> tensor<3xi8>
  return %y : tensor<3xi8>
}
