import AppStore
import Contracts
import Digests
import Interpretation
import Pipeline
import Signatures
import StrictJSON

import struct Foundation.Date

/// Checks that every signature is Apple's, and that the app and the environment are configured.
struct Verify: Stage {
    /// The current verifier: trust and apps can change while the process runs.
    let verifier: @Sendable () -> SignedDataVerifier
    let now: @Sendable () -> Date
    /// For unknown chains; what exceeds it is dropped here as `chain-deferred` and decided in the slower lane. Nil is unlimited.
    var budget: UnknownChains?
    /// For payloads that were posted before. Nil verifies each of them.
    var repeats: RepeatedPayloads?
    /// For notifications of version 1 that clients post, by app. Nil passes each of them on.
    var version1: HourlyQuota?
    /// Number of records verified in parallel.
    var cores: Int
    /// Called for each genuine payload of an app that is not configured.
    var unknownApp: @Sendable (_ bundleId: String) -> Void = { _ in }
    /// In hard mode: checks certificates that were never checked. Nil in the other modes.
    var settleRevocation: (@Sendable () async -> Void)?
    /// How often partitions were revoked from this verifier.
    var revocations: @Sendable () async -> Int = { 0 }

    private struct Finding: Sendable {
        let result: StageResult<VerifiedNotification, VerifyReason>
        let rejection: VerificationFailure?
    }

    func process(
        _ deliveries: [Delivery<ReceivedNotification>]
    ) async throws -> [StageResult<VerifiedNotification, VerifyReason>] {
        guard let repeats else { return try await results(deliveries) }
        repeats.forget(ifRevokedSince: await revocations())
        let sorted = repeats.sorted(deliveries, digests: await deliveries.concurrentMap(cores: cores, Self.digest))
        let results = try await results(sorted.indices.map { deliveries[$0] })
        repeats.note(results, of: sorted)
        var merged: [StageResult<VerifiedNotification, VerifyReason>] = deliveries.indices.map {
            .discard(repeats.wasForwarded(sorted.digests[$0]) ? .repeated : .repeatDeferred)
        }
        for (index, result) in zip(sorted.indices, results) { merged[index] = result }
        return merged
    }

    /// The digest of what clients post, and of nothing else: what recovery or an operator puts back is to pass again.
    private static func digest(_ delivery: Delivery<ReceivedNotification>) -> [UInt8]? {
        delivery.message.source == .webhook ? SHA256Hash.digest(delivery.message.signedPayload) : nil
    }

    private func results(
        _ deliveries: [Delivery<ReceivedNotification>]
    ) async throws -> [StageResult<VerifiedNotification, VerifyReason>] {
        var findings = await findings(deliveries)
        if let settleRevocation {
            // The first payload under a new certificate: wait for its first check, once.
            let open = findings.indices.filter { findings[$0].rejection?.reason == .revocationUnknown }
            if !open.isEmpty {
                await settleRevocation()
                for (index, finding) in zip(open, await self.findings(open.map { deliveries[$0] })) {
                    findings[index] = finding
                }
            }
        }
        for case let rejection? in findings.map(\.rejection) where rejection.reason == .appUnknown {
            if let bundleId = rejection.bundleId { unknownApp(bundleId) }
        }
        return zip(deliveries, findings).map { limited($1.result, of: $0.message) }
    }

    /// Version 1 has no signature, so a client can post any number of different ones, and the ledger keeps each for ever.
    private func limited(
        _ result: StageResult<VerifiedNotification, VerifyReason>, of received: ReceivedNotification
    ) -> StageResult<VerifiedNotification, VerifyReason> {
        guard case .forward(let verified) = result, let version1, received.source == .webhook, verified.isVersion1,
            !version1.admits(verified.bundleId, at: received.receivedAt)
        else { return result }
        return .discard(.version1BeyondQuota)
    }

    private func findings(_ deliveries: [Delivery<ReceivedNotification>]) async -> [Finding] {
        let now = now()
        let verifier = verifier()
        guard let budget else {
            return await deliveries.concurrentMap(cores: cores) {
                Self.finding(on: $0.message, by: verifier, now: now, budget: nil)
            }
        }
        var findings = await deliveries.concurrentMap(cores: cores) {
            Self.finding(on: $0.message, by: verifier, now: now, budget: ChainBudget.none)
        }
        // Chains that occur again and again are looked at first: a forger needs a new chain each time, Apple has a handful.
        let unknown = findings.indices.reduce(into: [[UInt8]: [Int]]()) { chains, index in
            if let chain = findings[index].rejection?.chain { chains[chain, default: []].append(index) }
        }
        for wave in budget.waves(of: unknown) {
            let decided = await wave.concurrentMap(cores: cores) { records in
                budget.decide(records) {
                    Self.finding(on: deliveries[$0].message, by: verifier, now: now, budget: budget.proofs)
                } isOpen: {
                    $0.rejection?.chain != nil
                } failedBefore: {
                    $0.rejection?.reason == .signature
                }
            }
            for (index, finding) in decided.joined() { findings[index] = finding }
        }
        return findings
    }

