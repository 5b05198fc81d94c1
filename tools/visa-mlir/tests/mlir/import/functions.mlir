// Functions that the machine does not have, by those that it has.
// CHECK: tm.func @functions
// CHECK-COUNT-2: log(
func.func @functions(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = math.log1p %x : tensor<8xf32>
  %b = math.expm1 %x : tensor<8xf32>
  %c = math.exp2 %x : tensor<8xf32>
  %d = math.roundeven %x : tensor<8xf32>
  return %a, %b, %c, %d : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
// Two floats that differ in their sign alone are not equal: their bits differ by those of -0.
// CHECK: tm.func @equal
// CHECK: tm.compare %{{.*}} with [equal 0]
// CHECK: tm.compare %{{.*}} with [less 0]
// CHECK: tm.compare %{{.*}} with [greater 0]
func.func @equal(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xi1> {
  %c = arith.cmpf oeq, %x, %y : tensor<8xf32>
  return %c : tensor<8xi1>
}
// A condition that is not 0 is the condition, and one that does not hold swaps the operands.
// CHECK: tm.func @chosen
// CHECK: tm.where %arg0, %arg1, %arg2
func.func @chosen(%c: tensor<8xi32>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0> : tensor<8xi32>
  %n = arith.cmpi ne, %c, %zero : tensor<8xi32>
  %r = arith.select %n, %x, %y : tensor<8xi1>, tensor<8xf32>
  return %r : tensor<8xf32>
}
// CHECK: tm.func @swapped
// CHECK: %[[THREE:.*]] = tm.compare %arg0 with [equal 3]
// CHECK: tm.where %[[THREE]], %arg2, %arg1
func.func @swapped(%c: tensor<8xi32>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %three = arith.constant dense<3> : tensor<8xi32>
  %n = arith.cmpi ne, %c, %three : tensor<8xi32>
  %r = arith.select %n, %x, %y : tensor<8xi1>, tensor<8xf32>
  return %r : tensor<8xf32>
}
// Unsigned numbers have the order of those with the other sign: -128 is the bits 10000000 of i8.
// CHECK: tm.func @unsigned
// CHECK: xor({{.*}}-128
func.func @unsigned(%x: tensor<8xi8>, %y: tensor<8xi8>) -> tensor<8xi8> {
  %r = arith.maxui %x, %y : tensor<8xi8>
  return %r : tensor<8xi8>
}
