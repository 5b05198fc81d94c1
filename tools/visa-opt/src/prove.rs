//! `--prove-equal A B`: comparison of the kernels of two files.

use crate::load::{load_module, read_source};
use crate::run::{Driver, Refusal};
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, visible};
use visa_ir::module::Module;
use visa_ir::span::Span;
use visa_mapping::ops::func::Func;
use visa_raise::prove::{Kernel, Verdict, prove};

/// Exit code of kernels of which each pair computes the same, up to the order of sums.
const SAME: i32 = 0;
/// Exit code of kernels of which some pair differs, and of bad input.
const DIFFERENT: i32 = 1;
/// Exit code where neither is known.
const UNKNOWN: i32 = 2;

impl Driver<'_> {
    /// Compares the kernels of `first` with those of the input. Returns the exit code.
    pub(crate) fn prove(mut self, first: &str) -> i32 {
        self.compared(first).unwrap_or_else(|(source, findings)| {
            self.flags().shared.renderer().emit(self.io(), source.as_ref(), &findings);
            DIFFERENT
        })
    }

    fn compared(&mut self, first: &str) -> Result<i32, Refusal> {
        let ctx = self.context()?;
        let second = self.flags().input.clone();
        let (left, right) = (self.module(&ctx, first)?, self.module(&ctx, &second)?);
        let pairs =
            pairs(&ctx, (&left, first), (&right, &second)).map_err(|finding| (None, vec![finding]))?;
        let (mut code, mut text) = (SAME, String::new());
        for (ours, theirs) in &pairs {
            let kernels = [(&left, ours), (&right, theirs)]
                .map(|(module, entry)| Kernel { module, entry: Some(entry.as_str()) });
            let verdict = prove(&ctx, kernels[0], kernels[1]).map_err(|finding| (None, vec![finding]))?;
            let name = if ours == theirs { format!("@{ours}") } else { format!("@{ours}, @{theirs}") };
            text.push_str(&format!("{name}: {verdict}\n"));
            code = worse(code, &verdict);
        }
        self.io().stdout.extend(visible(&text).into_owned().into_bytes());
        Ok(code)
    }

    fn module(&mut self, ctx: &Context, name: &str) -> Result<Module, Refusal> {
        let source = read_source(self.io(), name).map_err(|(source, why)| (Some(source), vec![why]))?;
        let loaded = load_module(ctx, &source, 0..source.text.len());
        loaded.module.ok_or((Some(source), loaded.findings))
    }
}

/// The exit code with one more verdict: a difference counts most, then that nothing is known.
fn worse(code: i32, verdict: &Verdict) -> i32 {
    match (verdict, code) {
        (Verdict::Different(_), _) | (_, DIFFERENT) => DIFFERENT,
        (Verdict::Unknown(_), _) | (_, UNKNOWN) => UNKNOWN,
        (Verdict::Equal { .. } | Verdict::UpToOrder { .. }, code) => code,
    }
}

/// The kernels that are compared: the only one of each file, or those of the same name.
fn pairs(
    ctx: &Context,
    (left, first): (&Module, &str),
    (right, second): (&Module, &str),
) -> Result<Vec<(String, String)>, Diagnostic> {
    let names = |module: &Module| -> Result<Vec<String>, Diagnostic> {
        let functions = module.ops(module.body()).iter().filter_map(|&id| Func::cast(module.op(ctx, id)));
        functions.map(|func| Ok(func.name()?.to_string())).collect()
    };
    let (ours, theirs) = (names(left)?, names(right)?);
    if let ([one], [other]) = (ours.as_slice(), theirs.as_slice()) {
        return Ok(vec![(one.clone(), other.clone())]);
    }
    let missing = ours.iter().find(|name| !theirs.contains(name)).map(|name| (name, second));
    let missing =
        missing.or_else(|| theirs.iter().find(|name| !ours.contains(name)).map(|name| (name, first)));
    let refuse = |message: String| Diagnostic::error("prove-equal", Span::default(), message);
    match missing {
        Some((name, file)) => {
            Err(refuse(format!("`{file}` has no kernel `{name}`, which the other file has")))
        }
        None if ours.is_empty() => Err(refuse(format!("`{first}` has no kernel: expected a `tm.func`"))),
        None => Ok(ours.iter().map(|name| (name.clone(), name.clone())).collect()),
    }
}
