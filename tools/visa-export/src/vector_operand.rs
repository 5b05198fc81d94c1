//! Operands of the vector engine: constants, register files, the stash, and each of them under guards.

use crate::body::Body;
use crate::literals::constant;
use crate::refusals::{Export, REPLAN, refuse, refuse_with_fix};
use crate::views::OneOf;
use crate::words::Operation;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::rc::Rc;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::VRF;
use visa_mapping::tensor::numbers::Number;
use visa_numerics::{ArgMode, DType, Guard, Guards, Slot};

/// The operands that an operation takes in addition to its stream.
#[derive(Clone)]
pub(crate) struct Given {
    values: Vec<ValueId>,
    constant: Option<Rc<Number>>,
    constant1: Option<Rc<Number>>,
    when: Option<Rc<Guards<Number>>>,
}

impl Given {
    /// The operands of an operation.
    pub(crate) fn new(
        op: OpRef<'_>,
        constant: Option<Rc<Number>>,
        constant1: Option<Rc<Number>>,
        when: Option<Rc<Guards<Number>>>,
    ) -> Self {
        let values = op.operands().iter().skip(1).copied().collect();
        Self { values, constant, constant1, when }
    }
}

impl Body<'_, '_> {
    /// The method call of an operation.
    pub(crate) fn alu_call(
        &mut self,
        op: OpRef<'_>,
        operation: &Operation,
        mode: Option<ArgMode>,
        (given, dtype): (&Given, DType),
        is_pair: bool,
    ) -> Export<TokenStream> {
        if operation.arguments == 1 && mode.is_some_and(|mode| !mode.reads_stream()) {
            let message = "it is a function of its operand, and the language has functions of the stream";
            let fix = format!("compute it in an earlier pipeline, or {REPLAN}");
            return Err(refuse_with_fix(op, message, fix));
        }
        let (given, mode) = match turned(given, mode).filter(|_| operation.arguments == 3) {
            Some((given, mode)) => (&given.clone(), Some(mode)),
            None => (given, mode),
        };
        let operands = match (is_pair, operation.arguments) {
            (true, 1) => self.group_flags(op, given)?,
            (true, _) => self.group_operands(op, given, (dtype, operation.arguments))?,
            (false, 1) => return self.unary(op, operation, given),
            (false, _) => vec![self.operand_of(op, given, (dtype, operation.arguments))?],
        };
        let (stage, name) = (operation.stage, &operation.name);
        let name = (!name.is_empty()).then(|| quote!(#name,));
        let mode = mode.filter(|mode| mode.args().len() > 1);
        Ok(match mode {
            None => {
                let method = format_ident!("vector_{stage}");
                quote!(.#method(#name #(#operands),*))
            }
            Some(mode) => {
                let set = if mode.args().len() == 3 { "TernaryArgMode" } else { "BinaryArgMode" };
                let (set, word) = (format_ident!("{set}"), format_ident!("{}", mode.word()));
                let method = format_ident!("vector_{stage}_with_mode");
                quote!(.#method(#name #set::#word, #(#operands),*))
            }
        })
    }

    /// A function of one argument, under a guard or everywhere.
    fn unary(&mut self, op: OpRef<'_>, operation: &Operation, given: &Given) -> Export<TokenStream> {
        let name = &operation.name;
        let Some(when) = &given.when else { return Ok(quote!(.vector_fp_unary(#name))) };
        match &*when.0 {
            [(guard, Slot::Apply)] => {
                let guard = guard_tokens(*guard);
                Ok(quote!(.vector_fp_unary((#guard, #name))))
            }
            _ => Err(refuse(op, "the language applies a function of one argument under one guard")),
        }
    }

    /// The operand of an operation on one stream.
    fn operand_of(&mut self, op: OpRef<'_>, given: &Given, of: (DType, usize)) -> Export<TokenStream> {
        let Some(when) = &given.when else { return self.plain(op, given, of) };
        let mut built = TokenStream::new();
        for (guard, slot) in &when.0 {
            let guard = guard_tokens(*guard);
            let (method, value) = match slot {
                Slot::Immediate(number) => ("imm", self.slot(op, Some(*number), given, of)?),
                Slot::Value => ("rf", self.slot(op, None, given, of)?),
                Slot::Apply => match (&given.constant, given.values.first()) {
                    (Some(number), _) => ("imm", self.slot(op, Some(**number), given, of)?),
                    (None, Some(_)) => ("rf", self.slot(op, None, given, of)?),
                    (None, None) => return Err(refuse(op, "a guard has no operand")),
                },
            };
            let method = format_ident!("{method}");
            built = if built.is_empty() {
                quote!(Branched::#method(#guard, #value))
            } else {
                quote!(#built.#method(#guard, #value))
            };
        }
        Ok(built)
    }

    /// The operands of the two groups.
    fn group_operands(
        &mut self,
        op: OpRef<'_>,
        given: &Given,
        of: (DType, usize),
    ) -> Export<Vec<TokenStream>> {
        let Some(when) = &given.when else {
            let both = self.plain(op, given, of)?;
            return Ok(vec![both.clone(), both]);
        };
        let mut operands = [None, None];
        for (guard, slot) in &when.0 {
            let value = match slot {
                Slot::Immediate(number) => self.slot(op, Some(*number), given, of)?,
                Slot::Value => self.slot(op, None, given, of)?,
                Slot::Apply => self.plain(op, given, of)?,
            };
            // The first guard that holds counts.
            for at in groups(op, *guard)? {
                operands[at].get_or_insert_with(|| value.clone());
            }
        }
        Ok(operands.map(|own| own.unwrap_or_else(|| quote!(()))).to_vec())
    }

    /// The groups to which a function of one argument applies.
    fn group_flags(&mut self, op: OpRef<'_>, given: &Given) -> Export<Vec<TokenStream>> {
        let mut applies = [given.when.is_none(); 2];
        for (guard, _) in given.when.iter().flat_map(|when| &when.0) {
            for at in groups(op, *guard)? {
                applies[at] = true;
            }
        }
        Ok(applies.iter().map(|own| quote!(#own)).collect())
    }

    /// The operand without guards.
    fn plain(&mut self, op: OpRef<'_>, given: &Given, of: (DType, usize)) -> Export<TokenStream> {
        match (&given.constant, &*given.values) {
            (Some(number), _) => self.slot(op, Some(**number), given, of),
            (None, [_, ..]) => self.slot(op, None, given, of),
            // The mode reads the stream alone, and the method takes an operand in any case.
            (None, []) => constant(op, Number(0.0), of.0),
        }
    }

    /// An operand: a number or the value, and the second operand of an operation on three.
    fn slot(
        &mut self,
        op: OpRef<'_>,
        number: Option<Number>,
        given: &Given,
        (dtype, arguments): (DType, usize),
    ) -> Export<TokenStream> {
        let first = match (number, &*given.values) {
            (Some(number), _) => constant(op, number, dtype)?,
            (None, [value, ..]) => self.register(op, *value)?,
            (None, []) => return Err(refuse(op, "it has no value operand")),
        };
        if arguments < 3 {
            return Ok(first);
        }
        match &given.constant1 {
            Some(second) => {
                let second = constant(op, **second, dtype)?;
                Ok(quote!((#first, #second)))
            }
            None => Err(refuse(op, "the language's second operand of three is a constant")),
        }
    }

    /// A register file, or the stash.
    fn register(&mut self, op: OpRef<'_>, value: ValueId) -> Export<TokenStream> {
        let own = self.tensor(op, value)?;
        if own.kind.is_one_of(&[&VRF]) {
            return self.borrowed(op, value);
        }
        let stream = op.operands().first().copied().ok_or_else(|| refuse(op, "it has no stream"))?;
        let stream = self.tensor(op, stream)?;
        if stream.dtype != own.dtype || !std::ptr::eq(stream.kind, own.kind) {
            let message = "the language reads the stash in the width and the format in which it was written";
            return Err(refuse_with_fix(op, message, REPLAN));
        }
        Ok(quote!(Stash))
    }
}

/// The operands in the other order, with the mode that gives them to the same arguments: of three arguments, the
/// second operand of the language is a constant. `None` if the first is no constant, or no mode has them so.
fn turned(given: &Given, mode: Option<ArgMode>) -> Option<(Given, ArgMode)> {
    let (Some(first), None, None, [_]) = (&given.constant, &given.constant1, &given.when, &*given.values)
    else {
        return None;
    };
    let mode = match mode {
        None | Some(ArgMode::Mode012) => ArgMode::Mode021,
        Some(ArgMode::Mode021) => ArgMode::Mode012,
        Some(_) => return None,
    };
    Some((Given { constant: None, constant1: Some(first.clone()), ..given.clone() }, mode))
}

/// The groups that a guard is for: group 0 or 1 by bit 3, or both.
fn groups(op: OpRef<'_>, guard: Guard) -> Export<Vec<usize>> {
    match guard.bits() {
        [None, None, None, Some(second)] => Ok(vec![usize::from(second)]),
        [None, None, None, None] => Ok(vec![0, 1]),
        [Some(_), ..] | [_, Some(_), ..] | [_, _, Some(_), _] => {
            Err(refuse(op, format!("guard `{guard}` selects elements of a group, and the language groups")))
        }
    }
}

/// A guard in the language, whose first bit is bit 0.
pub(crate) fn guard_tokens(guard: Guard) -> TokenStream {
    if guard.bits() == [None; 4] {
        return quote!(TagGuard::all());
    }
    let bits = guard.bits().map(|bit| match bit {
        Some(true) => quote!(BitReq::One),
        Some(false) => quote!(BitReq::Zero),
        None => quote!(BitReq::Ignore),
    });
    quote!(TagGuard::matches([#(#bits),*]))
}
