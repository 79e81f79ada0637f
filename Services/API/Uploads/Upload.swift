import AppStore
import Contracts
import Interpretation
import Records
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The signed parts of one request, each of them proven or rejected. No I/O.
struct Upload {
    /// A part that Apple signed for the app and environment of the key.
    struct Accepted {
        /// JSON pointer into the request.
        var pointer: String
        var entry: LedgerEntry
        var received: ReceivedNotification
        /// Where the part is the purchase of the app itself.
        var appTransaction: AppTransaction?
        /// What it proves about the account that uploads it; nil where it tells facts alone.
        var evidence: ClaimEvidence?

        var uuid: UUID { entry.notification.notificationUUID }
        var originalTransactionId: String? { entry.notification.originalTransactionId }

        func isA(_ part: SignedPart) -> Bool { entry.notification.notificationType == part.rawValue }
    }

    /// Where a part comes from.
    enum Origin {
        /// The request has what Apple signed.
        case request
        /// Apple was asked about an id. The evidence is that of the text in which the id stood; nil where it stood alone.
        case apple(ClaimEvidence?)
    }

    /// A part that is used for nothing.
    struct Rejected {
        var pointer: String
        /// Stable: programs decide by it.
        var reason: String
        /// What is wrong, and what to do.
        var detail: String

        /// Whether the same part may be accepted later: Apple did not answer in time.
        var mayPass: Bool { reason == "apple-unavailable" }
    }

    let bundleId: String
    let environment: StoreEnvironment
    /// The device that StoreKit must have made the parts on; nil leaves that open.
    let device: UUID?
    /// The age at which a signed copy is an old one, in seconds.
    let claimAge: Double
    /// Whether an operator's key assigns the purchases to the account.
    let isAssigned: Bool
    let verifier: SignedDataVerifier
    let traceparent: String?
    let now: Date
    private(set) var accepted: [Accepted] = []
    private(set) var rejected: [Rejected] = []

    /// Proves a part.
    /// - Parameters:
    ///   - kind: what it has to be.
    ///   - origin: what Apple was asked for has no mark of a device.
    mutating func add(_ jws: [UInt8], as kind: SignedPart, at pointer: String, from origin: Origin = .request) {
        do throws(Rejected) {
            accepted.append(try proven(jws, as: kind, at: pointer, from: origin))
        } catch {
            rejected.append(error)
        }
    }

    /// The same request, without its parts.
    var empty: Upload {
        Upload(
            bundleId: bundleId, environment: environment, device: device, claimAge: claimAge, isAssigned: isAssigned,
            verifier: verifier, traceparent: traceparent, now: now)
    }

    /// Adds the parts of another one.
    mutating func append(_ other: Upload) {
        accepted += other.accepted
        rejected += other.rejected
    }

    mutating func reject(_ pointer: String, _ reason: String, _ detail: String) {
        rejected.append(Rejected(pointer: pointer, reason: reason, detail: detail))
    }

    /// Renewal information names no app: it counts for the app whose purchase it names.
    ///
    /// - Parameter known: purchases of the app that are stored.
    mutating func rejectRenewals(exceptOf known: Set<String>) {
        let own = known.union(purchases(of: .transaction))
        var strangers: Set<String> = []
        for index in accepted.indices where accepted[index].isA(.renewalInfo) {
            guard let id = accepted[index].originalTransactionId, !own.contains(id) else { continue }
            strangers.insert(accepted[index].pointer)
            reject(
                accepted[index].pointer, VerificationFailureReason.nestedMismatch.rawValue,
                "renewal information of a purchase that is not known; upload its transaction in the same request")
        }
        if !strangers.isEmpty { accepted.removeAll { strangers.contains($0.pointer) } }
    }

    /// The purchases that parts of one kind name.
    func purchases(of part: SignedPart) -> Set<String> {
        accepted.indices.reduce(into: []) { ids, index in
            if accepted[index].isA(part), let id = accepted[index].originalTransactionId { ids.insert(id) }
        }
    }

    /// The strongest evidence of each purchase, by its id. Purchases of which only an id was given are not in it.
    var evidence: [String: ClaimEvidence] {
        accepted.reduce(into: [:]) { strongest, part in
            guard let id = part.originalTransactionId, let evidence = part.evidence else { return }
            strongest[id] = min(strongest[id] ?? evidence, evidence)
        }
    }

