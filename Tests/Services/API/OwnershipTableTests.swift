import Contracts
import Digests
import Foundation
import Postgres
import Signatures
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

/// The table of Documentation/Ownership.md, each cell with several accounts at once that want a purchase of another.
///
/// `OWNERSHIP_REQUESTS=50 swift test --filter OwnershipTableTests` sends as many requests at once.
@Suite struct OwnershipTableTests {
    private static let requests = Int(ProcessInfo.processInfo.environment["OWNERSHIP_REQUESTS"] ?? "") ?? 2
    private static let device = UUID()

    private struct Cell: CustomStringConvertible {
        var policy: SharingPolicy
        var needsDevice: Bool
        var evidence: ClaimEvidence
        var isRestore: Bool
        /// Whether Apple names the account that has the purchase.
        var isOwned: Bool
        var isLapsed: Bool

        var description: String {
            "\(policy) needs device \(needsDevice) \(evidence) restore \(isRestore) owned \(isOwned) lapsed \(isLapsed)"
        }

        /// Whether the account that had the purchase still has it, and how many of the others do.
        var expected: (first: Bool, others: Int) {
            let isClaim = evidence != .old
            let isStrong = needsDevice ? evidence == .device : isClaim
            switch policy {
            case .allow: return (true, isClaim && (isRestore || !isOwned) ? requests : 0)
            case .refuse: return (isOwned || !isClaim, 0)
            case .firstWins, .lastRestoreWins, .lastRestoreWinsIfLapsed:
                let isMoved =
                    isRestore && isStrong
                    && (policy == .lastRestoreWins || policy == .lastRestoreWinsIfLapsed && isLapsed)
                // A device's mark comes before the copy without one by which the first account claimed the purchase.
                let isDisplaced = !isOwned && evidence == .device
                return isMoved || isDisplaced ? (false, 1) : (true, 0)
            }
        }
    }

    private static func cells(_ policy: SharingPolicy, needsDevice: Bool) -> [Cell] {
        [ClaimEvidence.device, .signed, .old].flatMap { evidence in
            (0..<8).map { bits in
                Cell(
                    policy: policy, needsDevice: needsDevice, evidence: evidence, isRestore: bits & 1 != 0,
                    isOwned: bits & 2 != 0, isLapsed: bits & 4 != 0)
            }
        }
    }

