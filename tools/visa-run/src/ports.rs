//! The arguments and results of a kernel, at any level.

use visa_hw::program::{Buffer, Program, Scalar};
use visa_ir::span::Span;
use visa_numerics::DType;
use visa_reference::{ScalarInfo, Signature, TensorInfo};

use crate::data;

/// The arguments and results of a kernel.
pub(crate) struct Ports {
    /// The kernel's name, without `@`.
    pub(crate) kernel: String,
    /// The arguments that have data, in order.
    pub(crate) arguments: Vec<Port>,
    /// The arguments that are numbers, in order.
    pub(crate) scalars: Vec<ScalarPort>,
    /// The results, in order.
    pub(crate) results: Vec<Port>,
}

/// An argument or a result: a C-order array.
pub(crate) struct Port {
    /// The name that the user gives data by.
    pub(crate) name: String,
    /// Format of the elements.
    pub(crate) dtype: DType,
    /// Extents of the array, outermost first; empty for a single element.
    pub(crate) shape: Vec<u64>,
}

/// An argument that is a number, known when the kernel starts.
pub(crate) struct ScalarPort {
    /// The name that the user gives the number by.
    pub(crate) name: String,
    /// The number is below this.
    pub(crate) count: u64,
    /// Where it is declared.
    pub(crate) span: Span,
}

impl Port {
    /// Bytes of the array; `u64::MAX` on overflow.
    pub(crate) fn bytes(&self) -> u64 {
        data::array_bytes(self.dtype, &self.shape).unwrap_or(u64::MAX)
    }
}

impl From<&Program> for Ports {
    fn from(program: &Program) -> Self {
        let ports = |argument: bool| {
            program.buffers.iter().filter(|buffer| buffer.argument == argument).map(Port::from).collect()
        };
        Self {
            kernel: program.name.clone(),
            arguments: ports(true),
            scalars: program.scalars.iter().map(ScalarPort::from).collect(),
            results: ports(false),
        }
    }
}

impl From<Signature> for Ports {
    fn from(signature: Signature) -> Self {
        let Signature { entry, arguments, scalars, results } = signature;
        Self {
            kernel: entry,
            arguments: arguments.into_iter().map(Port::from).collect(),
            scalars: scalars.into_iter().map(ScalarPort::from).collect(),
            results: results.into_iter().map(Port::from).collect(),
        }
    }
}

impl From<&Buffer> for Port {
    fn from(buffer: &Buffer) -> Self {
        Self { name: buffer.name.clone(), dtype: buffer.dtype, shape: buffer.shape.clone() }
    }
}

impl From<TensorInfo> for Port {
    fn from(info: TensorInfo) -> Self {
        let TensorInfo { name, dtype, shape } = info;
        Self { name, dtype, shape }
    }
}

impl From<&Scalar> for ScalarPort {
    fn from(scalar: &Scalar) -> Self {
        let Scalar { name, count, span } = scalar.clone();
        Self { name, count, span }
    }
}

impl From<ScalarInfo> for ScalarPort {
    fn from(info: ScalarInfo) -> Self {
        let ScalarInfo { name, count, span } = info;
        Self { name, count, span }
    }
}
