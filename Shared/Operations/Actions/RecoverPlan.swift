import Contracts
import Foundation
import Postgres
import Storage

/// Opens windows of Apple's history, which are fetched and compared with the ledger.
package struct RecoverWindows: Sendable {
    package static let name = "recover"

    package let windows: [RecoveryWindow.Request]

    package init(_ windows: [RecoveryWindow.Request]) { self.windows = windows }

    /// One for each window.
    package var plans: [OperationPlan] {
        windows.map { window in
            let scope = window.scope
            return OperationPlan(
                Self.name, on: window.subject, about: OperatorAction.About(scope.environment, scope.bundleId),
                [
                    "Apple's history of \(scope.bundleId) in \(scope.environment.rawValue) from \(scope.from.text) to "
                        + "\(scope.to.text) would be compared with the ledger, and what is missing sent through the pipeline."
                ])
        }
    }

    package func perform(on connection: PostgresConnection, by performer: Performer) async throws {
        _ = try await connection.pipeline([
            RecoveryWindowStore.opening(windows, at: performer.now),
            OperatorActionStore.command(recording: plans.map { $0.action(of: performer) }),
        ])
    }
}

/// The windows that `storekeeper recover` opens. Pure.
package struct RecoverPlan: Sendable {
    package typealias App = CoverageStore.App

    package var from: Date
    package var to: Date
    package var now: Date
    package var notificationType: String?
    package var subtype: String?
    package var onlyFailures = false

    package init(
        from: Date, to: Date, now: Date, notificationType: String? = nil, subtype: String? = nil,
        onlyFailures: Bool = false
    ) {
        self.from = from
        self.to = to
        self.now = now
        self.notificationType = notificationType
        self.subtype = subtype
        self.onlyFailures = onlyFailures
    }

    /// The apps that the options select, each once.
    package static func chosen(of known: [App], app: String?, environment: StoreEnvironment?) throws -> [App] {
        let fitting = Set(known).filter {
            (app ?? $0.bundleId) == $0.bundleId && (environment ?? $0.environment) == $0.environment
        }
        guard !fitting.isEmpty else {
            let names = Set(known).map { "\($0.bundleId) \($0.environment.rawValue)" }.sorted()
            throw OperationError(
                names.isEmpty
                    ? "no known apps: start the scheduler with API keys (STOREKEEPER_APP_STORE_API_KEYS_FILE)"
                    : "the scheduler does not know this app, only \(names.joined(separator: ", ")): check --app, "
                        + "--environment and the app's API key")
        }
        return fitting.sorted { ($0.bundleId, $0.environment.rawValue) < ($1.bundleId, $1.environment.rawValue) }
    }

    /// - Parameter id: makes the id of a window.
    package func requests(for apps: [App], id: () -> UUID) throws -> [RecoveryWindow.Request] {
        try apps.map { app in
            let first = max(from, app.environment.earliestHistory(at: now))
            guard first < to else {
                throw OperationError(
                    "Apple's history of \(app.environment.rawValue) does not reach back to \(to.text); "
                        + "use storekeeper backfill")
            }
            return RecoveryWindow.Request(
                id: id(),
                scope: RecoveryWindow.Scope(
                    environment: app.environment, bundleId: app.bundleId, from: first, to: to,
                    notificationType: notificationType, subtype: subtype, onlyFailures: onlyFailures),
                reason: .manual)
        }
    }

    /// A warning where Apple's history begins later than the windows.
    package func warnings(for apps: [App]) -> [String] {
        apps.compactMap { app in
            let first = app.environment.earliestHistory(at: now)
            guard from < first else { return nil }
            return "\(app.bundleId) \(app.environment.rawValue): Apple's history begins at \(first.text); "
                + "use storekeeper backfill for earlier purchases"
        }
    }
}

extension RecoveryWindow {
    /// A sentence about the beginning that was not compared; nil where there is none.
    package var cut: String? {
        comparedFrom.map {
            "compared from \($0.text) on: Apple no longer lists what is earlier; use storekeeper backfill for those purchases"
        }
    }
}

extension RecoveryWindow.Request {
    /// Its subject in the audit log.
    fileprivate var subject: String {
        let only = [scope.notificationType, scope.subtype, scope.onlyFailures ? "failures" : nil].compactMap { $0 }
        return (["\(scope.from.text)/\(scope.to.text)"] + only).joined(separator: " ")
    }
}
