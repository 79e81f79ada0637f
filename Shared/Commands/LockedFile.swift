import Foundation

/// A file with an exclusive lock, which ends with the process.
package enum LockedFile {
    /// Opens the file for reading and writing, or creates it.
    /// - Parameters:
    ///   - name: description for errors.
    ///   - remedy: what to do on failure; continues the sentence.
    ///   - taken: error where another process holds the lock.
    /// - Throws: `CommandError`
    package static func open(_ path: String, called name: String, remedy: String, taken: String) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: path) {
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw CommandError("\(name) cannot be created; \(remedy)")
            }
        }
        guard let file = FileHandle(forUpdatingAtPath: path) else {
            throw CommandError("\(name) cannot be read and written; \(remedy)")
        }
        guard flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else { throw CommandError("\(taken), or \(remedy)") }
        return file
    }
}
