import CRDKafka
import Logging

/// Receives librdkafka's log lines. The client holds it, because lines come until the client is destroyed.
final class LogReceiver: Sendable {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    /// Called on any of librdkafka's threads; the logger may be used from all of them.
    static let callback: Callback = { client, severity, facility, text in
        guard let client, let facility, let text, let opaque = rd_kafka_opaque(client) else { return }
        Unmanaged<LogReceiver>.fromOpaque(opaque).takeUnretainedValue()
            .receive(severity: severity, facility: String(cString: facility), text: String(cString: text))
    }

    typealias Callback = @convention(c) (OpaquePointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Void

    func receive(severity: Int32, facility: String, text: String) {
        // "This is a consumer's setting, and this is a producer": expected, since one configuration serves both.
        // "Topics may be created automatically": only the development broker is so old.
        let isIdle = facility == "CONFWARN" || facility == "AUTOCREATE"
        let level: Logger.Level = isIdle ? .debug : Self.level(severity)
        logger.log(level: level, "librdkafka: \(text)", metadata: ["facility": "\(facility)"])
    }

    /// From syslog's numbers. A lost connection is an error to librdkafka and a warning here: it reconnects.
    private static func level(_ severity: Int32) -> Logger.Level {
        switch severity {
        case ...2: .critical
        case 3, 4: .warning
        case 5, 6: .info
        default: .debug
        }
    }
}
