//! Conversion: every illegal operation becomes legal ones, or is named with the reasons why not.

use super::{ConversionPattern, ConversionTarget, Converter, Legality, NoMatch, Rewriter, TypeConverter};
use crate::context::Context;
use crate::diag::Diagnostic;
use crate::module::{BlockId, Module, OpId, OpRef, TypeId, ValueId};
use crate::parse::limits::MAX_ERRORS;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Most conversions of the replacements of one operation: a pattern may make operations that other patterns convert,
/// but not without end.
pub const MAX_STEPS: usize = 64;

/// Treatment of operations that the target does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// They stay.
    Partial,
    /// They are illegal.
    Full,
}

/// In which order operations are converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each before those after it and before the content of its regions: it takes converted values.
    Forward,
    /// Each after those after it and after the content of its regions: its results are unused. For conversions to
    /// operations without results.
    Backward,
}

/// A conversion of everything below some blocks. Its patterns see a state of type `S`, such as analyses of the module
/// as it was before.
#[derive(Clone, Debug)]
pub struct Conversion<'p, S: 'static = ()> {
    /// Its name in messages, e.g. the pass.
    pub name: &'p str,
    /// The operations that are legal after it.
    pub target: &'p ConversionTarget,
    /// The patterns that make operations legal.
    pub patterns: &'p [&'static ConversionPattern<S>],
    /// Conversion of types.
    pub types: TypeConverter,
    /// Treatment of operations that the target does not list.
    pub kind: Kind,
    /// In which order operations are converted.
    pub order: Order,
    /// State of the patterns in addition to the module.
    pub state: &'p S,
}

impl<'p> Conversion<'p> {
    /// A partial conversion that keeps types, forward, by patterns that know the module alone.
    #[must_use]
    pub fn new(
        name: &'p str,
        target: &'p ConversionTarget,
        patterns: &'p [&'static ConversionPattern],
    ) -> Self {
        let (types, kind, order) = (TypeConverter::default(), Kind::Partial, Order::Forward);
        Self { name, target, patterns, types, kind, order, state: &() }
    }
}

impl<S: 'static> Conversion<'_, S> {
    /// Converts. Returns how often each pattern was applied.
    ///
    /// # Errors
    /// Every operation that stays although it is illegal, with the reason of each pattern for it; refusals of
    /// patterns; and uses of converted values by operations that stay, if the conversion has no materialization; in
    /// the order of the module. The module is then partly converted.
    pub fn run(
        &self,
        ctx: &Context,
        module: &mut Module,
        blocks: &[BlockId],
    ) -> Result<BTreeMap<&'static str, u64>, Vec<Diagnostic>> {
        let converter = Converter {
            rewriter: Rewriter::new(ctx, module),
            types: self.types,
            converted: HashMap::default(),
            state: self.state,
        };
        let mut run = Run {
            conversion: self,
            converter,
            applied: BTreeMap::new(),
            errors: Vec::new(),
            made: HashSet::new(),
            stayed: HashSet::new(),
        };
        blocks.iter().for_each(|&block| run.block(block));
        if run.errors.is_empty() {
            run.restore_types();
        }
        let (applied, mut errors) = (run.applied, run.errors);
        if self.order == Order::Backward {
            errors.reverse();
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        // Materialized operations have to be legal too.
        self.check(ctx, module, blocks).map(|()| applied)
    }

