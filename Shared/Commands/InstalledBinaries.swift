import Foundation

/// The services' executables: one build puts all of them into one directory.
package struct InstalledBinaries: Sendable {
    package let directory: String

    /// The executables beside this one.
    /// - Parameter executable: path of this executable.
    package init(beside executable: String?) throws(CommandError) {
        guard let executable else {
            throw CommandError("the path of this executable is unknown; start it by its full path")
        }
        directory = URL(fileURLWithPath: executable).resolvingSymlinksInPath().deletingLastPathComponent().path
    }

    package init(in directory: String) { self.directory = directory }

    /// The path of a service's executable.
    package func path(of name: String) throws(CommandError) -> String {
        let path = directory + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw CommandError(
                "no program \(name) in \(directory), beside this one; build all programs with: swift build")
        }
        return path
    }

    /// Runs another program in place of this one.
    /// - Throws: where it cannot be started; otherwise this does not return.
    package func become(_ name: String, _ arguments: [String]) throws(CommandError) -> Never {
        let program = try path(of: name)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &words)
        throw CommandError("\(program) cannot be started: \(String(cString: strerror(errno)))")
    }
}
