//! Values of the input's expressions while it is read.

use crate::condition::Condition;
use crate::error::{Error, SourcePosition};
use crate::integer::{Int, IntTy};
use crate::iterate::Iter;
use crate::map::Map;
use crate::place::Reference;
use crate::program::{AdtId, FnId};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use visa_mapping::Dim;
use visa_numerics::DType;

/// A memory in which tensors are at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// `HbmTensor`
    Hbm,
    /// `DmTensor`
    Dm,
    /// `SpmTensor`
    Spm,
    /// `TrfTensor`
    Trf,
    /// `VrfTensor`
    Vrf,
    /// `HostTensor`
    Host,
}

impl Memory {
    /// The memory, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hbm => "HBM",
            Self::Dm => "data memory",
            Self::Spm => "scratchpad memory",
            Self::Trf | Self::Vrf => "a register file",
            Self::Host => "host memory",
        }
    }

    /// The clauses of its mappings, in order.
    pub(crate) fn dims(self) -> &'static [&'static str] {
        match self {
            Self::Host => &["element"],
            Self::Hbm => &["chip", "element"],
            Self::Dm | Self::Vrf => &["chip", "cluster", "slice", "element"],
            Self::Spm => &["chip", "cluster", "pe", "element"],
            Self::Trf => &["chip", "cluster", "slice", "row", "element"],
        }
    }
}

/// The explicit part of a type: the types of `_` follow from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// `_`, or not written.
    Open,
    /// A number, by its name.
    Number(Rc<str>),
    /// A mapping.
    Map(Map),
    /// A tensor at rest, owned, borrowed or seen.
    Tensor(TensorType),
    /// A tuple.
    Tuple(Vec<Type>),
    /// An array, and its length where that is known.
    Array(Box<Type>, Option<usize>),
    /// An `Option` or a `Result` with a value of this type.
    Within(Box<Type>),
    /// A structure or an enumeration of the input.
    Adt(AdtId),
    /// The context.
    Context,
    /// Anything else, by its name.
    Other(String),
}

/// The type of a tensor at rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TensorType {
    /// Its memory.
    pub(crate) memory: Memory,
    /// Its format, if it is written.
    pub(crate) dtype: Option<DType>,
    /// Its explicit mappings, as [`Memory::dims`] lists them.
    pub(crate) maps: Vec<Option<Map>>,
}

impl TensorType {
    pub(crate) fn element(&self) -> Option<&Map> {
        self.maps.last().and_then(Option::as_ref)
    }

    /// The mapping of a dimension, if it is written.
    pub(crate) fn dim(&self, name: &str) -> Option<&Map> {
        let at = self.memory.dims().iter().position(|own| *own == name)?;
        self.maps.get(at)?.as_ref()
    }

    /// The same with another mapping of a dimension that its memory has.
    pub(crate) fn with_dim(&self, name: &str, map: Map) -> Self {
        let mut own = self.clone();
        for (dim, held) in self.memory.dims().iter().zip(&mut own.maps) {
            if *dim == name {
                *held = Some(map.clone());
            }
        }
        own
    }

    /// The tensor in HBM with the elements of one in data memory; any other tensor is itself.
    pub(crate) fn in_hbm(&self) -> Self {
        if self.memory != Memory::Dm {
            return self.clone();
        }
        let element = ["cluster", "slice", "element"].iter().filter_map(|dim| self.dim(dim));
        let element = Map::List(element.flat_map(Map::without_padding).collect());
        Self { memory: Memory::Hbm, dtype: self.dtype, maps: vec![self.dim("chip").cloned(), Some(element)] }
    }
}

/// A sum of indices of loops, each times a factor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Affine {
    /// Indices by their names in the text.
    pub(crate) terms: BTreeMap<String, i64>,
    /// The number that is added.
    pub(crate) plus: i64,
}

impl Affine {
    pub(crate) fn of(number: i64) -> Self {
        Self { terms: BTreeMap::new(), plus: number }
    }

    pub(crate) fn index(name: &str) -> Self {
        Self { terms: BTreeMap::from([(name.to_owned(), 1)]), plus: 0 }
    }

