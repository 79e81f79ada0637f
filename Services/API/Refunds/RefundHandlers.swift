import Chassis
import Operations
import Postgres
import Refunds
import Storage
import StrictJSON

import struct Foundation.Date

/// Refund requests, the answers to them, the policies of apps, and reports of usage.
struct RefundHandlers: Sendable {
    private let database: Database
    private let clock: ProcessClock
    private let cursor: Cursor

    init(_ dependencies: Dependencies) {
        database = dependencies.database
        clock = dependencies.clock
        cursor = dependencies.cursor
    }

    /// `GET /v1/refund-requests`
    func list(_ request: APIRequest) async throws -> APIResponse {
        let page = try ListPage(request, cursor, "refund-requests \(request.query["state"] ?? "")")
        let position = try page.position(as: Self.position)
        let bundleIds = try request.bundleIds()
        let now = clock.now()
        let (entries, further) = try await database.withConnection { connection in
            try await RefundRequestPages(connection).search(
                in: request.key.environment, of: bundleIds, state: request.query["state"].flatMap(RefundState.init),
                after: position, limit: page.limit + 1, at: now)
        }
        return try page.response(
            entries, further: further.map(Self.text),
            position: { Self.text(($0.requestedAt, $0.key.transactionId)) }
        ) { entry, json in Self.write(entry, to: &json) }
    }

    private static func text(_ position: RefundRequestPages.Position) -> String {
        "\(position.requestedAt.milliseconds) \(position.transactionId)"
    }

    /// Nil where the text is no position.
    private static func position(_ text: String) -> (requestedAt: Date, transactionId: String)? {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let moment = Int64(words[0]) else { return nil }
        return (Date(milliseconds: moment), String(words[1]))
    }

    /// `GET /v1/refund-requests/{transactionId}`: with every decision, and with what the policy would decide now.
    func get(_ request: APIRequest) async throws -> APIResponse {
        let key = Self.key(request)
        let now = clock.now()
        let (entry, answers, preview) = try await database.withConnection { connection in
            let pages = RefundRequestPages(connection)
            let entry = try await pages.find(key, at: now)
            guard let entry, request.key.covers(entry.bundleId) else { throw Self.unknown(key) }
            return (entry, try await pages.answers(key), try await pages.previews([entry], at: now)[key])
        }
        return APIResponse { json in
            Self.write(entry, to: &json)
            if let preview { Self.write(preview, to: &json) }
            json.objects("decisions", of: answers) { json, answer in
                Self.write(answer, to: &json)
            }
        }
    }

    /// `PUT /v1/refund-requests/{transactionId}/answer`: in place of the policy.
    func answer(_ request: APIRequest) async throws -> APIResponse {
        let body = request.body?.root
        let preference = body?["refundPreference"]?.string.flatMap(RefundPreference.init)
        return try await answer(request, preference: preference, usage: Self.usage(body))
    }

    /// `POST /v1/transactions/{transactionId}/consumption`: the same, under the name of Apple's endpoint.
    func sendConsumption(_ request: APIRequest) async throws -> APIResponse { try await answer(request) }

    private func answer(
        _ request: APIRequest, preference: RefundPreference?, usage: RefundSubject.UsageReport?
    ) async throws -> APIResponse {
        let performer = try request.performer(at: clock.now())
        let operation = try AnswerRefund(
            Self.key(request), preference: preference, usage: usage,
            among: request.key.bundleIds.isEmpty ? nil : request.key.bundleIds)
        do {
            return try await database.withConnection { connection in
                if request.isDryRun { return APIResponse(try await operation.plan(on: connection, by: performer)) }
                let answer = try await operation.perform(on: connection, by: performer) { answer in
                    request.commands(storing: Self.response(answer))
                }
                return Self.response(answer)
            }
        } catch let refusal as AnswerRefund.Refusal {
            let sentence = refusal.description
            let detail = "\(sentence.prefix(1).uppercased())\(sentence.dropFirst())."
            switch refusal.result {
            case .unknown: throw Problem(.notFound, detail)
            case .alreadyAnswered: throw Problem(.alreadyAnswered, detail)
            default: throw Problem(.conflict, detail)
            }
        }
    }

    private static func response(_ answer: RefundAnswer) -> APIResponse {
        APIResponse(status: 202) { json in
            json.member("apiVersion", answer.apiVersion)
            json.member("body", raw: answer.body)
            write(answer.adjustments, to: &json)
        }
    }

    /// `PUT /v1/transactions/{transactionId}/usage`
    func reportUsage(_ request: APIRequest) async throws -> APIResponse {
        let key = Self.key(request)
        let now = clock.now()
        guard let report = Self.usage(request.body?.root) else {
            throw Problem(
                .invalidRequest,
                "The report is empty; send consumptionPercentage, deliveryStatus or sampleContentProvided.")
        }
        let added = try await database.withConnection { connection in
            try await UsageReportStore(connection).add(
                report, of: key, among: request.key.bundleIds.isEmpty ? nil : request.key.bundleIds,
                by: "API key \(request.key.name)", at: now)
        }
        switch added {
        case .stored: return .empty(204)
        case .erased:
            throw Problem(
                .conflict,
                "The customer of transaction \(key.transactionId) was erased: its use is not stored any more; do not report it."
            )
        case .unknown:
            throw Problem(
                .notFound,
                "No transaction \(key.transactionId) is known in \(key.environment.rawValue); check the id, and the key."
            )
        }
    }

