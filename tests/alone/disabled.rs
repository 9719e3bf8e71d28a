//! In a build with nothing to hook, `install()` says so and names the calls that are accelerated anyway.

processes! {
    fn install_has_nothing_to_hook() {
        let error = burn_scan::install().expect_err("there is nothing to hook");
        assert!(
            matches!(error, burn_scan::InstallError::NothingToHook),
            "{error:?}"
        );
        let message = error.to_string();
        for part in [
            "nothing to hook",
            "`fusion`",
            "TensorScan",
            "inclusive_cumsum",
        ] {
            assert!(message.contains(part), "{part:?} is missing in: {message}");
        }
    }
}
