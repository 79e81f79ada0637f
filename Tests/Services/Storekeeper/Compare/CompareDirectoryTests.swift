import Contracts
import Development
import Foundation
import Operations
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

/// Directories of files, and the shapes of Adapty and of own tables.
@Suite(.serialized) struct CompareDirectoryTests {
    @Test func `A directory is compared file by file, each once`() async throws {
        let ledger = ComparedLedger.withAllCauses()
        try await CompareTests.use(ledger) { database, _, directory in
            try CompareTests.write(ledger.records, to: directory.url("later.csv"), at: ComparedLedger.at(0.02))
            let first = await CompareTests.run(database, directory.path(""), "--ask", "0", "--json")
            #expect(first.text.matches(of: #/"source" : "revenueCat"/#).count == 2, "\(first.errorOutput)")
            let second = await CompareTests.run(database, directory.path(""), "--ask", "0")
            #expect(second.code == 0 && second.text.contains("was compared before"), "\(second.errorOutput)")
            let again = await CompareTests.run(database, directory.path(""), "--ask", "0", "--again", "--json")
            #expect(again.text.matches(of: #/"source" : "revenueCat"/#).count == 2)
            let future = await CompareTests.run(
                database, directory.path("export.csv"), "--ask", "0", "--taken-at", "2030-01-01T00:00:00Z")
            #expect(future.code == 1 && future.errorOutput.contains("not over"))
        }
    }

    @Test func `Files of one moment in a directory are named, and none of them is left out in silence`() async throws {
        let ledger = ComparedLedger.withAllCauses()
        try await CompareTests.use(ledger) { database, _, directory in
            try CompareTests.write(ledger.records, to: directory.url("second.csv"))
            let both = await CompareTests.run(database, directory.path(""), "--ask", "0")
            #expect(both.code == 1 && both.text.isEmpty, "\(both.text)")
            #expect(both.errorOutput.contains("export.csv and ") && both.errorOutput.contains("second.csv are both of"))
        }
    }

