//! The root of a crate: the file from which its modules are read, found from a folder, a `Cargo.toml` or a file.

use std::path::{Path, PathBuf};

/// Most bytes of a file that is read.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// The lines of a manifest that give the root of a crate.
#[derive(Default)]
struct Manifest {
    is_package: bool,
    /// The path of `[lib]`, or else of the first `[[bin]]`.
    root: Option<String>,
    binary: Option<String>,
    members: Vec<String>,
    /// True if it depends on the toolchain.
    has_toolchain: bool,
}

/// The file to read for a path of the command line: the path itself if it is a file of Rust.
///
/// # Errors
/// The folder or manifest has no crate with a root, or several.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf, String> {
    if path.is_dir() {
        let manifest = path.join("Cargo.toml");
        return match manifest.is_file() {
            true => of_manifest(&manifest),
            false => Err(format!(
                "`{}` is a folder without a `Cargo.toml`: name a file of Rust, or the crate's folder",
                path.display()
            )),
        };
    }
    match path.file_name().is_some_and(|name| name == "Cargo.toml") {
        true => of_manifest(path),
        false => Ok(path.to_owned()),
    }
}

/// The root of the crate that a file is in, if it is another one.
pub(crate) fn root_of(path: &Path) -> Option<PathBuf> {
    let own = canonical(path);
    let folders = own.ancestors().skip(1);
    let manifest = folders.map(|folder| folder.join("Cargo.toml")).find(|manifest| manifest.is_file())?;
    let root = canonical(&package_root(&manifest, &parsed(&manifest).ok()?)?);
    (root != own && own.starts_with(root.parent()?)).then_some(root)
}

fn of_manifest(path: &Path) -> Result<PathBuf, String> {
    let own = parsed(path)?;
    if let Some(root) = package_root(path, &own) {
        return Ok(root);
    }
    if own.is_package {
        let folder = path.parent().unwrap_or(Path::new(""));
        return Err(format!(
            "the crate of `{}` has neither `{}` nor `main.rs` there",
            path.display(),
            folder.join("src").join("lib.rs").display()
        ));
    }
    let all = members(path, &own);
    let kernels: Vec<&PathBuf> = all
        .iter()
        .filter(|member| parsed(&member.join("Cargo.toml")).is_ok_and(|own| own.has_toolchain))
        .collect();
    match (&*kernels, &*all) {
        ([only], _) => of_manifest(&only.join("Cargo.toml")),
        ([], []) => Err(format!("`{}` has neither a package nor members", path.display())),
        ([], [only]) => of_manifest(&only.join("Cargo.toml")),
        ([], several) => Err(several_members(path, &several.iter().collect::<Vec<_>>())),
        (several, _) => Err(several_members(path, several)),
    }
}

fn several_members(path: &Path, members: &[&PathBuf]) -> String {
    let names: Vec<String> = members.iter().map(|member| format!("`{}`", member.display())).collect();
    format!("`{}` is a workspace of several crates: name one of {}", path.display(), names.join(", "))
}

/// The folders of a workspace's members.
fn members(path: &Path, own: &Manifest) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut all = Vec::new();
    for member in &own.members {
        match member.strip_suffix("/*") {
            Some(parent) => {
                let entries = std::fs::read_dir(folder.join(parent)).into_iter().flatten().flatten();
                all.extend(entries.map(|entry| entry.path()));
            }
            None => all.push(folder.join(member)),
        }
    }
    all.retain(|member| member.join("Cargo.toml").is_file());
    all.sort();
    all
}

fn package_root(path: &Path, own: &Manifest) -> Option<PathBuf> {
    let folder = path.parent()?;
    let given = own.root.as_ref().map(|root| folder.join(root));
    let usual = ["lib.rs", "main.rs"].map(|name| folder.join("src").join(name));
    let binary = own.binary.as_ref().map(|root| folder.join(root));
    given.into_iter().chain(usual).chain(binary).find(|root| own.is_package && root.is_file())
}

/// The keys of a manifest that are needed: sections, strings and lists of strings, as `cargo` writes them.
fn parsed(path: &Path) -> Result<Manifest, String> {
    let text = read(path)?;
    let mut own = Manifest::default();
    let mut section = String::new();
    let mut in_members = false;
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        own.has_toolchain |= line.contains("furiosa-opt-std") || line.contains("furiosa_opt_std");
        if line.starts_with('[') && !in_members {
            section = line.trim_matches(['[', ']']).to_owned();
            own.is_package |= section == "package";
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or(("", line));
        let path = (key.trim() == "path").then(|| strings(value).next()).flatten();
        match section.as_str() {
            "lib" if path.is_some() => own.root = path,
            "bin" if path.is_some() && own.binary.is_none() => own.binary = path,
            "workspace" if in_members || key.trim() == "members" => {
                own.members.extend(strings(value));
                in_members = !value.contains(']');
            }
            _ => {}
        }
    }
    Ok(own)
}

/// The strings in quotes of a line.
fn strings(text: &str) -> impl Iterator<Item = String> + use<'_> {
    text.split('"').skip(1).step_by(2).map(str::to_owned)
}

pub(crate) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The text of a file of the input.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let bytes = visa_files::read(path, MAX_BYTES)
        .map_err(|why| format!("cannot read `{}`: {why}", path.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("`{}` is no UTF-8 text", path.display()))
}
