//! The architecture's promises, held against the sources and `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests stand in the repository").to_owned()
}

/// Every file under a folder with this extension, but for what git and cargo keep.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder can be read").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let skipped = ["target", ".git", "node_modules", "corpus"].iter().any(|s| name == *s);
            match path.is_dir() {
                true if !skipped => folders.push(path),
                false if path.extension().is_some_and(|e| e == extension) => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The lines of a source file that are code: no comment lines, and nothing from the tests at its end.
fn code(path: &Path) -> String {
    let text = read(path);
    let body = text.split("\n#[cfg(test)]").next().unwrap_or_default();
    body.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Production sources of one crate.
fn sources(krate: &str) -> Vec<PathBuf> {
    let folder = root().join("crates").join(krate).join("src");
    let test = |p: &PathBuf| {
        p.file_stem().is_some_and(|s| s == "tests") || p.components().any(|c| c.as_os_str() == "tests")
    };
    files(&folder, "rs").into_iter().filter(|p| !test(p)).collect()
}

#[track_caller]
fn none(found: Vec<String>) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn offences(paths: &[PathBuf], words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for path in paths {
        let code = code(path);
        let hits = words.iter().filter(|w| code.contains(*w));
        found.extend(hits.map(|w| format!("{}: {w}", path.display())));
    }
    found
}

#[test]
fn sql_lives_in_the_schema_and_the_backend_only() {
    let statements =
        ["SELECT ", "INSERT INTO", "UPDATE ", "DELETE FROM", "CREATE TABLE", "PRAGMA ", "rusqlite"];
    let elsewhere = ["model", "store", "sayso", "view", "output", "import", "relay", "mcp", "bridge", "cli"];
    let paths: Vec<PathBuf> = elsewhere.iter().flat_map(|c| sources(c)).collect();
    none(offences(&paths, &statements));
    // Definitions stand in the schema, not in the backend.
    none(offences(&sources("sqlite"), &["CREATE TABLE", "CREATE INDEX", "CREATE VIEW", "ALTER TABLE"]));
}

#[test]
fn model_and_view_know_no_clock_file_socket_or_store() {
    let paths: Vec<PathBuf> = ["model", "view"].iter().flat_map(|c| sources(c)).collect();
    let words = [
        "std::fs",
        "std::net",
        "std::io",
        "std::env",
        "SystemTime",
        "Instant",
        "now_utc",
        "getrandom",
        "sayso_store",
    ];
    none(offences(&paths, &words));
}

#[test]
fn only_surfaces_print() {
    let quiet = ["model", "store", "sqlite", "sayso", "view", "output", "import", "relay", "bridge"];
    let paths: Vec<PathBuf> = quiet.iter().flat_map(|c| sources(c)).collect();
    none(offences(
        &paths,
        &["println!", "print!(", "eprintln!", "eprint!(", "dbg!(", "stdout()", "stderr()"],
    ));
}

fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

/// Edges between the workspace's own crates, without those that only tests need.
fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let own: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let edges = packages.iter().map(|package| {
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let wanted = dependencies.iter().filter(|d| d["kind"].as_str() != Some("dev"));
        let names = wanted.filter_map(|d| d["name"].as_str()).filter(|n| own.contains(n));
        (package["name"].as_str().unwrap_or_default().to_owned(), names.map(str::to_owned).collect())
    });
    edges.collect()
}

/// The table of `crates/README.md`: `| crate | purpose | may use |`.
fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let page = read(&root().join("crates/README.md"));
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        match cells.as_slice() {
            [name, _, uses] if name.starts_with('`') => {
                Some((name.trim_matches('`').to_owned(), (*uses).to_owned()))
            }
            _ => None,
        }
    });
    let split = |uses: String| {
        uses.split(',').map(|u| u.trim().trim_matches('`').to_owned()).filter(|u| u != "–").collect()
    };
    rows.map(|(name, uses)| (name, split(uses))).collect()
}

#[test]
fn crate_edges_are_those_of_the_architecture_page() {
    assert_eq!(edges(), allowed());
}

#[test]
fn a_published_migration_never_changes() {
    let published: Vec<(&str, &str)> =
        include_str!("migrations.txt").lines().filter_map(|line| line.split_once(' ')).collect();
    for (migration, (name, digest)) in sayso_schema::SQLITE.iter().zip(&published) {
        assert_eq!(migration.name, *name);
        let now = blake3::hash(migration.sql.as_bytes()).to_hex();
        assert_eq!(now.as_str(), *digest, "{name} was published: write a new migration instead");
    }
    assert_eq!(sayso_schema::SQLITE.len(), published.len(), "a new migration is added to this list");
}

#[test]
fn files_stay_small() {
    let long = files(&root().join("crates"), "rs").into_iter().filter_map(|path| {
        let lines = read(&path).lines().count();
        (lines > 500).then(|| format!("{}: {lines} lines", path.display()))
    });
    none(long.collect());
}

#[test]
fn the_program_itself_is_built_by_the_tests() {
    // `cargo test --workspace` builds a program only for tests of its own package.
    assert!(root().join("crates/cli/tests/smoke.rs").is_file());
}