    /// The evidence of a signed text by the date at which Apple signed it.
    func evidence(signedAt date: Date?) -> ClaimEvidence {
        guard let date, now.timeIntervalSince(date) <= claimAge else { return .old }
        return .signed
    }

    /// Each part once.
    var distinct: [ReceivedNotification] { distinctIndices.map { accepted[$0].received } }

    /// The ids that the ledger gives to the parts, each once.
    var uuids: [UUID] { distinctIndices.map { accepted[$0].uuid } }

    private var distinctIndices: [Int] {
        var seen: Set<UUID> = []
        return accepted.indices.filter { seen.insert(accepted[$0].uuid).inserted }
    }

    private func proven(
        _ jws: [UInt8], as kind: SignedPart, at pointer: String, from origin: Origin
    ) throws(Rejected) -> Accepted {
        func rejection(_ reason: VerificationFailureReason, _ detail: String) -> Rejected {
            Rejected(pointer: pointer, reason: reason.rawValue, detail: detail)
        }
        let received = ReceivedNotification(
            signedPayload: jws, source: .upload, receivedAt: now, bundleId: bundleId, traceparent: traceparent)
        let part: ProvenPart
        switch verifier.part(jws, claimedApp: bundleId, now: now) {
        case .failure(let failure): throw rejection(failure.reason, failure.message)
        case .success(let proven): part = proven
        }
        guard part.bundleId == bundleId else {
            throw rejection(.appMismatch, "signed for another app than \(bundleId); name that app")
        }
        guard part.environment?.rawValue == environment.rawValue else {
            throw rejection(
                .environment,
                "signed for another environment; the key is for \(environment.rawValue), use one of the other")
        }
        guard let (found, json) = part.standingAlone else {
            throw rejection(.body, "a notification is not uploaded; Apple sends it to Storekeeper itself")
        }
        guard found == kind else {
            throw rejection(.body, "a \(found.rawValue), not a \(kind.rawValue); send it in the member that is for it")
        }
        if let device, case .request = origin {
            let mark = (try? JSONDocument(json)).flatMap { DeviceVerification(json: $0.root) }
            guard mark?.isOf(device) == true else {
                throw Rejected(
                    pointer: pointer, reason: "device-mismatch",
                    detail: "not made on this device; send AppStore.deviceVerificationID of the device that has it")
            }
        }
        guard let verified = VerifiedNotification(part, received) else {
            throw rejection(.environment, "signed for an environment that this build does not know")
        }
        let entry: LedgerEntry
        do {
            entry = try LedgerEntry(verified, position: Self.nowhere)
        } catch {
            throw rejection(.body, "signed, but \(error)")
        }
        if let fault = entry.fault { throw rejection(.body, "cannot be stored: \(fault)") }
        var accepted = Accepted(pointer: pointer, entry: entry, received: received)
        switch part {
        case .appTransaction(let proven):
            accepted.appTransaction = proven.value
            accepted.evidence = evidence(signedAt: proven.value.receiptCreationDate, from: origin)
        case .transaction(let proven):
            accepted.evidence = evidence(signedAt: proven.value.signedDate, from: origin)
        case .notification, .renewalInfo: break
        }
        return accepted
    }

    /// Renewal information proves nothing about an account: it comes with the transaction that it belongs to.
    private func evidence(signedAt date: Date?, from origin: Origin) -> ClaimEvidence? {
        if isAssigned { return .operator }
        return switch origin {
        case .apple(let evidence): evidence
        case .request: device == nil ? evidence(signedAt: date) : .device
        }
    }

    /// It is in no topic yet.
    private static let nowhere = LogPosition(topic: Topics.received.name, partition: -1, offset: -1)
}

extension Upload.Rejected: Error {}

extension ProvenPart {
    /// What kind of part it is and its JSON; nil of a notification.
    fileprivate var standingAlone: (kind: SignedPart, json: [UInt8])? {
        switch self {
        case .notification: nil
        case .transaction(let proven): (.transaction, proven.decoded)
        case .renewalInfo(let proven, _): (.renewalInfo, proven.decoded)
        case .appTransaction(let proven): (.appTransaction, proven.decoded)
        }
    }
}
