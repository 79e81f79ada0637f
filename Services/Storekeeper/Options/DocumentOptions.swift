import ArgumentParser
import Commands
import Foundation
import Storage

/// A policy or rules from a file.
struct JSONDocumentFile: ParsableArguments {
    @Argument(help: "File with the JSON document; - reads standard input.")
    var file: String

    func read() throws -> String { try String(ofFile: file) }
}

extension String {
    /// The text of a file, or of standard input for `-`.
    init(ofFile file: String) throws {
        let bytes: Data
        do {
            bytes =
                file == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(filePath: file))
        } catch { throw CommandError("cannot read \(file.escaped): \(error.localizedDescription)") }
        self.init(decoding: bytes.withoutByteOrderMark, as: UTF8.self)
    }
}

extension AppOptions {
    /// Prints the document in force as it was set, or lists its versions.
    /// - Parameters:
    ///   - none: said where there are no versions to list.
    ///   - missing: said where no document is in force.
    func show(
        _ store: some VersionedDocumentStore, versions isList: Bool, none: String, missing: String,
        in context: CommandContext
    ) async throws {
        let all = try await store.versions(of: app, in: environment, limit: isList ? 1000 : 1)
        guard !isList else {
            return try output.list(
                all.map { VersionRow(version: $0.number, createdAt: $0.createdAt, createdBy: $0.createdBy) },
                none: none, in: context)
        }
        guard let newest = all.first else { throw CommandError(missing) }
        // The line end of Windows is one character.
        let lines = newest.document.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for line in lines { context.print(String(line).escaped) }
    }

    func show(added version: Int64, in context: CommandContext) throws {
        guard !output.json else { return try output.print(json: ["version": version], in: context) }
        context.print("Version \(version) is in force.")
    }
}

private struct VersionRow: ListedRow {
    static let columns: [TextTable.Column] = ["version", "created", "by"]
    var version: Int64
    var createdAt: Date
    var createdBy: String
    var cells: [String] { ["\(version)", createdAt.text, createdBy] }
}
