//! Tests of the search for drivers, on machines that do not exist.

use super::*;

fn driver(manifest: &str, state: State) -> Driver {
    Driver {
        manifest: manifest.into(),
        state,
    }
}

#[test]
fn a_manifest_names_its_library() {
    let mesa =
        r#"{ "ICD": { "api_version": "1.3", "library_path": "/usr/lib/libvulkan_lvp.so" } }"#;
    assert_eq!(
        library_path(mesa).as_deref(),
        Some("/usr/lib/libvulkan_lvp.so")
    );
    assert_eq!(library_path("{}"), None);
}

#[test]
fn a_gpu_driver_needs_a_gpu_and_any_driver_its_library() {
    let state = |name: &str, library, gpu| super::state(Path::new(name), library, gpu);
    assert_eq!(state("/x/radeon_icd.x86_64.json", true, true), State::Gpu);
    assert_eq!(
        state("/x/radeon_icd.x86_64.json", true, false),
        State::NoGpu
    );
    assert_eq!(
        state("/x/lvp_icd.x86_64.json", true, false),
        State::Software
    );
    assert_eq!(
        state("/x/lvp_icd.x86_64.json", false, false),
        State::NoLibrary
    );
}

#[test]
fn no_loader_means_no_adapter() {
    let lvp = || driver("/x/lvp_icd.json", State::Software);
    let mut machine = Machine {
        loader: false,
        drivers: vec![lvp()],
    };
    assert!(!machine.has_adapter() && machine.lavapipe().is_none());
    machine.loader = true;
    assert!(machine.has_adapter() && machine.lavapipe().is_some());
    machine.drivers = vec![driver("/x/radeon_icd.json", State::NoGpu)];
    assert!(!machine.has_adapter() && machine.lavapipe().is_none());
    assert!(
        machine
            .to_string()
            .contains("radeon_icd.json (no GPU here)")
    );
}

#[test]
fn overrides_replace_the_folders() {
    let set = |name: &str| (name == "VK_ICD_FILENAMES").then(|| "/a.json:/b".to_owned());
    assert_eq!(search_path(set), [Path::new("/a.json"), Path::new("/b")]);
    let folders = search_path(|name| (name == "HOME").then(|| "/home/me".to_owned()));
    for folder in [
        "/etc/vulkan/icd.d",
        "/usr/share/vulkan/icd.d",
        "/home/me/.config/vulkan/icd.d",
    ] {
        assert!(folders.iter().any(|f| f == Path::new(folder)), "{folder}");
    }
}
