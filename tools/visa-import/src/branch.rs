//! Branches on an index: the effects of each arm are a `tm.if`, and a choice among numbers is a `tm.select`.

use crate::condition::{Case, Condition, Within, range};
use crate::emit::new;
use crate::error::Error;
use crate::eval::{Eval, Evaluator, Frame, State, Stop, Want, affine};
use crate::value::{Affine, Index, Memory, PlaceId, TensorType, Value};
use proc_macro2::Span;
use syn::spanned::Spanned;
use visa_mapping::ops::control::{If, Yield};
use visa_mapping::ops::number::{Select, Sum};

/// The result of an arm.
struct Arm {
    value: Value,
    /// The tensors outside of it that it changes.
    changed: Vec<usize>,
    /// True if something is left of it for the device to do.
    acts: bool,
}

impl Evaluator<'_> {
    /// `if` on an index. A branch that a `tm.if` does not support needs the number, so that the loop is written out.
    pub(crate) fn branch_on(
        &mut self,
        frame: &mut Frame,
        own: &syn::ExprIf,
        condition: &Condition,
        want: &Want,
    ) -> Eval<Value> {
        let span = own.cond.span();
        let count = self.state.cells.len();
        let arms = [
            self.tried(frame, (own, true), &condition.holds, want)?,
            self.tried(frame, (own, false), &condition.fails, want)?,
        ];
        let quiet = arms.iter().all(|arm| !arm.acts);
        if quiet && arms.iter().all(|arm| affine(&arm.value).is_some()) {
            return self.select(frame, own, condition, want);
        }
        let result = match &arms.each_ref().map(|arm| &arm.value) {
            [Value::Nothing, Value::Nothing] => None,
            [one, other] => match (own_tensor(one, count), own_tensor(other, count)) {
                (Some(one), Some(other)) if one == other => Some(one.clone()),
                (_, _) => return Err(self.needs_number(frame, span)),
            },
        };
        let result = result.map(|ty| self.cell(None, ty, want.name.clone()));
        for (cases, arm, then) in [(&condition.holds, &arms[0], true), (&condition.fails, &arms[1], false)] {
            let mut cells = arm.changed.clone();
            cells.extend(result.as_ref().map(|view| view.place.0));
            for case in cases.iter().filter(|_| arm.acts) {
                for &at in &cells {
                    self.current(frame, span, PlaceId(at))?;
                }
                self.in_case(frame, (own, then), (case, case), &cells, want)?;
            }
        }
        Ok(result.map_or(Value::Nothing, Value::View))
    }

    /// Evaluates an arm to find its effects, and undoes it.
    fn tried(
        &mut self,
        frame: &mut Frame,
        arm: (&syn::ExprIf, bool),
        cases: &[Case],
        want: &Want,
    ) -> Eval<Arm> {
        let before = (self.state.clone(), frame.clone());
        let found = self.arm(frame, arm, cases, want);
        let after = std::mem::replace(&mut self.state, before.0);
        *frame = before.1;
        let value = found?;
        let acts = after.out.acts() != self.state.out.acts();
        Ok(Arm { value, changed: self.state.changed_by(&after), acts })
    }

    /// Evaluates an arm, which runs in the given cases. An error in it may be in an iteration that never runs it: the
    /// loop is unrolled.
    fn arm(
        &mut self,
        frame: &mut Frame,
        (own, then): (&syn::ExprIf, bool),
        cases: &[Case],
        want: &Want,
    ) -> Eval<Value> {
        let outside = std::mem::replace(&mut self.fixed, self.slots);
        let cells = std::mem::replace(&mut self.fixed_cells, self.state.cells.len());
        let wider = self.narrow(cases);
        self.state.branches += 1;
        let found = match (then, &own.else_branch) {
            (true, _) => self.block(frame, &own.then_branch, want),
            (false, Some((_, other))) => self.expr(frame, other, want),
            (false, None) => Ok(Value::Nothing),
        };
        self.state.branches -= 1;
        self.state.ranges.extend(wider);
        self.fixed = outside;
        self.fixed_cells = cells;
        match found {
            Ok(value) => Ok(value),
            Err(Stop::Error(error) | Stop::NeedsNumber(error)) => Err(Stop::NeedsNumber(error)),
            Err(Stop::Return(_) | Stop::Break(..) | Stop::Continue(_)) => {
                let message = "`return`, `break` and `continue` under a condition on an index";
                Err(Stop::NeedsNumber(Error::new(frame.place(own.cond.span()), message)))
            }
        }
    }

    /// An arm in one case: a `tm.if` for each of its ranges that is left. The last of the tensors is the arm's value,
    /// if it has one.
    fn in_case(
        &mut self,
        frame: &mut Frame,
        (own, then): (&syn::ExprIf, bool),
        (whole, left): (&[Within], &[Within]),
        cells: &[usize],
        want: &Want,
    ) -> Eval<()> {
        let span = own.cond.span();
        let Some((first, rest)) = left.split_first() else {
            let value = self.arm(frame, (own, then), &[whole.to_vec()], want)?;
            if let (Value::View(view), Some(&result)) = (value, cells.last()) {
                self.state.cells[result].name = Some(self.current(frame, span, view.place)?);
            }
            return Ok(());
        };
        let number = self.index_name(frame, span, &first.of)?;
        let operands = [vec![number], self.state.names(cells)].concat();
        let results = self.new_names(cells);
        let new = new!(self.ctx, If, self.values(&operands)).from(first.from).below(first.below);
        self.state.out.open(self.ctx, new.into(), &results);
        self.in_case(frame, (own, then), (whole, rest), cells, want)?;
        self.close(frame, own.span(), cells, results);
        Ok(())
    }

    /// Narrows the range of each index to the numbers from the least to the greatest that the cases leave it. Returns
    /// the ranges before.
    fn narrow(&mut self, cases: &[Case]) -> Vec<(String, (i64, i64))> {
        let before: Vec<_> = self.state.ranges.iter().map(|(name, &range)| (name.clone(), range)).collect();
        for (name, range) in &mut self.state.ranges {
            let of = Affine::index(name);
            let each = cases.iter().map(|case| {
                let within = case.iter().filter(|within| within.of == of);
                within.fold(*range, |(least, greatest), within| {
                    let least = within.from.map_or(least, |from| from.max(least));
                    (least, within.below.map_or(greatest, |below| (below - 1).min(greatest)))
                })
            });
            let hull = each.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
            *range = hull.unwrap_or(*range);
        }
        before
    }

    /// Ends a body that gives the new versions of some tensors, which have other names then.
    pub(crate) fn close(&mut self, frame: &Frame, span: Span, cells: &[usize], results: Vec<String>) {
        let place = frame.place(span);
        let new = new!(self.ctx, Yield, self.values(&self.state.names(cells)));
        self.state.out.write(self.ctx, new.into(), &[], &place);
        self.state.out.close(self.ctx, &place);
        for (&at, name) in cells.iter().zip(results) {
            self.state.cells[at].name = Some(name);
            self.state.cells[at].writes += 1;
        }
    }

    /// A number that depends on a condition.
    fn select(
        &mut self,
        frame: &mut Frame,
        own: &syn::ExprIf,
        condition: &Condition,
        want: &Want,
    ) -> Eval<Value> {
        let span = own.cond.span();
        let values = [
            self.arm(frame, (own, true), &condition.holds, want)?,
            self.arm(frame, (own, false), &condition.fails, want)?,
        ];
        let [Some(then), Some(other)] = values.each_ref().map(Index::of) else {
            return Err(self.needs_number(frame, span));
        };
        let Some(ty) = then.ty.common(other.ty) else { return Err(self.needs_number(frame, span)) };
        let (then, other) = (then.sum, other.sum);
        if then == other {
            let [value, _] = values;
            return Ok(value);
        }
        // Fewer cases are fewer choices.
        let (cases, inside, outside) = match condition.holds.len() <= condition.fails.len() {
            true => (&condition.holds, &then, &other),
            false => (&condition.fails, &other, &then),
        };
        let [inside, outside] =
            [self.operand_name(frame, span, inside)?, self.operand_name(frame, span, outside)?];
        let mut name = outside;
        for case in cases {
            name = self.select_case(frame, span, case, (&inside, &name))?;
        }
        let both = [&then, &other].map(|value| range(value, &self.state.ranges));
        if let [Some((low, high)), Some((other_low, other_high))] = both {
            self.state.ranges.insert(name.clone(), (low.min(other_low), high.max(other_high)));
        }
        Ok(Value::Index(Index { sum: Affine::index(&name), ty }))
    }

    fn select_case(
        &mut self,
        frame: &Frame,
        span: Span,
        case: &Case,
        (inside, outside): (&str, &str),
    ) -> Eval<String> {
        let mut name = inside.to_owned();
        for within in case {
            let number = self.index_name(frame, span, &within.of)?;
            let operands = [&*number, &*name, outside].map(|name| self.value(name));
            let new = new!(self.ctx, Select, operands).from(within.from).below(within.below);
            name = self.index_made(frame, span, new);
        }
        Ok(name)
    }

    /// A number as an operand, also one that is known.
    pub(crate) fn operand_name(&mut self, frame: &Frame, span: Span, value: &Affine) -> Eval<String> {
        match value.number() {
            Some(number) => {
                let new = new!(self.ctx, Sum, []).by(Vec::new()).plus(number);
                Ok(self.index_made(frame, span, new))
            }
            None => self.index_name(frame, span, value),
        }
    }
}

/// The type of a whole tensor at rest that an arm makes itself: so it may be where the result is.
fn own_tensor(value: &Value, count: usize) -> Option<&TensorType> {
    let Value::View(view) = value else { return None };
    let at_rest = match view.ty.memory {
        Memory::Hbm | Memory::Dm | Memory::Spm => true,
        Memory::Trf | Memory::Vrf | Memory::Host => false,
    };
    (at_rest && view.steps.is_empty() && view.place.0 >= count).then_some(&view.ty)
}

impl State {
    /// The tensors of this state that have become others in a later one, or that were declared there.
    pub(crate) fn changed_by(&self, later: &Self) -> Vec<usize> {
        let both = self.cells.iter().zip(&later.cells).enumerate();
        let changed = both.filter(|(_, (own, other))| {
            own.writes != other.writes || own.name.is_none() && other.name.is_some()
        });
        changed.map(|(at, _)| at).collect()
    }

    /// The names of some tensors.
    pub(crate) fn names(&self, cells: &[usize]) -> Vec<String> {
        cells.iter().filter_map(|&at| self.cells[at].name.clone()).collect()
    }
}
