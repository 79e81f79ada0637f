import Foundation
import Testing

@testable import Chassis

@Suite struct LogLineTests {
    private func line(_ message: String, _ fields: [(String, Logger.MetadataValue)] = []) -> LogLine {
        LogLine(
            date: Date(timeIntervalSince1970: 1_700_000_000.25), level: .warning, service: "tester", label: "a.label",
            message: message, fields: fields.map { (key: $0.0, value: $0.1) })
    }

    private func parsed(_ line: LogLine) throws -> [String: Any] {
        #expect(line.json.hasSuffix("}\n"))
        #expect(line.json.dropLast().allSatisfy { !$0.isNewline })
        return try #require(try JSONSerialization.jsonObject(with: Data(line.json.utf8)) as? [String: Any])
    }

    @Test func `JSON line has time, level, service, logger, message and context`() throws {
        let object = try parsed(line("Hello", [("n", "1"), ("list", ["a", "b"]), ("nested", ["k": "v"])]))
        #expect(object["time"] as? String == "2023-11-14T22:13:20.250Z")
        #expect(object["level"] as? String == "warning")
        #expect(object["service"] as? String == "tester")
        #expect(object["logger"] as? String == "a.label")
        #expect(object["message"] as? String == "Hello")
        let context = try #require(object["context"] as? [String: Any])
        #expect(context["n"] as? String == "1")
        #expect(context["list"] as? [String] == ["a", "b"])
        #expect(context["nested"] as? [String: String] == ["k": "v"])
    }

    @Test func `JSON line has no context without metadata`() throws {
        #expect(try parsed(line("Hello"))["context"] == nil)
    }

    @Test(arguments: [
        "two\nlines", "\"quoted\" \\ back", "\u{0}\u{1f}\u{7f}\u{85}", "\r\n", "\u{1b}[2Jgone", "Grüße 👋",
    ])
    func `Log line stays one line whatever a client sends`(text: String) throws {
        let object = try parsed(line(text, [(text, .string(text))]))
        #expect(object["message"] as? String == text)
        #expect((object["context"] as? [String: Any])?[text] as? String == text)
    }

    @Test func `Text line shows control characters instead of obeying them`() {
        #expect(
            line("a\n\u{1b}[2J", [("key", "x\ty")]).text
                == "2023-11-14T22:13:20.250Z warning tester a\\u{a}\\u{1b}[2J key=x\\u{9}y\n")
    }
}
