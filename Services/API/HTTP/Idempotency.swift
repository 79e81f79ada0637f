import Chassis
import Digests
import Hummingbird
import Postgres
import Storage
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// Requests with an `Idempotency-Key` have effect once: the same request again gets the same answer for 24 hours.
///
/// The database may fail between an effect and its answer. Therefore a handler stores the answer in the transaction of the effect
/// (``APIRequest/commands(storing:)``), or makes things under the ids of the ``IdempotencyClaim``, where a repeat finds them, and notes before
/// it asks Apple for what must not be done twice. A restore is decided once for a claim; an upload needs nothing: the same once more changes
/// nothing.
struct Idempotency: Sendable {
    static let retention: Double = 24 * 3600
    /// Longer than any request takes: one that is still in progress then belongs to a process that died.
    static let patience: Double = 60
    static let longestKey = 255
    /// To a repeat of a request that was interrupted.
    static let interrupted = Problem(
        .outcomeUnknown,
        "The first request with this Idempotency-Key has asked Apple, and its answer is not stored; look whether Apple has done it before "
            + "you send it with another Idempotency-Key.")

    let database: Database
    let clock: ProcessClock
    let logger: Logger

    /// - Parameter target: path and query as sent.
    func answer(
        _ request: APIRequest, under name: String, target: String, _ handler: Handler
    ) async throws -> APIResponse {
        guard !name.isEmpty, name.utf8.count <= Self.longestKey, !name.utf8.contains(where: { $0 < 0x20 || $0 > 0x7e })
        else {
            throw Problem(
                .malformedRequest, "The Idempotency-Key has to be 1 to \(Self.longestKey) printable ASCII characters.")
        }
        let digest = SHA256Hash.digest(
            Array(request.operation.id.utf8) + [0] + Array(target.utf8) + [0] + (request.body?.bytes ?? []))
        let now = clock.now()
        let known = try await database.withConnection { connection in
            try await IdempotencyStore(connection).claim(
                name, of: request.key.id, digest: digest, at: now, expiry: now.addingTimeInterval(-Self.retention),
                abandoned: now.addingTimeInterval(-Self.patience))
        }
        switch known {
        case .new:
            var claimed = request
            let claim = IdempotencyClaim(name, of: request.key.id, digest: digest, at: now)
            claimed.claim = claim
            return try await carryOut(claimed, under: claim, handler)
        case .answered(let status, let headers, let body):
            var response = APIResponse(status: status, json: body)
            response.headers = Self.fields(headers)
            response.headers[.idempotencyReplayed] = "true"
            return response
        case .inProgress:
            throw Problem(
                .requestInProgress, "Wait for its answer, then send it again with the same Idempotency-Key.",
                headers: [.retryAfter: "1"])
        case .unsettled:
            throw Self.interrupted
        case .mismatch:
            throw Problem(
                .idempotencyMismatch,
                "Within 24 hours an Idempotency-Key stands for one path and body; use a new one for another request.")
        }
    }

    private func carryOut(
        _ request: APIRequest, under claim: IdempotencyClaim, _ handler: Handler
    ) async throws -> APIResponse {
        let response: APIResponse
        do {
            response = try await handler(request)
        } catch let problem as Problem
            where problem.kind.status < 500 && !problem.kind.isRetryable && !problem.mayPass
        {
            response = problem.response
        } catch {
            await withdraw(request, claim)
            throw error
        }
        guard response.status < 500 else {
            await withdraw(request, claim)
            return response
        }
        do {
            try await database.withConnection { connection in
                try await IdempotencyStore(connection).complete(
                    claim.name, of: request.key.id, claimedAt: claim.claimedAt, status: response.status,
                    headers: Self.json(response.headers), body: response.bytes,
                    naming: request.named(in: response.bytes))
            }
        } catch {
            // The request has had its effect: an error would have it sent again.
            logger.warning(
                "Could not store the answer of an Idempotency-Key; a repeat is in progress for a minute, then carried out again",
                metadata: ["error": "\(error)"])
        }
        return response
    }

    /// What failed may be tried again at once, unless it may have had its effect.
    private func withdraw(_ request: APIRequest, _ claim: IdempotencyClaim) async {
        do {
            try await database.withConnection { connection in
                try await IdempotencyStore(connection).withdraw(
                    claim.name, of: request.key.id, claimedAt: claim.claimedAt)
            }
        } catch {
            logger.warning(
                "Could not withdraw an Idempotency-Key; it stays in progress for a minute",
                metadata: ["error": "\(error)"])
        }
    }

    fileprivate static func json(_ headers: HTTPFields) -> String {
        var json = JSONWriter()
        json.beginObject()
        for field in headers { json.member(field.name.rawName, field.value) }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func fields(_ json: String) -> HTTPFields {
        var headers = HTTPFields()
        for (name, value) in (try? JSONDocument(Array(json.utf8)))?.root.members ?? [] {
            if let name = HTTPField.Name(name), let value = value.string { headers[name] = value }
        }
        return headers
    }
}

extension APIRequest {
    /// Stores the answer under the Idempotency-Key of the request, for the transaction that has the effect. None where it has no key.
    func commands(storing response: APIResponse) -> [Command] {
        guard let claim else { return [] }
        return [
            IdempotencyStore.command(
                completing: claim.name, of: key.id, claimedAt: claim.claimedAt, status: response.status,
                headers: Idempotency.json(response.headers), body: response.bytes, naming: named(in: response.bytes))
        ]
    }

    /// Whom an answer to this request names: whom the request is about, and the accounts in the answer. The certificate of an
    /// erasure names no customer any more.
    func named(in answer: [UInt8]) -> IdempotencyStore.Named {
        let root = body?.root
        let text = operation.id == "eraseCustomer" ? String(decoding: answer, as: UTF8.self) : nil
        let given = [root?["appAccountToken"]?.string, path["customerId"]].compactMap(\.self)
            .filter { text?.contains($0) ?? true }
        let told = (try? JSONDocument(answer))?.root
        let answered = told?.accountTokens ?? []
        return IdempotencyStore.Named(
            environment: key.environment,
            bundleId: root?["bundleId"]?.string ?? query["bundleId"] ?? told?["bundleId"]?.string
                ?? (key.bundleIds.count == 1 ? key.bundleIds[0] : nil),
            appAccountTokens: Set((given + answered).compactMap { UUID(uuidString: $0) }),
            customerId: path["customerId"].flatMap { given.contains($0) ? $0 : nil })
    }
}
