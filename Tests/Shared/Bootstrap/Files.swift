import Foundation

/// Files in a temporary directory.
final class Files: Sendable {
    let directory: URL

    /// With one app, and nothing else.
    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("access-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try write("apps.json", Self.reader)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    static let reader =
        #"[{"bundleId": "com.example.reader", "appAppleId": 1234567890, "environments": ["Production", "Sandbox"]}]"#

    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: directory.appendingPathComponent(name), options: .atomic)
        return path(name)
    }
}
