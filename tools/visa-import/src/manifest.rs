//! The root of a crate: the file from which its modules are read, found from a folder, a `Cargo.toml` or a file.

use std::path::{Path, PathBuf};

/// Most bytes of a file that is read.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// The crate of the vendor's toolchain.
const TOOLCHAIN: &str = "furiosa-opt-std";

/// The keys of a manifest that give the root of a crate.
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

/// The keys of a manifest that are needed.
fn parsed(path: &Path) -> Result<Manifest, String> {
    let text = read(path)?;
    let all: toml::Table =
        text.parse().map_err(|why: toml::de::Error| format!("`{}`: {}", path.display(), why.message()))?;
    let table = |name: &str| all.get(name).and_then(toml::Value::as_table);
    let path_of = |target: &toml::Table| target.get("path")?.as_str().map(str::to_owned);
    let binaries = all.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
    let members = table("workspace").and_then(|own| own.get("members")).and_then(toml::Value::as_array);
    let members = members.into_iter().flatten().filter_map(toml::Value::as_str);
    let dependencies = table("dependencies").into_iter().flat_map(toml::Table::keys);
    Ok(Manifest {
        is_package: table("package").is_some(),
        root: table("lib").and_then(path_of),
        binary: binaries.filter_map(toml::Value::as_table).find_map(path_of),
        members: members.map(str::to_owned).collect(),
        has_toolchain: dependencies.map(|name| name.replace('_', "-")).any(|name| name == TOOLCHAIN),
    })
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
