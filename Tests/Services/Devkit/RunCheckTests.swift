import Contracts
import Testing

@testable import Devkit

struct RunCheckTests {
    @Test func `Ledger that equals the record is clean`() throws {
        let record = Self.record(of: Self.genuine("a"), Self.genuine("b"))
        let findings = RunCheck(
            ledger: [Self.entry("b"), Self.entry("a")], rejected: [], finalStates: Self.finalStates
        )
        .against(record)
        #expect(findings.areClean)
        #expect(findings.inLedger == 2)
        #expect(findings.purchases == 1)
    }

    @Test func `Notification answered 200 that is nowhere is missing`() {
        let findings = RunCheck(ledger: [Self.entry("a")], rejected: [], finalStates: Self.finalStates)
            .against(Self.record(of: Self.genuine("a"), Self.genuine("b")))
        #expect(findings.missing == ["b"])
        #expect(!findings.areClean)
    }

    @Test func `Notification that was never accepted may be stored or not`() {
        var record = RunRecord()
        for uuid in ["a", "b"] {
            record.add(.notification(Self.genuine(uuid)))
            record.add(.attempt(Self.attempt(uuid, status: 503)))
        }
        let findings = RunCheck(ledger: [Self.entry("a")], rejected: [], finalStates: Self.finalStates).against(record)
        #expect(findings.areClean)
        #expect(findings.notAccepted == 1)
    }

    @Test func `Notification that the record lacks is unexpected unless it was stored before`() {
        let check = RunCheck(
            ledger: [Self.entry("a"), Self.entry("x"), Self.entry("y")], before: ["y"], rejected: [],
            finalStates: Self.finalStates)
        #expect(check.against(Self.record(of: Self.genuine("a"))).unexpected == ["x"])
    }

