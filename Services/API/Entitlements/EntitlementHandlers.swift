import Chassis
import Contracts
import Hummingbird
import ServiceLifecycle
import Storage
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// What accounts may use.
struct EntitlementHandlers: Sendable {
    /// How often a waiting request looks again.
    static let interval = Duration.milliseconds(500)
    static let longestWait = 60

    private let reader: EntitlementReader
    private let customers: CustomerHandlers
    private let budgets: KeyBudgets
    private let readAfter: ReadAfter
    private let clock: ProcessClock
    private let sleep: @Sendable (Duration) async throws -> Void

    init(_ dependencies: Dependencies) {
        reader = EntitlementReader(database: dependencies.database, definitions: dependencies.definitions)
        customers = CustomerHandlers(dependencies)
        budgets = dependencies.budgets
        readAfter = ReadAfter(
            database: dependencies.database, budgets: dependencies.budgets, sleep: dependencies.sleep)
        clock = dependencies.clock
        sleep = dependencies.sleep
    }

    /// `GET /v1/accounts/{appAccountToken}/entitlements`
    func ofAccount(_ request: APIRequest) async throws -> APIResponse {
        let account = UUID(uuidString: request.parameter("appAccountToken")) ?? .zero
        return try await answer(of: account, bundleIds: try request.bundleIds(), request)
    }

    /// `GET /v1/customers/{customerId}/entitlements`
    func ofCustomer(_ request: APIRequest) async throws -> APIResponse {
        let customer = try await customers.customer(request)
        return try await answer(of: customer.appAccountToken, bundleIds: [customer.bundleId], request)
    }

    /// `GET /v1/accounts/{appAccountToken}/products/{productId}`
    func ofProduct(_ request: APIRequest) async throws -> APIResponse {
        let account = UUID(uuidString: request.parameter("appAccountToken")) ?? .zero
        let bundleIds = try request.bundleIds()
        var isBehind = false
        if let token = request.headers[.readAfter] {
            isBehind = try await !readAfter.isReached(token, for: request.key)
        }
        let now = clock.now()
        let answer = try await reader.answer(
            of: account, in: request.key.environment, bundleIds: bundleIds, at: now)
        let product = request.parameter("productId")
        let newest = try await reader.newestTransaction(
            of: product, account, in: request.key.environment, bundleIds: bundleIds)
        let owned = OwnedProduct(product, answer.view, newest: newest)
        var response = APIResponse { json in
            owned.write(to: &json)
            json.member("asOf", now.milliseconds)
        }
        response.headers[.cacheControl] = "private, no-cache"
        if isBehind { response.headers[.readAfter] = "behind" }
        return response
    }

    /// `POST /v1/entitlements/query`
    func query(_ request: APIRequest) async throws -> APIResponse {
        let body = request.body?.root
        let bundleIds = try body?["bundleId"]?.string.map { [try request.allowed($0)] } ?? request.bundleIds()
        let now = clock.now()
        // An account that is named more than once has one answer.
        var named: Set<UUID> = []
        let accounts = (body?["appAccountTokens"]?.elements ?? []).compactMap {
            $0.string.flatMap(UUID.init(uuidString:))
        }.filter { named.insert($0).inserted }
        let answers = try await reader.answers(
            of: accounts, in: request.key.environment, bundleIds: bundleIds,
            at: body?["at"]?.int64.map { Date(milliseconds: $0) } ?? now)
        return APIResponse { json in
            json.objects("data", of: answers) { json, answer in
                answer.view.access.write(to: &json, states: answer.view.states, products: answer.view.products)
            }
            json.member("asOf", now.milliseconds)
        }
    }

    private func answer(
        of account: UUID, bundleIds: [String]?, _ request: APIRequest
    ) async throws -> APIResponse {
        var isBehind = false
        if let token = request.headers[.readAfter] {
            isBehind = try await !readAfter.isReached(token, for: request.key)
        }
        let known = request.headers[.ifNoneMatch].flatMap(AnswerTag.init)
        let wait = known == nil ? nil : Self.wait(request.headers[.prefer])
        var hasWaited = true
        var look = try await look(known, account, bundleIds, request)
        // Beyond the key's own waits a request is answered at once, as if it had not asked to wait.
        if let wait, look.answer == nil {
            let place = budgets.enter(request.key.id, .wait)
            defer { withExtendedLifetime(place) {} }
            hasWaited = place != nil
            let end = clock.instant() + .seconds(wait)
            while hasWaited, look.answer == nil, clock.instant() < end, !Task.isShuttingDownGracefully {
                try await sleep(Self.interval)
                look = try await self.look(known, account, bundleIds, request)
            }
        }
        var response = APIResponse.empty(304)
        if let answer = look.answer {
            let now = clock.now()
            response = APIResponse { json in
                answer.view.access.write(to: &json, states: answer.view.states, products: answer.view.products)
                json.member("asOf", now.milliseconds)
            }
        }
        response.headers[.eTag] = look.tag.text
        // A kept answer must never hide a purchase: it is asked about again, and costs a 304.
        response.headers[.cacheControl] = "private, no-cache"
        if isBehind { response.headers[.readAfter] = "behind" }
        if let wait, hasWaited { response.headers[.preferenceApplied] = "wait=\(wait)" }
        return response
    }

    /// The answer now, and its tag.
    private struct Look {
        /// Nil where the caller has it.
        var answer: EntitlementReader.Answer?
        var tag: AnswerTag
    }

    private func look(
        _ known: AnswerTag?, _ account: UUID, _ bundleIds: [String]?, _ request: APIRequest
    ) async throws -> Look {
        if let known, request.number("at") == nil,
            try await reader.isCurrent(
                known, of: account, in: request.key.environment, bundleIds: bundleIds, at: clock.now())
        {
            return Look(answer: nil, tag: known)
        }
        let answer = try await read(account, bundleIds, request)
        let tag = answer.tag(bundleIds: bundleIds, isOfNow: request.number("at") == nil)
        return Look(answer: tag.answer == known?.answer ? nil : answer, tag: tag)
    }

    private func read(
        _ account: UUID, _ bundleIds: [String]?, _ request: APIRequest
    ) async throws -> EntitlementReader.Answer {
        let environment = request.key.environment
        guard let moment = request.number("at").map({ Date(milliseconds: $0) }) else {
            return try await reader.answer(of: account, in: environment, bundleIds: bundleIds, at: clock.now())
        }
        return try await reader.answer(of: account, in: environment, bundleIds: bundleIds, asOf: moment)
    }

    /// The seconds of `wait=20` (RFC 7240); nil where nothing of the kind is preferred.
    private static func wait(_ preference: String?) -> Int? {
        for word in preference?.split(whereSeparator: { $0 == "," || $0 == ";" || $0 == " " }) ?? [] {
            guard word.lowercased().hasPrefix("wait="), let seconds = Int(word.dropFirst(5)), seconds > 0 else {
                continue
            }
            return min(seconds, longestWait)
        }
        return nil
    }
}

extension UUID {
    static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
}
