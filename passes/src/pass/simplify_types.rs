//! Writes the mappings in the types of a kernel's arguments in their canonical form.

use visa_canonical::{MAPPING_STATISTICS, MappingRewriter, infer_again};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_mapping::{Tensor, make};
use visa_pass::{Configured, Pass, PassCx};

visa_pass::options! {
    /// The options.
    struct Settings {
        explain: bool = ("explain", "false", "whether each change is reported with its proof, as a remark"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "simplify-types",
    summary: "writes the mappings in tensor types in their canonical form",
    doc: "Types are explicit if they do not follow from other text: at the arguments of kernels, and at results of \
          operations that do not infer theirs. Their mappings become canonical; all other types are inferred again, \
          so parts that they share with an argument, such as its chip mapping, follow. The results of a kernel have \
          the types of the operands of `tm.return`. A type that repeats a clause changes with the clause: that is \
          `canonicalize-mappings`.\n\n\
          A canonical mapping holds the same cell at every position (book 03), so callers pass the same bytes as \
          before. A mapping that would mention fewer axes stays, as in `canonicalize-mappings`.",
    statistics: MAPPING_STATISTICS,
    open: true,
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let mut rewriter = MappingRewriter::new(cx, self.explain);
        for value in written(cx) {
            let Some(tensor) = cx.ctx.type_value::<Tensor>(cx.module.ty(value)) else { continue };
            let span = cx.module.value_span(value);
            let mut simple = (*tensor).clone();
            let mut changed = false;
            for mapping in &mut simple.maps {
                if let Some(canonical) = rewriter.replacement(cx, mapping, span)? {
                    *mapping = canonical;
                    changed = true;
                }
            }
            if changed {
                cx.module.set_type(value, make(cx.ctx, simple));
            }
        }
        infer_again(cx)
    }
}

/// The values whose types are written: block arguments, and results that are not inferred.
fn written(cx: &PassCx<'_>) -> Vec<ValueId> {
    let mut values = Vec::new();
    for id in cx.module.walk_all() {
        let op = cx.module.op(cx.ctx, id);
        op.regions().iter().for_each(|&region| values.extend(cx.module.args(region)));
        if op.decl().is_none_or(|decl| decl.infer.is_none()) {
            values.extend(op.results());
        }
    }
    values
}
