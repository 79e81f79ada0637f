import AppStore
import Chassis
import Contracts
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
        var upload = Upload(
            bundleId: bundleId, environment: request.key.environment, device: device, verifier: services.verifier,
            traceparent: request.trace.traceparent, now: clock.now())
        for (name, kind) in [("signedTransactions", SignedPart.transaction), ("signedRenewalInfos", .renewalInfo)] {
            for (index, jws) in (body[name]?.elements ?? []).enumerated() {
                upload.add(jws.unescapedBytes ?? [], as: kind, at: "/\(name)/\(index)")
            }
        }
        if let jws = body["signedAppTransaction"]?.unescapedBytes {
            upload.add(jws, as: .appTransaction, at: "/signedAppTransaction")
        }
        for (index, item) in (body["transactionIds"]?.elements ?? []).enumerated() {
            try await ask(item, at: "/transactionIds/\(index)", request, &upload)
        }
        return try await recorder.answer(
            upload, request, account: body["appAccountToken"]?.string.flatMap { UUID(uuidString: $0) },
            isRestore: isRestore, isDryRun: body["dryRun"]?.bool ?? false)
    }

    /// A transaction that the app knows by its id alone.
    private func ask(
        _ item: JSONValue, at pointer: String, _ request: APIRequest, _ upload: inout Upload
    ) async throws {
        let id = item["transactionId"]?.string ?? ""
        guard item["environment"]?.string == request.key.environment.rawValue else {
            throw Problem(
                .wrongEnvironment,
                "\(pointer) is of another environment; the key is for \(request.key.environment.rawValue).")
        }
        guard id.isTransactionId else {
            return upload.refuse(pointer, "invalid-id", "a transaction id has digits only")
        }
        do throws(AppleQuestion.Failure) {
            let client = try AppleQuestion.client(services, upload)
            let jws = try await AppleQuestion.ask { try await client.transactionInfo(id).jws }
            upload.add(jws, as: .transaction, at: pointer, isFromApple: true)
        } catch {
            upload.refuse(pointer, error.reason, error.detail)
        }
    }
}

/// What became of a question to Apple, in the words of an answer.
enum AppleQuestion {
    struct Failure: Error {
        var reason: String
        var detail: String
    }

    static func client(_ services: UploadServices, _ upload: Upload) throws(Failure) -> AppStoreServerAPI {
        let environment = AppStoreEnvironment(rawValue: upload.environment.rawValue)
        guard var client = services.apple?[upload.bundleId, environment] else {
            throw Failure(
                reason: "no-api-key",
                detail: "there is no App Store Server API key for \(upload.bundleId); upload what is signed instead")
        }
        // The app waits for the answer.
        client.deadline = .seconds(10)
        return client
    }

    static func ask<Value: Sendable>(_ question: () async throws -> Value) async throws(Failure) -> Value {
        do {
            return try await question()
        } catch let error as APIError {
            guard case .refused(let refusal) = error, refusal.status == 404 || refusal.status == 400 else {
                throw Failure(reason: "apple-unavailable", detail: "\(error); send it again later")
            }
            throw Failure(reason: "unknown-transaction", detail: "Apple does not know it in this environment")
        } catch {
            throw Failure(reason: "apple-unavailable", detail: "Apple could not be asked; send it again later")
        }
    }
}
