import AppStore
import Contracts
import Development
import Foundation
import Pipeline
import Records
import Signatures
import Testing

@testable import Verifier

@Suite struct VerifyTests {
    static let now = Date(milliseconds: 1_700_000_000_000)
    static let authority = Result { try DevelopmentAuthority(now: now) }
    static let stranger = Result { try DevelopmentAuthority(now: now) }

    static func verifier() throws -> SignedDataVerifier {
        SignedDataVerifier(
            trust: try TrustStore.apple.adding(rootsIn: Array(authority.get().rootPEM.utf8)),
            apps: AppRegistry(apps: [
                AcceptedApp(bundleId: "com.example.app", appAppleId: 1, environments: [.production])
            ]))
    }

    /// A signed payload of one transaction, with the given changes.
    static func signedPayload(
        by authority: DevelopmentAuthority, uuid: UUID = UUID(), bundleId: String = "com.example.app",
        environment: AppStoreEnvironment = .production, transactionOf other: String? = nil
    ) throws -> [UInt8] {
        let signer = PayloadSigner(authority: authority)
        var transaction = JWSTransactionDecodedPayload()
        transaction.originalTransactionId = "1000"
        transaction.transactionId = "1001"
        transaction.bundleId = other ?? bundleId
        transaction.environment = environment
        transaction.signedDate = now
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = .didRenew
        payload.notificationUUID = uuid.uuidString.lowercased()
        payload.signedDate = now
        payload.version = "2.0"
        var data = NotificationData()
        data.bundleId = bundleId
        data.appAppleId = environment == .production ? 1 : nil
        data.environment = environment
        data.signedTransactionInfo = String(decoding: try signer.sign(transaction.json), as: UTF8.self)
        payload.data = data
        return try signer.sign(payload.json)
    }

    static func results(on payloads: [[UInt8]]) async throws -> [StageResult<VerifiedNotification, VerifyReason>] {
        let verifier = try verifier()
        let stage = Verify(verifier: { verifier }, now: { now }, cores: 2)
        return try await stage.process(
            payloads.enumerated().map { offset, payload in
                Delivery(
                    message: ReceivedNotification(signedPayload: payload, source: .webhook, receivedAt: now),
                    position: LogPosition(topic: Topics.received.name, partition: 0, offset: Int64(offset)))
            })
    }

    @Test func `Verifier passes on a verified notification with its original and its key`() async throws {
        let uuid = UUID()
        let signedPayload = try Self.signedPayload(by: Self.authority.get(), uuid: uuid)
        guard case .forward(let verified) = try await Self.results(on: [signedPayload])[0] else {
            Issue.record("a genuine notification was rejected")
            return
        }
        #expect(verified.notificationUUID == uuid)
        #expect(verified.notificationType == "DID_RENEW")
        #expect(verified.environment == .production)
        #expect(verified.originalTransactionId == "1000")
        #expect(verified.signedDate == Self.now)
        #expect(try verified.signedPayload == signedPayload)
        #expect(verified.record().key == Array("1000".utf8))
        #expect(try DecodedNotification(decoded: verified.decoded).transaction?.transactionId == "1001")
    }

    @Test func `Verifier keeps the order of records on any number of cores`() async throws {
        let authority = try Self.authority.get()
        let uuids = (0..<50).map { _ in UUID() }
        let results = try await Self.results(on: uuids.map { try Self.signedPayload(by: authority, uuid: $0) })
        let forwarded = results.map { result -> UUID? in
            guard case .forward(let verified) = result else { return nil }
            return verified.notificationUUID
        }
        #expect(forwarded == uuids)
    }

    @Test func `Verifier gives a rejection its reason and continues with the others`() async throws {
        let authority = try Self.authority.get()
        let stranger = try Self.stranger.get()
        let results = try await Self.results(on: [
            Array("no letter".utf8), Self.signedPayload(by: stranger), Self.signedPayload(by: authority),
            Self.signedPayload(by: authority, environment: .sandbox),
            Self.signedPayload(by: authority, bundleId: "com.example.other"),
            Self.signedPayload(by: authority, transactionOf: "com.example.other"),
        ])
        #expect(
            results.map(\.outcome) == [
                "malformed", "chain-untrusted", "forwarded", "environment", "app-unknown", "nested-mismatch",
            ])
    }

    @Test func `Verifier never counts what another developer can send towards the rejection limit`() async throws {
        let results = try await Self.results(on: [
            Array("no letter".utf8), Self.signedPayload(by: Self.stranger.get()),
            Self.signedPayload(by: Self.authority.get(), bundleId: "com.example.other"),
            Self.signedPayload(by: Self.authority.get(), environment: .sandbox),
        ])
        for result in results {
            guard case .deadLetter(let reason, _) = result else {
                Issue.record("\(result) is no dead letter")
                continue
            }
            #expect(!reason.countsTowardsRejectionLimit, "\(reason)")
        }
    }

    @Test func `Verifier counts unusable payloads that Apple signed for a configured app`() async throws {
        let signedPayload = try Self.signedPayload(by: Self.authority.get(), transactionOf: "com.example.other")
        guard case .deadLetter(let reason, _) = try await Self.results(on: [signedPayload])[0] else {
            Issue.record("it is no dead letter")
            return
        }
        #expect(reason.countsTowardsRejectionLimit)
        #expect(VerifyReason.undecodable.countsTowardsRejectionLimit)
    }

    @Test func `VerificationFailureReason survives its raw value`() {
        for reason in VerificationFailureReason.allCases {
            #expect(VerifyReason(rawValue: reason.rawValue)?.rawValue == reason.rawValue)
        }
        #expect(VerifyReason(rawValue: "undecodable") == .undecodable)
        #expect(VerifyReason(rawValue: "unheard of") == nil)
    }
}