    /// The illegal operations below some blocks, as errors; the module stays unchanged.
    ///
    /// # Errors
    /// Every operation that is illegal.
    pub fn check(&self, ctx: &Context, module: &Module, blocks: &[BlockId]) -> Result<(), Vec<Diagnostic>> {
        let ops = blocks.iter().flat_map(|&block| module.walk(block)).map(|id| module.op(ctx, id));
        let illegal = ops.filter_map(|op| Some((op, self.why_illegal(op)?)));
        let errors: Vec<_> = illegal.map(|(op, why)| self.stays(op, &why, &[])).take(MAX_ERRORS).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn why_illegal(&self, op: OpRef<'_>) -> Option<String> {
        match (self.target.legality(op), self.kind) {
            (Legality::Legal, _) | (Legality::Unknown, Kind::Partial) => None,
            (Legality::Illegal(why), _) => Some(why.into_owned()),
            (Legality::Unknown, Kind::Full) => Some("the target does not list it".to_owned()),
        }
    }

    /// The error of an illegal operation that stays.
    fn stays(&self, op: OpRef<'_>, why: &str, reasons: &[(&'static str, String)]) -> Diagnostic {
        let message = format!("`{}` is illegal after `{}`: {why}", op.name(), self.name);
        let error = Diagnostic::error("illegal-op", op.span(), message);
        if !self.patterns.is_empty() && self.patterns_for(op).is_empty() {
            return error.note("no pattern converts it", None);
        }
        let note = |error: Diagnostic, (name, why): &(&str, String)| {
            error.note(format!("pattern `{name}` does not match: {why}"), None)
        };
        reasons.iter().fold(error, note)
    }

    fn patterns_for(&self, op: OpRef<'_>) -> Vec<&'static ConversionPattern<S>> {
        let fits = |pattern: &&&ConversionPattern<S>| pattern.root.is_none_or(|root| op.is(root));
        let mut patterns: Vec<_> = self.patterns.iter().filter(fits).copied().collect();
        patterns.sort_by_key(|pattern| Reverse(pattern.benefit));
        patterns
    }
}

struct Run<'a, 'p, S: 'static> {
    conversion: &'a Conversion<'p, S>,
    converter: Converter<'a, S>,
    applied: BTreeMap<&'static str, u64>,
    errors: Vec<Diagnostic>,
    /// Operations that patterns made or changed: they take converted values.
    made: HashSet<OpId>,
    /// Illegal operations that are there for good.
    stayed: HashSet<OpId>,
}

