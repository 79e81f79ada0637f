import Foundation
import Synchronization

/// Writes each event as one line to standard output.
///
/// Standard output and nothing else: files, rotation and shipping are up to the environment of the process.
struct LineLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    private let service: String
    private let label: String
    private let isText: Bool
    private let now: @Sendable () -> Date
    private let write: @Sendable (String) -> Void

    init(
        service: String, label: String, level: Logger.Level, format: LogFormat, now: @escaping @Sendable () -> Date,
        write: @escaping @Sendable (String) -> Void = { StandardOutput.write($0) }
    ) {
        self.service = service
        self.label = label
        self.now = now
        self.write = write
        logLevel = level
        isText = format.isText
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadataProvider?.get() ?? [:]
        fields.merge(metadata) { _, own in own }
        if let given = event.metadata { fields.merge(given) { _, given in given } }
        if let error = event.error { fields["error"] = "\(error)" }
        let line = LogLine(
            date: now(), level: event.level, service: service, label: label, message: event.message.description,
            fields: fields.sorted { $0.key < $1.key })
        write(isText ? line.text : line.json)
    }
}

/// One writer at a time, so that lines never mix.
private enum StandardOutput {
    private static let turn = Mutex<Void>(())

    static func write(_ line: String) {
        // A closed standard output is no reason to stop, and there is no place to report it.
        turn.withLock { _ in try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8)) }
    }
}
