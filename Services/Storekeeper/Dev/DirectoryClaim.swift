import Foundation

/// That a directory is one run's alone; ends with the object, and with the process however that ends.
final class DirectoryClaim: Sendable {
    private let file: FileHandle

    /// - Throws: `Failure` where another run has it, or it cannot be made.
    init(_ directory: String) throws {
        let path = directory + "/lock"
        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        if !FileManager.default.fileExists(atPath: path) {
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw Failure("\(directory) cannot be written; name another directory with --keep")
            }
        }
        guard let file = FileHandle(forUpdatingAtPath: path) else {
            throw Failure("\(path) cannot be read and written; name another directory with --keep")
        }
        guard flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw Failure(
                "another storekeeper dev runs in \(directory); stop it, or name another directory with --keep")
        }
        self.file = file
    }
}