    @Test func `Adapty's events and own tables say of each customer what the newest says`() async throws {
        var ledger = ComparedLedger()
        let purchase = ledger.buy(ledger.customer("user-1"))
        let refunded = ledger.buy(ledger.customer("user-2"))
        try await CompareTests.use(ledger) { database, _, directory in
            let header =
                "profile_id,event_type,event_datetime,original_transaction_id,subscription_expires_at,environment,customer_user_id,store,product_id"
            func event(_ customer: String, _ type: String, _ at: Double, _ purchase: String, to end: Double) -> String {
                [
                    "p-\(customer)", type, ComparedLedger.text(ComparedLedger.at(at)), purchase,
                    ComparedLedger.text(ComparedLedger.at(end)), "Production", customer, "app_store", "pro",
                ].joined(separator: ",")
            }
            try FileManager.default.createDirectory(at: directory.url("adapty"), withIntermediateDirectories: false)
            try CompareTests.write(
                [
                    header, event("user-1", "subscription_renewed", -2, purchase.id, to: 20),
                    event("user-2", "subscription_refunded", -2, refunded.id, to: 20),
                ], to: directory.url("adapty/2026-01-02.csv"))
            try CompareTests.write(
                [
                    header, event("user-1", "subscription_started", -10, purchase.id, to: -2),
                    event("user-2", "subscription_started", -10, refunded.id, to: 20),
                ], to: directory.url("adapty/2026-01-01.csv"), at: ComparedLedger.at(-1))
            let adapty = await CompareTests.run(database, directory.path("adapty"), "--ask", "0", "--json")
            #expect(
                adapty.text.contains("\"equal\" : 1") && adapty.text.contains("\"unexplained\" : 1"), "\(adapty.text)")
            let end = ComparedLedger.text(ComparedLedger.at(20))
            try CompareTests.write(
                ["id;purchase;product;until", "user-1;\(purchase.id);pro;\(end)", "user-2;\(refunded.id);pro;never"],
                to: directory.url("own.csv"))
            let columns = "customerId=id,originalTransactionId=purchase,productId=product,expiresAt=until"
            let own = await CompareTests.run(
                database, directory.path("own.csv"), "--ask", "0", "--map", columns, "--json")
            #expect(
                own.text.contains("\"equal\" : 1") && own.text.contains("\"unexplained\" : 1"), "\(own.errorOutput)")
            let milliseconds = Int(ComparedLedger.at(20).timeIntervalSince1970 * 1000)
            let answer = """
                {"environment":"Production","receipt":{"bundle_id":"\(ComparedLedger.app)"},"latest_receipt_info":[{\
                "original_transaction_id":"\(purchase.id)","transaction_id":"1","product_id":"pro",\
                "expires_date_ms":"\(milliseconds)"}]}
                """
            try CompareTests.write(
                [
                    "{\"customerId\":\"user-1\",\"receipt\":\(answer)}",
                    "{\"customerId\":\"user-2\",\"originalTransactionId\":\"\(refunded.id)\",\"productId\":\"pro\",\"expiresAt\":\"\(end)\"}",
                ], to: directory.url("own.jsonl"))
            let lines = await CompareTests.run(database, directory.path("own.jsonl"), "--ask", "0", "--json")
            #expect(lines.code == 0 && lines.text.contains("\"equal\" : 2"), "\(lines.errorOutput) \(lines.text)")
        }
    }

    @Test func `Adapty's files end at midnight, and what was bought until they were written is no difference`()
        async throws
    {
        var ledger = ComparedLedger()
        let before = ledger.buy(ledger.customer("user-1"))
        let since = ledger.buy(ledger.customer("user-2"), from: -0.1)
        try await CompareTests.use(ledger) { database, _, directory in
            try FileManager.default.createDirectory(at: directory.url("adapty"), withIntermediateDirectories: false)
            let header =
                "profile_id,event_type,event_datetime,original_transaction_id,subscription_expires_at,environment,"
                + "customer_user_id,store,product_id"
            func event(_ customer: String, _ purchase: ComparedLedger.Purchase, _ happenedAt: Double) -> String {
                let (at, end) = (ComparedLedger.at(happenedAt), ComparedLedger.at(20))
                return "p,subscription_started,\(ComparedLedger.text(at)),\(purchase.id),\(ComparedLedger.text(end)),"
                    + "Production,\(customer),app_store,pro"
            }
            try CompareTests.write([header, event("user-1", before, -10)], to: directory.url("adapty/1.csv"))
            let written = await CompareTests.run(database, directory.path("adapty"), "--ask", "0")
            #expect(written.code == 1 && written.text.contains("1 unexplained"), "\(written)")
            func compare(takenAt moment: Double) async -> CommandOutcome {
                let text = ComparedLedger.at(moment).formatted(Date.ISO8601FormatStyle())
                return await CompareTests.run(database, directory.path("adapty"), "--ask", "0", "--taken-at", text)
            }
            let compared = await compare(takenAt: -0.2)
            #expect(compared.code == 0 && compared.text.contains(": 1 equal, 0 not"), "\(compared)")
            // The file of the next day is there, too.
            try CompareTests.write([header, event("user-2", since, -0.1)], to: directory.url("adapty/2.csv"))
            let both = await compare(takenAt: -0.05)
            #expect(both.code == 0 && both.text.contains(": 2 equal, 0 not"), "\(both)")
            let again = await compare(takenAt: -0.15)
            #expect(again.code == 0 && again.text.contains(": 1 equal, 0 not"), "\(again)")
            #expect(again.text.contains("Records left out: 1 withoutAccess"), "\(again)")
        }
    }

    @Test func `What Adapty has under its own id is the customer's for whom another event has both`() async throws {
        var ledger = ComparedLedger()
        let account = ledger.customer("user-1")
        let (before, since) = (ledger.buy(account), ledger.buy(account, "plus", from: -5))
        try await CompareTests.use(ledger) { database, _, directory in
            let header =
                "profile_id,event_type,event_datetime,original_transaction_id,subscription_expires_at,environment,customer_user_id,store,product_id"
            func event(_ customer: String, _ purchase: ComparedLedger.Purchase, _ product: String) -> String {
                [
                    "p-1", "subscription_started", ComparedLedger.text(purchase.facts.purchaseDate), purchase.id,
                    ComparedLedger.text(purchase.facts.expiresDate), "Production", customer, "app_store", product,
                ].joined(separator: ",")
            }
            // Two daily files as one.
            try CompareTests.write(
                [header, event("", before, "pro"), header, event("user-1", since, "plus")],
                to: directory.url("export.csv"))
            let found = await CompareTests.run(database, directory.path("export.csv"), "--ask", "0", "--json")
            let numbers = try CompareTests.numbers(found)
            #expect(numbers["customers"] == 1 && numbers["withAccessThere"] == 1, "\(found.text)")
            #expect(numbers["equal"] == 2 && numbers["entitlements"] == 2 && numbers["invalid"] == 0, "\(found.text)")
        }
    }
}
