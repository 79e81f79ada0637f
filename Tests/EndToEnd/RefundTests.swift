import Foundation
import Testing

@testable import Devkit

extension EndToEnd {
    /// Refund requests are answered whatever happens to the process that answers them.
    struct RefundTests {
        @Test
        func `Each refund request is answered, with one body, by schedulers that are killed as Apple takes an answer`()
            async throws
        {
            try await EndToEnd.withPipeline { services in
                let backend = ExampleBackend(
                    databaseURL: services.databaseURL, apps: services.processes.plan.apps, now: services.now)
                try await backend.setPolicies()
                try await SimulatedApple.use(services, count: 50, droppingOneIn: 0) { apple in
                    try await apple.waitUntil("Apple has sent all") { await apple.control.isFinished() }
                    let consents = Task { try await backend.recordConsents() }
                    defer { consents.cancel() }
                    for round in 1...5 {
                        try await Self.requestRefund(apple)
                        try await apple.waitUntil("Apple takes an answer") {
                            try Set(apple.record().refundAnswers.map(\.transactionId)).count == round
                        }
                        try await services.processes.kill("scheduler")
                        try await Self.expireLeases(apple)
                        try await services.processes.restart("scheduler")
                    }
                    try await apple.waitUntil("no answer is left to be sent") {
                        RefundCheck(requests: try await apple.ledger.refunds(at: services.now())).isSettled
                    }

                    var findings = CheckFindings()
                    RefundCheck(requests: try await apple.ledger.refunds(at: services.now())).compare(
                        with: try apple.record(), stored: try await apple.ledger.uuids(), &findings)
                    #expect(findings.differences.isEmpty && findings.refundsAnswered == 5, "\(findings)")
                }
            }
        }

        /// A customer buys, and asks Apple for the money.
        private static func requestRefund(_ apple: SimulatedApple) async throws {
            let account = UUID().uuidString.lowercased()
            for arguments in [["buy", "premium.monthly"], ["trigger", "CONSUMPTION_REQUEST"]] {
                let done = try await apple.storekeeper(
                    ["simulator"] + arguments + ["--account", account])
                #expect(done.ending == .exit(0), "\(done.text)\(done.log)")
            }
        }

        /// The leases of a killed scheduler end after a minute and a half; here they end at once.
        private static func expireLeases(_ apple: SimulatedApple) async throws {
            try await apple.ledger.connection.run(
                unsafeScript: """
                    delete from lease where name like 'scheduler.%';
                    update refund_request set next_at = now() where next_at > now();
                    """)
        }
    }
}
