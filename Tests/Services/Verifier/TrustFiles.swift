import Chassis
import Foundation
import Signatures
import TestSupport

@testable import Verifier

/// Files of roots and apps in a directory of the test.
final class TrustFiles: Sendable {
    private let root: TemporaryDirectory
    var apps: String { root.path("apps.json") }

    init() throws {
        root = try TemporaryDirectory()
        try write("apps.json", Self.reader)
    }

    /// The app of the corpus.
    static let reader =
        #"[{"bundleId": "com.example.reader", "appAppleId": 1234567890, "environments": ["Production"]}]"#

    /// Replaces a file as editors and container tools do: in one step.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try root.write(name, text)
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
