//! Tensors of MLIR as elements over axes.

use crate::import::emit::axes::Axis;
use crate::import::emit::elem::{Data, Elem};
use crate::import::emit::emitter::Emitter;
use crate::import::emit::function::Function;
use crate::import::emit::integers;
use crate::import::read::loops::{Division, Linear, Loops};
use crate::import::read::types::Kind;
use visa_algebra::Expr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;

/// A tensor, or a scalar, which has no dimensions.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) elem: Elem,
    pub(crate) shape: Vec<u64>,
    /// The sizes of the axes that count each dimension, the outermost first.
    pub(crate) parts: Vec<Vec<u64>>,
    /// The axis of each part; `None` if the tensor is the same everywhere along it.
    pub(crate) dims: Vec<Option<Axis>>,
}

impl Tensor {
    /// A tensor with one axis at most for each dimension.
    pub(crate) fn plain(elem: Elem, shape: Vec<u64>, dims: Vec<Option<Axis>>) -> Self {
        let parts = shape.iter().map(|&size| vec![size]).collect();
        Self { elem, shape, parts, dims }
    }

    /// The sizes and the axes of each dimension's parts.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&[u64], &[Option<Axis>])> {
        let mut rest = self.dims.as_slice();
        self.parts.iter().map(move |sizes| {
            let (own, after) = rest.split_at(sizes.len());
            rest = after;
            (sizes.as_slice(), own)
        })
    }

    /// A tensor that is the same everywhere.
    pub(crate) fn uniform(elem: Elem, shape: Vec<u64>) -> Self {
        let dims = vec![None; shape.len()];
        Self::plain(elem, shape, dims)
    }

    /// A tensor over these axes; its elements have those axes that their value depends on.
    pub(crate) fn over(
        emit: &mut Emitter<'_>,
        elem: Elem,
        shape: Vec<u64>,
        (parts, axes): (Vec<Vec<u64>>, Vec<Option<Axis>>),
    ) -> Result<Self, Diagnostic> {
        let elem = emit.built(&elem)?;
        let has = match elem.data {
            Data::Value(value) => emit.axes_of(value)?,
            Data::Number(_) | Data::Term(..) | Data::Undefined => Vec::new(),
        };
        let dims = axes.into_iter().map(|axis| axis.filter(|axis| has.contains(axis))).collect();
        Ok(Self { elem, shape, parts, dims })
    }

    pub(crate) fn kind(&self) -> Kind {
        self.elem.kind
    }
}

/// The elements of a tensor that a loop nest reads, over the axes of its loops.
///
/// # Errors
/// An index that is not read: a negative factor, or windows that leave the tensor.
pub(crate) fn read(
    emit: &mut Emitter<'_>,
    tensor: &Tensor,
    map: &[Linear],
    loops: &Loops,
    axes: &[Option<Axis>],
) -> Result<Elem, Diagnostic> {
    let Data::Value(mut value) = tensor.elem.data else { return Ok(tensor.elem.clone()) };
    let used: Vec<(usize, Axis)> =
        tensor.dims.iter().enumerate().filter_map(|(at, dim)| Some((at, dim.clone()?))).collect();
    // Axes that a loop counts get its name. Others may not have the name of a loop.
    let (mut pairs, mut left, mut counted) = (Vec::new(), Vec::new(), Vec::new());
    for (at, axis) in used {
        let index = simplified(&map[at], loops);
        match index.single().and_then(|at| axes[at].clone()).filter(|name| !counted.contains(name)) {
            Some(name) => {
                counted.push(name.clone());
                pairs.push((axis, name));
            }
            None => {
                let is_taken = axes.iter().flatten().any(|name| *name == axis);
                let name = if is_taken { emit.axes.fresh("X", tensor.shape[at]) } else { axis.clone() };
                left.push((index, name.clone(), tensor.shape[at]));
                pairs.push((axis, name));
            }
        }
    }
    value = emit.rename(value, &pairs)?;
    let mut windows = Windows::default();
    for (index, axis, size) in left {
        let taken: Vec<Axis> = emit.axes_of(value)?;
        let plain =
            index.terms.iter().all(|(at, _)| axes[*at].as_ref().is_some_and(|axis| !taken.contains(axis)));
        if !index.digits.is_empty() {
            value = gathered(emit, value, &index, (&axis, size), axes, loops)?;
        } else if index.terms.is_empty() {
            value = at_number(emit, value, index.offset, &axis)?;
        } else if let ([(at, factor @ 1..)], true) = (index.terms.as_slice(), plain) {
            inside(emit, &index, size, loops)?;
            let to = axes[*at].clone().ok_or_else(|| emit.refuse("a loop without an axis"))?;
            value = emit.every(value, &axis, (index.offset.unsigned_abs(), factor.unsigned_abs()), &to)?;
        } else if plain && index.terms.len() > 1 && windows.take(&index) {
            value = windows.add(emit, value, &index, (&axis, size), axes, loops)?;
        } else {
            value = gathered(emit, value, &index, (&axis, size), axes, loops)?;
        }
    }
    value = windows.read(emit, value)?;
    Ok(Elem { data: Data::Value(value), narrow: None, ..tensor.elem.clone() })
}