    /// `GET /v1/refund-policies/{bundleId}`
    func getPolicy(_ request: APIRequest) async throws -> APIResponse {
        let bundleId = try request.allowed(request.parameter("bundleId"))
        let version = try await database.withConnection { connection in
            try await RefundPolicyStore(connection).inForce(bundleId, in: request.key.environment)
        }
        guard let version else {
            throw Problem(
                .notFound,
                "\(bundleId) has no policy in \(request.key.environment.rawValue); PUT one, or storekeeper refunds policy set."
            )
        }
        return APIResponse { json in
            Self.write(
                version.number, version.createdAt, version.createdBy, (try? version.policy)?.warnings ?? [], to: &json)
            json.member("policy", raw: Array(version.document.utf8))
        }
    }

    /// `PUT /v1/refund-policies/{bundleId}`: adds a version.
    func putPolicy(_ request: APIRequest) async throws -> APIResponse {
        let bundleId = try request.allowed(request.parameter("bundleId"))
        let performer = try request.performer(at: clock.now())
        let document = String(decoding: request.body?.bytes ?? [], as: UTF8.self)
        let operation = try SetRefundPolicy(document, of: bundleId, in: request.key.environment)
        return try await database.withConnection { connection in
            if request.isDryRun { return APIResponse(try await operation.plan(on: connection, at: performer.now)) }
            let number = try await operation.perform(on: connection, by: performer)
            return APIResponse { json in
                Self.write(number, performer.now, performer.name, operation.policy.warnings, to: &json)
                json.member("policy", raw: operation.document.utf8)
            }
        }
    }

    // MARK: Values

    private static func key(_ request: APIRequest) -> RefundKey {
        RefundKey(request.key.environment, request.parameter("transactionId"))
    }

    private static func unknown(_ key: RefundKey) -> Problem {
        Problem(
            .notFound,
            "No refund of transaction \(key.transactionId) was requested in \(key.environment.rawValue); check the id, and the key."
        )
    }

    /// What a body says about usage; nil where it says nothing.
    private static func usage(_ body: JSONValue?) -> RefundSubject.UsageReport? {
        let report = RefundSubject.UsageReport(
            percentage: body?["consumptionPercentage"]?.int64,
            deliveryStatus: body?["deliveryStatus"]?.string.flatMap(DeliveryStatus.init),
            isSampleProvided: body?["sampleContentProvided"]?.bool)
        return report == RefundSubject.UsageReport() ? nil : report
    }

    private static func write(
        _ number: Int64, _ createdAt: Date, _ createdBy: String, _ warnings: [String], to json: inout JSONWriter
    ) {
        json.member("version", number)
        json.member("createdAt", createdAt.milliseconds)
        json.member("createdBy", createdBy)
        json.strings("warnings", of: warnings)
    }

    private static func write(_ adjustments: [String], to json: inout JSONWriter) {
        json.strings("adjustments", of: adjustments)
    }

    private static func write(_ entry: RefundRequestPages.Entry, to json: inout JSONWriter) {
        json.member("transactionId", entry.key.transactionId)
        json.member("originalTransactionId", entry.originalTransactionId)
        json.member("bundleId", entry.bundleId)
        json.member("state", entry.state.rawValue)
        json.member("requestedAt", entry.requestedAt.milliseconds)
        json.member("deadline", entry.deadline.milliseconds)
        json.member("reason", entry.reason)
        json.member("outcome", entry.outcome)
        json.member("outcomeAt", entry.outcomeAt?.milliseconds)
        json.member("productId", entry.productId)
        json.member("price", entry.priceMilliunits)
        json.member("currency", entry.currency)
        if let answer = entry.answer {
            json.beginObject("answer")
            write(answer, to: &json)
            json.endObject()
        }
    }

    private static func write(_ answer: RefundRequestPages.Answer, to json: inout JSONWriter) {
        json.member("decidedAt", answer.decidedAt.milliseconds)
        json.member("decidedBy", answer.decidedBy)
        json.member("policyVersion", answer.policyVersion)
        json.member("rule", answer.rule)
        if let body = answer.body { json.member("body", raw: body.utf8) }
        write(answer.adjustments, to: &json)
        json.member("withheldBecause", answer.withheldBecause)
        json.member("attempts", answer.attempts)
        json.member("sentAt", answer.sentAt?.milliseconds)
        json.member("failedWith", answer.failedWith)
    }

    private static func write(_ decision: RefundDecision, to json: inout JSONWriter) {
        json.beginObject("preview")
        switch decision {
        case .answer(let answer, let rule):
            json.member("rule", rule)
            json.member("body", raw: answer.body)
            write(answer.adjustments, to: &json)
        case .withhold(let reason, let rule):
            json.member("rule", rule)
            json.member("withheldBecause", reason.rawValue)
        case .wait(let until, let rule):
            json.member("rule", rule)
            json.member("waitsUntil", until.milliseconds)
        }
        json.endObject()
    }
}
