import Foundation

/// That a directory is one run's alone; ends with the object, and with the process however that ends.
final class DirectoryLock: Sendable {
    private let file: FileHandle

    /// - Throws: `CommandError` where another run has it, or it cannot be made.
    init(_ directory: String) throws {
        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let path = directory + "/lock"
        file = try LockedFile.open(
            path, called: path, remedy: "name another directory with --keep",
            taken: "another storekeeper dev runs in \(directory); stop it")
    }
}
