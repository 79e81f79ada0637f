import Operations

import struct Foundation.Date

/// The figures of a page's small charts in words and numbers, for people who do not see charts.
struct ChartTable: Sendable {
    struct Line: Sendable {
        let name: String
        let values: [String]
    }

    let caption: String
    let heads: [String]
    let lines: [Line]

    /// The lags of all stages by the look, the latest first; nil before the first look.
    init?(lags view: StatusWatch.View, now: Date) {
        guard !view.looks.isEmpty else { return nil }
        let stages = (view.report?.stages.value ?? []).map(\.name)
        caption = "Lag of the stages in seconds"
        heads = ["Looked"] + stages
        lines = view.looks.enumerated().reversed().map { index, look in
            let values = stages.map { view.lags[$0]?[index].map { "\(Int($0.rounded()))" } ?? "" }
            return Line(name: Moment(look, now: now).text, values: values)
        }
    }

    /// Figures of consecutive minutes, the latest first.
    init(_ caption: String, minutes: [Double], until now: Date) {
        self.caption = caption
        heads = ["Minute", "Notifications"]
        lines = minutes.enumerated().reversed().map { index, value in
            let minute = now.addingTimeInterval(Double(index - minutes.count + 1) * 60)
            return Line(name: String(Moment(minute, now: now).text.dropLast(7)) + " UTC", values: ["\(Int(value))"])
        }
    }
}
