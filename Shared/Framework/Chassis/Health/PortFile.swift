import Foundation

/// Writes the port that the system chose for a process.
public enum PortFile {
    /// Writes the port and a line break atomically: a reader that sees the file can read it.
    /// - Parameter path: nil writes nothing.
    public static func write(_ port: Int, to path: String?, logger: Logger) {
        guard let path else { return }
        do {
            try Data("\(port)\n".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            logger.error("The port could not be written to \(path): \(error)")
        }
    }
}
