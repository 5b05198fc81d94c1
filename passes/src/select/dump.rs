//! E-graphs as files, for research: in the format of `egraph-serialize` (JSON), or for Graphviz.

use super::Choice;
use super::graph::Graph;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;

/// How an e-graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `.json`
    Json,
    /// `.dot`
    Dot,
}

/// The e-graphs of a run, and the file to write them to.
#[derive(Debug)]
pub struct Dump {
    path: PathBuf,
    form: Form,
    graphs: Vec<String>,
}

impl Dump {
    /// A dump to `path`; `None` if that is empty.
    ///
    /// # Errors
    /// A path that ends neither in `.json` nor in `.dot`.
    pub fn to(path: &str) -> Result<Option<Self>, Diagnostic> {
        if path.is_empty() {
            return Ok(None);
        }
        let path = PathBuf::from(path);
        let form = match path.extension().and_then(|end| end.to_str()) {
            Some("json") => Form::Json,
            Some("dot") => Form::Dot,
            Some(_) | None => {
                let message =
                    format!("cannot dump to `{}`: expected a name in .json or .dot", path.display());
                return Err(Diagnostic::error("dump", Span::default(), message));
            }
        };
        Ok(Some(Self { path, form, graphs: Vec::new() }))
    }

    /// Adds the e-graph of a choice.
    ///
    /// # Errors
    /// One that has no JSON.
    pub fn add(&mut self, ctx: &Context, choice: &Choice) -> Result<(), Diagnostic> {
        let text = match self.form {
            Form::Dot => choice.graph.egraph.dot().to_string(),
            Form::Json => {
                let nodes = serialized(ctx, &choice.graph, choice.chain.len());
                serde_json::to_string_pretty(&nodes).map_err(|why| unwritable(&self.path, &why))?
            }
        };
        self.graphs.push(text + "\n");
        Ok(())
    }

    /// Writes the files: of several pipelines each its own, with the pipeline's number, from 1, in its name.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self) -> Result<(), Diagnostic> {
        for (at, text) in self.graphs.iter().enumerate() {
            let path = if self.graphs.len() == 1 { self.path.clone() } else { numbered(&self.path, at + 1) };
            write_whole(&path, text.as_bytes()).map_err(|why| unwritable(&path, &why))?;
        }
        Ok(())
    }
}

fn unwritable(path: &Path, why: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error("dump", Span::default(), format!("cannot write `{}`: {why}", path.display()))
}

/// `a/b-2.json` of `a/b.json`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{}-{number}.{}", part(path.file_stem()), part(path.extension())))
}

/// All of the file or none of it.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".visa-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// In the format of the crate egraph-serialize, which itself would make every JSON object of the workspace keep its order of insertion. A node for each
/// way to make a value, with the cycles of its engine as its cost; a class for each value, with its type. The roots are what the pipeline can end in.
fn serialized(ctx: &Context, graph: &Graph, stages: usize) -> Value {
    let (mut nodes, mut types) = (Map::new(), Map::new());
    let class = |number: usize| graph.egraph.find(graph.classes[number].id).to_string();
    for (number, found) in graph.classes.iter().enumerate() {
        let ty = ctx.type_text(found.ty()).to_string();
        types.entry(class(number)).or_insert_with(|| json!({ "type": ty }));
        for (at, step) in found.steps.iter().enumerate() {
            let children: Vec<_> = step.source.map(|source| format!("{source}.0")).into_iter().collect();
            let node = json!({
                "op": step.head.as_str(),
                "children": children,
                "eclass": class(number),
                "cost": step.time.busiest,
                "subsumed": false,
            });
            nodes.insert(format!("{number}.{at}"), node);
        }
    }
    let roots: BTreeSet<_> = graph.ends(stages).map(class).collect();
    json!({ "nodes": nodes, "root_eclasses": roots, "class_data": types })
}