    private static func finding(
        on received: ReceivedNotification, by verifier: SignedDataVerifier, now: Date, budget: ChainBudget?
    ) -> Finding {
        let told: Result<(VerifiedNotification?, AppStoreEnvironment?), VerificationFailure> =
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
                        .rejected(.environment),
                        message: "environment \(environment?.rawValue ?? "") is unknown to this build"),
                    rejection: nil)
            }
            return Finding(result: .forward(verified), rejection: nil)
        case .failure(let rejection) where rejection.reason == .chainDeferred:
            return Finding(result: .discard(.rejected(.chainDeferred)), rejection: rejection)
        case .failure(let rejection):
            return Finding(
                result: .deadLetter(
                    .rejected(
                        rejection.reason, concernsOwnApp: rejection.concernsOwnApp,
                        purchase: rejection.concernsOwnApp ? CompactJWS.purchase(in: received.signedPayload) : nil),
                    message: rejection.message),
                rejection: rejection)
        }
    }

    /// Apple posts notifications only. Customers have their signed transactions, so one that is posted here is rejected.
    private static func proof(
        of received: ReceivedNotification, by verifier: SignedDataVerifier, now: Date, budget: ChainBudget?
    ) -> Result<ProvenPart, VerificationFailure> {
        switch received.source {
        case .webhook:
            verifier.notification(received.signedPayload, now: now, budget: budget).map(ProvenPart.notification)
        case .history, .replay, .upload:
            verifier.part(received.signedPayload, claimedApp: received.bundleId, now: now, budget: budget)
        }
    }
}

/// Why a received payload was not passed on.
enum VerifyReason: StageReason {
    case undecodable
    /// The same bytes were passed on before.
    case repeated
    /// The same bytes were rejected before, more often than is verified here; decided in the slower lane.
    case repeatDeferred
    /// One of many notifications of version 1 in an hour, which change no state.
    case version1BeyondQuota
    case rejected(VerificationFailureReason, concernsOwnApp: Bool = false, purchase: String? = nil)

    init?(rawValue: String) {
        let plain: [Self] = [.undecodable, .repeated, .repeatDeferred, .version1BeyondQuota]
        if let plain = plain.first(where: { $0.rawValue == rawValue }) {
            self = plain
            return
        }
        guard let reason = VerificationFailureReason(rawValue: rawValue) else { return nil }
        self = .rejected(reason)
    }

    var rawValue: String {
        switch self {
        case .undecodable: "undecodable"
        case .repeated: "repeated"
        case .repeatDeferred: "repeat-deferred"
        case .version1BeyondQuota: "version1-beyond-quota"
        case .rejected(let reason, _, _): reason.rawValue
        }
    }

    /// Any client can post forged payloads and those of other developers. A verified payload of this app that cannot be used
    /// points at this release or its clock, unless the configuration excludes it.
    var countsTowardsRejectionLimit: Bool {
        switch self {
        case .undecodable: true
        case .rejected(.body, let concernsOwnApp, _), .rejected(.nestedMismatch, let concernsOwnApp, _),
            .rejected(.expiredAtSigning, let concernsOwnApp, _), .rejected(.notYetValid, let concernsOwnApp, _),
            .rejected(.revocationUnknown, let concernsOwnApp, _):
            concernsOwnApp
        case .rejected, .repeated, .repeatDeferred, .version1BeyondQuota: false
        }
    }

    /// Decided in the slower lane.
    var isDeferred: Bool {
        switch self {
        case .rejected(.chainDeferred, _, _), .repeatDeferred: true
        case .undecodable, .repeated, .version1BeyondQuota, .rejected: false
        }
    }

    /// A customer can cause many genuine notifications of one purchase, and send each any number of times.
    var subject: String? {
        if case .rejected(_, _, let purchase) = self { purchase } else { nil }
    }
}

extension CompactJWS {
    /// The purchase that a notification's transaction or renewal info names. Meaningful only for a notification that Apple signed:
    /// nothing is verified here.
    static func purchase(in jws: [UInt8]) -> String? {
        guard let root = object(in: jws), let data = root["data"] else { return nil }
        return ["signedTransactionInfo", "signedRenewalInfo"].lazy
            .compactMap { data[$0]?.unescapedBytes.flatMap(object)?["originalTransactionId"]?.string }.first
    }

    private static func object(in jws: [UInt8]) -> JSONValue? {
        CompactJWS(jws[...]).flatMap { Base64.decode($0.payload, .url) }.flatMap { try? JSONDocument($0).root }
    }
}
