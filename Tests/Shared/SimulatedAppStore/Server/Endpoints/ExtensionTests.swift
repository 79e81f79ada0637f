import AppStore
import Contracts
import Foundation
import StrictJSON
import Testing

@testable import SimulatedAppStore

/// F10.
@Suite struct ExtensionTests {
    private static let order = #"{"extendByDays":10,"extendReasonCode":1,"requestIdentifier":"r1"}"#

    @Test func `Extension moves the end of the period, changes the transaction and sends a notification`()
        async throws
    {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            let end = try #require(story.simulated.purchase?.expiresDate).milliseconds + 10 * 86_400_000
            let revision = try #require(try await fixture.get("v2/history/\(story.id)").json?["revision"]?.string)
            let json = try #require(try await fixture.put("v1/subscriptions/extend/\(story.id)", Self.order).json)
            #expect(json["success"]?.bool == true)
            #expect(json["originalTransactionId"]?.string == story.id)
            #expect(json["effectiveDate"]?.int64 == end)
            #expect(json["webOrderLineItemId"]?.string == story.simulated.purchase?.webOrderLineItemId)
            let changed = try #require(try await fixture.get("v2/history/\(story.id)?revision=\(revision)").json)
            #expect(try fixture.transactions(changed).map { $0["expiresDate"]?.int64 } == [end])
            let event = try #require(fixture.nextOrdered())
            #expect(event.kind == .extended)
            #expect(event.purchase?.expiresDate?.milliseconds == end)
            #expect(event.signedDate > story.simulated.now)
        }
    }

    @Test func `Subscription is extended twice in a year and no more`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            let path = "v1/subscriptions/extend/\(story.id)"
            #expect(try await fixture.put(path, Self.order).status == 200)
            #expect(try await fixture.put(path, Self.order).status == 200)
            let third = try await fixture.put(path, Self.order)
            #expect(third.status == 403)
            #expect(third.errorCode == 4_030_005)
            fixture.move(by: 366 * 86_400)
            #expect(try await fixture.put(path, Self.order).status == 200)
        }
    }

    @Test func `Subscription that is not active is not extended`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            try fixture.send(story.next(.failToRenew))
            let path = "v1/subscriptions/extend/"
            #expect(try await fixture.put(path + story.id, Self.order).errorCode == 4_030_004)
            #expect(try await fixture.put(path + "77", Self.order).errorCode == 4_040_005)
            #expect(try await fixture.put(path + "x", Self.order).errorCode == 4_000_008)
        }
    }

    @Test(arguments: [
        (#""extendByDays":0,"extendReasonCode":1,"requestIdentifier":"r""#, 4_000_009),
        (#""extendByDays":91,"extendReasonCode":1,"requestIdentifier":"r""#, 4_000_009),
        (#""extendReasonCode":1,"requestIdentifier":"r""#, 4_000_009),
        (#""extendByDays":1,"extendReasonCode":4,"requestIdentifier":"r""#, 4_000_010),
        (#""extendByDays":1,"extendReasonCode":1,"requestIdentifier":"""#, 4_000_011),
        (#""extendByDays":1,"extendReasonCode":1"#, 4_000_011),
        (#""extendByDays":1"#, 4_000_010), ("x", 4_000_000),
    ])
    func `Invalid extension request has Apple's error code, for one and for all`(members: String, code: Int64)
        async throws
    {
        try await SimulatorFixture.open { fixture in
            let one = try await fixture.put("v1/subscriptions/extend/1", "{\(members)}")
            #expect(one.errorCode == code)
            let all = try await fixture.post("v1/subscriptions/extend/mass", "{\(members)}")
            #expect(all.errorCode == code)
        }
    }

    @Test func `Mass extension notifies each subscription, then sends a summary, and is complete then`() async throws {
        try await SimulatorFixture.open { fixture in
            let events = PurchaseFixture.subscriptions(12)
            for event in events { try fixture.send(event) }
            let spent = try #require(events[0].purchase?.originalTransactionId)
            for _ in 0..<2 {
                #expect(try await fixture.put("v1/subscriptions/extend/\(spent)", Self.order).status == 200)
                #expect(fixture.nextOrdered()?.kind == .extended)
            }
            let product = try #require(events[0].purchase?.product.id(in: "com.example.app"))
            let order = #"{"extendByDays":3,"extendReasonCode":2,"requestIdentifier":"m1","productId":"\#(product)"}"#
            let ordered = try await fixture.post("v1/subscriptions/extend/mass", order)
            #expect(ordered.json?["requestIdentifier"]?.string == "m1")
            #expect(try await fixture.post("v1/subscriptions/extend/mass", order).errorCode == 4_000_011)
            let path = "v1/subscriptions/extend/mass/\(product)/m1"
            #expect(try await fixture.get(path).json?["complete"]?.bool == false)

            var announced: [NotificationKind] = []
            while let event = fixture.nextOrdered() {
                announced.append(event.kind)
                guard case .summary(let summary) = event.object else { continue }
                #expect(summary.succeededCount == 11)
                #expect(summary.failedCount == 1)
                #expect(summary.requestIdentifier == "m1")
                let notification = try fixture.send(event)
                let body = try #require(try JSONDocument(notification.body).root["signedPayload"]?.string)
                let claims = try fixture.proven(body)
                #expect(claims["summary"]?["succeededCount"]?.int64 == 11)
                #expect(claims["data"] == nil)
            }
            #expect(announced.count { $0 == .extended } == 11)
            #expect(announced.count { $0 == .extensionFailure } == 1)
            #expect(announced.last == .extensionSummary)
            let status = try #require(try await fixture.get(path).json)
            #expect(status["complete"]?.bool == true)
            #expect(status["succeededCount"]?.int64 == 11)
            #expect(status["failedCount"]?.int64 == 1)
            #expect(status["completeDate"]?.int64 != nil)
            #expect(try await fixture.get("v1/subscriptions/extend/mass/\(product)/m2").errorCode == 4_040_009)
        }
    }

    @Test func `Mass extension for some countries leaves out the others`() async throws {
        try await SimulatorFixture.open { fixture in
            let events = PurchaseFixture.subscriptions(30)
            for event in events { try fixture.send(event) }
            let country = try #require(events[0].customer?.storefront.country)
            let wanted = events.count { $0.customer?.storefront.country == country }
            let product = try #require(events[0].purchase?.product.id(in: "com.example.app"))
            func order(_ codes: String) -> String {
                #"{"extendByDays":3,"extendReasonCode":2,"requestIdentifier":"m","productId":"\#(product)","#
                    + #""storefrontCountryCodes":\#(codes)}"#
            }
            let path = "v1/subscriptions/extend/mass"
            #expect(try await fixture.post(path, order("[]")).errorCode == 4_000_027)
            #expect(try await fixture.post(path, order(#"["us"]"#)).errorCode == 4_000_028)
            #expect(try await fixture.post(path, order(#""USA""#)).errorCode == 4_000_028)
            #expect(try await fixture.post(path, order(#"["\#(country)"]"#)).status == 200)
            var extended = 0
            while let event = fixture.nextOrdered() { extended += event.kind == .extended ? 1 : 0 }
            #expect(extended == wanted)
            #expect((1..<30).contains(wanted))
        }
    }
}

extension SimulatorFixture {
    /// What a request ordered to be sent, in its order; nil for what no request ordered.
    func nextOrdered() -> EventPayload? {
        let instant = ContinuousClock.now
        let step = deliveryService.withOutbox { $0.next(at: instant, now: self.now) }
        guard case .send(let pending) = step, pending.event.kind.isOrdered else { return nil }
        return pending.event
    }
}

extension NotificationKind {
    fileprivate var isOrdered: Bool { [.test, .extended, .extensionSummary, .extensionFailure].contains(self) }
}
