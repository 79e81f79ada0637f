import Foundation

/// The services' programs: one build puts all of them into one directory.
struct InstalledBinaries: Sendable {
    let directory: String

    /// Those beside the running program.
    /// - Parameter executable: path of the running program.
    init(beside executable: String?) throws(CommandError) {
        guard let executable else {
            throw CommandError("this program does not know where it lies; start it by its full path")
        }
        directory = URL(fileURLWithPath: executable).resolvingSymlinksInPath().deletingLastPathComponent().path
    }

    init(in directory: String) { self.directory = directory }

    /// The path of a service's program.
    func path(of name: String) throws(CommandError) -> String {
        let path = directory + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw CommandError("\(name) is not beside storekeeper in \(directory); build everything with: swift build")
        }
        return path
    }
}
