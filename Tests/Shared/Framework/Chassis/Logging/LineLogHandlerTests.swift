import Foundation
import Synchronization
import Testing

@testable import Chassis

@Suite struct LineLogHandlerTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private func logger(_ lines: Lines, level: Logger.Level = .info) -> Logger {
        Logger(label: "label") { label in
            LineLogHandler(
                service: "tester", label: label, level: level, format: .text, now: { Date(timeIntervalSince1970: 0) },
                write: { line in lines.all.withLock { $0.append(line) } })
        }
    }

    @Test func `Log has events from its level on`() {
        let lines = Lines()
        let logger = logger(lines, level: .notice)
        logger.info("unheard")
        logger.notice("heard")
        #expect(lines.all.withLock { $0 } == ["1970-01-01T00:00:00.000Z notice tester heard\n"])
    }

    @Test func `Log prefers the event's metadata to the logger's, and sorts both`() {
        let lines = Lines()
        var logger = logger(lines)
        logger[metadataKey: "b"] = "logger"
        logger[metadataKey: "c"] = "logger"
        logger.info("x", metadata: ["a": "event", "b": "event"])
        #expect(lines.all.withLock { $0 } == ["1970-01-01T00:00:00.000Z info tester x a=event b=event c=logger\n"])
    }

    @Test func `Log has the configured format`() {
        #expect(LogFormat.text.isText)
        #expect(!LogFormat.json.isText)
    }
}
