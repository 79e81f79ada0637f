/// The version of this build: in logs, metrics, traces, `--version`, the headers of dead letters, the API's document, the console and
/// the `User-Agent` of requests.
public enum BuildInformation {
    /// The newest release by semantic versioning, and after a `+` what this build has beyond it: nothing in a release.
    ///
    /// `+dev` says that the build knows no more: a constant with the commit would change with each, and everything would be
    /// compiled again. `Deploy/version --write` replaces it in the copy of the sources of which an image or a release is built.
    public static let version = "0.1.0+dev"
}