    pub(crate) fn number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.plus)
    }

    pub(crate) fn add(&self, other: &Self, sign: i64) -> Option<Self> {
        let mut sum = self.clone();
        sum.plus = sum.plus.checked_add(other.plus.checked_mul(sign)?)?;
        for (name, factor) in &other.terms {
            let own = sum.terms.entry(name.clone()).or_default();
            *own = own.checked_add(factor.checked_mul(sign)?)?;
        }
        sum.terms.retain(|_, factor| *factor != 0);
        Some(sum)
    }

    pub(crate) fn times(&self, by: i64) -> Option<Self> {
        let mut product = Self::of(self.plus.checked_mul(by)?);
        for (name, factor) in &self.terms {
            product.terms.insert(name.clone(), factor.checked_mul(by)?);
        }
        product.terms.retain(|_, factor| *factor != 0);
        Some(product)
    }
}

/// Numbers of the host alone.
pub(crate) const HOST_NUMBERS: &[&str] = &[
    "usize", "isize", "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128", "f32", "f64",
    "bool",
];

/// The greatest position that an integer taken by a kernel can be: more elements than HBM holds.
pub(crate) const MAX_POSITION: i64 = 1 << 40;

/// A sum of indices and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) sum: Affine,
    pub(crate) ty: IntTy,
}

impl Index {
    /// An index, or an integer as one; `None` for other values and for integers above 64 bits.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => {
                let sum = Affine::of(i64::try_from(number.number()?).ok()?);
                Some(Self { sum, ty: number.ty })
            }
            Value::Index(index) => Some(index.clone()),
            Value::Ref(own) => own.read().as_ref().and_then(Self::of),
            _ => None,
        }
    }
}

/// A tensor at rest of the kernel: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PlaceId(pub(crate) usize);

/// The change that a view makes to its source.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Tile {
        along: Map,
        size: u64,
        first: Affine,
        /// The new element mapping, if elements are cut: else chips, clusters or slices are.
        element: Option<Map>,
    },
    Pad(Map),
    Unpad(Map),
    /// The mappings that change, and those alone, and the position of the author's text.
    Reshape(TensorType, SourcePosition),
}

/// A part of a tensor, or all of it, under its own mappings.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) place: PlaceId,
    pub(crate) steps: Vec<Step>,
    pub(crate) ty: TensorType,
}

/// A fetch that is not written yet: the next calls may still be part of it.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    pub(crate) begin: String,
    pub(crate) time: Map,
    pub(crate) packet: Map,
    pub(crate) clauses: FetchClauses,
    /// The dimensions whose copies it reads in part, with the parts.
    pub(crate) lifts: Vec<(Dim, Map)>,
    /// Where it is in the input.
    pub(crate) span: proc_macro2::Span,
}

/// The changes of a fetch to elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FetchClauses {
    /// The table in which they are looked up.
    pub(crate) table: Option<Rc<str>>,
    /// The format that they are converted to.
    pub(crate) dtype: Option<DType>,
    pub(crate) zero_points: Option<Vec<i64>>,
    /// True if the lookup is the last of these so far.
    pub(crate) looked_up: bool,
}

/// A tensor on its way through the Tensor Unit.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// Its name in the text; that of a fetch is not known yet.
    pub(crate) name: String,
    pub(crate) fetch: Option<Fetch>,
    pub(crate) dtype: DType,
    pub(crate) chip: Map,
    pub(crate) cluster: Map,
    pub(crate) slice: Map,
    /// The operation that begins it, in the sub context.
    pub(crate) sub: Option<String>,
    /// The part of its packet that a commit keeps, where that is specified before.
    pub(crate) kept: Option<Map>,
    /// True if it has been in the vector engine.
    pub(crate) vector: bool,
    /// The source of the number of written elements of each flit, where not all are.
    pub(crate) counted: Option<Counted>,
    /// The stream that was stashed last.
    pub(crate) stash: Option<String>,
    /// The axis of its two groups, where it has some.
    pub(crate) groups: Option<Map>,
    /// Two interleaved tensors, until the vector engine splits them.
    pub(crate) interleaved: Option<Interleaved>,
    /// The fetch, if it is the last operation.
    pub(crate) fetched: Option<Packets>,
    /// The fetch and the collect after it, if the collect is the last operation.
    pub(crate) collected: Option<(Packets, Packets)>,
}

/// A stream of two interleaved tensors.
#[derive(Clone, Debug)]
pub(crate) struct Interleaved {
    /// The axis of the two.
    pub(crate) axis: Map,
    /// True if their packets alternate from the fetch on, which the book requires of a fetch with other time.
    pub(crate) alternates: bool,
    /// The operations so far, each with its time.
    pub(crate) times: Vec<(String, Map)>,
    /// The error of the vector engine, if a group is too long for it.
    pub(crate) too_long: Option<Error>,
}

