import AppStore
import Contracts
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.UUID

/// The answer to an upload: which parts are verified, and what the account may use because of them.
struct UploadAnswer {
    private let upload: Upload
    private let account: AccountAccess
    private let isNamed: Bool
    private let states: [String: SubscriptionState]
    /// The newest product of each purchase uploaded.
    private let products: [String: String]
    /// The evidence of each purchase uploaded, where it has any; `apple` where Apple names the account.
    private let evidence: [String: ClaimEvidence]
    /// Of the purchases uploaded, those that other accounts have or that the account cannot claim by this upload.
    private let withheld: [String: WithheldReason]
    /// The outcome of an app transaction; nil where there is none.
    private let app: AccountAppStore.Outcome?
    /// The ids that the ledger gives to what was uploaded.
    private let parts: [UUID]

    /// - Parameters:
    ///   - account: nil where none uploads; then the answer is about the purchases uploaded.
    ///   - app: what became of an app transaction.
    init(
        _ upload: Upload, _ preview: StatePreview, account: UUID?, app: AccountAppStore.Outcome?,
        definitions: EntitlementDefinitions
    ) {
        self.upload = upload
        self.app = app
        parts = upload.uuids
        isNamed = account != nil
        self.account = AccountAccess(
            of: account ?? .zero, in: upload.environment, lines: preview.lines(of: account, from: upload.now),
            definitions: definitions, at: upload.now)
        var evidence = upload.evidence
        if let account {
            for key in preview.named where preview.isOwner(account, of: key) {
                evidence[key.originalTransactionId] = .apple
            }
        }
        withheld = account.map { preview.withheld(from: $0, evidence) } ?? [:]
        self.evidence = evidence
        products = preview.purchases.reduce(into: [:]) { products, one in
            products[one.key.originalTransactionId] = one.value.subscription.transaction?.productId
        }
        states = preview.purchases.reduce(into: [:]) { states, one in
            states[one.key.originalTransactionId] = one.value.subscription.state(at: upload.now, in: one.value.periods)
        }
    }

    func response(isRecorded: Bool) -> APIResponse {
        var response = APIResponse { json in write(to: &json, isRecorded: isRecorded) }
        if isRecorded { response.headers[.readAfter] = token }
        return response
    }

    /// Kafka is away: the app may let its customer in, and must not finish the transactions.
    var unrecorded: Problem {
        var json = JSONWriter(capacity: 1024)
        json.beginObject()
        account.write(to: &json, states: states, products: products, withheldBecause: withheld, isNamed: isNamed)
        json.endObject()
        var problem = Problem(
            .unavailable,
            "The upload is verified and could not be recorded: let the customer in, finish no transaction, and send it again.",
            headers: [.retryAfter: "5"])
        problem.members = [
            ("verified", Array("true".utf8)), ("recorded", Array("false".utf8)), ("finish", Array("false".utf8)),
            ("answer", json.bytes),
        ]
        return problem
    }

    /// None of the parts could be used, so nothing was changed or recorded.
    var unverified: Problem {
        var json = JSONWriter(capacity: 1024)
        json.beginObject()
        account.write(to: &json, states: states, products: products, withheldBecause: withheld, isNamed: isNamed)
        json.endObject()
        var rejected = JSONWriter(capacity: 1024)
        rejected.beginObject()
        write(rejectedTo: &rejected)
        rejected.endObject()
        var problem = Problem(
            .nothingVerified,
            "None of the \(upload.rejected.count) parts could be verified or used; `rejected` says why, part by part.")
        problem.members = [
            ("verified", Array("false".utf8)), ("recorded", Array("false".utf8)), ("finish", Array("false".utf8)),
            ("rejected", Self.member("rejected", of: rejected.bytes)), ("answer", json.bytes),
        ]
        return problem
    }

    private static func member(_ name: String, of bytes: [UInt8]) -> [UInt8] {
        (try? JSONDocument(bytes))?.root[name].map { Array($0.rawBytes) } ?? Array("[]".utf8)
    }

    private var token: String { ReadAfter.token(parts) }

    private func write(rejectedTo json: inout JSONWriter) {
        json.objects("rejected", of: upload.rejected) { json, part in
            json.member("pointer", part.pointer)
            json.member("reason", part.reason)
            json.member("detail", part.detail)
        }
    }

    /// Null where no account uploads, and of renewal information.
    private func claim(_ part: Upload.Accepted) -> String? {
        guard isNamed, !part.isA(.renewalInfo) else { return nil }
        guard let id = part.originalTransactionId else { return part.evidence?.rawValue }
        return evidence[id]?.rawValue ?? "none"
    }

    private func write(to json: inout JSONWriter, isRecorded: Bool) {
        json.member("verified", !upload.accepted.isEmpty && upload.rejected.isEmpty)
        json.member("recorded", isRecorded)
        json.member("finish", isRecorded && upload.rejected.isEmpty)
        json.member("readAfter", isRecorded ? token : nil)
        json.objects("accepted", of: upload.accepted.indices) { json, index in
            json.member("pointer", upload.accepted[index].pointer)
            json.member("originalTransactionId", upload.accepted[index].originalTransactionId)
            json.member("transactionId", upload.accepted[index].entry.notification.transactionId)
            json.member("notificationUUID", upload.accepted[index].uuid.uuidString.lowercased())
            json.member("claim", claim(upload.accepted[index]))
        }
        write(rejectedTo: &json)
        if let app = upload.accepted.compactMap(\.appTransaction).last {
            json.beginObject("app")
            json.member("appTransactionId", app.appTransactionId)
            json.member("originalApplicationVersion", app.originalApplicationVersion)
            json.member("originalPurchaseDate", app.originalPurchaseDate?.milliseconds)
            json.member("preorderDate", app.preorderDate?.milliseconds)
            json.member("withheld", self.app?.withheld?.name)
            json.member("nextStep", self.app?.withheld?.nextStep)
            json.endObject()
        } else {
            json.member("app", nil as String?)
        }
        account.write(to: &json, states: states, products: products, withheldBecause: withheld, isNamed: isNamed)
        json.member("asOf", upload.now.milliseconds)
    }
}
