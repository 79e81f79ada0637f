import Logging
import Synchronization

/// Collects log lines for reading afterwards.
package final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    package init() {}

    /// Level, message and context of each line, in order.
    package var all: [String] { lines.withLock(\.self) }

    package func containing(_ text: String) -> [String] { all.filter { $0.contains(text) } }

    package var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(lines: self) }
        logger.logLevel = .debug
        return logger
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let context = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            lines.lines.withLock { $0.append("\(event.level) \(event.message)\(context)") }
        }
    }
}
