import Testing

@testable import Devkit

extension EndToEnd {
    /// Refund requests are answered whatever happens to the process that answers them.
    struct RefundTests {
        @Test func `Each refund request is answered, with one body, by schedulers that are killed after each answer`()
            async throws
        {
            try await EndToEnd.withPipeline { services in
                let backend = ExampleBackend(
                    databaseURL: services.databaseURL, apps: services.processes.plan.apps, now: services.now)
                try await backend.setPolicies()
                try await SimulatedApple.use(
                    services, count: 1500, droppingOneIn: 0, subscriptions: 750, refundScale: 600
                ) { apple in
                    let consents = Task { try await backend.recordConsents() }
                    defer { consents.cancel() }
                    let kills = try await Self.killAfterEachAnswer(apple)
                    #expect(kills > 3)

                    let requests = try await apple.ledger.refunds(at: services.now())
                    var findings = CheckFindings()
                    RefundCheck(requests: requests).compare(
                        with: try apple.record(), stored: try await apple.ledger.uuids(), &findings)
                    #expect(findings.differences.isEmpty, "\(findings)")
                    #expect(findings.refundsAnswered > 5, "\(findings)")
                    #expect(findings.refundsUnanswered["late"] == nil, "\(findings)")
                }
            }
        }

        /// Kills and restarts the scheduler whenever Apple has taken an answer, until no request waits for one.
        private static func killAfterEachAnswer(_ apple: SimulatedApple) async throws -> Int {
            var kills = 0
            while true {
                let before = try apple.record().refundAnswers.count
                var isDone = false
                try await apple.waitUntil("Apple takes another answer, or no request waits for one") {
                    if try apple.record().refundAnswers.count > before { return true }
                    isDone = try await Self.isDone(apple)
                    return isDone
                }
                if isDone { return kills }
                try await apple.services.processes.kill("scheduler")
                try await Self.expireLeases(apple)
                try await apple.services.processes.restart("scheduler")
                kills += 1
            }
        }

        /// What a killed scheduler holds is free after a minute and a half; here at once.
        private static func expireLeases(_ apple: SimulatedApple) async throws {
            try await apple.ledger.connection.run(
                unsafeScript: """
                    delete from lease where name like 'scheduler.%';
                    update refund_request set next_at = now() where next_at > now();
                    """)
        }

        private static func isDone(_ apple: SimulatedApple) async throws -> Bool {
            guard await apple.control.isFinished() else { return false }
            let known = Set(try apple.record().notifications.filter { $0.expectedRejection == nil }.map(\.uuid))
            guard try await known.isSubset(of: apple.ledger.uuids()) else { return false }
            let requests = try await apple.ledger.refunds(at: apple.services.now())
            // A customer who has an account consents soon.
            return RefundCheck(requests: requests).isSettled && !requests.contains { $0.unanswered == "consent" }
        }
    }
}
