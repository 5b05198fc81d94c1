//! Lookup tables of fetches (book 08): those of `tm.lookup`, and conversions that the machine makes by a table alone.

use std::sync::Arc;
use visa_ir::analysis::Analysis;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::span::Span;
use visa_ir::symbols::Symbols;
use visa_machine::Machine;
use visa_mapping::ops::cast;
use visa_mapping::ops::gather::Lookup;
use visa_mapping::ops::table::{Table, own};
use visa_mapping::tensor::numbers::Numbers;
use visa_mapping::tensor::value::Value;
use visa_numerics::{DType, LookupTable, from_number, to_f64};

/// A table by its name, and the format of its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchTable {
    /// The symbol.
    pub name: Arc<str>,
    /// The format.
    pub to: DType,
}

/// The tables that the planner declares.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// The format of the index, the table and its name.
    all: Vec<(DType, LookupTable, Arc<str>)>,
}

impl Tables {
    /// The tables for all look-ups and conversions of a module.
    ///
    /// # Errors
    /// An entry that no table of the machine has.
    pub fn new(ctx: &Context, module: &Module, machine: &Machine) -> Result<Self, Diagnostic> {
        let symbols = Symbols::build(ctx, module);
        let mut tables = Self::default();
        for id in module.walk_all() {
            let op = module.op(ctx, id);
            let Some((from, table)) = needed(op, machine)? else { continue };
            if tables.of(from, &table).is_none() {
                let same = |base: &str| tables.all.iter().filter(|(.., name)| name.starts_with(base)).count();
                let base = format!("{from}_to_{}", table.to);
                let base = if same(&base) == 0 { base } else { format!("{base}_table{}", same(&base)) };
                let name = Arc::from(&*symbols.unique(&base));
                tables.all.push((from, table, name));
            }
        }
        Ok(tables)
    }

    /// The declared table of an index of format `from`.
    #[must_use]
    pub fn of(&self, from: DType, table: &LookupTable) -> Option<FetchTable> {
        let (.., name) = self.all.iter().find(|(own, entries, _)| *own == from && entries == table)?;
        Some(FetchTable { name: Arc::clone(name), to: table.to })
    }

    /// The declared table of a look-up, or of a conversion that the machine makes by a table alone.
    ///
    /// # Errors
    /// An operation without its clauses.
    pub fn of_op(&self, op: OpRef<'_>, machine: &Machine) -> Result<Option<FetchTable>, Diagnostic> {
        Ok(needed(op, machine)?.and_then(|(from, table)| self.of(from, &table)))
    }

    /// Declares the tables at the beginning of a module.
    pub fn declare(&self, ctx: &Context, module: &mut Module) {
        let top = module.body();
        let before: Vec<OpId> = module.ops(top).to_vec();
        let mut declared = Vec::new();
        for (from, table, name) in &self.all {
            let numbers = table.entries.iter().map(|&bits| to_f64(table.to, bits)).collect();
            let values = (own(*from, table.to).as_ref() != Some(table)).then_some(Numbers(numbers));
            let op =
                Table::build_at(ctx, Span::default()).name(&**name).from(*from).to(table.to).values(values);
            declared.push(module.append(top, op.spec()));
        }
        module.set_ops(top, declared.into_iter().chain(before).collect());
    }
}

/// The format of the index and the table of an operation that needs one; `None` for another operation.
fn needed(op: OpRef<'_>, machine: &Machine) -> Result<Option<(DType, LookupTable)>, Diagnostic> {
    let Some(from) = op.operand_type::<Value>(0).map(|value| value.dtype) else { return Ok(None) };
    if let Some(lookup) = Lookup::cast(op) {
        let table = (*lookup.table()?).clone();
        return if own(from, table.to).as_ref() == Some(&table) || has_numbers(&table) {
            Ok(Some((from, table)))
        } else {
            Err(no_number(op, &table))
        };
    }
    let to = op.result_type::<Value>(0).map(|value| value.dtype).filter(|_| op.is(&cast::DECL));
    let Some(to) = to.filter(|to| machine.fetch_cast(from, *to).is_none()) else { return Ok(None) };
    let engine = visa_numerics::engine_cast(from, to).is_some();
    Ok(own(from, to).filter(|_| !engine).map(|table| (from, table)))
}

/// Returns true if numbers define the entries of a table.
fn has_numbers(table: &LookupTable) -> bool {
    table.entries.iter().all(|&bits| {
        let number = to_f64(table.to, bits);
        !number.is_nan() && from_number(table.to, number) == Some(bits)
    })
}

/// That a table has an entry that no number defines.
fn no_number(op: OpRef<'_>, table: &LookupTable) -> Diagnostic {
    let message = format!(
        "the planner has no step for a table of `{}` with an entry that is no number, besides the number of \
         each pattern itself",
        table.to
    );
    let fix = "shorten the table, if no element has this pattern, or choose a number for it".to_owned();
    Diagnostic::error("plan-kernel", op.span(), message).fix(fix)
}
