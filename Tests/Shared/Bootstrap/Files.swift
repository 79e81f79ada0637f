import Foundation
import TestSupport

/// Files in a temporary directory.
final class Files: Sendable {
    private let root: TemporaryDirectory
    var directory: URL { root.url }

    /// With one app, and nothing else.
    init() throws {
        root = try TemporaryDirectory()
        try write("apps.json", Self.reader)
    }

    static let reader =
        #"[{"bundleId": "com.example.reader", "appAppleId": 1234567890, "environments": ["Production", "Sandbox"]}]"#

    func path(_ name: String) -> String { root.path(name) }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try root.write(name, text)
    }
}
