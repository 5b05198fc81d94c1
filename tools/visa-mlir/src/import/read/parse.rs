//! A file as a module of MLIR: text or bytecode, verified, with named operations of linalg as `linalg.generic`.

use crate::import::function::MAX_CALLS;
use crate::import::read::attributes::{operations, symbol};
use crate::import::read::capi;
use crate::import::read::limits;
use crate::import::read::operations::{TensorOp, known};
use crate::mlir::{Finding, printed};
use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::RegionLike as _;
use melior::ir::block::BlockLike as _;
use melior::ir::operation::{OperationLike, OperationMutLike as _, OperationRef};
use melior::ir::{Attribute, Module};
use melior::pass::{PassManager, linalg, transform};
use melior::utility::register_all_dialects;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use visa_ir::diag::Severity;

/// The bytes that bytecode begins with.
const BYTECODE: [u8; 4] = *b"ML\xefR";

/// The attribute of a function that no other one takes in.
const NO_INLINE: &str = "no_inline";
/// Most operations of a module.
const MAX_OPERATIONS: usize = 1 << 19;
/// Most operations of a module in which functions are put into others.
const MAX_INLINED: usize = 1 << 17;

/// Returns true if a function is called within the module alone.
fn is_private<'c: 'a, 'a>(function: &impl OperationLike<'c, 'a>) -> bool {
    function.attribute("sym_visibility").is_ok_and(|visibility| printed(&visibility).contains("private"))
}

/// Returns true if a function is no declaration.
fn has_body(function: OperationRef<'_, '_>) -> bool {
    function.regions().next().is_some_and(|region| region.first_block().is_some())
}

/// Operations of all functions with those of the functions that they call; `None` if functions call themselves.
fn inlined_size(module: &Module<'_>) -> Option<usize> {
    let functions = operations(module.body()).filter_map(|op| Some((symbol(op, "sym_name")?, op)));
    let functions: HashMap<String, OperationRef<'_, '_>> = functions.collect();
    let mut sizes: HashMap<String, Option<usize>> = HashMap::new();
    let names: Vec<&String> = functions.keys().collect();
    names
        .into_iter()
        .try_fold(0_usize, |sum, name| Some(sum.saturating_add(inlined(name, (&functions, 0), &mut sizes)?)))
}

/// Operations of a function and of those that it calls; `None` if more than [`MAX_CALLS`] call one another.
fn inlined(
    name: &str,
    (functions, depth): (&HashMap<String, OperationRef<'_, '_>>, usize),
    sizes: &mut HashMap<String, Option<usize>>,
) -> Option<usize> {
    if let Some(&size) = sizes.get(name) {
        return size;
    }
    if depth > MAX_CALLS {
        return None;
    }
    // `None` until it is known: a function that calls itself meets it.
    sizes.insert(name.to_owned(), None);
    let block =
        functions.get(name).and_then(|op| op.regions().next()).and_then(|region| region.first_block());
    let mut size = 1_usize;
    for op in block.into_iter().flat_map(operations) {
        let callee = symbol(op, "callee").filter(|_| known(op) == Some(TensorOp::Call));
        let own = match callee {
            Some(callee) => inlined(&callee, (functions, depth + 1), sizes)?,
            None => 1,
        };
        size = size.saturating_add(own);
    }
    sizes.insert(name.to_owned(), Some(size));
    Some(size)
}

/// Takes an operation, and those within it, off a number; false if it is too small.
fn take(op: OperationRef<'_, '_>, rest: &mut usize) -> bool {
    let Some(left) = rest.checked_sub(1) else { return false };
    *rest = left;
    op.regions()
        .filter_map(|region| region.first_block())
        .all(|block| operations(block).all(|op| take(op, rest)))
}

/// Returns true if a file is bytecode.
pub(crate) fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(&BYTECODE)
}

/// An MLIR context with all dialects of MLIR.
pub(crate) struct Reader {
    context: Context,
    found: Rc<RefCell<Vec<Finding>>>,
}

impl Reader {
    pub(crate) fn new() -> Self {
        let registry = DialectRegistry::new();
        register_all_dialects(&registry);
        // One thread: findings come in the order of the text.
        let context = Context::new_with_registry(&registry, false);
        let found = Rc::new(RefCell::new(Vec::new()));
        let kept = Rc::clone(&found);
        context.attach_diagnostic_handler(move |diagnostic| {
            kept.borrow_mut().push(Finding::new(&diagnostic));
            true
        });
        Self { context, found }
    }

    /// Parses and verifies a module.
    ///
    /// # Errors
    /// The findings of MLIR, at least one error.
    pub(crate) fn parse(&self, bytes: &[u8]) -> Result<Module<'_>, Vec<Finding>> {
        capi::parse(&self.context, bytes).ok_or_else(|| self.refused())
    }

    /// Makes `linalg.generic` of operations on whole tensors.
    ///
    /// # Errors
    /// The findings of MLIR.
    pub(crate) fn generalize(&self, module: &mut Module<'_>) -> Result<(), Vec<Finding>> {
        let passes = PassManager::new(&self.context);
        passes.add_pass(linalg::create_convert_elementwise_to_linalg_pass());
        passes.add_pass(linalg::create_linalg_generalize_named_ops_pass());
        passes.run(module).map_err(|_| self.refused())
    }

    /// Puts private functions into those that call them: these are parts that a framework cut off. Others stay, and so
    /// do all if the module would have more than [`MAX_INLINED`] operations.
    ///
    /// # Errors
    /// The findings of MLIR.
    pub(crate) fn inline(&self, module: &mut Module<'_>) -> Result<(), Vec<Finding>> {
        // MLIR's pass also simplifies, so that it is not run without a need.
        let is_needed = operations(module.body()).any(|op| is_private(&op) && has_body(op));
        if !is_needed || inlined_size(module).is_none_or(|size| size > MAX_INLINED) {
            return Ok(());
        }
        let mut next = module.body().first_operation_mut();
        while let Some(mut function) = next {
            if !is_private(&function) {
                function.set_attribute(NO_INLINE, Attribute::unit(&self.context));
            }
            next = function.next_in_block_mut();
        }
        let passes = PassManager::new(&self.context);
        passes.add_pass(transform::create_inliner());
        passes.run(module).map_err(|_| self.refused())
    }

    /// Checks the number of operations of a module.
    ///
    /// # Errors
    /// More than [`MAX_OPERATIONS`].
    pub(crate) fn check_size(&self, module: &Module<'_>) -> Result<(), Vec<Finding>> {
        let mut rest = MAX_OPERATIONS;
        if operations(module.body()).all(|op| take(op, &mut rest)) {
            return Ok(());
        }
        Err(vec![Finding::error(format!("the module has more than {MAX_OPERATIONS} operations"))])
    }

    fn refused(&self) -> Vec<Finding> {
        let mut found = self.found.take();
        if !found.iter().any(|finding| finding.severity == Severity::Error) {
            found.push(Finding::error("MLIR refuses the module without a message"));
        }
        found
    }
}

/// Checks the size and the nesting of a file.
///
/// # Errors
/// Those of [`limits::check`].
pub(crate) fn check(bytes: &[u8]) -> Result<(), visa_ir::diag::Diagnostic> {
    limits::check(bytes, !is_bytecode(bytes))
}
