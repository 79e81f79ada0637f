import AppStore
import Chassis
import Contracts
import ServerAPI
import Signatures
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.UUID

/// Receipts of StoreKit 1. A proven receipt, or the stored answer of `verifyReceipt`, names purchases; Apple is asked about
/// all of them, and what Apple signs is taken like any upload.
struct ReceiptHandlers: Sendable {
    private let services: UploadServices
    private let recorder: UploadRecorder
    private let clock: ProcessClock
    /// Of one customer; more are left to `storekeeper backfill`.
    private static let mostTransactions = 2000
    /// A stored answer is not signed: any client can list ids that are in no history of each other.
    static let mostQuestions = 10

    init(_ dependencies: Dependencies) {
        services = dependencies.uploads
        recorder = UploadRecorder(dependencies)
        clock = dependencies.clock
    }

    /// `POST /v1/receipts`
    func upload(_ request: APIRequest) async throws -> APIResponse {
        guard let body = request.body?.root else { throw Problem(.invalidRequest, "The request has no body.") }
        let bundleId = try request.allowed(body["bundleId"]?.string ?? "")
        var upload = try services.upload(of: bundleId, device: nil, request, at: clock.now())
        try services.lane.check(request.key)
        try services.checkRejections(of: request.key, at: clock.instant())
        do {
            let named = try await named(in: body, upload, request.key)
            try await ask(named, request.key, &upload)
        } catch let error as Upload.Rejected {
            upload.reject(error.pointer, error.reason, error.detail)
        }
        return try await recorder.answer(
            upload, request, account: body["appAccountToken"]?.string.flatMap { UUID(uuidString: $0) },
            isRestore: false, isDryRun: body["dryRun"]?.bool ?? false)
    }

    /// The purchases that a receipt names, all of them.
    private struct Named {
        var ids: [String]
        /// Nil where the text that names them is not signed.
        var evidence: ClaimEvidence?
    }

    /// - Throws: `Upload.Rejected`; `Problem` where Apple would have to be asked and the key has asked all that it may.
    private func named(in body: JSONValue, _ upload: Upload, _ key: ClientKey) async throws -> Named {
        if let receipt = body["receipt"]?.unescapedBytes { return try await named(in: receipt, upload, key) }
        let pointer = "/verifyReceiptResponse"
        guard let json = body["verifyReceiptResponse"] else {
            throw Upload.Rejected(pointer: "", reason: "missing", detail: "send receipt or verifyReceiptResponse")
        }
        let answer: VerifyReceiptAnswer
        do {
            answer = try await services.lane.run(for: key.id) { Result { try VerifyReceiptAnswer(json: json) } }.get()
        } catch {
            throw Upload.Rejected(pointer: pointer, reason: "body", detail: "the answer cannot be used: \(error)")
        }
        try check(answer.bundleId, answer.environment, upload, at: pointer)
        return Named(ids: answer.originalTransactionIds)
    }

    private func named(in text: [UInt8], _ upload: Upload, _ key: ClientKey) async throws -> Named {
        let pointer = "/receipt"
        // Old Macs wrapped lines.
        let base64 = text.filter { ![0x0A, 0x0D, 0x20].contains($0) }
        guard let bytes = Base64.decode(base64[...], .standard) else {
            throw Upload.Rejected(
                pointer: pointer, reason: "malformed", detail: "not base64; send appStoreReceiptURL's bytes")
        }
        let verifier = services.verifier()
        switch await services.lane.run(for: key.id, { verifier.receipt(bytes, now: upload.now) }) {
        case .failure(let rejection):
            guard let client = services.verifyReceipt else {
                throw Upload.Rejected(pointer: pointer, reason: rejection.reason.rawValue, detail: rejection.message)
            }
            try services.questions.take(key, at: clock.instant())
            return try await verified(String(decoding: base64, as: UTF8.self), by: client, upload, at: pointer)
        case .success(let receipt):
            try check(receipt.bundleId, receipt.environment, upload, at: pointer)
            return Named(ids: receipt.originalTransactionIds, evidence: upload.evidence(signedAt: receipt.createdAt))
        }
    }

