import AppStore
import Contracts
import Foundation
import Signatures
import StrictJSON
import Testing

@testable import SimulatedAppStore

/// F3 to F7.
@Suite struct TransactionHistoryTests {
    @Test func `Transaction history has all transactions of the customer by any id, in pages of twenty`() async throws {
        try await SimulatorFixture.open { fixture in
            let story = try Self.renewed(24, fixture)
            for id in [story.id, story.transactionId] {
                let first = try #require(try await fixture.get("v2/history/\(id)").json)
                #expect(first["signedTransactions"]?.elements.count == 20)
                #expect(first["hasMore"]?.bool == true)
                #expect(first["bundleId"]?.string == "com.example.app")
                #expect(first["appAppleId"]?.int64 == 1_234_567_890)
                #expect(first["environment"]?.string == "Production")
                let revision = try #require(first["revision"]?.string)
                let second = try #require(try await fixture.get("v2/history/\(id)?revision=\(revision)").json)
                #expect(second["hasMore"]?.bool == false)
                let ids = try (fixture.transactions(first) + fixture.transactions(second)).map {
                    try #require($0["transactionId"]?.string)
                }
                #expect(ids.count == 25 && Set(ids).count == 25)
                #expect(ids.first == story.id && ids.last == story.transactionId)
            }
        }
    }