impl<S: 'static> Run<'_, '_, S> {
    fn block(&mut self, block: BlockId) {
        let mut ops = self.module().ops(block).to_vec();
        match self.conversion.order {
            Order::Forward => {
                for op in ops {
                    self.legalize(op).into_iter().for_each(|made| self.regions(made));
                }
            }
            Order::Backward => {
                ops.reverse();
                for op in ops {
                    self.regions(op);
                    self.legalize(op);
                }
            }
        }
    }

    fn regions(&mut self, op: OpId) {
        self.converter.op(op).regions().to_vec().into_iter().for_each(|region| self.block(region));
    }

    /// Returns true if an operation that stays uses a result of the operation, or is in it. Then the operation stays
    /// too, if it has no other error: an error for it would follow from the other one.
    fn follows(&self, op: OpId) -> bool {
        let view = self.converter.op(op);
        let mut inside = view.regions().iter().flat_map(|&region| self.module().ops(region));
        let mut users = view.results().iter().flat_map(|&result| self.module().uses(result));
        inside.any(|op| self.stayed.contains(op)) || users.any(|op| self.stayed.contains(op))
    }

    fn module(&self) -> &Module {
        self.converter.rewriter.module()
    }

    /// Converts an operation, then its replacements, until all are legal. Returns the final operations.
    fn legalize(&mut self, op: OpId) -> Vec<OpId> {
        let (mut waiting, mut there, mut steps) = (vec![op], Vec::new(), 0);
        while let Some(op) = waiting.pop() {
            if self.module().is_erased(op) {
                continue;
            }
            let Some(why) = self.conversion.why_illegal(self.converter.op(op)) else {
                there.push(op);
                continue;
            };
            steps += 1;
            if self.errors.len() >= MAX_ERRORS {
                return Vec::new();
            }
            if steps > MAX_STEPS {
                let why = format!("it was made again and again by {MAX_STEPS} conversions");
                self.errors.push(self.conversion.stays(self.converter.op(op), &why, &[]));
                return Vec::new();
            }
            match self.convert(op, &why) {
                Ok(made) => waiting.extend(made.into_iter().rev()),
                Err(error) => {
                    self.errors.extend(error);
                    self.stayed.insert(op);
                    there.push(op);
                }
            }
        }
        there
    }

    /// Converts an operation. Returns its replacements, itself included if it still exists. Reports no error that
    /// follows from the error of another operation.
    fn convert(&mut self, op: OpId, why: &str) -> Result<Vec<OpId>, Option<Diagnostic>> {
        let patterns = self.conversion.patterns_for(self.converter.op(op));
        let mut reasons = Vec::new();
        if !patterns.is_empty() {
            let operands = match self.operands(op) {
                Ok(operands) => operands,
                Err(NoMatch::Because(why)) => {
                    return Err(Some(self.conversion.stays(self.converter.op(op), &why, &[])));
                }
                Err(NoMatch::Refused(error)) => return Err(Some(*error)),
            };
            for pattern in patterns {
                match self.apply(pattern, op, &operands)? {
                    None => return Ok(self.became(pattern, op)),
                    Some(why) => reasons.push((pattern.name, why)),
                }
            }
        }
        let error = || self.conversion.stays(self.converter.op(op), why, &reasons);
        Err((!self.follows(op)).then(error))
    }

    /// Tries a pattern. Returns why it does not match, if it does not.
    fn apply(
        &mut self,
        pattern: &'static ConversionPattern<S>,
        op: OpId,
        operands: &[ValueId],
    ) -> Result<Option<String>, Diagnostic> {
        let (span, before) = (self.converter.op(op).span(), self.converter.rewriter.changes());
        match (pattern.convert)(&mut self.converter, op, operands) {
            Ok(()) => Ok(None),
            Err(NoMatch::Refused(error)) => Err(*error),
            Err(NoMatch::Because(why)) if self.converter.rewriter.changes() == before => {
                Ok(Some(why.into_owned()))
            }
            Err(NoMatch::Because(why)) => {
                let name = pattern.name;
                let message = format!(
                    "pattern `{name}` returned a mismatch ({why}), but changed something: a mistake in the pattern"
                );
                Err(Diagnostic::error("pattern", span, message))
            }
        }
    }

    /// The replacements of an operation after a pattern.
    fn became(&mut self, pattern: &'static ConversionPattern<S>, op: OpId) -> Vec<OpId> {
        *self.applied.entry(pattern.name).or_default() += 1;
        let mut made = self.converter.rewriter.take_created();
        made.push(op);
        made.retain(|&op| !self.module().is_erased(op));
        self.made.extend(&made);
        made
    }

    /// The operands of an operation with their converted types.
    fn operands(&mut self, op: OpId) -> Result<Vec<ValueId>, NoMatch> {
        let operands = self.converter.op(op).operands().to_vec();
        let converted = operands.into_iter().map(|value| {
            if self.converter.converted.contains_key(&value) {
                return Ok(value);
            }
            let ty = self.converter.convert_type(self.module().ty(value));
            self.conversion.types.value(&mut self.converter.rewriter, value, ty, op)
        });
        converted.collect()
    }

    /// Gives the operations that stay the types that they expect of converted values.
    fn restore_types(&mut self) {
        let mut converted: Vec<_> = self.converter.converted.drain().collect();
        converted.sort_unstable();
        for (value, ty) in converted {
            let users = self.module().uses(value).iter().copied();
            let staying: BTreeSet<OpId> = users.filter(|user| !self.made.contains(user)).collect();
            for user in staying {
                if let Err(error) = self.restore(user, value, ty) {
                    self.errors.push(error);
                }
            }
        }
    }

    fn restore(&mut self, user: OpId, value: ValueId, ty: TypeId) -> Result<(), Diagnostic> {
        let rewriter = &mut self.converter.rewriter;
        let old = match self.conversion.types.value(rewriter, value, ty, user) {
            Ok(old) => old,
            Err(NoMatch::Refused(error)) => return Err(*error),
            Err(NoMatch::Because(why)) => {
                let op = rewriter.op(user);
                let message =
                    format!("`{}` stays, but takes a value whose type was converted: {why}", op.name());
                return Err(Diagnostic::error("converted-type", op.span(), message));
            }
        };
        let uses = rewriter.op(user).operands().to_vec().into_iter().enumerate();
        uses.filter(|(_, operand)| *operand == value)
            .try_for_each(|(index, _)| rewriter.set_operand(user, index, old))
    }
}
