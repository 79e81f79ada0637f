import AppStore
import Contracts
import Development
import Foundation
import Pipeline
import Records
import Signatures
import Testing

@testable import Verifier

/// Transactions and renewal info on their own in the verifier's stage.
@Suite struct SignedPartTests {
    static func transaction(bundleId: String = "com.example.app") -> JWSTransactionDecodedPayload {
        var transaction = JWSTransactionDecodedPayload()
        transaction.originalTransactionId = "1000"
        transaction.transactionId = "1001"
        transaction.bundleId = bundleId
        transaction.environment = .production
        transaction.signedDate = VerifyTests.now
        return transaction
    }

    static var renewal: JWSRenewalInfoDecodedPayload {
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.originalTransactionId = "1000"
        renewal.autoRenewProductId = "gold"
        renewal.environment = .production
        renewal.signedDate = VerifyTests.now
        return renewal
    }

    static func result(
        on json: [UInt8], from source: NotificationSource, of bundleId: String? = nil, status: AnsweredStatus? = nil
    ) async throws -> StageResult<VerifiedNotification, VerifyReason> {
        let verifier = try VerifyTests.verifier()
        let signer = PayloadSigner(authority: try VerifyTests.authority.get())
        let received = ReceivedNotification(
            signedPayload: try signer.sign(json), source: source, receivedAt: VerifyTests.now, bundleId: bundleId,
            status: status)
        return try await Verify(verifier: { verifier }, now: { VerifyTests.now }, cores: 1).process([
            Delivery(message: received, position: LogPosition(topic: "t", partition: 0, offset: 0))
        ])[0]
    }

    @Test(arguments: [NotificationSource.history, .replay, .upload])
    func `Verifier passes on a transaction on its own as such`(source: NotificationSource) async throws {
        guard case .forward(let verified) = try await Self.result(on: Self.transaction().json, from: source) else {
            Issue.record("it was rejected")
            return
        }
        #expect(verified.notificationType == SignedPart.transaction.rawValue)
        #expect(verified.subtype == nil)
        #expect(verified.bundleId == "com.example.app")
        #expect(verified.environment == .production)
        #expect(verified.originalTransactionId == "1000")
        #expect(verified.transactionId == "1001")
        #expect(verified.signedDate == VerifyTests.now)
        #expect(verified.source == source)
        #expect(try verified.notificationUUID == CompactJWS(verified.signedPayload[...])?.partIdentifier)
        let onWire = try VerifiedNotification(verified.record())
        #expect(try DecodedNotification(decoded: onWire.decoded).transaction == Self.transaction())
    }

    @Test(arguments: NotificationSource.allCases)
    func `Verifier keeps the unsigned status that Apple's API answered beside an object, and from no other source`(
        source: NotificationSource
    ) async throws {
        let status = AnsweredStatus(status: 3, askedAt: VerifyTests.now.addingTimeInterval(5))
        let with = try await Self.result(on: Self.transaction().json, from: source, status: status)
        let without = try await Self.result(on: Self.transaction().json, from: source)
        guard case .forward(let answered) = with, case .forward(let bare) = without else {
            #expect(source == .webhook)
            return
        }
        let isBelieved = source == .history || source == .replay
        #expect((answered.notificationUUID != bare.notificationUUID) == isBelieved)
        let decoded = try DecodedNotification(decoded: VerifiedNotification(answered.record()).decoded)
        #expect(decoded.transaction == Self.transaction())
        #expect(decoded.unsignedStatus?.status == (isBelieved ? .billingRetry : nil))
        #expect(decoded.unsignedStatus?.date == (isBelieved ? status.date : nil))
    }

    @Test func `Verifier passes on renewal info for the app of the request`() async throws {
        let result = try await Self.result(on: Self.renewal.json, from: .history, of: "com.example.app")
        guard case .forward(let verified) = result else {
            Issue.record("it was rejected")
            return
        }
        #expect(verified.notificationType == SignedPart.renewalInfo.rawValue)
        #expect(verified.bundleId == "com.example.app")
        #expect(verified.originalTransactionId == "1000")
        #expect(verified.transactionId == nil)
        let decoded = try DecodedNotification(decoded: verified.decoded)
        #expect(decoded.renewalInfo == Self.renewal)
        #expect(decoded.transaction == nil)
        #expect(decoded.envelope.data == nil)
    }

    @Test func `Verifier rejects both from the webhook, and neither counts towards the rejection limit`() async throws {
        for json in [Self.transaction().json, Self.renewal.json] {
            guard
                case .deadLetter(let reason, _) = try await Self.result(
                    on: json, from: .webhook, of: "com.example.app")
            else {
                Issue.record("it was taken for a notification")
                continue
            }
            #expect(reason.rawValue == "body")
            #expect(!reason.countsTowardsRejectionLimit)
        }
    }

    @Test func `Verifier never counts what a customer can upload towards the rejection limit`() async throws {
        let foreign = Self.transaction(bundleId: "com.example.other").json
        for json in [foreign, Self.renewal.json, Array(#"{"signedDate":1}"#.utf8)] {
            guard case .deadLetter(let reason, _) = try await Self.result(on: json, from: .upload) else {
                Issue.record("it was accepted")
                continue
            }
            #expect(!reason.countsTowardsRejectionLimit, "\(reason)")
        }
    }
}