    @Test func `Every text of the ledger is compared`() {
        var entry = Self.entry("a")
        entry.notificationType = "TEST"
        entry.subtype = nil
        entry.bundleId = "com.example.other"
        entry.originalTransactionId = nil
        entry.transactionId = "3"
        #expect(
            Self.differences(entry).map(\.field)
                == ["notificationType", "subtype", "bundleId", "originalTransactionId", "transactionId"])
    }

    @Test func `Environment and signedDate are compared`() {
        var entry = Self.entry("a")
        entry.environment = .production
        entry.signedDate = 4
        #expect(Self.differences(entry).map(\.field) == ["environment", "signedDate"])
    }

    @Test func `Row that occurs twice is reported as applied twice`() {
        let findings = RunCheck(
            ledger: [Self.entry("a"), Self.entry("a")], rejected: [], finalStates: Self.finalStates
        )
        .against(Self.record(of: Self.genuine("a")))
        #expect(findings.effectsTwice == ["a"])
    }

    @Test func `Final facts are those of the newest stored notification`() {
        var older = Self.genuine("a")
        older.facts?.status = 5
        var newer = Self.genuine("b")
        newer.signedDate += 1
        var newerEntry = Self.entry("b")
        newerEntry.signedDate = newer.signedDate
        let record = Self.record(of: newer, older)
        let both = RunCheck(ledger: [Self.entry("a"), newerEntry], rejected: [], finalStates: Self.finalStates)
        #expect(both.against(record).areClean)
        let onlyOlder = RunCheck(ledger: [Self.entry("a")], rejected: [], finalStates: Self.finalStates)
        #expect(
            onlyOlder.against(record).differences
                == [Difference(of: "Sandbox 1", field: "status", expected: "5", found: "1")])
    }

    @Test func `RunCheck reports a purchase without state`() {
        let findings = RunCheck(ledger: [Self.entry("a")], rejected: [], finalStates: [:])
            .against(Self.record(of: Self.genuine("a")))
        #expect(findings.differences.map(\.field) == ["purchase"])
    }

    @Test func `Forged notifications belong to the dead letters for the recorded reason`() {
        let record = Self.record(of: Self.forged("f"), Self.forged("g"), Self.forged("h"))
        let rejected = [
            RunCheck.Rejected(uuid: "f", reason: "signature"), RunCheck.Rejected(uuid: "g", reason: "body"),
            RunCheck.Rejected(uuid: nil, reason: "malformed"),
        ]
        let findings = RunCheck(ledger: [], rejected: rejected, finalStates: [:]).against(record)
        #expect(findings.rejectedByReason == ["signature": 1, "body": 1])
        #expect(findings.differences == [Difference(of: "g", field: "reason", expected: "signature", found: "body")])
        #expect(findings.forgedMissing == ["h"])
    }

    @Test func `Forged notification in the ledger is the worst of all and never clean`() {
        let findings = RunCheck(
            ledger: [Self.entry("f")], rejected: [RunCheck.Rejected(uuid: "f", reason: "signature")], finalStates: [:]
        ).against(Self.record(of: Self.forged("f")))
        #expect(findings.forgedInLedger == ["f"])
        #expect(!findings.areClean)
    }

    @Test func `Genuine notification among the dead letters is wrongly rejected, not lost`() {
        let findings = RunCheck(
            ledger: [], rejected: [RunCheck.Rejected(uuid: "a", reason: "revoked")], finalStates: [:]
        )
        .against(Self.record(of: Self.genuine("a")))
        #expect(findings.wronglyRejected == ["a: revoked"])
        #expect(findings.missing.isEmpty)
    }

    @Test func `A status that Apple's API answered is not compared, everything else is`() {
        var states = Self.finalStates
        for purchase in states.keys {
            states[purchase]?.status = 4
            states[purchase]?.autoRenewStatus = 0
        }
        func fields(_ answered: Set<RunRecord.Purchase>) -> [String] {
            RunCheck(ledger: [Self.entry("a")], rejected: [], finalStates: states, statusesByAnswer: answered)
                .against(Self.record(of: Self.genuine("a"))).differences.map(\.field)
        }
        #expect(fields([]) == ["status", "autoRenewStatus"])
        #expect(fields(Set(states.keys)) == ["autoRenewStatus"])
    }

    // MARK: A record of one purchase

    private static let facts = RunRecord.Facts(
        status: 1, productId: "pro", purchaseDate: 1, expiresDate: 2, revocationDate: nil, revocationReason: nil,
        appAccountToken: nil, autoRenewStatus: 1, autoRenewProductId: "pro", isInBillingRetryPeriod: nil,
        gracePeriodExpiresDate: nil, expirationIntent: nil)
    private static let finalStates: RunCheck.FinalStates = [
        RunRecord.Purchase(environment: .sandbox, originalTransactionId: "1"): facts
    ]

    private static func differences(_ entry: RunCheck.Entry) -> [Difference] {
        RunCheck(ledger: [entry], rejected: [], finalStates: finalStates).against(record(of: genuine("a"))).differences
    }

    private static func genuine(_ uuid: String) -> RunRecord.Notification {
        RunRecord.Notification(
            uuid: uuid, notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", environment: .sandbox,
            bundleId: "com.example.app", originalTransactionId: "1", transactionId: "2", signedDate: 3,
            expectedRejection: nil,
            facts: facts)
    }

    private static func forged(_ uuid: String) -> RunRecord.Notification {
        var notification = genuine(uuid)
        notification.expectedRejection = "signature"
        return notification
    }

    private static func entry(_ uuid: String) -> RunCheck.Entry {
        RunCheck.Entry(
            uuid: uuid, notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", environment: .sandbox,
            bundleId: "com.example.app", originalTransactionId: "1", transactionId: "2", signedDate: 3)
    }

    private static func attempt(_ uuid: String, status: Int) -> RunRecord.Attempt {
        RunRecord.Attempt(uuid: uuid, attempt: 1, at: 0, status: status, failure: nil, isRepetition: false)
    }

    private static func record(of notifications: RunRecord.Notification...) -> RunRecord {
        var record = RunRecord()
        for notification in notifications {
            record.add(.notification(notification))
            record.add(.attempt(attempt(notification.uuid, status: 200)))
        }
        return record
    }
}
