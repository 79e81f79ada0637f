import Foundation

/// A new directory that only its owner can enter, under an unpredictable name.
enum TemporaryDirectory {
    /// - Parameter isInMemory: whether it lies in memory, where this machine has room for that.
    static func make(prefix: String, isInMemory: Bool) throws(DevelopmentPostgres.Failure) -> String {
        let parent =
            isInMemory && freeBytes(of: memory) >= 4 << 30 ? memory : FileManager.default.temporaryDirectory.path
        guard let template = strdup("\(parent)/\(prefix)XXXXXX") else {
            throw DevelopmentPostgres.Failure(description: "no memory for the name of a temporary directory")
        }
        defer { free(template) }
        guard mkdtemp(template) != nil else {
            throw DevelopmentPostgres.Failure(
                description: "no directory can be made in \(parent): \(String(cString: strerror(errno)))")
        }
        return String(cString: template)
    }

    private static let memory = "/dev/shm"

    /// None where there is no such directory.
    private static func freeBytes(of directory: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: directory)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
    }
}
