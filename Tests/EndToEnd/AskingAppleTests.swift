import Contracts
import Foundation
import Storage
import Testing

@testable import Devkit

extension EndToEnd {
    /// The commands that ask Apple, run as an operator runs them, against a simulated App Store.
    struct AskingAppleTests {
        @Test
        func
            `storekeeper apple follows a test notification, looks up an order, and fetches customers once and no more`()
            async throws
        {
            try await EndToEnd.withPipeline { services in
                try await SimulatedApple.use(services, count: 60, droppingOneIn: 0) { apple in
                    try await apple.waitUntil("Apple has sent all") { await apple.control.isFinished() }
                    let sandbox = ["--app", "com.example.app", "--environment", "Sandbox"]
                    let followed = try await apple.storekeeper(["test-notification", "--json"] + sandbox)
                    #expect(followed.ending == .exit(0), "\(followed.log)")
                    #expect(followed.text.contains("SUCCESS") && followed.text.contains("recordedAt"))

                    // One-time purchases have no status, and no renewal info to fetch.
                    let customer = try #require(
                        try await apple.customers().first {
                            $0.environment == "Production" && $0.status != nil && $0.appAccountToken != nil
                        })
                    let production = ["--app", "com.example.app", "--environment", "Production"]
                    let order = try #require(customer.orderIds.first)
                    let found = try await apple.storekeeper(["lookup", "order", order] + production)
                    #expect(found.ending == .exit(0), "\(found.log)")
                    #expect(found.text.contains(customer.originalTransactionId) && found.text.contains("yes"))
                    let unknown = try await apple.storekeeper(["lookup", "order", "NONE"] + production)
                    #expect(unknown.ending == .exit(1) && unknown.log.contains("knows no order"))

                    try await Self.fetchCustomers(customer.originalTransactionId, apple, production)
                    try await Self.history(customer.originalTransactionId, apple, production)
                    try await Self.importCustomers(
                        customer.originalTransactionId, of: #require(customer.appAccountToken), apple, production)
                    try await Self.importRenewal(besides: customer.originalTransactionId, apple, production)
                    try await Self.extend(customer.originalTransactionId, apple)
                    let token = try await apple.storekeeper(["token", "--app", "com.example.app"])
                    #expect(token.ending == .exit(0) && token.text.split(separator: ".").count == 3)
                    try await Self.wrongKey(apple, sandbox)
                }
            }
        }

        /// One whom Apple knows and one whom it does not.
        private static func fetchCustomers(
            _ id: String, _ apple: SimulatedApple, _ options: [String]
        ) async throws {
            let file = apple.services.processes.plan.directory + "/customers"
            try Data("\(id)\n404\n".utf8).write(to: URL(fileURLWithPath: file))
            let first = try await apple.storekeeper(["backfill", file] + options)
            #expect(first.ending == .exit(1), "Apple rejected one")
            #expect(first.text.hasPrefix("2 customers, ") && first.text.contains(" 1 failed"))
            #expect(first.log.contains("404: ") && first.log.contains("4040010"))
            let ledger = NotificationStore(apple.ledger.connection)
            for part in [SignedPart.transaction, .renewalInfo] {
                try await apple.waitUntil("what is signed is in the ledger, as what it is") {
                    try await ledger.newest(10, where: Self.search(for: part)).contains {
                        $0.originalTransactionId == id && $0.source == NotificationSource.history.rawValue
                    }
                }
            }
            let left = try await apple.storekeeper(["backfill", file, "--dry-run"] + options)
            #expect(left.text == "2 customers, 1 imported, 1 left.\n")
            struct Summary: Decodable {
                var customers: Int
                var done: Int
                var left: Int
                var rejected: [String: String]
            }
            func summary(_ arguments: String...) async throws -> Summary {
                let outcome = try await apple.storekeeper(["backfill", file, "--json"] + arguments + options)
                return try JSONDecoder().decode(Summary.self, from: Data(outcome.text.utf8))
            }
            let planned = try await summary("--dry-run")
            #expect(planned.customers == 2 && planned.done == 1 && planned.left == 1 && planned.rejected.isEmpty)
            let again = try await summary()
            #expect(again.customers == 2 && again.left == 1 && Array(again.rejected.keys) == ["404"])
        }