    @Test(arguments: SharingPolicy.allCases, [false, true])
    func `Who has a purchase that several accounts want at once is what the table says`(
        policy: SharingPolicy, needsDevice: Bool
    ) async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await SharingStore(connection).setPolicy(
                policy, needsDevice: needsDevice, mostAccounts: 1000, of: ForgeryMaterial.bundleId, in: .production,
                at: UploadFixture.now)
            for (index, cell) in Self.cells(policy, needsDevice: needsDevice).enumerated() {
                let id = "\(2_000_000_000_000_000 + index)"
                let (first, others) = (UUID(), (0..<Self.requests).map { _ in UUID() })
                let bought = try Self.signed(cell, id, account: cell.isOwned ? first : nil, .signed, fixture)
                _ = try await fixture.upload([bought], of: first)
                try await fixture.apply([fixture.received(bought)])
                let copy = try Self.signed(cell, id, account: cell.isOwned ? first : nil, cell.evidence, fixture)
                fixture.api.clock.advance(by: 1)
                try await fixture.api.keys.turn()
                try await withThrowingTaskGroup { group in
                    for account in others {
                        group.addTask {
                            let answer = try await fixture.post(cell.isRestore ? "/v1/restores" : "/v1/transactions") {
                                json in
                                json.member("appAccountToken", account.uuidString)
                                if cell.evidence == .device {
                                    json.member("deviceVerificationId", Self.device.uuidString)
                                }
                                json.beginArray("signedTransactions")
                                json.element(String(decoding: copy, as: UTF8.self))
                                json.endArray()
                            }
                            #expect(answer.status == 200 || answer.problem == "too-many-transfers", "\(cell)")
                        }
                    }
                    try await group.waitForAll()
                }
                try await Self.expect(cell, id, first, others, connection, fixture)
            }
            await connection.close()
        }
    }

    /// A renewal of which nothing is known yet, and a period to come: the payer would be locked out by another account with a copy.
    @Test(arguments: [(-40.0, -10.0), (-33, -1), (2, 32)])
    func `A purchase whose renewal is not known, or that begins later, has not lapsed`(from: Double, to: Double)
        async throws
    {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await SharingStore(connection).setPolicy(
                .lastRestoreWinsIfLapsed, needsDevice: false, of: ForgeryMaterial.bundleId, in: .production,
                at: UploadFixture.now)
            let signed = try fixture.material.signed(
                fixture.material.transaction { transaction in
                    transaction.appTransactionId = nil
                    transaction.appAccountToken = nil
                    transaction.purchaseDate = UploadFixture.now.addingTimeInterval(from * 86_400)
                    transaction.expiresDate = UploadFixture.now.addingTimeInterval(to * 86_400)
                })
            let (payer, other) = (UUID(), UUID())
            _ = try await fixture.upload([signed], of: payer)
            try await fixture.apply([fixture.received(signed)])
            fixture.api.clock.advance(by: 1)
            let answer = try await fixture.post("/v1/restores") { json in
                json.member("appAccountToken", other.uuidString)
                json.beginArray("signedTransactions")
                json.element(String(decoding: signed, as: UTF8.self))
                json.endArray()
            }
            #expect(answer.status == 200)
            let users = try await connection.execute(
                Statement(unsafeSQL: "select app_account_token from purchase_account where may_use")
            ).map { row in try row.value("app_account_token", as: UUID.self) }
            #expect(users == [payer])
            await connection.close()
        }
    }

    /// Apple says that a purchase took its place: its payer uses that one.
    @Test func `A purchase whose upgrade is not known yet has not lapsed`() async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await SharingStore(connection).setPolicy(
                .lastRestoreWinsIfLapsed, needsDevice: false, of: ForgeryMaterial.bundleId, in: .production,
                at: UploadFixture.now)
            await connection.close()
            let (payer, other) = (UUID(), UUID())
            let bought = try fixture.transaction(of: payer)
            _ = try await fixture.upload([bought], of: payer)
            try await fixture.apply([fixture.received(bought)])
            fixture.api.clock.advance(by: 1)
            let replaced = try fixture.transaction(of: payer) {
                $0.isUpgraded = true
                $0.signedDate = UploadFixture.now
            }
            #expect(try await fixture.upload([replaced], to: "/v1/restores", of: other).status == 200)
            let upgrade = try fixture.transaction(of: payer) {
                $0.transactionId = "2000000000000077"
                $0.transactionReason = .purchase
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-1)
            }
            try await fixture.apply([fixture.received(replaced), fixture.received(upgrade)])
            #expect(try await fixture.entitlements(of: payer).access.contains("monthly"))
            #expect(try await fixture.entitlements(of: other).access == "[]")
        }
    }

    /// Apple's notification of the new purchase comes after the restore that found the old one lapsed.
    @Test func `A purchase that was bought again before a restore found it lapsed stays the buyer's`() async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await SharingStore(connection).setPolicy(
                .lastRestoreWinsIfLapsed, needsDevice: false, of: ForgeryMaterial.bundleId, in: .production,
                at: UploadFixture.now)
            let (payer, other) = (UUID(), UUID())
            let lapsed = try fixture.transaction(of: payer) {
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-100 * 86_400)
                $0.expiresDate = UploadFixture.now.addingTimeInterval(-70 * 86_400)
            }
            _ = try await fixture.upload([lapsed], of: payer)
            try await fixture.apply([fixture.received(lapsed)])
            fixture.api.clock.advance(by: 1)
            try await fixture.api.keys.turn()
            #expect(try await fixture.upload([lapsed], to: "/v1/restores", of: other).status == 200)
            func users() async throws -> [UUID] {
                try await connection.execute(
                    Statement(unsafeSQL: "select app_account_token from purchase_account where may_use")
                ).map { row in try row.value("app_account_token", as: UUID.self) }
            }
            #expect(try await users() == [other])
            let again = try fixture.transaction(of: payer) {
                $0.transactionId = "2000000000000077"
                $0.transactionReason = .purchase
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-1)
                $0.expiresDate = UploadFixture.now.addingTimeInterval(30 * 86_400)
            }
            try await fixture.apply([fixture.received(again)])
            #expect(try await users() == [payer])
            #expect(try await fixture.entitlements(of: payer).access.contains("monthly"))
            #expect(try await fixture.entitlements(of: other).access == "[]")
            await connection.close()
        }
    }

    /// Of the replaced transaction Apple has signed nothing since: it seems to run for a year.
    @Test func `A purchase whose upgrade has lapsed moves with a restore`() async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            try await SharingStore(connection).setPolicy(
                .lastRestoreWinsIfLapsed, needsDevice: false, of: ForgeryMaterial.bundleId, in: .production,
                at: UploadFixture.now)
            let (payer, other) = (UUID(), UUID())
            let year = try fixture.transaction(of: payer) {
                $0.productId = "com.example.reader.yearly"
                $0.transactionReason = .purchase
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-110 * 86_400)
                $0.expiresDate = UploadFixture.now.addingTimeInterval(255 * 86_400)
            }
            let upgrade = try fixture.transaction(of: payer) {
                $0.transactionId = "2000000000000077"
                $0.transactionReason = .purchase
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-100 * 86_400)
                $0.expiresDate = UploadFixture.now.addingTimeInterval(-70 * 86_400)
            }
            _ = try await fixture.upload([upgrade], of: payer)
            try await fixture.apply([fixture.received(year), fixture.received(upgrade)])
            fixture.api.clock.advance(by: 1)
            try await fixture.api.keys.turn()
            #expect(try await fixture.upload([upgrade], to: "/v1/restores", of: other).status == 200)
            let users = try await connection.execute(
                Statement(unsafeSQL: "select app_account_token from purchase_account where may_use")
            ).map { row in try row.value("app_account_token", as: UUID.self) }
            #expect(users == [other])
            await connection.close()
        }
    }

    /// Compares the stored decision, SQL and the API's answers with the table.
    private static func expect(
        _ cell: Cell, _ id: String, _ first: UUID, _ others: [UUID], _ connection: PostgresConnection,
        _ fixture: UploadFixture
    ) async throws {
        let users = Set(
            try await connection.execute(
                Statement(
                    unsafeSQL:
                        "select app_account_token from purchase_account where original_transaction_id = $1::text and may_use"
                ), id
            ).map { row in try row.value("app_account_token", as: UUID.self) })
        let expected = cell.expected
        #expect(users.contains(first) == expected.first && users.count { $0 != first } == expected.others, "\(cell)")
        var byAPI: Set<UUID> = []
        var bySQL: Set<UUID> = []
        for account in [first] + others {
            if try await fixture.entitlements(of: account).access != "[]" { byAPI.insert(account) }
            let access = try await AccessStore(connection).access(
                ofAccount: account.uuidString, of: ForgeryMaterial.bundleId, in: .production,
                at: UploadFixture.now.addingTimeInterval(1))
            if access?.isEmpty == false { bySQL.insert(account) }
        }
        #expect(byAPI == (cell.isLapsed ? [] : users) && bySQL == byAPI, "\(cell)")
    }

    private static func signed(
        _ cell: Cell, _ id: String, account: UUID?, _ evidence: ClaimEvidence, _ fixture: UploadFixture
    ) throws -> [UInt8] {
        let transaction = fixture.material.transaction { transaction in
            transaction.originalTransactionId = id
            transaction.transactionId = id
            transaction.appTransactionId = nil
            transaction.appAccountToken = account?.uuidString.lowercased()
            if evidence == .old { transaction.signedDate = UploadFixture.now.addingTimeInterval(-300 * 86_400) }
            guard cell.isLapsed else { return }
            transaction.purchaseDate = UploadFixture.now.addingTimeInterval(-100 * 86_400)
            transaction.expiresDate = UploadFixture.now.addingTimeInterval(-70 * 86_400)
        }
        guard evidence == .device else { return try fixture.material.signed(transaction) }
        let nonce = UUID().uuidString.lowercased()
        let digest = SHA384Hash.digest(Array((nonce + device.uuidString.lowercased()).utf8))
        let mark = String(decoding: Base64.encode(digest, .standard), as: UTF8.self)
        return try fixture.material.signed(
            json: String(decoding: transaction.json, as: UTF8.self).dropLast()
                + #","deviceVerification":"\#(mark)","deviceVerificationNonce":"\#(nonce)"}"#)
    }
}
