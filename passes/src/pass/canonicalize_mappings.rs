//! Writes every mapping of a clause in its canonical form.

use visa_canonical::{MAPPING_STATISTICS, MappingRewriter, infer_again};
use visa_ir::diag::Diagnostic;
use visa_mapping::facts::mappings;
use visa_mapping::ops::to_tile::counts_terms;
use visa_mapping::tensor::attrs::MAP;
use visa_pass::{Configured, Pass, PassCx};

visa_pass::options! {
    /// The options.
    struct Settings {
        explain: bool = ("explain", "false", "whether each change is reported with its proof, as a remark"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "canonicalize-mappings",
    summary: "writes the mappings of clauses in their canonical form",
    doc: "Each mapping in a clause becomes the shortest equal text that the rules find \
          (docs/rationale/canonical-mappings.md); aliases are written out. Equal means the same cell at every \
          position (book 03), so every conclusion from the mapping stays true. Result types are inferred again, \
          since they repeat clauses; the types of arguments are left to `simplify-types`.\n\n\
          Four kinds of mappings stay as they are: one that breaks a size rule, which the verifier reports; one \
          with zero padding, whose parts a stream reads together (`stream.fetch`); one whose terms have an index \
          each (`along [M / 32, M / 8 % 4]` of a tile); and one whose canonical form mentions fewer axes. `[A = 1, \
          B]` holds the cells of `[B]`, but means that the tensor depends on A: without it, a transfer to `[A, B]` \
          would broadcast.",
    statistics: MAPPING_STATISTICS,
    open: true,
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let mut rewriter = MappingRewriter::new(cx, self.explain);
        for id in cx.module.walk_all() {
            let op = cx.module.op(cx.ctx, id);
            let own = mappings(op).filter(|(clause, _)| !counts_terms(op, &clause.name));
            let written: Vec<_> =
                own.map(|(clause, map)| (clause.name.to_string(), clause.span, map)).collect();
            for (clause, span, mapping) in written {
                if let Some(canonical) = rewriter.replacement(cx, &mapping, span)? {
                    let attr = cx.ctx.body_attr(&MAP, canonical);
                    cx.module.set_clause(id, &clause, Some(attr));
                }
            }
        }
        infer_again(cx)
    }
}
