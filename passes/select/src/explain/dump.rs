//! E-graphs as files, for research: in the format of `egraph-serialize` (JSON), or for Graphviz.

use crate::config::choice::Choice;
use crate::config::graph::Graph;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_pass::Output;

/// File format of an e-graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `.json`
    Json,
    /// `.dot`
    Dot,
}

impl Form {
    const ALL: [Self; 2] = [Self::Json, Self::Dot];

    /// The extension of such a file, after the dot.
    fn ending(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Dot => "dot",
        }
    }
}

/// The e-graphs of a run, and the file to write them to.
#[derive(Debug)]
pub(crate) struct Dump {
    /// The file's name up to the dot of its ending.
    stem: String,
    form: Form,
    graphs: Vec<String>,
}

impl Dump {
    /// A dump to `path`; `None` if that is empty.
    ///
    /// # Errors
    /// A path that ends neither in `.json` nor in `.dot`.
    pub(crate) fn to(path: &str) -> Result<Option<Self>, Diagnostic> {
        if path.is_empty() {
            return Ok(None);
        }
        let named = path.rsplit_once('.').filter(|(stem, _)| !stem.is_empty() && !stem.ends_with('/'));
        let form = |ending| Form::ALL.into_iter().find(|form| form.ending() == ending);
        match named.and_then(|(stem, ending)| Some((stem.to_owned(), form(ending)?))) {
            Some((stem, form)) => Ok(Some(Self { stem, form, graphs: Vec::new() })),
            None => {
                let message = format!("cannot dump to `{path}`: expected a name in .json or .dot");
                Err(Diagnostic::error("dump", Span::default(), message))
            }
        }
    }

    /// Adds the e-graph of a choice.
    ///
    /// # Errors
    /// One that has no JSON.
    pub(crate) fn add(&mut self, ctx: &Context, choice: &Choice) -> Result<(), Diagnostic> {
        let text = match self.form {
            Form::Dot => choice.graph.egraph.dot().to_string(),
            Form::Json => {
                let nodes = serialized(ctx, &choice.graph, choice.chain.len());
                serde_json::to_string_pretty(&nodes)
                    .map_err(|why| Diagnostic::error("dump", Span::default(), why.to_string()))?
            }
        };
        self.graphs.push(text + "\n");
        Ok(())
    }

    /// The files: of several pipelines each its own, with the pipeline's number, from 1, in its name.
    pub(crate) fn outputs(self) -> impl Iterator<Item = Output> {
        let Self { stem, form, graphs } = self;
        let several = graphs.len() > 1;
        graphs.into_iter().enumerate().map(move |(at, text)| {
            let number = if several { format!("-{}", at + 1) } else { String::new() };
            Output { name: format!("{stem}{number}.{}", form.ending()), bytes: text.into_bytes() }
        })
    }
}

/// In the format of the crate egraph-serialize, which itself would make every JSON object of the workspace keep its
/// order of insertion. A node for each way to make a value, with the cycles of its engine as its cost; a class for
/// each value, with its type. The roots are the possible ends of the pipeline.
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
