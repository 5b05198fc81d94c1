// Tensors that are made of scalars, or of their coordinates.
// CHECK: tm.func @generate
// CHECK: %[[ROW:.*]] = tm.index [[[AXIS:D[0-9]*]]]
// CHECK: tm.rename %arg0 axes [{{.*}}], to [{{.*}}, [[AXIS]]]
// CHECK: tm.map [a, b: a + float(b, 31)] %{{.*}}, %[[ROW]]
func.func @generate(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %y = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %x[%j, %i] : tensor<4x6xf32>
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %r = arith.addf %a, %f : f32
    tensor.yield %r : f32
  } : tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
// CHECK: tm.func @numbers
// CHECK-NEXT: %[[FLAT:.*]] = tm.constant i32, values [3, 1, 4, 1], along [{{.*}}]
// CHECK-NEXT: tm.split %[[FLAT]]
func.func @numbers() -> tensor<2x2xi32> {
  %a = arith.constant 3 : i32
  %b = arith.constant 1 : i32
  %c = arith.constant 4 : i32
  %y = tensor.from_elements %a, %b, %c, %b : tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}
// CHECK: tm.func @scalars
// CHECK: tm.concat
func.func @scalars(%x: tensor<4xf32>) -> tensor<2xf32> {
  %i = arith.constant 2 : index
  %k = arith.constant 5.0 : f32
  %a = tensor.extract %x[%i] : tensor<4xf32>
  %y = tensor.from_elements %a, %k : tensor<2xf32>
  return %y : tensor<2xf32>
}
// CHECK: tm.func @insert
// CHECK: tm.compare %{{.*}} with [equal 2]
// CHECK: tm.compare %{{.*}} with [equal 3]
// CHECK: tm.where
func.func @insert(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %i = arith.constant 2 : index
  %j = arith.constant 3 : index
  %k = arith.constant 5.0 : f32
  %y = tensor.insert %k into %x[%i, %j] : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
// The number of dimensions is known.
// CHECK: tm.func @rank
// CHECK-NEXT: %[[TWO:.*]] = tm.constant i32, values [2]
// CHECK-NEXT: tm.return %[[TWO]]
func.func @rank(%x: tensor<4x6xf32>) -> tensor<i32> {
  %r = tensor.rank %x : tensor<4x6xf32>
  %n = arith.index_cast %r : index to i32
  %y = tensor.from_elements %n : tensor<i32>
  return %y : tensor<i32>
}
