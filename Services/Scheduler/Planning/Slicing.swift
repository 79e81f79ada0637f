import AppStore
import Contracts
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval
import struct Foundation.UUID

/// Cuts long windows, so that their parts are fetched side by side: the pages of one query come one after the other.
struct Slicing {
    /// Of a part at most.
    let length: TimeInterval
    /// From here on renewals and expiries go ahead of the rest: they decide who has access.
    let longOutage: TimeInterval

    /// Apple lists a type without a subtype only where there is none, so each pair is a query.
    static let ahead: [(type: NotificationType, subtype: NotificationSubtype?)] = [
        (.didRenew, nil), (.didRenew, .billingRecovery), (.expired, .voluntary), (.expired, .billingRetry),
        (.expired, .priceIncrease), (.expired, .productNotForSale), (.expired, nil),
    ]

    /// The parts of a window; empty where it is fetched as it is.
    ///
    /// What goes ahead is listed by the rest again, which is harmless: the ledger has it by then.
    func parts(
        of scope: RecoveryWindow.Scope, reason: RecoveryWindow.Reason, priority: Int, id: () -> UUID
    ) -> [RecoveryWindow.Request] {
        let duration = scope.to.timeIntervalSince(scope.from)
        // A sweep has time, and failures are few: each query costs a request even where it lists nothing.
        let hasHaste =
            duration >= longOutage && reason != .sweep && !scope.onlyFailures && scope.notificationType == nil
        guard duration > length || hasHaste else { return [] }
        let slices = slices(of: scope)
        func request(_ scope: RecoveryWindow.Scope, _ priority: Int) -> RecoveryWindow.Request {
            RecoveryWindow.Request(id: id(), scope: scope, reason: reason, priority: priority)
        }
        var parts: [RecoveryWindow.Request] = []
        for pair in hasHaste ? Self.ahead : [] {
            for var slice in slices {
                slice.notificationType = pair.type.rawValue
                slice.subtype = pair.subtype?.rawValue
                parts.append(request(slice, priority + 1))
            }
        }
        return parts + slices.map { request($0, priority) }
    }

    /// Of equal length, without gaps.
    private func slices(of scope: RecoveryWindow.Scope) -> [RecoveryWindow.Scope] {
        let (first, last) = (scope.from.milliseconds, scope.to.milliseconds)
        let count = max(1, Int64((Double(last - first) / 1000 / length).rounded(.up)))
        return (0..<count).map { index in
            var slice = scope
            slice.from = Date(milliseconds: first + (last - first) * index / count)
            slice.to = Date(milliseconds: first + (last - first) * (index + 1) / count)
            return slice
        }
    }
}
