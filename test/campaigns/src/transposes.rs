//! Every shape of matrix that the transpose engine takes (book 27), and those just outside, through verifier,
//! lowering, interpreter and logical evaluator.

use crate::settings::Settings;
use visa_opt::{Io, Registry};
use visa_support::kernel::Kernel;

/// A stream of 8 matrices.
#[derive(Clone, Copy, Debug)]
struct Shape {
    dtype: &'static str,
    /// Bytes of an element.
    width: u64,
    rows: u64,
    /// Flits of a row.
    flits: u64,
    /// Columns of a flit that hold something.
    live: u64,
    /// Columns of a flit that go out.
    kept: u64,
}

/// The formats, their widths and most rows of them.
const FORMATS: [(&str, u64, u64); 4] = [("i8", 1, 8), ("bf16", 2, 4), ("i32", 4, 2), ("f32", 4, 2)];

impl Shape {
    /// Matrix by matrix, row by row into data memory, and column by column out of it.
    fn kernel(self) -> String {
        let Self { dtype, width, rows, flits, live, kept } = self;
        let (flit, word) = (32 / width, (rows * width).next_multiple_of(8) / width);
        let columns = if kept < live { format!("E = {kept}") } else { format!("E # {kept}") };
        Kernel::new(&format!("N = 8, R = {rows}, K = {flits}, E = {live}"))
            .argument("x", dtype, "N, R, K, E", 0)
            .to_dm("d", "x", 0, "1 # 256", "N, R, K, E")
            .line("%0 = stream.begin main %d")
            .line("%1 = stream.fetch %0 time [N, R, K], packet [E # 8]")
            .line(&format!("%2 = stream.collect %1 time [N, R, K], packet [E # {flit}]"))
            .line(&format!("%3 = stream.transpose %2 time [N, K, {columns}], packet [R # {flit}]"))
            .line(&format!("%y = stream.commit %3 at 65536, element [N, K, {columns}, R # {word}]"))
            .returns("y", 1 << 24, &format!("N, K, {columns}, R"))
    }

    /// What visa-run says of it with `--check` and `--shadow`: nothing where all is well.
    fn run(self) -> String {
        let mut io = Io::buffered(self.kernel(), ".");
        let flags = ["-", "--check", "--shadow", "--arg", "x=iota", "--threads", "1"].map(Into::into);
        let code = visa_run::run(&Registry::standard(), &flags, &mut io);
        let said = String::from_utf8_lossy(&io.stderr).into_owned();
        assert_eq!(code == 0, said.is_empty(), "{self:?}: {said}");
        said
    }

    fn is_refused(self, code: &str) {
        let said = self.run();
        assert!(said.starts_with(&format!("error[{code}]")), "{self:?} should break {code}: {said}");
    }
}

/// Every matrix within the limits is transposed, and those just outside are refused. Of the first `count` are run,
/// evenly spread.
///
/// # Panics
/// If one is not.
pub fn run(settings: &Settings<'_>) {
    let shapes = within();
    let step = (shapes.len() as u64).div_ceil(settings.count.max(1)).max(1) as usize;
    // The offset changes with the seed: smoke runs of other seeds see other shapes.
    let some = shapes.iter().skip(settings.seed as usize % step).step_by(step);
    let count = some.clone().count();
    some.for_each(|shape| assert_eq!(shape.run(), "", "{shape:?}"));
    println!("{count} of {} matrices transposed", shapes.len());
    outside_is_refused();
}

/// Shapes within the limits.
fn within() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (dtype, width, most) in FORMATS {
        for rows in 1..=most {
            for (flits, live) in
                [1, 2, 4].into_iter().flat_map(|flits| (1..=8).map(move |live| (flits, live)))
            {
                // With several flits a row, padding between them stays; after a single one it may be trimmed. A
                // commit does not write steps of time that are padding but for the first.
                let kept = match (flits, live) {
                    (1, 1) => vec![1],
                    (1, _) => vec![live, (live + 8) / 2, 8],
                    (_, 1) => vec![],
                    (_, _) => vec![8],
                };
                shapes.extend(kept.into_iter().map(|kept| Shape { dtype, width, rows, flits, live, kept }));
            }
        }
    }
    shapes
}

fn outside_is_refused() {
    for (dtype, width, most) in FORMATS {
        let inside = Shape { dtype, width, rows: most, flits: 1, live: 8, kept: 8 };
        Shape { rows: most + 1, ..inside }.is_refused("stream.transpose-C1");
        for rows in 1..=most {
            Shape { rows, kept: 7, ..inside }.is_refused("stream.transpose-C4");
            Shape { rows, live: 5, kept: 4, ..inside }.is_refused("stream.transpose-C4");
            Shape { rows, kept: 9, ..inside }.is_refused("stream.transpose-C4");
            // A single row of three or eight flits is three or eight rows of one.
            for flits in [3, 5, 6, 7, 8].into_iter().filter(|_| rows > 1) {
                Shape { rows, flits, ..inside }.is_refused("stream.transpose-C2");
            }
        }
    }
}
