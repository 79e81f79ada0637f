import Chassis
import Hummingbird
import Operations
import Storage
import StrictJSON

import struct Foundation.Date

/// A request that was found to be as the document describes, of a key that may make it.
struct APIRequest: Sendable {
    let operation: APIOperation
    /// The key is the environment: `key.environment` belongs in every statement.
    let key: ClientKey
    /// Decoded, and as the document describes.
    let path: [String: String]
    /// Decoded, and as the document describes.
    let query: [String: String]
    let headers: HTTPFields
    /// As the document describes; nil where the operation has no body.
    let body: JSONDocument?
    /// The step of this request, for what is written on its behalf.
    let trace: TraceContext
    /// Nil where the request has no Idempotency-Key.
    var claim: IdempotencyClaim?

    /// The key, for the audit log.
    func performer(reason: String? = nil, at now: Date) throws(OperationError) -> Performer {
        try Performer("API key \(key.name)", apiKey: key.id, reason: reason, at: now)
    }

    /// Whether the answer says what the operation would do, and nothing is changed.
    var isDryRun: Bool { query["dryRun"] == "true" }

    /// Requests that it counts as. A query about accounts is as much work as some requests: one for every ten accounts.
    var weight: Int {
        guard operation.id == "queryEntitlements" else { return 1 }
        return max(1, ((body?.root["appAccountTokens"]?.elements.count ?? 0) + 9) / 10)
    }

    /// A parameter of the path.
    func parameter(_ name: String) -> String { path[name] ?? "" }

    /// A whole number of the query; nil where it is not given.
    func number(_ name: String) -> Int64? { query[name].flatMap { Int64($0) } }

    /// The apps to be asked about: the one of `bundleId`, else those of the key; nil means all.
    func bundleIds() throws(Problem) -> [String]? {
        guard let asked = query["bundleId"] else { return key.bundleIds.isEmpty ? nil : key.bundleIds }
        return [try allowed(asked)]
    }

    /// An app that the key is for.
    func allowed(_ bundleId: String) throws(Problem) -> String {
        guard key.covers(bundleId) else {
            throw Problem(
                .appNotAllowed,
                "The key “\(key.name)” is not for \(bundleId); use a key that is, or name one of "
                    + key.bundleIds.joined(separator: ", "))
        }
        return bundleId
    }
}

/// Answers the requests of one operation.
typealias Handler = @Sendable (APIRequest) async throws -> APIResponse
