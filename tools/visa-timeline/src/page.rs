//! The timeline as a page for a browser: one file that fetches nothing.

use crate::document::Document;
use crate::{drawn, inexact};

const PAGE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");

/// The scripts in the order in which they need each other.
const SCRIPTS: [&str; 2] = [include_str!("../page/data.js"), include_str!("../page/view.js")];

/// The page.
///
/// # Errors
/// Times that a browser would round.
pub fn page(document: &Document) -> Result<String, String> {
    if let Some(why) = inexact(document) {
        return Err(why);
    }
    let document = &*drawn(document);
    let json = serde_json::to_string(document).map_err(|why| why.to_string())?;
    let parts =
        [("/*STYLE*/", STYLE), ("/*SCRIPT*/", &SCRIPTS.concat()), ("/*TIMELINE*/", &within_markup(&json))];
    let mut page = String::with_capacity(PAGE.len() + json.len() + (1 << 17));
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

/// JSON in which nothing ends a script element or a line of it.
fn within_markup(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}
