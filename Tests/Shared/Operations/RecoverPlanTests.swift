import Foundation
import Storage
import Testing

@testable import Operations

struct RecoverPlanTests {
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)
    private static let day: TimeInterval = 86_400

    private static func plan(daysAgo first: Double, to last: Double = 0) -> RecoverPlan {
        RecoverPlan(
            from: now.addingTimeInterval(-first * day), to: now.addingTimeInterval(-last * day), now: now,
            notificationType: nil, subtype: nil)
    }

    private static let both = [RecoverPlan.App(.production, "app"), RecoverPlan.App(.sandbox, "app")]

    @Test func `RecoverPlan gives each app and environment a window, as far back as Apple remembers`() throws {
        let requests = try Self.plan(daysAgo: 200).requests(for: Self.both) { UUID() }
        // An hour less than Apple documents, from where the scheduler fetches.
        let hours = requests.map { Self.now.timeIntervalSince($0.scope.from) / 3600 }
        #expect(hours == [4319, 719])
        #expect(requests.allSatisfy { $0.reason == .manual && $0.scope.to == Self.now })
        #expect(Self.plan(daysAgo: 200).warnings(for: Self.both).count == 2)
        #expect(Self.plan(daysAgo: 180).warnings(for: Self.both).count == 2)
        #expect(Self.plan(daysAgo: 100).warnings(for: Self.both).map { $0.contains("Sandbox") } == [true])
        #expect(Self.plan(daysAgo: 10).warnings(for: Self.both) == [])
    }

    @Test func `RecoverPlan rejects a time that Apple no longer lists, with advice`() {
        #expect(throws: OperationError.self) {
            try Self.plan(daysAgo: 200, to: 190).requests(for: Self.both) { UUID() }
        }
    }
}
