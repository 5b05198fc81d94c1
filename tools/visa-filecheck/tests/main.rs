//! FileCheck by texts: cases with known verdicts, and generated ones whose verdict is LLVM's.

mod cases;
mod llvm;