/// An operation that is written, and the mappings of its stream.
#[derive(Clone, Debug)]
pub(crate) struct Packets {
    pub(crate) name: String,
    pub(crate) time: Map,
    pub(crate) packet: Map,
}

/// The source of the number of written elements of a flit.
#[derive(Clone, Debug)]
pub(crate) enum Counted {
    /// The filter, before it.
    Filter,
    /// This number, for all flits.
    Number(visa_mapping::tensor::numbers::Number),
}

/// The first part of the path of an axis' name, as the value of `A::NAME`.
pub(crate) const AXIS_NAME: &str = "AxisName";

/// A choice that an engine is given, or a structure of the toolchain's.
#[derive(Clone)]
pub(crate) struct Variant {
    pub(crate) path: Vec<String>,
    pub(crate) args: Vec<Value>,
    pub(crate) fields: BTreeMap<String, Value>,
}

impl Variant {
    pub(crate) fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

/// A closure with its environment.
#[derive(Clone)]
pub(crate) struct Closure {
    pub(crate) item: Rc<syn::ExprClosure>,
    pub(crate) frame: crate::eval::Frame,
}

/// The parts of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Main,
    Sub,
    Dma,
}

/// A transfer whose destination is not named yet.
#[derive(Clone)]
pub(crate) enum Deferred {
    /// `table.gather::<Axis, Payload>()`, and its index.
    Gather { table: View, along: Map, index: Option<View> },
    /// `table.view_mut().scatter::<Axis, Payload>()`, and its index.
    Scatter { table: View, along: Map, index: Option<View> },
    /// `tensor.chip_shuffle(..)` and the like.
    Redistribution(Redistribution),
}

/// Steps by which chips and clusters get parts of others.
#[derive(Clone)]
pub(crate) struct Redistribution {
    pub(crate) input: View,
    /// The last step.
    pub(crate) step: Exchange,
    /// The chip that each chip gets its part from, if a shuffle names it.
    pub(crate) chips: Option<Vec<i64>>,
    /// True if the two clusters of a chip swap.
    pub(crate) swaps: bool,
    pub(crate) slices: Vec<Slice>,
}

/// A step of a redistribution, in the order in which they follow each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exchange {
    ChipShuffle,
    ClusterSwap,
    ChipSlice,
    ClusterSlice,
}

impl Exchange {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "chip_shuffle" => Self::ChipShuffle,
            "cluster_swap" => Self::ClusterSwap,
            "chip_slice" | "asymmetric_chip_slice" => Self::ChipSlice,
            "cluster_slice" | "asymmetric_cluster_slice" => Self::ClusterSlice,
            _ => return None,
        })
    }

    /// The method of the step.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ChipShuffle => "chip_shuffle",
            Self::ClusterSwap => "cluster_swap",
            Self::ChipSlice => "chip_slice",
            Self::ClusterSlice => "cluster_slice",
        }
    }

    /// Returns true if the step selects positions, and may follow itself.
    pub(crate) fn selects(self) -> bool {
        match self {
            Self::ChipSlice | Self::ClusterSlice => true,
            Self::ChipShuffle | Self::ClusterSwap => false,
        }
    }
}

/// One position of an axis for each chip or cluster.
#[derive(Clone)]
pub(crate) struct Slice {
    pub(crate) step: Exchange,
    pub(crate) axis: Map,
    pub(crate) positions: Vec<i64>,
    /// The element mapping after it.
    pub(crate) element: Map,
}

impl Deferred {
    /// The kind of the transfer, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Gather { .. } => "a gather",
            Self::Scatter { .. } => "a scatter",
            Self::Redistribution(_) => "a redistribution",
        }
    }
}

/// A floating-point number of the host, computed in its format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Float {
    F32(f32),
    F64(f64),
}

impl Float {
    /// The number, exactly.
    pub(crate) fn number(self) -> f64 {
        match self {
            Self::F32(number) => number.into(),
            Self::F64(number) => number,
        }
    }
}

/// A structure, or a variant of an enumeration, of the input.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) of: AdtId,
    /// The variant; a structure has one.
    pub(crate) variant: usize,
    /// The fields by their names; those of a tuple by their positions.
    pub(crate) fields: BTreeMap<String, Value>,
}

/// A range of integers.
#[derive(Clone)]
pub(crate) struct Range {
    pub(crate) start: Option<Value>,
    pub(crate) end: Option<Value>,
    pub(crate) inclusive: bool,
}

