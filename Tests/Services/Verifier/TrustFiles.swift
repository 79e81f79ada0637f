import Chassis
import Foundation
import Signatures

@testable import Verifier

/// Files of roots and apps in a directory of the test.
final class TrustFiles: Sendable {
    let directory: URL
    var apps: String { directory.appendingPathComponent("apps.json").path }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("trust-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try write("apps.json", Self.reader)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// The app of the corpus.
    static let reader =
        #"[{"bundleId": "com.example.reader", "appAppleId": 1234567890, "environments": ["Production"]}]"#

    /// Replaces a file as editors and container tools do: in one step.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        let file = directory.appendingPathComponent(name)
        try Data(text.utf8).write(to: file, options: .atomic)
        return file.path
    }

    func settings(
        roots: [String] = [], developmentMode: Bool = false, _ more: [String: String] = [:]
    ) throws -> Settings<Verifier.Configuration> {
        var environment = [
            "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "STOREKEEPER_APPS_FILE": apps,
            "STOREKEEPER_DEVELOPMENT_MODE": "\(developmentMode)",
        ]
        if !roots.isEmpty { environment["STOREKEEPER_ROOT_FILES"] = roots.joined(separator: ",") }
        return try Settings(Verifier.Configuration(), environment: environment.merging(more) { $1 })
    }
}
