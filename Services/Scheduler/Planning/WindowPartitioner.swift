import AppStore
import Contracts
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval
import struct Foundation.UUID

/// Splits long windows, so that subwindows are fetched in parallel: the pages of one query are sequential.
struct WindowPartitioner {
    /// Maximum length of a subwindow, unless a window would have more than ``mostSlices``.
    let length: TimeInterval
    /// Windows from this length on fetch renewals and expiries first: they decide about access.
    let longOutage: TimeInterval

    /// The most of one window: they are stored by one statement, which has a time limit. 180 days have 720 slices of six hours.
    static let mostSlices: Int64 = 1000

    /// A query for a type without a subtype excludes notifications with one, so each pair is a query.
    static let ahead: [(type: NotificationType, subtype: NotificationSubtype?)] = [
        (.didRenew, nil), (.didRenew, .billingRecovery), (.expired, .voluntary), (.expired, .billingRetry),
        (.expired, .priceIncrease), (.expired, .productNotForSale), (.expired, nil),
    ]

    /// The subwindows of a window; empty where it is not split.
    ///
    /// Notifications fetched first are listed again, which is harmless.
    func subwindows(
        of scope: RecoveryWindow.Scope, reason: RecoveryWindow.Reason, priority: Int, id: () -> UUID
    ) -> [RecoveryWindow.Request] {
        let duration = scope.to.timeIntervalSince(scope.from)
        // Sweeps are not urgent and failures are few; each query costs a request even without results.
        let isUrgent =
            duration >= longOutage && reason != .sweep && !scope.onlyFailures && scope.notificationType == nil
        guard duration > length || isUrgent else { return [] }
        let slices = slices(of: scope)
        func request(_ scope: RecoveryWindow.Scope, _ priority: Int) -> RecoveryWindow.Request {
            RecoveryWindow.Request(id: id(), scope: scope, reason: reason, priority: priority)
        }
        var subwindows: [RecoveryWindow.Request] = []
        for pair in isUrgent ? Self.ahead : [] {
            for var slice in slices {
                slice.notificationType = pair.type.rawValue
                slice.subtype = pair.subtype?.rawValue
                subwindows.append(request(slice, priority + 1))
            }
        }
        return subwindows + slices.map { request($0, priority) }
    }

    /// Slices of equal length, without gaps.
    private func slices(of scope: RecoveryWindow.Scope) -> [RecoveryWindow.Scope] {
        let (first, last) = (scope.from.milliseconds, scope.to.milliseconds)
        let wanted = (Double(last - first) / 1000 / length).rounded(.up)
        let count = Int64(min(max(1, wanted), Double(Self.mostSlices)))
        return (0..<count).map { index in
            var slice = scope
            slice.from = Date(milliseconds: first + (last - first) * index / count)
            slice.to = Date(milliseconds: first + (last - first) * (index + 1) / count)
            return slice
        }
    }
}
