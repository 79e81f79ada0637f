/// How a process ends, for whoever restarts it.
public enum ExitCode: Int32, Sendable {
    /// Asked to stop, and everything in hand was settled; or the one job is done.
    case settled = 0
    /// The world failed, or shutting down took too long. Starting again is right.
    case failed = 1
    /// The command line was not understood (`EX_USAGE`). Starting again is pointless.
    case usage = 64
    /// The configuration is wrong (`EX_CONFIG`). Starting again is pointless until somebody corrects it.
    case configuration = 78
}
