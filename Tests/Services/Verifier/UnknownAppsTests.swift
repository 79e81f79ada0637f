import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Verifier

@Suite struct UnknownAppsTests {
    private final class Time: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_780_000_000))
        var now: Date { date.withLock(\.self) }
        func pass(_ seconds: Double) { date.withLock { $0 += seconds } }
    }

    private let time = Time()
    private let log = LogLines()

    private func unknownApps() -> UnknownApps { UnknownApps(logger: log.logger, now: { [time] in time.now }) }

    @Test func `UnknownApps logs each app once an hour`() {
        let apps = unknownApps()
        for _ in 0..<10 {
            apps.notice("com.example.one")
            apps.notice("com.example.two")
        }
        #expect(log.containing("app=com.example.one").count == 1)
        #expect(log.containing("app=com.example.two").count == 1)
        time.pass(3599)
        apps.notice("com.example.one")
        #expect(log.containing("app=com.example.one").count == 1)
        time.pass(1)
        apps.notice("com.example.one")
        #expect(log.containing("app=com.example.one").count == 2)
        #expect(log.all.allSatisfy { $0.hasPrefix("notice ") })
    }

    @Test func `UnknownApps with ten thousand apps fills neither the log nor the memory`() {
        let apps = unknownApps()
        for number in 0..<10_000 { apps.notice("com.example.app\(number)" + String(repeating: "x", count: 10_000)) }
        #expect(apps.count == 100)
        #expect(log.all.count == 101)
        #expect(log.containing("more than 100 apps").count == 1)
        #expect(log.all.allSatisfy { $0.utf8.count < 500 })
        // An hour later there is room again.
        time.pass(3600)
        apps.notice("com.example.late")
        #expect(log.containing("app=com.example.late").count == 1)
        #expect(apps.count == 1)
    }
}
