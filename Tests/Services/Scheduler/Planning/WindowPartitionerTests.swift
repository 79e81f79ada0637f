import Contracts
import Foundation
import Storage
import Testing

@testable import Scheduler

@Suite struct WindowPartitionerTests {
    static let hour = 3600.0
    let partitioner = WindowPartitioner(length: 6 * hour, longOutage: 12 * hour)

    static func scope(hours: Double, type: String? = nil) -> RecoveryWindow.Scope {
        RecoveryWindow.Scope(
            environment: .production, bundleId: "com.example.app", from: FailuresPlanTests.now,
            to: FailuresPlanTests.now.addingTimeInterval(hours * hour), notificationType: type)
    }

    func subwindows(
        hours: Double, type: String? = nil, _ reason: RecoveryWindow.Reason = .outage
    ) -> [RecoveryWindow.Request] {
        partitioner.subwindows(of: Self.scope(hours: hours, type: type), reason: reason, priority: 80) { UUID() }
    }

    @Test(arguments: [0.01, 1, 6])
    func `Short window is fetched as it is`(hours: Double) {
        #expect(subwindows(hours: hours).isEmpty)
    }

    @Test(arguments: [(6.5, 2), (11, 2), (24, 4), (72, 12)])
    func `Slices are of equal length and leave no gap`(hours: Double, count: Int) throws {
        let subwindows = subwindows(hours: hours, .sweep)
        #expect(subwindows.count == count)
        #expect(subwindows.first?.scope.from == FailuresPlanTests.now)
        #expect(subwindows.last?.scope.to == Self.scope(hours: hours).to)
        for (part, next) in zip(subwindows, subwindows.dropFirst()) { #expect(part.scope.to == next.scope.from) }
        #expect(Set(subwindows.map(\.id)).count == count)
        #expect(subwindows.allSatisfy { $0.scope.notificationType == nil && $0.priority == 80 })
    }

    @Test func `A window has a thousand slices at most, without a gap, however short they are meant to be`() {
        let scope = Self.scope(hours: 180 * 24)
        let slices = WindowPartitioner(length: 10, longOutage: 12 * Self.hour)
            .subwindows(of: scope, reason: .sweep, priority: 80) { UUID() }.map(\.scope)
        #expect(slices.count == 1000)
        #expect(slices.first?.from == scope.from && slices.last?.to == scope.to)
        #expect(zip(slices, slices.dropFirst()).allSatisfy { $0.to == $1.from })
    }

    @Test func `Renewals and expiries go first after a long outage, each kind by itself, then everything`() {
        let subwindows = subwindows(hours: 12)
        let ahead = subwindows.filter { $0.scope.notificationType != nil }
        #expect(
            Set(ahead.map { "\($0.scope.notificationType ?? "")/\($0.scope.subtype ?? "")" }) == [
                "DID_RENEW/", "DID_RENEW/BILLING_RECOVERY", "EXPIRED/", "EXPIRED/VOLUNTARY", "EXPIRED/BILLING_RETRY",
                "EXPIRED/PRICE_INCREASE", "EXPIRED/PRODUCT_NOT_FOR_SALE",
            ])
        #expect(ahead.count == 14)
        #expect(ahead.allSatisfy { $0.priority == 81 })
        #expect(subwindows.filter { $0.scope.notificationType == nil }.count == 2)
    }

    @Test func `WindowPartitioner keeps the requested type`() {
        let subwindows = subwindows(hours: 24, type: "REFUND", .manual)
        #expect(subwindows.count == 4)
        #expect(subwindows.allSatisfy { $0.scope.notificationType == "REFUND" })
    }

    @Test func `Window shorter than a slice may still be a long outage`() {
        let partitioner = WindowPartitioner(length: 24 * Self.hour, longOutage: 12 * Self.hour)
        let subwindows = partitioner.subwindows(of: Self.scope(hours: 13), reason: .outage, priority: 80) { UUID() }
        #expect(subwindows.count == 8)
    }

    @Test func `Window of failures is not partitioned by type`() {
        var scope = Self.scope(hours: 24)
        scope.onlyFailures = true
        let subwindows = partitioner.subwindows(of: scope, reason: .failures, priority: 60) { UUID() }
        #expect(subwindows.count == 4)
        #expect(subwindows.allSatisfy { $0.scope.onlyFailures && $0.scope.notificationType == nil })
    }
}
