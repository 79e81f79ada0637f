import ArgumentParser
import Contracts
import Foundation
import Storage

/// Which windows an operator's question makes. Pure.
struct RecoverPlan: Sendable {
    /// An app in an environment.
    struct App: Sendable, Hashable {
        var environment: StoreEnvironment
        var bundleId: String

        init(_ environment: StoreEnvironment, _ bundleId: String) {
            self.environment = environment
            self.bundleId = bundleId
        }
    }

    var from: Date
    var to: Date
    var now: Date
    var notificationType: String?
    var subtype: String?
    var onlyFailures = false

    /// Apps that the options mean, each once.
    static func chosen(of known: [App], app: String?, environment: StoreEnvironment?) throws -> [App] {
        let fitting = Set(known).filter {
            (app ?? $0.bundleId) == $0.bundleId && (environment ?? $0.environment) == $0.environment
        }
        guard !fitting.isEmpty else {
            let names = Set(known).map { "\($0.bundleId) \($0.environment.rawValue)" }.sorted()
            throw CommandError(
                names.isEmpty
                    ? "the scheduler, which would fetch it, knows no app yet: start it, with keys for Apple's API"
                    : "the scheduler, which would fetch it, knows no such app, only \(names.joined(separator: ", ")): is it "
                        + "misspelt, or is there no key for it?")
        }
        return fitting.sorted { ($0.bundleId, $0.environment.rawValue) < ($1.bundleId, $1.environment.rawValue) }
    }

    /// How far back Apple's history goes.
    static func memory(of environment: StoreEnvironment) -> TimeInterval {
        86_400 * (environment == .production ? 180 : 30)
    }

    /// - Parameter id: gives each window its name.
    func requests(for apps: [App], id: () -> UUID) throws -> [RecoveryWindow.Request] {
        try apps.map { app in
            let first = max(from, now.addingTimeInterval(-Self.memory(of: app.environment)))
            guard first < to else {
                throw CommandError(
                    "Apple's history of \(app.environment.rawValue) does not go back to \(to.text); "
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

    /// What the windows cannot cover.
    func warnings(for apps: [App]) -> [String] {
        apps.compactMap { app in
            let first = now.addingTimeInterval(-Self.memory(of: app.environment))
            guard from < first else { return nil }
            return "\(app.bundleId) \(app.environment.rawValue): Apple's history begins at \(first.text); "
                + "for what is older use storekeeper backfill"
        }
    }
}
