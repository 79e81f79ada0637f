import Chassis
import Foundation
import Synchronization

/// Logs the apps that are not configured, each once an hour.
///
/// Another developer can send genuine notifications of any number of apps here: above a number of names an hour there is one
/// message for all others, and no more memory.
final class UnknownApps: Sendable {
    private static let interval = 3600.0
    private static let capacity = 100

    private struct State {
        var shown: [String: Date] = [:]
        var rest: Date?
    }

    private let logger: Logger
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    init(logger: Logger, now: @escaping @Sendable () -> Date) {
        self.logger = logger
        self.now = now
    }

    /// Maximum number of remembered names.
    var count: Int { state.withLock(\.shown.count) }

    /// Notes a genuine payload of this app.
    func notice(_ name: String) {
        let bundleId = String(name.prefix(155))
        Metric.unknownApps.counter().increment()
        let now = now()
        let line = state.withLock { state -> String? in
            func isRecent(_ date: Date?) -> Bool {
                date.map { abs(now.timeIntervalSince($0)) < Self.interval } ?? false
            }
            if isRecent(state.shown[bundleId]) { return nil }
            if state.shown.count >= Self.capacity { state.shown = state.shown.filter { isRecent($0.value) } }
            guard state.shown.count < Self.capacity else {
                if isRecent(state.rest) { return nil }
                state.rest = now
                return "more than \(Self.capacity) apps, all further ones of this hour included"
            }
            state.shown[bundleId] = now
            return bundleId
        }
        guard let line else { return }
        logger.notice(
            "Notifications arrive for an app that is not configured. Add it to STOREKEEPER_APPS_FILE if it is yours.",
            metadata: ["app": "\(line)"])
    }
}
