//! The visa-opt driver, as a library and a binary.
