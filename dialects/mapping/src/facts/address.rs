//! Addresses of tensors at rest: one address, or several that rotate with the iterations of a loop.

use crate::index::affine::Affine;
use crate::interfaces::succeeded;
use crate::ops::control::{For, carried, carries};
use crate::ops::func::check_place;
use crate::tensor::Tensor;
use crate::view;
use std::collections::HashMap;
use visa_algebra::Axes;
use visa_ir::context::Attr;
use visa_ir::decl::{ClauseDecl, ClauseKind};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::{OpRef, ValueDef, ValueId};
use visa_loops::MAX_TURNS;

/// The addresses of a rotating buffer in the iterations after the first.
#[visa_ir::clause]
pub const THEN: ClauseDecl = ClauseDecl::optional(
    "then",
    ClauseKind::Ints,
    "addresses of the iterations after the first of the loop around it, in bytes; after the last one it is at `at` \
     again",
)
.open_address();

/// Where a tensor at rest is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The addresses of the iterations of a loop, one after the other and then again from the first one on; at
    /// least one.
    addresses: Vec<i64>,
    /// The index of that loop, where there are several addresses.
    index: Option<ValueId>,
}

impl Address {
    /// One address in all iterations.
    #[must_use]
    pub fn at(address: i64) -> Self {
        Self { addresses: vec![address], index: None }
    }

    /// The rotating addresses, those of the first iterations first.
    #[must_use]
    pub fn addresses(&self) -> &[i64] {
        &self.addresses
    }

    /// The index of the loop with which the addresses follow each other; `None` if there is one only.
    #[must_use]
    pub fn index(&self) -> Option<ValueId> {
        self.index
    }

    /// Where a tensor is in the next iteration, to which the loop carries it.
    fn carried(&self) -> Self {
        let mut next = self.clone();
        next.addresses.rotate_right(1);
        next
    }

    /// The address of a tensor after a loop of `times` iterations, which gave it.
    pub(crate) fn after(&self, index: Option<ValueId>, times: u64) -> Self {
        if self.index.is_none() || self.index != index {
            return self.clone();
        }
        let last = times.saturating_sub(1) % self.addresses.len() as u64;
        Self::at(self.addresses[last as usize])
    }

    /// The address that a tensor carried by a loop must have before the loop, if the yielded tensor is here.
    pub(crate) fn before(&self, index: Option<ValueId>) -> Self {
        match (self.index.is_some() && self.index == index, self.addresses.last()) {
            (true, Some(&last)) => Self::at(last),
            (_, _) => self.clone(),
        }
    }
}

/// As messages show it: `4096`, `0 and 4096 in turn`.
impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.addresses.as_slice() {
            [address] => write!(f, "{address}"),
            addresses => {
                let all: Vec<String> = addresses.iter().map(i64::to_string).collect();
                write!(f, "{} in turn", all.join(" and "))
            }
        }
    }
}

/// An address that moves with the loops around its use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moving {
    /// Where it is, but for turns.
    pub affine: Affine,
    /// The offsets that are added alternately with the iterations of a loop.
    pub turns: Option<Turns>,
}

/// Bytes that are added to an address, one number after the other with the iterations of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// The index of the loop.
    pub index: ValueId,
    /// The numbers, of which the first is 0.
    pub offsets: Vec<i64>,
}

impl From<Affine> for Moving {
    fn from(affine: Affine) -> Self {
        Self { affine, turns: None }
    }
}

impl From<&Address> for Moving {
    fn from(address: &Address) -> Self {
        let all = address.addresses();
        let first = all.first().copied().unwrap_or_default();
        let offsets = || all.iter().map(|at| at.saturating_sub(first)).collect();
        let turns = address.index().map(|index| Turns { index, offsets: offsets() });
        Self { affine: Affine::constant(first), turns }
    }
}

impl Moving {
    /// The address where all indices are 0.
    #[must_use]
    pub fn base(&self) -> i64 {
        self.affine.base
    }

    /// Returns true if it is the same in all iterations.
    #[must_use]
    pub fn is_still(&self) -> bool {
        self.affine.terms.is_empty() && self.turns.is_none()
    }

    /// Distances between addresses of iterations: each distance is a sum of these.
    pub fn distances(&self) -> impl Iterator<Item = i64> {
        let offsets = self.turns.iter().flat_map(|turns| turns.offsets.iter().copied());
        self.affine.terms.iter().map(|term| term.factor).chain(offsets)
    }

    /// The same address so much further; `None` on overflow.
    #[must_use]
    pub fn plus(&self, distance: &Affine) -> Option<Self> {
        Some(Self { affine: self.affine.plus(distance)?, turns: self.turns.clone() })
    }

