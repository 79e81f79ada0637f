import AppStore
import Contracts
import Operations
import Signatures
import Storage
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

extension NotificationScreens {
    struct Fact: Sendable {
        let name: String
        let value: String
    }

    struct Certificate: Sendable {
        let subject: String
        let validity: String
    }

    struct Verification: Sendable {
        let isVerified: Bool
        let sentence: String
        let certificates: [Certificate]
    }

    struct Attempt: Sendable {
        let at: Moment
        let result: String
        let remedy: String?
    }

    struct Detail: Sendable {
        let type: String
        let uuid: String
        let facts: [Fact]
        let purchase: String?
        let proof: Verification?
        let decoded: Preformatted?
        let signed: String?
        let isHidden: Bool
        let isGone: Bool
        let attempts: [Attempt]
        let hasAttempts: Bool
        let command: String
    }

    /// `GET /notifications/{uuid}`: verified again at every look.
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let uuid = try request.uuid("uuid")
        let now = console.clock.now()
        let masking = request.masking
        let (found, original, decoded, attempts) = try await console.database.withConnection { connection in
            let notifications = NotificationStore(connection)
            return (
                try await notifications.line(uuid), try await notifications.original(uuid),
                try await notifications.decoded(uuid), try await SendAttemptStore(connection).attempts(at: uuid)
            )
        }
        guard let line = found else { throw Fault.notFound("The ledger has no such notification.") }
        let purchase = line.originalTransactionId.flatMap { id in
            masking.purchase(SubscriptionKeyText(environment: line.environment.rawValue, id: id), told: uuid)
        }
        return console.page(
            "notification", line.notificationType,
            Detail(
                type: line.notificationType + (line.subtype.map { " \($0)" } ?? ""),
                uuid: uuid.uuidString.lowercased(),
                facts: Self.facts(line, attempts, masking, now)
                    + (masking.isOn ? [] : Self.content(line, decoded)), purchase: purchase,
                proof: original.map { proof(of: $0, now) },
                decoded: masking.isOn
                    ? nil : decoded.map { Preformatted(text: PrettyJSON(Array($0.utf8))?.text ?? $0) },
                signed: masking.isOn ? nil : original.map { String(decoding: $0, as: UTF8.self) },
                isHidden: masking.isOn && original != nil, isGone: original == nil,
                attempts: attempts.map {
                    Attempt(
                        at: Moment($0.attemptedAt, now: now), result: $0.result, remedy: $0.remedy)
                },
                hasAttempts: !attempts.isEmpty,
                command: "storekeeper events show \(uuid.uuidString.lowercased())"),
            request)
    }

    private func proof(of original: [UInt8], _ now: Date) -> Verification {
        let proof = Proof(of: original, kind: nil, trust: console.trust(), identity: Proof.Identity(), now: now)
        let sentence =
            if let rejection = proof.rejection {
                "Not verified now (\(rejection.reason.rawValue)): \(rejection.message)"
            } else if proof.isSignedByApple {
                "Signed by Apple: every signature up to Apple Root CA - G3 was verified just now."
            } else {
                "Signed by a root that this deployment trusts, which is not Apple's: a simulator or a test."
            }
        return Verification(
            isVerified: proof.rejection == nil, sentence: sentence,
            certificates: proof.certificates.map {
                Certificate(subject: $0.subject, validity: "valid \($0.notBefore.day) to \($0.notAfter.day)")
            })
    }

    /// What it said, in words that may name ids.
    private static func content(_ line: LedgerLine, _ decoded: String?) -> [Fact] {
        let sentence = PurchaseEvent(line, decoded: decoded)?.sentence
        return (sentence.map { [Fact(name: "says", value: $0)] } ?? [])
            + AdvancedCommerceInfo.lines(decoded: decoded).map { Fact(name: "Advanced Commerce", value: $0) }
    }

    private static func facts(
        _ line: LedgerLine, _ attempts: [RecordedAttempt], _ masking: Masking, _ now: Date
    ) -> [Fact] {
        func fact(_ name: String, _ value: String?) -> Fact? { value.map { Fact(name: name, value: $0) } }
        func date(_ name: String, _ date: Date?) -> Fact? {
            fact(name, date.map { Moment($0, now: now) }.map { "\($0.text), \($0.distance)" })
        }
        return [
            fact("app", line.bundleId), fact("environment", line.environment.rawValue),
            date("signed by Apple", line.signedDate), date("received", line.receivedAt),
            fact("late", line.lateness(after: attempts)),
            date("recorded", line.recordedAt), fact("source", line.source),
            fact("transaction", masking.id(line.transactionId)), fact("Apple's status", line.status.map { "\($0)" }),
            fact("effect", line.hasAdvanced ? "changed the state" : "none: something newer was known"),
            fact(
                "conflicts",
                line.contentConflicts > 0
                    ? "\(line.contentConflicts) with other content under the same id: have it looked at" : nil),
        ].compactMap { $0 }
    }
}
