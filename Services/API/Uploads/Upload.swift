import AppStore
import Contracts
import Interpretation
import Storage
import StrictJSON

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

        var uuid: UUID { entry.notification.notificationUUID }
        var originalTransactionId: String? { entry.notification.originalTransactionId }

        func isA(_ part: SignedPart) -> Bool { entry.notification.notificationType == part.rawValue }
    }

    /// A part that is used for nothing.
    struct Rejected {
        var pointer: String
        /// Stable: programs decide by it.
        var reason: String
        /// What is wrong, and what to do.
        var detail: String
    }

    let bundleId: String
    let environment: StoreEnvironment
    /// The device that StoreKit must have made the parts on; nil leaves that open.
    let device: UUID?
    let verifier: SignedDataVerifier
    let traceparent: String?
    let now: Date
    private(set) var accepted: [Accepted] = []
    private(set) var rejected: [Rejected] = []

    init(
        bundleId: String, environment: StoreEnvironment, device: UUID?, verifier: SignedDataVerifier,
        traceparent: String?, now: Date
    ) {
        self.bundleId = bundleId
        self.environment = environment
        self.device = device
        self.verifier = verifier
        self.traceparent = traceparent
        self.now = now
    }

    /// Proves a part.
    /// - Parameters:
    ///   - kind: what it has to be.
    ///   - isFromApple: Apple handed it to us, so that it has no mark of a device.
    mutating func add(_ jws: [UInt8], as kind: SignedPart, at pointer: String, isFromApple: Bool = false) {
        do throws(Rejected) {
            accepted.append(try proven(jws, as: kind, at: pointer, isFromApple: isFromApple))
        } catch {
            rejected.append(error)
        }
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

    /// Each part once.
    var distinct: [ReceivedNotification] { distinctIndices.map { accepted[$0].received } }

    /// The ids that the ledger gives to the parts, each once.
    var uuids: [UUID] { distinctIndices.map { accepted[$0].uuid } }

    private var distinctIndices: [Int] {
        var seen: Set<UUID> = []
        return accepted.indices.filter { seen.insert(accepted[$0].uuid).inserted }
    }

    private func proven(
        _ jws: [UInt8], as kind: SignedPart, at pointer: String, isFromApple: Bool
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
        if let device, !isFromApple {
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
        if case .appTransaction(let proven) = part { accepted.appTransaction = proven.value }
        return accepted
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
