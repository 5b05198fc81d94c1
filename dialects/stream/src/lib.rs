//! The stream dialect: the Tensor Unit's pipeline as typed values.
