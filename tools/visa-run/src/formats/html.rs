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
        visa_timeline::page::page(run.timeline()?).map_err(|why| ("timeline", why))
    }
}