#[derive(Clone)]
pub(crate) enum Value {
    Nothing,
    Int(Int),
    Float(Float),
    Bool(bool),
    Char(char),
    Tuple(Vec<Value>),
    Array(Vec<Value>),
    Struct(Record),
    Variant(Box<Variant>),
    Range(Box<Range>),
    /// A variable, or a part of one, that may be changed.
    Ref(Reference),
    /// A function by its name.
    Function(FnId),
    /// The constructor of a structure or a variant from its fields.
    Constructor(AdtId, usize),
    Iter(Rc<RefCell<Iter>>),
    Index(Index),
    /// A value that is true only in some iterations of a loop.
    Condition(Box<Condition>),
    Context,
    Unit(Unit),
    View(View),
    Stream(Box<Stream>),
    /// A transfer whose destination is not named yet.
    Deferred(Box<Deferred>),
    Closure(Rc<Closure>),
}

impl Value {
    /// The number of an integer; `None` for one past `i128`, and for another value.
    pub(crate) fn integer(&self) -> Option<i128> {
        match self {
            Self::Int(own) => own.number(),
            _ => None,
        }
    }

    /// A choice or a structure of the toolchain's or of the language, such as `Some(x)`.
    pub(crate) fn variant(path: Vec<String>, args: Vec<Self>) -> Self {
        Self::Variant(Box::new(Variant { path, args, fields: BTreeMap::new() }))
    }

    /// `Some(value)` or `None`.
    pub(crate) fn option(value: Option<Self>) -> Self {
        match value {
            Some(value) => Self::variant(vec!["Some".to_owned()], vec![value]),
            None => Self::variant(vec!["None".to_owned()], Vec::new()),
        }
    }

    /// Returns true if a number in it is known only when the kernel runs.
    pub(crate) fn moves(&self) -> bool {
        match self {
            Self::Index(index) => index.sum.number().is_none(),
            Self::Condition(_) => true,
            Self::Tuple(all) | Self::Array(all) => all.iter().any(Self::moves),
            Self::Struct(own) => own.fields.values().any(Self::moves),
            Self::Variant(own) => own.args.iter().chain(own.fields.values()).any(Self::moves),
            Self::Range(own) => own.start.iter().chain(&own.end).any(Self::moves),
            Self::Nothing
            | Self::Int(_)
            | Self::Float(_)
            | Self::Bool(_)
            | Self::Char(_)
            | Self::Ref(_)
            | Self::Function(_)
            | Self::Constructor(..)
            | Self::Iter(_)
            | Self::Context
            | Self::Unit(_)
            | Self::View(_)
            | Self::Stream(_)
            | Self::Deferred(_)
            | Self::Closure(_) => false,
        }
    }

    /// The kind of the value, for messages.
    pub(crate) fn kind(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Nothing => "nothing",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a floating-point number",
            Self::Bool(_) => "a truth value",
            Self::Char(_) => "a character",
            Self::Tuple(_) => "a tuple",
            Self::Array(_) => "an array",
            Self::Struct(_) => "a structure",
            Self::Variant(variant) => return Cow::Owned(format!("`{}`", variant.path.join("::"))),
            Self::Range(_) => "a range",
            Self::Ref(_) => "a reference",
            Self::Function(_) | Self::Constructor(..) => "a function",
            Self::Iter(_) => "an iterator",
            Self::Index(_) => "an index of a loop",
            Self::Condition(_) => "a condition on an index",
            Self::Context => "the context",
            Self::Unit(Unit::Main) => "the main context",
            Self::Unit(Unit::Sub) => "the sub context",
            Self::Unit(Unit::Dma) => "a DMA context",
            Self::View(_) => "a tensor",
            Self::Stream(_) => "a stream",
            Self::Deferred(own) => own.kind(),
            Self::Closure(_) => "a closure",
        })
    }
}

/// A choice without arguments, by its name.
pub(crate) fn choice(value: &Value) -> Option<&Variant> {
    match value {
        Value::Variant(variant) => Some(variant),
        _ => None,
    }
}

/// A type, completed with the known parts of another one.
pub(crate) fn merged(written: &TensorType, wanted: &TensorType) -> TensorType {
    let map = |(own, other): (&Option<Map>, &Option<Map>)| own.clone().or_else(|| other.clone());
    match written.memory == wanted.memory {
        true => TensorType {
            memory: written.memory,
            dtype: written.dtype.or(wanted.dtype),
            maps: written.maps.iter().zip(&wanted.maps).map(map).collect(),
        },
        false => written.clone(),
    }
}
