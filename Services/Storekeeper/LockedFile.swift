import Foundation

/// A file that one process at a time is at. The lock goes with the process, however that ends.
enum LockedFile {
    /// Opens the file for reading and writing, or makes it.
    /// - Parameters:
    ///   - name: what the file is to whoever reads the error.
    ///   - remedy: what to do where it cannot be had; finishes the sentence.
    ///   - taken: what to say where another process is at it.
    /// - Throws: `CommandError`
    static func open(_ path: String, called name: String, remedy: String, taken: String) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: path) {
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw CommandError("\(name) cannot be made; \(remedy)")
            }
        }
        guard let file = FileHandle(forUpdatingAtPath: path) else {
            throw CommandError("\(name) cannot be read and written; \(remedy)")
        }
        guard flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else { throw CommandError("\(taken), or \(remedy)") }
        return file
    }
}
