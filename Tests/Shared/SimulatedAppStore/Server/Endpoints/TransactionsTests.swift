import Contracts
import Foundation
import StrictJSON
import Testing

@testable import SimulatedAppStore

/// F1, F9.
@Suite struct TransactionsTests {
    @Test func `Transaction is returned as it is now`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            let first = story.transactionId
            try fixture.send(story.next(.renew))
            for id in [first, story.transactionId] {
                let json = try #require(try await fixture.get("v1/transactions/\(id)").json)
                let claims = try fixture.proven(json["signedTransactionInfo"]?.string)
                #expect(claims["transactionId"]?.string == id)
                #expect(claims["originalTransactionId"]?.string == first)
            }
            #expect(try await fixture.get("v1/transactions/1").errorMessage == "Transaction id not found.")
            #expect(try await fixture.get("v1/transactions/x").errorMessage == "Invalid transaction id.")
            #expect(try await fixture.post("v1/transactions/1/finish").errorCode == 4_040_010)
        }
    }

    @Test func `App transaction names the app and the customer`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            let json = try #require(try await fixture.get("v1/transactions/appTransactions/\(story.id)").json)
            let claims = try fixture.proven(json["signedAppTransactionInfo"]?.string)
            #expect(claims["bundleId"]?.string == "com.example.app")
            #expect(claims["receiptType"]?.string == "Production")
            #expect(claims["appTransactionId"]?.string == story.simulated.customer.appTransactionId)
            #expect(try await fixture.get("v1/transactions/appTransactions/1").errorCode == 4_040_010)
        }
    }

    @Test func `Order is found by its number, and an unknown number is status 1`() async throws {
        try await SimulatorFixture.open { fixture in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            let found = try await fixture.get("v1/lookup/\(OrderNumber(transactionId: story.id).text)")
            #expect(found.json?["status"]?.int64 == 0)
            let transactions = try fixture.transactions(try #require(found.json))
            #expect(transactions.map { $0["transactionId"]?.string } == [story.id])
            for number in ["MXYZ", "nonsense", "M"] {
                let answer = try await fixture.get("v1/lookup/\(number)")
                #expect(answer.status == 200)
                #expect(answer.json?["status"]?.int64 == 1)
            }
        }
    }

    @Test func `Orders cannot be looked up in the sandbox`() async throws {
        try await SimulatorFixture.open { fixture in
            let answer = try await fixture.get("v1/lookup/MXYZ", in: .sandbox)
            #expect(answer.status == 404)
        }
    }

    @Test(arguments: [
        ("GET", "/inApps/v1/nothing"), ("GET", "/"), ("POST", "/inApps/v1/transactions/1"),
        ("GET", "/production/inApps/v1/notifications/history"), ("GET", "/production/simulator/progress"),
        ("GET", "/simulator/nothing"),
    ])
    func `Unknown endpoint is 404 without a body`(method: String, path: String) async throws {
        try await SimulatorFixture.open { fixture in
            let answer = try await fixture.send(method, path)
            #expect(answer.status == 404)
            #expect(answer.body.isEmpty)
        }
    }
}