/// An index without loops of a single iteration.
fn simplified(index: &Linear, loops: &Loops) -> Linear {
    let terms = index.terms.iter().copied().filter(|(at, _)| loops.extents[*at] > 1).collect();
    Linear { terms, ..index.clone() }
}

/// The elements at one coordinate.
///
/// # Errors
/// A coordinate that the axis lacks.
pub(crate) fn at_number(
    emit: &mut Emitter<'_>,
    value: ValueId,
    index: i64,
    axis: &Axis,
) -> Result<ValueId, Diagnostic> {
    let size = emit.size(axis)?;
    let Some(at) = u64::try_from(index).ok().filter(|&at| at < size) else {
        return Err(emit.refuse(format!("reads index {index} of a dimension of {size}")));
    };
    let value = if at == 0 { value } else { emit.extract(value, axis, at)? };
    emit.without(value, std::slice::from_ref(axis))
}

fn inside(emit: &Emitter<'_>, index: &Linear, size: u64, loops: &Loops) -> Result<u64, Diagnostic> {
    let (least, greatest) = index.ends(&loops.extents);
    match (u64::try_from(least), u64::try_from(greatest)) {
        (Ok(_), Ok(greatest)) if greatest < size => Ok(greatest + 1 - least as u64),
        _ => Err(emit.refuse(format!("reads indices {least} to {greatest} of a dimension of {size}"))),
    }
}

/// Windows: positions of sliding mappings, of all dimensions together.
#[derive(Default)]
struct Windows {
    loops: Vec<usize>,
    from: Vec<Expr>,
    to: Vec<Expr>,
}

impl Windows {
    /// Returns true if an index counts forwards by loops that no other window has.
    fn take(&mut self, index: &Linear) -> bool {
        let is_new = index.terms.iter().all(|(at, factor)| *factor > 0 && !self.loops.contains(at));
        if is_new {
            self.loops.extend(index.terms.iter().map(|(at, _)| *at));
        }
        is_new
    }

    /// Adds the windows of a dimension, without the elements that none of them reaches.
    fn add(
        &mut self,
        emit: &mut Emitter<'_>,
        value: ValueId,
        index: &Linear,
        (axis, size): (&Axis, u64),
        axes: &[Option<Axis>],
        loops: &Loops,
    ) -> Result<ValueId, Diagnostic> {
        let reach = inside(emit, index, size, loops)?;
        let term = |(at, factor): &(usize, i64)| {
            axes[*at].as_ref().map(|axis| (Expr::axis(axis), factor.unsigned_abs()))
        };
        self.to.push(Expr::Slide(index.terms.iter().filter_map(term).collect()));
        if reach == size {
            self.from.push(Expr::axis(axis));
            return Ok(value);
        }
        let reached = emit.axes.fresh("X", reach);
        self.from.push(Expr::axis(&reached));
        if let Some(shorter) = emit.extended_less(value, axis, &reached).filter(|_| index.offset == 0) {
            return shorter;
        }
        emit.every(value, axis, (index.offset.unsigned_abs(), 1), &reached)
    }

    fn read(self, emit: &mut Emitter<'_>, value: ValueId) -> Result<ValueId, Diagnostic> {
        if self.from.is_empty() {
            return Ok(value);
        }
        emit.rearrange(value, Expr::pair(self.from), Expr::pair(self.to))
    }
}

/// Elements at computed indices: every n-th element, diagonals and reversed dimensions.
fn gathered(
    emit: &mut Emitter<'_>,
    value: ValueId,
    index: &Linear,
    (axis, size): (&Axis, u64),
    axes: &[Option<Axis>],
    loops: &Loops,
) -> Result<ValueId, Diagnostic> {
    inside(emit, index, size, loops)?;
    let index = computed(emit, index, axes, loops)?;
    let index = emit.value(&index)?;
    emit.gather(value, index, axis)
}

