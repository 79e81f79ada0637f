import Chassis
import Operations
import Storage
import StrictJSON

import struct Foundation.Date

/// Figures of revenue.
struct InsightHandler: Sendable {
    private let database: Database
    private let clock: ProcessClock
    private let cursor: Cursor

    init(_ dependencies: Dependencies) {
        database = dependencies.database
        clock = dependencies.clock
        cursor = dependencies.cursor
    }

    /// `GET /v1/insight/{report}`
    func report(_ request: APIRequest) async throws -> APIResponse {
        let name = try Self.name(request)
        let bundleIds = try request.bundleIds()
        let question = try FigureQuestion(
            name, in: request.key.environment, of: bundleIds, from: request.query["from"], to: request.query["to"],
            interval: request.query["interval"].flatMap(FigureReport.Interval.init) ?? .month, by: request.query["by"],
            currency: request.query["currency"], at: clock.now())
        let report = try await compute(question.query)
        return APIResponse { json in
            json.member("report", report.name.rawValue)
            json.member("asOf", report.asOf?.milliseconds)
            if let conversion = report.conversion { Self.write(conversion, of: report, to: &json) }
            json.beginArray("data")
            // Thousands of rows share one time span, and formatting it takes longer than the rest of a row.
            var span: (days: Range<Date>, from: String, to: String)?
            for row in report.rows {
                if span?.days != row.days {
                    span = (
                        row.days, FigureQuestion.text(row.days.lowerBound), FigureQuestion.text(row.days.upperBound)
                    )
                }
                json.beginObject()
                json.member("from", span?.from)
                json.member("to", span?.to)
                Self.write(row, to: &json)
                json.endObject()
            }
            json.endArray()
        }
    }

    private static func name(_ request: APIRequest) throws(Problem) -> FigureReport.Name {
        guard let name = FigureReport.Name(rawValue: request.parameter("report")) else {
            throw Problem(.notFound, "There is no such report.")
        }
        return name
    }

    /// `GET /v1/insight/{report}/purchases`
    func purchases(_ request: APIRequest) async throws -> APIResponse {
        let name = try Self.name(request)
        let cells = Dictionary(
            uniqueKeysWithValues: FigureReport.Dimension.allCases.compactMap { dimension in
                request.query[dimension.rawValue].map { (dimension, $0) }
            })
        // Absent and empty are two questions.
        let asked = (["from", "to", "bundleId", "kind"] + FigureReport.Dimension.allCases.map(\.rawValue))
            .map { request.query[$0] ?? "-" }
        let page = try ListPage(
            request, cursor, "insight-purchases \(name.rawValue) \(asked.joined(separator: " "))")
        let position = try page.position(as: PurchasePart.Position.init)
        let list = try ListFigurePurchases(
            behind: name, in: request.key.environment, of: try request.bundleIds(), from: request.query["from"],
            to: request.query["to"], kinds: request.query["kind"], cells: cells, after: position, limit: page.limit,
            at: clock.now())
        let found = try await database.withConnection { connection in try await list.page(on: connection) }
        return try page.response(
            found.purchases, further: found.next?.text, position: \.position.text
        ) { part, json in Self.write(part, to: &json) }
    }

    /// `GET /v1/insight/corrections`
    func corrections(_ request: APIRequest) async throws -> APIResponse {
        let asked = ["from", "to", "bundleId"].map { request.query[$0] ?? "" }
        let page = try ListPage(request, cursor, "insight-corrections \(asked.joined(separator: " "))")
        let position = try page.position(as: FigureCorrection.Position.init)
        let list = try ListCorrections(
            in: request.key.environment, of: try request.bundleIds(), from: request.query["from"],
            to: request.query["to"], after: position, limit: page.limit, at: clock.now())
        let found = try await database.withConnection { connection in try await list.page(on: connection) }
        return try page.response(
            found.corrections, further: found.next?.text, position: \.position.text
        ) { correction, json in Self.write(correction, to: &json) }
    }

    /// Computed when the connection is back, because other requests wait for it.
    private func compute(_ query: FigureReport.Query) async throws -> FigureReport {
        do {
            return try await database.withConnection { connection in
                try await FigureReportStore(connection).read(query)
            }.report()
        } catch let error as FigureReport.TooLarge {
            throw OperationError("\(error)", .invalid("by"))
        }
    }

    private static func write(
        _ conversion: FigureReport.Conversion, of report: FigureReport, to json: inout JSONWriter
    ) {
        json.member("currency", conversion.currency)
        json.beginArray("rates")
        for rates in conversion.rates {
            json.beginObject()
            json.member("currency", rates.currency)
            json.member("source", rates.source)
            json.member("from", FigureQuestion.text(rates.days.lowerBound))
            json.member("last", FigureQuestion.text(rates.days.upperBound))
            json.endObject()
        }
        json.endArray()
        json.beginArray("unconverted")
        for currency in report.unconvertedCurrencies { json.element(currency) }
        json.endArray()
    }

    private static func write(_ part: PurchasePart, to json: inout JSONWriter) {
        json.member("day", FigureQuestion.text(part.position.day))
        json.member("bundleId", part.bundleId)
        json.member("originalTransactionId", part.key.originalTransactionId)
        json.member("kind", part.kind.rawValue)
        json.member("product", part.productId)
        json.member("storefront", part.storefront)
        json.member("currency", part.currency)
        json.member("period", part.period)
        json.member("offer", part.offer)
        if let periods = part.periods { json.member("periods", periods) }
        if let days = part.daysUntilPaid { json.member("daysUntilPaid", days) }
        json.member("amount", part.amount)
        json.member("count", part.count)
    }

    private static func write(_ correction: FigureCorrection, to json: inout JSONWriter) {
        json.member("day", FigureQuestion.text(correction.position.day))
        json.member("correctedAt", correction.correctedAt.milliseconds)
        json.member("bundleId", correction.bundleId)
        json.member("originalTransactionId", correction.key.originalTransactionId)
        json.member("kind", correction.kind)
        json.member("currency", correction.currency)
        json.member("amount", correction.amount)
        json.member("count", correction.count)
    }

    private static func write(_ row: FigureReport.Row, to json: inout JSONWriter) {
        json.member("isComplete", row.isComplete)
        for (dimension, value) in row.cells { json.member(dimension.rawValue, value) }
        for (name, value) in row.values {
            switch value {
            case .count(let number), .amount(let number): json.member(name, number)
            case .share(let share): json.member(name, raw: (share?.description ?? "null").utf8)
            }
        }
    }
}
