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
            try await fixture.setPolicy(policy, needsDevice: needsDevice, mostAccounts: 1000)
            for (index, cell) in Self.cells(policy, needsDevice: needsDevice).enumerated() {
                let id = "\(2_000_000_000_000_000 + index)"
                let (first, others) = (UUID(), (0..<Self.requests).map { _ in UUID() })
                let bought = try Self.signed(cell, id, account: cell.isOwned ? first : nil, .signed, fixture)
                _ = try await fixture.upload([bought], of: first)
                try await fixture.apply([fixture.received(bought)])
                let copy = try Self.signed(cell, id, account: cell.isOwned ? first : nil, cell.evidence, fixture)
                try await fixture.api.pass()
                try await withThrowingTaskGroup { group in
                    for account in others {
                        group.addTask {
                            let answer = try await Self.send(copy, cell, of: account, fixture)
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

    private enum Holder: CaseIterable {
        /// Apple names another account, and a restore moved the purchase to this one.
        case moved
        /// An operator chose the account.
        case chosen
    }

    @Test(arguments: SharingPolicy.allCases)
    func `A purchase that a restore moved, or whose account an operator chose, goes on only as the table says`(
        policy: SharingPolicy
    ) async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            let sharing = SharingStore(connection)
            func set(_ policy: SharingPolicy) async throws {
                try await sharing.setPolicy(
                    policy, of: ForgeryMaterial.bundleId, in: .production, at: UploadFixture.now)
            }
            let cells = Self.cells(policy, needsDevice: false).filter { !$0.isOwned && !$0.isLapsed }
            for (index, cell) in (cells + cells).enumerated() {
                let holder = Holder.allCases[index / cells.count]
                let id = "\(2_000_000_000_000_000 + index)"
                let (buyer, second, thief) = (UUID(), UUID(), UUID())
                func signed(_ evidence: ClaimEvidence) throws -> [UInt8] {
                    try Self.signed(cell, id, account: holder == .moved ? buyer : nil, evidence, fixture)
                }
                let bought = try signed(.signed)
                try await set(.lastRestoreWins)
                try await fixture.api.pass()
                _ = try await fixture.upload([bought], of: buyer)
                try await fixture.apply([fixture.received(bought)])
                try await fixture.api.pass()
                switch holder {
                case .moved: _ = try await fixture.upload([bought], to: "/v1/restores", of: second)
                case .chosen:
                    _ = try await fixture.upload([bought], of: second)
                    try await sharing.choose(
                        second.uuidString, of: ForgeryMaterial.bundleId, in: .production, at: UploadFixture.now)
                }
                try await set(policy)
                try await fixture.api.pass()
                let answer = try await Self.send(signed(cell.evidence), cell, of: thief, fixture)
                #expect(answer.status == 200, "\(cell)")
                let isTaken = cell.isRestore && cell.evidence != .old
                let expected: Set<UUID> =
                    switch (holder, policy) {
                    case (.chosen, _): [second]
                    case (.moved, .allow): isTaken ? [buyer, second, thief] : [buyer, second]
                    case (.moved, .lastRestoreWins): isTaken ? [thief] : [second]
                    case (.moved, _): [second]
                    }
                #expect(try await Self.users(of: id, connection) == expected, "\(holder) \(cell)")
                guard holder == .moved else { continue }
                // Its buyer takes it back, by an old copy, too.
                try await fixture.api.pass()
                _ = try await fixture.upload([signed(.old)], to: "/v1/restores", of: buyer)
                let users = try await Self.users(of: id, connection)
                #expect(users == (policy == .allow ? expected : [buyer]), "\(holder) \(cell)")
            }
            await connection.close()
        }
    }

    /// Compares the stored decision, SQL and the API's answers with the table.
    private static func expect(
        _ cell: Cell, _ id: String, _ first: UUID, _ others: [UUID], _ connection: PostgresConnection,
        _ fixture: UploadFixture
    ) async throws {
        let users = try await users(of: id, connection)
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

    private static func users(of id: String, _ connection: PostgresConnection) async throws -> Set<UUID> {
        let sql = "select app_account_token from purchase_account where original_transaction_id = $1::text and may_use"
        return Set(
            try await connection.execute(Statement(unsafeSQL: sql), id).map { row in
                try row.value("app_account_token", as: UUID.self)
            })
    }

    private static func send(
        _ copy: [UInt8], _ cell: Cell, of account: UUID, _ fixture: UploadFixture
    ) async throws -> RunningAPI.Answer {
        try await fixture.post(cell.isRestore ? "/v1/restores" : "/v1/transactions") { json in
            json.member("appAccountToken", account.uuidString)
            if cell.evidence == .device { json.member("deviceVerificationId", device.uuidString) }
            json.strings("signedTransactions", of: [String(decoding: copy, as: UTF8.self)])
        }
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
