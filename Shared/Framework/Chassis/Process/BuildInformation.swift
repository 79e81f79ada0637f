/// The version of this build.
///
/// In logs, metrics and the headers of dead letters.
public enum BuildInformation {
    /// The release, by semantic versioning.
    public static let version = "0.1.0"
}
