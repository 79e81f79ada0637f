import Commands
import Foundation
import Testing

@testable import Devkit
@testable import Operations

struct LiveViewTests {
    private static let snapshot = Snapshot(
        elapsed: .seconds(65),
        stages: [.ingest: StageCounts(handled: 1200), .verifier: StageCounts(handled: 1100, rejected: 13)],
        backlog: Backlog.Measurement(number: 1, waiting: [.verifier: 100]), stored: 1_234_567, planned: 2_000_000,
        latency: Snapshot.Latency(p50: 12.4, p95: 40, max: 12_600),
        newest: [
            Snapshot.TimelineRow(
                at: Date(timeIntervalSince1970: 0.25), purchase: "Sandbox 2000000123", fact: "status", from: nil,
                to: "1")
        ])

    @Test func `Frame shows every stage in the order a notification meets them`() throws {
        var view = LiveView(target: "http://127.0.0.1:1/v1/notifications")
        let frame = view.frame(Self.snapshot)
        let stages = frame.compactMap { line in ServiceKind.allCases.first { line.hasPrefix($0.rawValue) } }
        #expect(stages == [.ingest, .verifier, .deduplicator, .stateUpdater, .recovery, .scheduler])
        let verifier = try #require(frame.first { $0.hasPrefix("verifier") })
        #expect(verifier.split(separator: " ") == ["verifier", "1,100", "100", "0", "13"])
        #expect(frame.contains { $0.contains("stored 1,234,567 of about 2,000,000") && $0.contains("01:05") })
        #expect(frame.contains { $0.contains("half within 12 ms, 95 % within 40 ms, all within 13 s") })
        #expect(frame.contains { $0.contains("00:00:00.250") && $0.contains("status") && $0.hasSuffix("- -> 1") })
    }

    @Test func `Rates are those between two frames`() throws {
        var view = LiveView(target: "")
        _ = view.frame(Self.snapshot)
        var later = Self.snapshot
        later.elapsed += .seconds(2)
        later.stages[.verifier]?.handled += 500
        let frame = view.frame(later)
        let verifier = try #require(frame.first { $0.hasPrefix("verifier") })
        #expect(verifier.split(separator: " ") == ["verifier", "1,600", "250", "100", "0", "13"])
    }

    @Test func `LiveView has no line wider than the terminal`() {
        var view = LiveView(target: "http://127.0.0.1:1/v1/notifications", width: 30)
        let frame = view.frame(Self.snapshot)
        #expect(frame.allSatisfy { $0.count <= 30 })
    }

    @Test func `Broker that forgets is told of`() {
        var view = LiveView(target: "")
        var snapshot = Self.snapshot
        snapshot.backlog?.dropped = 3
        let texts: [String?] = [view.frame(snapshot).last, view.line(snapshot)]
        #expect(texts.allSatisfy { $0?.contains("dropped 3 unread records") == true })
    }

    @Test func `Line says how far everything is`() {
        var view = LiveView(target: "")
        let line = view.line(Self.snapshot)
        #expect(line.hasPrefix("01:05  stored 1234567 of about 2,000,000"))
        #expect(line.contains("ingest 1200, verifier 1100 (100 waiting)"))
    }
}
