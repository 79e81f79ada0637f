import Foundation

/// A directory for one test, removed with the object.
public final class TemporaryDirectory: Sendable {
    /// The directory.
    public let url: URL
    /// Its path.
    public var path: String { url.path }

    /// Creates the directory.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("storekeeper-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { remove() }

    /// The path of a file in it.
    public func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Removes the directory before the end of the object.
    public func remove() { try? FileManager.default.removeItem(at: url) }
}