    /// What `verifyReceipt` answers is not signed, so it is only a list of ids, as a stored answer is.
    private func verified(
        _ receipt: String, by client: VerifyReceiptClient, _ upload: Upload, at pointer: String
    ) async throws(Upload.Rejected) -> Named {
        let answer: VerifyReceiptAnswer
        do throws(VerifyReceiptClient.Failure) {
            answer = try await client.verify(receipt)
        } catch {
            throw Upload.Rejected(
                pointer: pointer, reason: error.isRetryable ? "apple-unavailable" : "receipt-rejected",
                detail: error.isRetryable ? "\(error); send it again later" : "\(error)")
        }
        try check(answer.bundleId, answer.environment, upload, at: pointer)
        return Named(ids: answer.originalTransactionIds)
    }

    private func check(
        _ bundleId: String?, _ environment: AppStoreEnvironment?, _ upload: Upload, at pointer: String
    ) throws(Upload.Rejected) {
        guard bundleId.map({ $0 == upload.bundleId }) ?? true else {
            throw Upload.Rejected(
                pointer: pointer, reason: VerificationFailureReason.appMismatch.rawValue,
                detail: "of another app; name that app")
        }
        guard environment.map({ $0.rawValue == upload.environment.rawValue }) ?? true else {
            throw Upload.Rejected(
                pointer: pointer, reason: VerificationFailureReason.environment.rawValue,
                detail: "of another environment; the key is for \(upload.environment.rawValue)")
        }
    }

    /// One id brings the customer's whole history; an id that is not in it is asked about by itself.
    /// - Throws: `Problem` where the key may ask nothing at all.
    private func ask(_ named: Named, _ key: ClientKey, _ upload: inout Upload) async throws {
        let ids = named.ids
        let end = clock.instant() + AppleQuestion.patience
        var known: Set<String> = []
        var questions = 0
        for (index, id) in ids.enumerated() where !known.contains(id) {
            guard questions < Self.mostQuestions, clock.instant() < end else {
                let rest = ids[index...].filter { !known.contains($0) }.count
                return upload.reject(
                    "", "too-many-purchases",
                    "\(rest) purchases are not in the history of those asked about; upload them in further requests, or run "
                        + "`storekeeper backfill`")
            }
            let pointer = "purchase \(id)"
            let client: AppStoreServerAPI
            do throws(AppleQuestion.Failure) {
                client = try AppleQuestion.client(
                    services, upload.bundleId, upload.environment, deadline: clock.instant().duration(to: end))
            } catch {
                upload.reject(error.reason == "no-api-key" ? "" : pointer, error.reason, error.detail)
                if error.reason == "no-api-key" { return }
                continue
            }
            do throws(Problem) {
                // The history, and the statuses of its subscriptions.
                try services.questions.take(key, 2, at: clock.instant())
            } catch {
                guard questions > 0 else { throw error }
                return upload.reject(
                    "", "apple-unavailable", "Apple was asked about \(questions) of the purchases: \(error.detail)")
            }
            questions += 1
            var parts: [UnprovenPart] = []
            do throws(AppleQuestion.Failure) {
                let signed = try await AppleQuestion.ask { try await history(of: id, key, client, before: end) }
                parts = signed.enumerated().map { index, part in
                    UnprovenPart(
                        jws: part.jws, kind: part.kind, pointer: "\(pointer)/\(index)", origin: .apple(named.evidence))
                }
            } catch {
                upload.reject(pointer, error.reason, error.detail)
            }
            try await services.prove(parts, for: key, into: &upload)
            known = upload.purchases(of: .transaction)
        }
    }

    private func history(
        of id: String, _ key: ClientKey, _ client: AppStoreServerAPI, before end: ContinuousClock.Instant
    ) async throws -> [(jws: [UInt8], kind: SignedPart)] {
        var signed: [(jws: [UInt8], kind: SignedPart)] = []
        for try await page in client.transactionHistory(of: id) {
            signed += page.transactions.map { ($0.jws, .transaction) }
            if signed.count >= Self.mostTransactions { break }
            if page.hasMore { services.questions.charge(key, for: .transactionHistory, at: clock.instant()) }
            guard clock.instant() < end else {
                throw APIError.unreachable(
                    "the customer's history has more pages than Apple answers while an app waits; `storekeeper backfill` "
                        + "reads it")
            }
        }
        let statuses = try await client.subscriptionStatuses(of: id)
        return signed + statuses.groups.flatMap(\.items).compactMap { $0.renewalInfo.map { ($0.jws, .renewalInfo) } }
    }
}