    /// Returns true if another address is as far from it in every iteration.
    #[must_use]
    pub fn moves_like(&self, other: &Self) -> bool {
        // Where iterations are left out, terms may begin with others.
        let factors = |moving: &Self| -> HashMap<ValueId, i64> {
            moving.affine.terms.iter().map(|term| (term.index, term.factor)).collect()
        };
        factors(self) == factors(other) && self.turns == other.turns
    }

    /// The least and the greatest address of all iterations; `None` on overflow.
    #[must_use]
    pub fn range(&self) -> Option<(i64, i64)> {
        let offsets = || self.turns.iter().flat_map(|turns| turns.offsets.iter().copied());
        let (least, most) = self.affine.range()?;
        let (low, high) = (offsets().min().unwrap_or_default(), offsets().max().unwrap_or_default());
        Some((least.checked_add(low)?, most.checked_add(high)?))
    }
}

/// The addresses that an operation writes in `then`, nothing for each that is open.
#[must_use]
pub fn further(op: OpRef<'_>) -> Vec<Option<i64>> {
    match op.attr(THEN.name) {
        Some(Attr::Ints(addresses)) => addresses.iter().copied().map(Some).collect(),
        Some(Attr::OpenInts(addresses)) => addresses.to_vec(),
        Some(_) | None => Vec::new(),
    }
}

/// The address of an operation's result, given its first address; `None` where one is open.
#[must_use]
pub fn address(op: OpRef<'_>, first: Option<i64>) -> Option<Address> {
    let further = further(op).into_iter().collect::<Option<Vec<_>>>()?;
    let addresses: Vec<i64> = std::iter::once(first?).chain(further).collect();
    let index = if addresses.len() > 1 { around(op) } else { None };
    Some(Address { addresses, index })
}

/// The index of the innermost loop around an operation.
fn around(op: OpRef<'_>) -> Option<ValueId> {
    op.ancestors().find_map(For::cast).and_then(|around| index(*around))
}

/// The index of a loop.
pub(crate) fn index(around: OpRef<'_>) -> Option<ValueId> {
    let block = around.regions().first().filter(|_| For::cast(around).is_some())?;
    around.module.args(*block).first().copied()
}

/// The address of a loop's argument, if the tensor that the body yields for it is at several rotating addresses.
pub(crate) fn carried_address(
    around: OpRef<'_>,
    yielded: Option<ValueId>,
    written: impl Fn(OpRef<'_>) -> Option<Address>,
) -> Option<Address> {
    let address = written(maker(around, yielded?)?)?;
    (address.index.is_some() && address.index == index(around)).then(|| address.carried())
}

/// The operation that made a value, before it was changed in place or carried.
#[must_use]
pub fn maker(op: OpRef<'_>, value: ValueId) -> Option<OpRef<'_>> {
    let mut value = value;
    loop {
        let ValueDef::Result(made, _) = op.module.def(value) else { return None };
        let made = op.other(made);
        let before = match carries(made) {
            true => {
                carried(made).into_iter().find(|carried| carried.result == Some(value)).map(|own| own.initial)
            }
            false => view::changed(made).or_else(|| {
                succeeded(made).into_iter().find(|(after, _)| *after == value).map(|(_, before)| before)
            }),
        };
        match before {
            Some(before) => value = before,
            None => return Some(made),
        }
    }
}

/// Checks where an operation puts a tensor, as [`check_place`] does, in each iteration of the loop around it.
///
/// # Errors
/// `constraint`: an address, more of them than [`MAX_TURNS`], or several where there is no loop.
pub fn check_addresses(
    op: OpRef<'_>,
    tensor: &Tensor,
    first: Option<i64>,
    capacity: u64,
    axes: &Axes,
    constraint: &str,
) -> Result<(), Diagnostic> {
    check_place(op, "at", tensor, first, capacity, axes, constraint)?;
    let further = further(op);
    if further.is_empty() {
        return Ok(());
    }
    if around(op).is_none() {
        let message = "it is in no loop, with whose iterations its addresses would follow each other";
        let error = op.clause_error(constraint, THEN.name, message.to_owned());
        return Err(error.fix("leave out `then`".to_owned()));
    }
    if further.len() >= MAX_TURNS {
        let message = format!(
            "{} after the first one, expected at most {}",
            counted(further.len(), "address"),
            MAX_TURNS - 1
        );
        return Err(op.clause_error(constraint, THEN.name, message));
    }
    further
        .into_iter()
        .try_for_each(|address| check_place(op, THEN.name, tensor, address, capacity, axes, constraint))
}
