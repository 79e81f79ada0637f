import AppStore
import Contracts
import Interpretation
import Pipeline
import Signatures
import StrictJSON

import struct Foundation.Date

/// Is every signature in it Apple's, and is it for one of our apps and environments?
struct Verify: Stage {
    /// The verifier of the moment: trust and apps can change while the process runs.
    let verifier: @Sendable () -> SignedDataVerifier
    let now: @Sendable () -> Date
    /// For proving chains that are not known; what finds it used up is discarded as `chain-unproven`, for the slower lane. Nil
    /// is without end.
    var budget: ChainBudget?
    /// How many records are proven at the same time.
    var cores: Int
    /// Told of each genuine payload for an app that is not configured.
    var unknownApp: @Sendable (_ bundleId: String) -> Void = { _ in }
    /// In hard mode: asks about certificates that nobody has been asked about yet. Nil where nobody has to vouch.
    var settleRevocation: (@Sendable () async -> Void)?

    private struct Finding: Sendable {
        let result: StageResult<VerifiedNotification, VerifyReason>
        let refusal: Refusal?
    }

    func process(
        _ deliveries: [Delivery<ReceivedNotification>]
    ) async throws -> [StageResult<VerifiedNotification, VerifyReason>] {
        var findings = await findings(deliveries)
        if let settleRevocation {
            // The first payload under a new certificate: its responder has not been asked. Once, then the answer counts.
            let open = findings.indices.filter { findings[$0].refusal?.reason == .revocationUnknown }
            if !open.isEmpty {
                await settleRevocation()
                for (index, finding) in zip(open, await self.findings(open.map { deliveries[$0] })) {
                    findings[index] = finding
                }
            }
        }
        for case let refusal? in findings.map(\.refusal) where refusal.reason == .appUnknown {
            if let bundleId = refusal.bundleId { unknownApp(bundleId) }
        }
        return findings.map(\.result)
    }

    private func findings(_ deliveries: [Delivery<ReceivedNotification>]) async -> [Finding] {
        let now = now()
        let verifier = verifier()
        let budget = budget
        return await deliveries.concurrentMap(cores: cores) {
            Self.finding(on: $0.message, by: verifier, now: now, budget: budget)
        }
    }

    private static func finding(
        on received: ReceivedNotification, by verifier: SignedDataVerifier, now: Date, budget: ChainBudget?
    ) -> Finding {
        let told: Result<(VerifiedNotification?, AppStoreEnvironment?), Refusal> =
            Version1Notification.isWritten(in: received.signedPayload)
            ? verifier.version1(received.signedPayload).map {
                (VerifiedNotification($0, received), $0.environment)
            }
            : proof(of: received, by: verifier, now: now, budget: budget).map {
                (VerifiedNotification($0, received), $0.environment)
            }
        switch told {
        case .success(let (verified, environment)):
            guard let verified else {
                return Finding(
                    result: .deadLetter(
                        .refused(.environment),
                        message: "environment \(environment?.rawValue ?? "") is unknown to this build"),
                    refusal: nil)
            }
            return Finding(result: .forward(verified), refusal: nil)
        case .failure(let refusal) where refusal.reason == .chainUnproven:
            return Finding(result: .discard(.refused(.chainUnproven)), refusal: nil)
        case .failure(let refusal):
            return Finding(
                result: .deadLetter(
                    .refused(
                        refusal.reason, concernsOwnApp: refusal.concernsOwnApp,
                        purchase: refusal.concernsOwnApp ? CompactJWS.purchase(in: received.signedPayload) : nil),
                    message: refusal.message),
                refusal: refusal)
        }
    }

    /// Apple posts notifications only. Transactions lie on the customers' devices: by the webhook they are nobody's news.
    private static func proof(
        of received: ReceivedNotification, by verifier: SignedDataVerifier, now: Date, budget: ChainBudget?
    ) -> Result<ProvenPart, Refusal> {
        switch received.source {
        case .webhook:
            verifier.notification(received.signedPayload, now: now, budget: budget).map(ProvenPart.notification)
        case .history, .replay, .upload:
            verifier.part(received.signedPayload, claimedApp: received.bundleId, now: now, budget: budget)
        }
    }
}

/// Why a posted payload went no further.
enum VerifyReason: StageReason {
    case undecodable
    case refused(RefusalReason, concernsOwnApp: Bool = false, purchase: String? = nil)

    init?(rawValue: String) {
        guard rawValue != Self.undecodable.rawValue else {
            self = .undecodable
            return
        }
        guard let reason = RefusalReason(rawValue: rawValue) else { return nil }
        self = .refused(reason)
    }

    var rawValue: String {
        switch self {
        case .undecodable: "undecodable"
        case .refused(let reason, _, _): reason.rawValue
        }
    }

    /// Anybody can post what is not proven, and whatever Apple signed for somebody else. What Apple signed for us and we
    /// cannot use speaks of our release or our clock, unless the configuration says that we do not want it.
    var countsTowardsRejectionLimit: Bool {
        switch self {
        case .undecodable: true
        case .refused(.body, let concernsOwnApp, _), .refused(.nestedMismatch, let concernsOwnApp, _),
            .refused(.expiredAtSigning, let concernsOwnApp, _), .refused(.notYetValid, let concernsOwnApp, _),
            .refused(.revocationUnknown, let concernsOwnApp, _):
            concernsOwnApp
        case .refused: false
        }
    }

    /// An unknown chain is decided in the slower lane.
    var isPostponed: Bool { if case .refused(.chainUnproven, _, _) = self { true } else { false } }

    /// A customer can make Apple sign many notifications of his own purchase, and send each as often as he likes.
    var subject: String? {
        if case .refused(_, _, let purchase) = self { purchase } else { nil }
    }
}

extension CompactJWS {
    /// The purchase that a notification's transaction or renewal information names. Of use only where Apple signed the
    /// notification: nothing is proven here.
    static func purchase(in jws: [UInt8]) -> String? {
        guard let root = object(in: jws), let data = root["data"] else { return nil }
        return ["signedTransactionInfo", "signedRenewalInfo"].lazy
            .compactMap { data[$0]?.unescapedBytes.flatMap(object)?["originalTransactionId"]?.string }.first
    }

    private static func object(in jws: [UInt8]) -> JSONValue? {
        CompactJWS(jws[...]).flatMap { Base64.decode($0.payload, .url) }.flatMap { try? JSONDocument($0).root }
    }
}
