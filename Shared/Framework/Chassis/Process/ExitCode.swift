/// How a process ends, for the program that restarts it.
public enum ExitCode: Int32, Sendable {
    /// Stopped within the deadline; or the one job is done.
    case success = 0
    /// A dependency was unavailable, or the shutdown took too long. Restart it.
    case failed = 1
    /// The command line is invalid (`EX_USAGE`). A restart does not help.
    case usage = 64
    /// The configuration is invalid (`EX_CONFIG`). A restart does not help until it is corrected.
    case configuration = 78
}