    @Test func `Last revision returns only what is new or has changed`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = try Self.renewed(2, fixture)
            let first = try #require(try await fixture.get("v2/history/\(story.id)").json)
            let revision = try #require(first["revision"]?.string)
            let again = try #require(try await fixture.get("v2/history/\(story.id)?revision=\(revision)").json)
            #expect(again["signedTransactions"]?.elements.count == 0)
            #expect(again["revision"]?.string == revision)
            try fixture.send(story.next(.refund))
            let changed = try #require(try await fixture.get("v2/history/\(story.id)?revision=\(revision)").json)
            let transactions = try fixture.transactions(changed)
            #expect(transactions.map { $0["transactionId"]?.string } == [story.transactionId])
            #expect(transactions.first?["revocationDate"]?.int64 != nil)
            // A notification that says nothing new of the transaction changes nothing.
            let last = try #require(changed["revision"]?.string)
            try fixture.send(story.next(.reverseRefund))
            try fixture.send(story.next(.turnRenewalOn))
            let reversed = try #require(try await fixture.get("v2/history/\(story.id)?revision=\(last)").json)
            #expect(try fixture.transactions(reversed).map { $0["revocationDate"] == nil } == [true])
        }
    }

    @Test func `Upgrade marks what it replaces`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = try Self.renewed(0, fixture)
            try fixture.send(story.next(.upgrade, product: Product.subscriptions[4]))
            let page = try #require(try await fixture.get("v2/history/\(story.id)").json)
            #expect(try fixture.transactions(page).map { $0["isUpgraded"]?.bool } == [true, nil])
        }
    }

    @Test func `DESCENDING is the reverse of ASCENDING, page for page`() async throws {
        try await SimulatorFixture.open { fixture in
            let story = try Self.renewed(24, fixture)
            let path = "v2/history/\(story.id)?sort=DESCENDING"
            let first = try #require(try await fixture.get(path).json)
            let revision = try #require(first["revision"]?.string)
            let second = try #require(try await fixture.get(path + "&revision=\(revision)").json)
            let ids = try (fixture.transactions(first) + fixture.transactions(second)).compactMap {
                $0["transactionId"]?.string
            }
            #expect(ids.count == 25 && ids.first == story.transactionId && ids.last == story.id)
        }
    }

    @Test func `Filters select, and repeated ones are alternatives`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = try Self.renewed(3, fixture)
            try fixture.send(story.next(.refund))
            let weekly = Product.subscriptions[0]
            try fixture.send(story.next(.resubscribe, product: weekly))
            func count(_ query: String) async throws -> Int {
                let page = try await fixture.get("v2/history/\(story.id)?\(query)")
                #expect(page.status == 200, "\(page.errorMessage ?? "")")
                return page.json?["signedTransactions"]?.elements.count ?? -1
            }
            let (one, other) = (weekly.id(in: "com.example.app"), Product.subscriptions[1].id(in: "com.example.app"))
            #expect(try await count("productId=\(one)") == 1)
            #expect(try await count("productId=\(other)") == 4)
            #expect(try await count("productId=\(one)&productId=\(other)") == 5)
            #expect(try await count("productType=AUTO_RENEWABLE") == 5)
            #expect(try await count("productType=CONSUMABLE") == 0)
            #expect(try await count("productType=CONSUMABLE&productType=AUTO_RENEWABLE") == 5)
            #expect(try await count("subscriptionGroupIdentifier=21447302") == 5)
            #expect(try await count("subscriptionGroupIdentifier=1") == 0)
            #expect(try await count("inAppOwnershipType=PURCHASED") == 5)
            #expect(try await count("inAppOwnershipType=FAMILY_SHARED") == 0)
            #expect(try await count("revoked=true") == 1)
            #expect(try await count("revoked=false") == 4)
            #expect(try await count("excludeRevoked=true") == 4)
            let bought = try #require(story.simulated.purchase?.purchaseDate.milliseconds)
            #expect(try await count("startDate=\(bought)") == 1)
            #expect(try await count("endDate=\(bought)") == 4)
        }
    }

    @Test(arguments: [
        ("startDate=x", 4_000_015), ("endDate=-1", 4_000_016), ("startDate=2&endDate=2", 4_000_013),
        ("productId=", 4_000_023), ("productType=BOOK", 4_000_022), ("subscriptionGroupIdentifier=", 4_000_024),
        ("inAppOwnershipType=STOLEN", 4_000_026), ("revoked=yes", 4_000_030), ("excludeRevoked=1", 4_000_025),
        ("sort=UP", 4_000_021), ("revision=x", 4_000_005),
    ])
    func `Invalid parameter has Apple's error code`(query: String, code: Int64) async throws {
        try await SimulatorFixture.open { fixture in
            let story = try Self.renewed(0, fixture)
            #expect(try await fixture.get("v2/history/\(story.id)?\(query)").errorCode == code)
        }
    }

    @Test func `Revision is valid for the parameters that it was issued for`() async throws {
        try await SimulatorFixture.open { fixture in
            let story = try Self.renewed(2, fixture)
            let revision = try #require(try await fixture.get("v2/history/\(story.id)").json?["revision"]?.string)
            let path = "v2/history/\(story.id)?revoked=false&revision=\(revision)"
            #expect(try await fixture.get(path).errorCode == 4_000_005)
        }
    }

    @Test func `Finished consumable is in the history of version 2 and not of version 1`() async throws {
        try await SimulatorFixture.open { fixture in
            let charge = PurchaseFixture.charge(seed: 5)
            try fixture.send(charge)
            let id = try #require(charge.purchase?.transactionId)
            func count(_ version: String) async throws -> Int? {
                try await fixture.get("\(version)/history/\(id)").json?["signedTransactions"]?.elements.count
            }
            #expect(try await count("v1") == 1)
            let finished = try await fixture.post("v1/transactions/\(id)/finish", "")
            #expect(finished.status == 200 && finished.body.isEmpty)
            #expect(try await count("v1") == 0)
            #expect(try await count("v2") == 1)
        }
    }

    @Test func `Refund history has the refunds that stand`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = try Self.renewed(2, fixture)
            func refunds() async throws -> [String?] {
                let answer = try await fixture.get("v2/refund/lookup/\(story.id)")
                return try fixture.transactions(try #require(answer.json)).map { $0["transactionId"]?.string }
            }
            #expect(try await refunds() == [])
            try fixture.send(story.next(.refund))
            #expect(try await refunds() == [story.transactionId])
            try fixture.send(story.next(.reverseRefund))
            #expect(try await refunds() == [])
            #expect(try await fixture.get("v2/refund/lookup/77").errorCode == 4_040_010)
        }
    }

    /// A customer who renewed so often, noted and sent.
    private static func renewed(_ times: Int, _ fixture: SimulatorFixture) throws -> PurchaseFixture {
        var story = PurchaseFixture(daysAgo: 1000)
        try fixture.send(story.next(.subscribe))
        for _ in 0..<times { try fixture.send(story.next(.renew)) }
        return story
    }
}

extension SimulatorFixture {
    /// The claims of `signedTransactions`, each proven.
    func transactions(_ page: JSONValue) throws -> [JSONValue] {
        try (page["signedTransactions"]?.elements ?? []).map { try proven($0.string) }
    }

    /// The claims of a signed object that the authority signed.
    func proven(_ text: String?) throws -> JSONValue {
        let jws = Array(try #require(text).utf8)
        let parts = try #require(CompactJWS(jws[...]))
        let signature = try #require(Base64.decode(parts.signature, .url))
        let key = try NotificationSignerTests.authority.get().leafKey.publicKey()
        #expect(key.isValid(signature: signature, over: Array(parts.signed)))
        return try NotificationSignerTests.claims(of: jws)
    }
}
