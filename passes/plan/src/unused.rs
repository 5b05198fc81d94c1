//! Values that nothing uses: no step computes them.

use visa_ir::effects;
use visa_ir::module::OpId;
use visa_pass::PassCx;

/// Erases the operations of a function whose results nothing uses. Users come after their operands, so that one walk
/// from the end erases a chain of them.
pub fn erase_unused(cx: &mut PassCx<'_>, func: OpId) {
    let blocks = cx.module.op(cx.ctx, func).regions().to_vec();
    let inside: Vec<OpId> = blocks.into_iter().flat_map(|block| cx.module.walk(block)).collect();
    for id in inside.into_iter().rev() {
        let op = cx.module.op(cx.ctx, id);
        let unused = op.results().iter().all(|&result| cx.module.uses(result).is_empty());
        if unused && effects::erasable(op) {
            cx.module.erase(id);
        }
    }
}
