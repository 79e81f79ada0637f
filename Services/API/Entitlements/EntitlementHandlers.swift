import Chassis
import Contracts
import Hummingbird
import Signatures
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What accounts may use.
struct EntitlementHandlers: Sendable {
    private let reader: EntitlementReader
    private let clock: ProcessClock

    init(_ dependencies: Dependencies) {
        reader = EntitlementReader(database: dependencies.database)
        clock = dependencies.clock
    }

    /// `GET /v1/accounts/{appAccountToken}/entitlements`
    func ofAccount(_ request: APIRequest) async throws -> APIResponse {
        let account = UUID(uuidString: request.parameter("appAccountToken")) ?? .zero
        return try await answer(of: account, request)
    }

    private func answer(of account: UUID, _ request: APIRequest) async throws -> APIResponse {
        let bundleIds = try request.bundleIds()
        let now = clock.now()
        let moment = request.number("at").map { Date(milliseconds: $0) } ?? now
        let answers = try await reader.answers(
            of: [account], in: request.key.environment, bundleIds: bundleIds, at: moment)
        return Self.response(answers[0], asOf: now, request)
    }

    private static func response(
        _ answer: EntitlementReader.Answer, asOf now: Date, _ request: APIRequest
    ) -> APIResponse {
        let tag = answer.tag
        if request.headers[.ifNoneMatch] == tag {
            var response = APIResponse.empty(304)
            response.headers[.eTag] = tag
            response.headers[.cacheControl] = "private, no-cache"
            return response
        }
        var response = APIResponse { json in
            answer.account.write(to: &json, states: answer.states)
            json.member("asOf", now.milliseconds)
        }
        response.headers[.eTag] = tag
        // A kept answer must never hide a purchase: it is asked about again, and costs a 304.
        response.headers[.cacheControl] = "private, no-cache"
        return response
    }
}

extension UUID {
    static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
