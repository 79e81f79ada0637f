import Foundation

/// A new directory that only its owner can enter, under an unpredictable name.
enum TemporaryDirectory {
    static func make(prefix: String) throws(DevelopmentPostgres.Failure) -> String {
        let parent = FileManager.default.temporaryDirectory.path
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
}
