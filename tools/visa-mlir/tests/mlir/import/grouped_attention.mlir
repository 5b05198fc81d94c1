// Attention whose query heads share keys and values: the group is an axis of the query alone.
// CHECK: tm.func @gqa
// CHECK: tm.contract %{{.*}}, %{{.*}} over [K], free
// CHECK: tm.reduce Max
// CHECK: tm.contract
#q = affine_map<(b, h, g, i, j, d) -> (b, h, g, i, d)>
#k = affine_map<(b, h, g, i, j, d) -> (b, j, h, d)>
#s = affine_map<(b, h, g, i, j, d) -> (b, h, g, i, j)>
#p = affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>
#v = affine_map<(b, h, g, i, d, j) -> (b, j, h, d)>
#w = affine_map<(b, h, g, i, d, j) -> (b, h, g, i, j)>
#o = affine_map<(b, h, g, i, d, j) -> (b, i, h, g, d)>
func.func @gqa(%q: tensor<1x2x3x8x16xbf16>, %k: tensor<1x24x2x16xbf16>, %v: tensor<1x24x2x16xbf16>) -> tensor<1x8x2x3x16xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<1x2x3x8x24xf32>
  %si = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x3x8x24xf32>) -> tensor<1x2x3x8x24xf32>
  %score = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<1x2x3x8x16xbf16>, tensor<1x24x2x16xbf16>) outs(%si : tensor<1x2x3x8x24xf32>) {
  ^bb0(%a: bf16, %b: bf16, %out: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %r = arith.addf %out, %m : f32
    linalg.yield %r : f32
  } -> tensor<1x2x3x8x24xf32>
  %scaled = linalg.generic {indexing_maps = [#p, #p], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%score : tensor<1x2x3x8x24xf32>) outs(%e : tensor<1x2x3x8x24xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.mulf %a, %scale : f32
    linalg.yield %m : f32
  } -> tensor<1x2x3x8x24xf32>
  %soft = linalg.softmax dimension(4) ins(%scaled : tensor<1x2x3x8x24xf32>) outs(%e : tensor<1x2x3x8x24xf32>) -> tensor<1x2x3x8x24xf32>
  %eb = tensor.empty() : tensor<1x2x3x8x24xbf16>
  %narrow = linalg.generic {indexing_maps = [#p, #p], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%soft : tensor<1x2x3x8x24xf32>) outs(%eb : tensor<1x2x3x8x24xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %m = arith.truncf %a : f32 to bf16
    linalg.yield %m : bf16
  } -> tensor<1x2x3x8x24xbf16>
  %eo = tensor.empty() : tensor<1x8x2x3x16xf32>
  %oi = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x8x2x3x16xf32>) -> tensor<1x8x2x3x16xf32>
  %y = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%narrow, %v : tensor<1x2x3x8x24xbf16>, tensor<1x24x2x16xbf16>) outs(%oi : tensor<1x8x2x3x16xf32>) {
  ^bb0(%a: bf16, %b: bf16, %out: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %bw, %aw : f32
    %r = arith.addf %m, %out : f32
    linalg.yield %r : f32
  } -> tensor<1x8x2x3x16xf32>
  return %y : tensor<1x8x2x3x16xf32>
}
