//! The shared libraries that a program here can load by name. The loader's cache lists them.

use std::env;
use std::path::{Path, PathBuf};

use crate::process::output;

pub(crate) struct Libraries {
    /// The loader's cache, as `ldconfig -p` prints it.
    cache: String,
    folders: Vec<PathBuf>,
}

impl Libraries {
    pub(crate) fn look() -> Self {
        let path = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
        // Systems without a library cache (musl) have these folders only.
        folders.extend(["/lib", "/usr/lib", "/usr/local/lib", "/usr/lib64"].map(PathBuf::from));
        // The tool is often outside the `PATH` of a user who is not root.
        let tools = ["ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"];
        let printed = tools.iter().map(|tool| output(tool, &["-p"]));
        Self {
            cache: printed
                .into_iter()
                .find(|text| !text.is_empty())
                .unwrap_or_default(),
            folders,
        }
    }

    /// A manifest gives `name` as a bare name, or as a path relative to the manifest.
    pub(crate) fn has(&self, name: &str, manifest: &Path) -> bool {
        if name.contains('/') {
            return manifest.with_file_name("").join(name).exists();
        }
        self.path(name).is_some() || self.folders.iter().any(|folder| folder.join(name).exists())
    }

    /// The file of a library in the cache, for this machine's architecture.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        find(&self.cache, name, env::consts::ARCH).map(PathBuf::from)
    }
}

/// The path in a line `NAME (libc6,x86-64) => PATH`.
fn find<'a>(cache: &'a str, name: &str, arch: &str) -> Option<&'a str> {
    let mut entries = cache
        .lines()
        .filter_map(|line| line.trim().split_once(" => "));
    let is_it = |entry: &str| {
        let fits = arch != "x86_64" || entry.contains("x86-64");
        fits && entry.split_whitespace().next() == Some(name)
    };
    Some(entries.find(|(entry, _)| is_it(entry))?.1)
}

#[test]
fn the_cache_is_read_for_this_architecture() {
    let cache = "3 libs found in cache `/etc/ld.so.cache'\n\
                 \tlibvulkan.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libvulkan.so.1\n\
                 \tlibGLX_nvidia.so.0 (libc6) => /lib/i386-linux-gnu/libGLX_nvidia.so.0\n";
    let path = "/lib/x86_64-linux-gnu/libvulkan.so.1";
    assert_eq!(find(cache, "libvulkan.so.1", "x86_64"), Some(path));
    assert_eq!(find(cache, "libGLX_nvidia.so.0", "x86_64"), None);
    assert!(find(cache, "libGLX_nvidia.so.0", "aarch64").is_some());
}