        /// What Apple sent about one customer, and that the ledger has it.
        private static func history(_ id: String, _ apple: SimulatedApple, _ options: [String]) async throws {
            struct Row: Decodable {
                var notificationUUID: String?
                var isRecorded: Bool?
            }
            let command = ["notifications", "history", "--transaction", id, "--json"] + options
            try await apple.waitUntil("the ledger has all that Apple sent about a customer") {
                try await apple.storekeeper(command).ending == .exit(0)
            }
            let outcome = try await apple.storekeeper(command)
            let rows = try JSONDecoder().decode([Row].self, from: Data(outcome.text.utf8))
            #expect(!rows.isEmpty && rows.allSatisfy { $0.isRecorded == true && $0.notificationUUID != nil })
            let earlier = try await apple.storekeeper(command + ["--from", "2d", "--to", "1d"])
            #expect(earlier.text.filter { !$0.isWhitespace } == "[]" && earlier.ending == .exit(1), "\(earlier.log)")
            let unknown = try await apple.storekeeper(["notifications", "history", "--transaction", "404"] + options)
            #expect(unknown.ending == .exit(1), "\(unknown.log)")
        }

        /// A customer with the purchase of another, one with a wrong one, one who exists with another token, a broken line, and the
        /// customer whom Apple names.
        private static func importCustomers(
            _ id: String, of account: String, _ apple: SimulatedApple, _ options: [String]
        ) async throws {
            let file = apple.services.processes.plan.directory + "/import.jsonl"
            _ = try await apple.storekeeper(["customers", "add", "third"] + options)
            try Data(
                """
                {"customerId":"first","originalTransactionId":"\(id)"}
                {"customerId":"second","originalTransactionId":"404"}
                {"customerId":"third","appAccountToken":"\(UUID().uuidString)"}
                no row
                {"customerId":"named","appAccountToken":"\(account)","originalTransactionId":"\(id)"}

                """.utf8
            ).write(to: URL(fileURLWithPath: file))
            struct Row: Decodable, Equatable {
                var line: Int
                var outcome: String
            }
            struct Summary: Decodable {
                var outcomes: [String: Int]
                var purchases: Int
                var fetchedBefore: Int
                var sample: Sample?
                struct Sample: Decodable {
                    var asked: Int
                    var unknown: [String]
                }
            }
            func run(_ arguments: String...) async throws -> (Summary, [Row]) {
                let outcome = try await apple.storekeeper(["import", file, "--json"] + arguments + options)
                let rows = try String(contentsOfFile: file + ".outcomes", encoding: .utf8).split(separator: "\n")
                    .map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
                return (try JSONDecoder().decode(Summary.self, from: Data(outcome.text.utf8)), rows)
            }
            let dry = try await run("--dry-run")
            #expect(
                dry.0.outcomes == ["otherAccount": 1, "created": 2, "conflict": 1, "invalid": 1] && dry.0.purchases == 2
            )
            #expect(dry.0.sample?.asked == 2 && dry.0.sample?.unknown == ["404"])
            let known = try await apple.storekeeper(["customers", "show", "first"] + options)
            #expect(known.ending == .exit(1), "a dry run changes nothing")
            let first = try await run()
            #expect(
                first.1 == [
                    Row(line: 1, outcome: "otherAccount"), Row(line: 2, outcome: "failed"),
                    Row(line: 3, outcome: "conflict"), Row(line: 4, outcome: "invalid"),
                    Row(line: 5, outcome: "created"),
                ])
            #expect(first.0.purchases == 2 && first.0.fetchedBefore == 0)
            let second = try await run()
            #expect(second.1.map(\.outcome) == ["otherAccount", "failed", "conflict", "invalid", "known"])
            #expect(second.0.fetchedBefore == 1, "what was fetched is not fetched again")
        }

        /// A customer of whose purchase the file has a renewal alone, as RevenueCat's API names it: the purchase is the customer's.
        private static func importRenewal(
            besides other: String, _ apple: SimulatedApple, _ options: [String]
        ) async throws {
            let customer = try #require(
                try await apple.customers().first {
                    $0.environment == "Production" && $0.originalTransactionId != other && $0.transactionIds.count > 1
                })
            let renewed = customer.originalTransactionId
            let renewal = try #require(customer.transactionIds.first { $0 != renewed })
            let file = apple.services.processes.plan.directory + "/renewal.jsonl"
            let line = "{\"customerId\":\"renewed\",\"originalTransactionId\":\"\(renewal)\"}\n"
            try Data(line.utf8).write(to: URL(fileURLWithPath: file))
            func claims() async throws -> [String] {
                try await CustomerStore(apple.ledger.connection).claims(of: "com.example.app", in: .production)
                    .filter { $0.evidence == .operator }.map(\.key.originalTransactionId)
            }
            let before = try await claims()
            #expect(!before.contains(renewed))
            let outcome = try await apple.storekeeper(["import", file] + options)
            #expect(outcome.text.contains("1 purchase, "), "\(outcome.text) \(outcome.log)")
            #expect(try await claims().contains(renewed))
        }

        /// One subscriber, then all of a product; what Apple says of both arrives, and the trail keeps who asked.
        private static func extend(_ known: String, _ apple: SimulatedApple) async throws {
            let production = ["--app", "com.example.app", "--environment", "Production", "--actor", "ann"]
            let rejected = try await apple.storekeeper(
                ["extend", "404", "--days", "3", "--reason", "other"] + production)
            #expect(rejected.ending == .exit(1) && rejected.log.contains("4040005"), "\(rejected.log)")
            let active = try #require(
                try await apple.customers().first { $0.environment == "Production" && $0.status == 1 })
            let dry = try await apple.storekeeper(
                ["extend", active.originalTransactionId, "--days", "3", "--reason", "other", "--dry-run"] + production)
            #expect(dry.ending == .exit(0) && dry.text.contains("would be asked"), "\(dry.log)")
            let one = try await apple.storekeeper(
                ["extend", active.originalTransactionId, "--days", "3", "--reason", "satisfaction"] + production)
            #expect(one.ending == .exit(0) && one.text.hasPrefix("Extended; "), "\(one.log)")

            let product = "com.example.app.basic.monthly"
            let all = try await apple.storekeeper(
                ["extend", "product", product, "--everywhere", "--days", "2", "--reason", "outage"]
                    + ["--request-id", "after-the-outage", "--note", "sorry"] + production)
            #expect(all.ending == .exit(0) && all.text.hasPrefix("Complete since "), "\(all.log)")
            let status = try await apple.storekeeper(
                [
                    "extend", "status", product, "after-the-outage", "--app", "com.example.app", "--environment",
                    "Production", "--json",
                ])
            #expect(
                status.ending == .exit(0) && status.text.filter { !$0.isWhitespace }.contains("\"complete\":true"),
                "\(status.text)")
            let unknown = try await apple.storekeeper(
                ["extend", "status", product, "never", "--app", "com.example.app", "--environment", "Production"])
            #expect(unknown.ending == .exit(1) && unknown.log.contains("knows no request never"), "\(unknown.log)")
            try await apple.waitUntil("Apple's summary is in the ledger") {
                var summary = NotificationSearch()
                summary.notificationType = "RENEWAL_EXTENSION"
                summary.subtype = "SUMMARY"
                return try await !NotificationStore(apple.ledger.connection).newest(1, where: summary).isEmpty
            }
            let auditLog = try await apple.storekeeper(["audit"])
            #expect(auditLog.text.contains("purchase \(active.originalTransactionId) by 3 days"), "\(auditLog.text)")
            #expect(
                auditLog.text.split(separator: "\n").contains {
                    $0.contains("product \(product), everywhere, by 2 days, request after-the-outage ")
                        && $0.contains(" sorry ")
                }, "\(auditLog.text)")
            let refused = auditLog.text.split(separator: "\n").filter { $0.contains("purchase 404 by 3 days") }
            #expect(refused.count == 2 && refused[0].hasSuffix("failed") && refused[1].hasSuffix("requested"))
        }

        private static func search(for part: SignedPart) -> NotificationSearch {
            var search = NotificationSearch()
            search.notificationType = part.rawValue
            return search
        }

        /// A key that Apple does not know is reported, and never printed.
        private static func wrongKey(_ apple: SimulatedApple, _ options: [String]) async throws {
            let plan = apple.services.processes.plan
            let elsewhere = APIKeyFile(directory: plan.directory + "/elsewhere")
            try FileManager.default.createDirectory(atPath: elsewhere.directory, withIntermediateDirectories: true)
            try elsewhere.write(for: plan.apps)
            let rejected = try await apple.storekeeper(
                ["test-notification", "--api-keys-file", elsewhere.list] + options)
            #expect(rejected.ending == .exit(1))
            #expect(rejected.log.contains("refuses every key"), "\(rejected.log)")
            #expect(!rejected.log.contains("eyJ") && !rejected.log.contains("PRIVATE"))
        }
    }
}
