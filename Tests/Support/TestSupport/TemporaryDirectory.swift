import Foundation

/// A directory for one test, removed with the object.
public final class TemporaryDirectory: Sendable {
    /// The directory.
    public let url: URL
    /// Its path.
    public var path: String { url.path }

    /// Creates the directory.
    /// - Parameter permissions: who may enter it; by default as the process's umask has it.
    public init(permissions: Int? = nil) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("storekeeper-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: permissions.map { [.posixPermissions: $0] })
    }

    deinit { remove() }

    /// A file in it.
    public func url(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// The path of a file in it.
    public func path(_ name: String) -> String { url(name).path }

    /// Writes a file, replacing it at once.
    /// - Returns: its path.
    @discardableResult
    public func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: url(name), options: .atomic)
        return path(name)
    }

    /// Removes the directory before the end of the object.
    public func remove() { try? FileManager.default.removeItem(at: url) }
}
