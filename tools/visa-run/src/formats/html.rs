//! `--report html`: a page for a browser, which fetches nothing.

use super::{Format, Shown};

pub(super) struct Page;

impl Format for Page {
    fn name(&self) -> &'static str {
        "html"
    }

    fn is_picture(&self) -> bool {
        true
    }

    fn shows_advice(&self) -> bool {
        true
    }

    fn show(&self, run: &Shown<'_>) -> Result<String, (&'static str, String)> {
        let page = run.document.map(visa_timeline::page::page);
        page.unwrap_or_else(|| Ok(String::new())).map_err(|why| ("timeline", why))
    }
}
