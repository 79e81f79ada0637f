import Operations
import Storage

import struct Foundation.Date

/// The access periods of a purchase as a bar over time, 1000 units wide.
struct AccessBar: Sendable {
    struct Piece: Sendable {
        let x: Double
        let width: Double
        /// By look: `paid`, `grace`, `other`. Never told by colour alone: each has a pattern and a row of the table.
        let kind: String
        let title: String
    }

    struct Tick: Sendable {
        let x: Double
        let label: String
        let anchor: String
    }

    let pieces: [Piece]
    let now: Double
    let ticks: [Tick]
    let label: String

    init?(_ periods: [AccessStore.Period], at now: Date) {
        guard let first = periods.first?.startsAt else { return nil }
        let ends = periods.map { $0.endsAt ?? max(now, $0.startsAt).addingTimeInterval(30 * 86_400) }
        let start = min(first, now)
        let end = max(ends.max() ?? now, now)
        let length = max(end.timeIntervalSince(start) * 1.04, 1)
        func place(_ date: Date) -> Double {
            (date.timeIntervalSince(start) / length * 10_000).rounded() / 10
        }
        pieces = zip(periods, ends).map { period, end in
            Piece(
                x: place(period.startsAt), width: max(2, place(end) - place(period.startsAt) - 1),
                kind: Self.kind(period.reason),
                title: "\(period.productId), \(period.startsAt.day) to \(period.endsAt?.day ?? "no end")")
        }
        self.now = place(now)
        ticks = [
            Tick(x: 0, label: start.day, anchor: "start"), Tick(x: 1000, label: end.day, anchor: "end"),
        ]
        label = "Access over time: \(periods.count) periods from \(start.day) to \(end.day). The table below has each."
    }

    private static func kind(_ reason: String) -> String {
        switch reason {
        case "transaction", "nonConsumable", "nonRenewing": "paid"
        case "gracePeriod": "grace"
        default: "other"
        }
    }
}
