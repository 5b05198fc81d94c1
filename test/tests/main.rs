//! The lit trees, and what holds of every text in this folder and of the pages' examples.

mod lit;
mod open;
mod pages;
mod text;