/// The elements of an index.
fn computed(
    emit: &mut Emitter<'_>,
    index: &Linear,
    axes: &[Option<Axis>],
    loops: &Loops,
) -> Result<Elem, Diagnostic> {
    let mut terms = Vec::new();
    for &(at, factor) in &index.terms {
        let Some(axis) = &axes[at] else { continue };
        let coordinate = Elem::value(Kind::I32, emit.index(axis)?);
        terms.push((coordinate.with_range(Linear::of_loop(at).ends(&loops.extents)), factor));
    }
    for digit in &index.digits {
        let (of, by) = (computed(emit, &digit.of, axes, loops)?, Elem::number(Kind::I32, digit.by as f64));
        let of = emit.built(&of)?;
        let elem = match digit.division {
            Division::Floor => integers::floor(emit, [&of, &by], Kind::I32)?,
            Division::Ceiling => integers::ceiling(emit, [&of, &by], Kind::I32)?,
            Division::Remainder if of.range.0 >= 0 => integers::remainder(emit, [&of, &by], Kind::I32)?,
            Division::Remainder => {
                let whole = integers::floor(emit, [&of, &by], Kind::I32)?;
                let multiple = emit.apply(Function::Mul, &[&whole, &by], Kind::I32)?;
                emit.apply(Function::Sub, &[&of, &multiple], Kind::I32)?.with_range((0, digit.by - 1))
            }
        };
        terms.push((elem, digit.factor));
    }
    let mut sum = Elem::number(Kind::I32, index.offset as f64);
    for (elem, factor) in terms {
        let factor = Elem::number(Kind::I32, factor as f64);
        let scaled = match factor.as_number() {
            Some(1.0) => elem,
            Some(_) | None => emit.apply(Function::Mul, &[&elem, &factor], Kind::I32)?,
        };
        sum = match sum.as_number() {
            Some(0.0) => scaled,
            Some(_) | None => emit.apply(Function::Add, &[&scaled, &sum], Kind::I32)?,
        };
    }
    Ok(sum.with_range(index.ends(&loops.extents)))
}

/// The dimensions of a result: the axis of each index of its map.
///
/// # Errors
/// A map that is no permutation of loops.
pub(crate) fn written(
    emit: &Emitter<'_>,
    map: &[Linear],
    loops: &Loops,
    axes: &[Option<Axis>],
) -> Result<Vec<Option<Axis>>, Diagnostic> {
    let mut dims = Vec::new();
    for index in map {
        let index = simplified(index, loops);
        let dim = match (index.single(), index == Linear::default()) {
            (Some(at), _) => axes[at].clone(),
            (None, true) => None,
            (None, false) => return Err(emit.refuse("writes its result by an index that is no loop")),
        };
        if dim.is_some() && dims.contains(&dim) {
            return Err(emit.refuse("writes its result by one loop in two dimensions"));
        }
        dims.push(dim);
    }
    Ok(dims)
}

/// A tensor as an array: a value with an axis for each dimension, in their order. If those of several coordinates are
/// in order, an axis of one coordinate is made with the one next to it, by a split: that is a relabel, as neither a
/// broadcast nor another order of the axes is.
pub(crate) fn array(emit: &mut Emitter<'_>, tensor: &Tensor, axes: &[Axis]) -> Result<ValueId, Diagnostic> {
    let value = emit.value(&tensor.elem)?;
    let groups = groups(emit, axes)?;
    let place = |dim: &Axis| tensor.dims.iter().position(|own| own.as_ref() == Some(dim));
    let order: Vec<_> = emit.axes_of(value)?.iter().map(place).collect();
    let is_split = !groups.is_empty() && groups.iter().map(|(at, _)| Some(*at)).eq(order);
    let mut names = axes.to_vec();
    for (at, _) in groups.iter().filter(|(_, group)| is_split && group.len() > 1) {
        let size = emit.size(&axes[*at])?;
        names[*at] = emit.axes.fresh("D", size);
    }
    let pairs = tensor.dims.iter().zip(&names).filter_map(|(dim, name)| Some((dim.clone()?, name.clone())));
    let mut value = emit.rename(value, &pairs.collect::<Vec<_>>())?;
    if let Some(passed) = tensor.kind().passed() {
        value = emit.cast(value, passed)?;
    }
    if !is_split {
        return emit.in_order(value, axes);
    }
    groups
        .iter()
        .filter(|(_, group)| group.len() > 1)
        .try_fold(value, |value, (at, group)| emit.split(value, &names[*at], group))
}

/// The place of each axis of several coordinates, and that axis with those of one coordinate before it; the last one
/// also with those after it.
fn groups(emit: &Emitter<'_>, axes: &[Axis]) -> Result<Vec<(usize, Vec<Axis>)>, Diagnostic> {
    let (mut groups, mut units): (Vec<(usize, Vec<Axis>)>, Vec<Axis>) = (Vec::new(), Vec::new());
    for (at, axis) in axes.iter().enumerate() {
        units.push(axis.clone());
        if emit.size(axis)? > 1 {
            groups.push((at, std::mem::take(&mut units)));
        }
    }
    if let Some((_, last)) = groups.last_mut() {
        last.append(&mut units);
    }
    Ok(groups)
}
