import Commands
import Foundation

/// Exclusive use of a directory by one run; ends with the object or the process.
final class DirectoryLock: Sendable {
    private let file: FileHandle

    /// - Throws: `CommandError` where another run uses it, or it cannot be created.
    init(_ directory: String) throws {
        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let path = directory + "/lock"
        file = try LockedFile.open(
            path, called: path, remedy: "choose another directory with --keep",
            taken: "another storekeeper dev runs in \(directory); stop it")
    }
}
