import AppStore
import Chassis
import Contracts
import ServerAPI
import Storage
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// Uploads of what Apple signed, from an app's listener of transactions or from its restore button.
struct UploadHandlers: Sendable {
    private let services: UploadServices
    private let recorder: UploadRecorder
    private let clock: ProcessClock

    init(_ dependencies: Dependencies) {
        services = dependencies.uploads
        recorder = UploadRecorder(dependencies)
        clock = dependencies.clock
    }

    /// `POST /v1/transactions`
    func transactions(_ request: APIRequest) async throws -> APIResponse {
        try await upload(request, isRestore: false)
    }

    /// `POST /v1/restores`: the same, and the account claims also what names another account.
    func restore(_ request: APIRequest) async throws -> APIResponse {
        try await upload(request, isRestore: true)
    }

    private func upload(_ request: APIRequest, isRestore: Bool) async throws -> APIResponse {
        guard let body = request.body?.root else { throw Problem(.invalidRequest, "The request has no body.") }
        let bundleId = try request.allowed(body["bundleId"]?.string ?? "")
        let device = body["deviceVerificationId"]?.string.flatMap { UUID(uuidString: $0) }
        var upload = try services.upload(of: bundleId, device: device, request, at: clock.now())
        let asked = body["transactionIds"]?.elements ?? []
        try services.checkRejections(of: request.key, at: clock.instant())
        var parts: [UnprovenPart] = []
        for (name, kind) in [("signedTransactions", SignedPart.transaction), ("signedRenewalInfos", .renewalInfo)] {
            for (index, jws) in (body[name]?.elements ?? []).enumerated() {
                parts.append(UnprovenPart(jws: jws.unescapedBytes ?? [], kind: kind, pointer: "/\(name)/\(index)"))
            }
        }
        if let jws = body["signedAppTransaction"]?.unescapedBytes {
            parts.append(UnprovenPart(jws: jws, kind: .appTransaction, pointer: "/signedAppTransaction"))
        }
        try await services.prove(parts, for: request.key, into: &upload)
        if !asked.isEmpty { try services.questions.take(request.key, asked.count, at: clock.instant()) }
        let end = clock.instant() + AppleQuestion.patience
        for (index, item) in asked.enumerated() {
            try await ask(item, at: "/transactionIds/\(index)", before: end, request, &upload)
        }
        return try await recorder.answer(
            upload, request, account: body["appAccountToken"]?.string.flatMap { UUID(uuidString: $0) },
            isRestore: isRestore, isDryRun: body["dryRun"]?.bool ?? false)
    }

    /// A transaction of which the request has the id alone, which anyone can know: Apple tells the facts, and the account claims
    /// nothing by it.
    private func ask(
        _ item: JSONValue, at pointer: String, before end: ContinuousClock.Instant, _ request: APIRequest,
        _ upload: inout Upload
    ) async throws {
        let id = item["transactionId"]?.string ?? ""
        guard item["environment"]?.string == request.key.environment.rawValue else {
            throw Problem(
                .wrongEnvironment,
                "\(pointer) is of another environment; the key is for \(request.key.environment.rawValue).")
        }
        guard id.isTransactionId else {
            return upload.reject(pointer, "invalid-id", "a transaction id has digits only")
        }
        let jws: [UInt8]
        do throws(AppleQuestion.Failure) {
            let client = try AppleQuestion.client(
                services, upload.bundleId, upload.environment, deadline: clock.instant().duration(to: end))
            jws = try await AppleQuestion.ask { try await client.transactionInfo(id).jws }
        } catch {
            return upload.reject(pointer, error.reason, error.detail)
        }
        try await services.prove(
            [UnprovenPart(jws: jws, kind: .transaction, pointer: pointer, origin: .apple(nil))], for: request.key,
            into: &upload)
    }
}
