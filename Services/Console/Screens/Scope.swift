import Contracts
import Storage

/// Which app and environment a page is about. Production by default, where anything is known of it.
struct Scope: Sendable {
    struct Choice: Sendable {
        let label: String
        let value: String
        let isCurrent: Bool
    }

    let app: CoverageStore.App?
    let apps: [CoverageStore.App]

    /// - Parameter request: `?scope=Production com.example.app`.
    init(_ apps: [CoverageStore.App], _ request: ConsoleRequest) {
        self.apps = apps
        let asked = request.text("scope")
        app = apps.first { Self.value($0) == asked } ?? apps.first
    }

    var choices: [Choice] {
        apps.map {
            Choice(
                label: "\($0.bundleId), \($0.environment.rawValue)", value: Self.value($0),
                isCurrent: $0 == app)
        }
    }

    static func value(_ app: CoverageStore.App) -> String { "\(app.environment.rawValue) \(app.bundleId)" }
}
