//! The timeline as a page for a browser: one file that fetches nothing.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::document::Document;
use crate::limits::{drawn, inexact};

const PAGE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");

/// The scripts in the order in which they need each other.
const SCRIPTS: [&str; 13] = [
    include_str!("../page/data.js"),
    include_str!("../page/show.js"),
    include_str!("../page/view.js"),
    include_str!("../page/lanes.js"),
    include_str!("../page/memory.js"),
    include_str!("../page/select.js"),
    include_str!("../page/text.js"),
    include_str!("../page/details.js"),
    include_str!("../page/table.js"),
    include_str!("../page/roofline.js"),
    include_str!("../page/heat.js"),
    include_str!("../page/todo.js"),
    include_str!("../page/main.js"),
];

/// The page.
///
/// # Errors
/// Times that a browser would round.
pub fn page(document: &Document) -> Result<String, String> {
    if let Some(why) = inexact(document) {
        return Err(why);
    }
    let document = &*drawn(document);
    let (data, scripts) = (packed(document).map_err(|why| why.to_string())?, SCRIPTS.join("\n"));
    let parts = [("/*STYLE*/", STYLE), ("/*TIMELINE*/", &*data), ("/*SCRIPT*/", &*scripts)];
    let mut page = String::new();
    let mut rest = PAGE;
    for (placeholder, part) in parts {
        let (before, after) =
            rest.split_once(placeholder).ok_or_else(|| format!("the page has no {placeholder}"))?;
        page.push_str(before);
        page.push_str(part);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// The data in letters that mean nothing to a browser: packed, then in base 64.
fn packed(document: &Document) -> Result<String, serde_json::Error> {
    // In one piece: a packer takes long for many small ones.
    let json = serde_json::to_vec(document)?;
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    let bytes = packer.write_all(&json).and_then(|()| packer.finish());
    let bytes = bytes.map_err(serde_json::Error::io)?;
    Ok(STANDARD.encode(bytes))
}
