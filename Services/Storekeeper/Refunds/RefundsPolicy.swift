import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Refunds
import Storage

/// `storekeeper refunds policy`: the policy of an app.
struct RefundsPolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or set the policy for refund requests of an app.",
        discussion: "Example: storekeeper refunds policy show --app com.example.app --versions",
        subcommands: [RefundsPolicyShow.self, RefundsPolicySet.self])
}

/// `storekeeper refunds policy show`
struct RefundsPolicyShow: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the policy in force, or its versions.",
        discussion: """
            Prints the document as it was set, for a file.

            Example: storekeeper refunds policy show --app com.example.app
            """)

    @OptionGroup var options: RefundAppOptions

    @Flag(help: "List the versions, with who added each.")
    var versions = false

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "refunds", in: context)
        let all = try await RefundPolicyStore(connection).versions(
            of: options.app, in: options.environment, limit: versions ? 1000 : 1)
        guard !versions else {
            return try options.output.list(
                all.map { Row(version: $0.number, createdAt: $0.createdAt, createdBy: $0.createdBy) },
                none: "The app has no policy.", in: context)
        }
        guard let newest = all.first else {
            throw CommandError(
                "\(options.app.escaped) has no policy in \(options.environment.rawValue), so no refund request of it is answered: "
                    + "storekeeper refunds policy set")
        }
        // The line end of Windows is one character.
        let lines = newest.document.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for line in lines { context.print(String(line).escaped) }
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["version", "created", "by"]
        var version: Int64
        var createdAt: Date
        var createdBy: String
        var cells: [String] { ["\(version)", createdAt.text, createdBy] }
    }
}

/// A policy or rules from a file.
struct JSONDocumentFile: ParsableArguments {
    @Argument(help: "File with the JSON document; - reads standard input.")
    var file: String

    func read() throws -> String {
        let bytes: Data
        do {
            bytes =
                file == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(filePath: file))
        } catch { throw CommandError("cannot read \(file.escaped): \(error.localizedDescription)") }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// `storekeeper refunds policy set`
struct RefundsPolicySet: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Add a version of the policy; open requests are decided by it.",
        discussion: """
            Requests that are decided stay as they are. With consent in the policy, customers count as consenting by its terms: \
            that they agreed is your duty, and the audit log says who set it.

            Example: storekeeper refunds policy set policy.json --app com.example.app --dry-run
            """)

    @OptionGroup var options: RefundAppOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var policy: JSONDocumentFile

    @Flag(help: "Print what the policy would do; set nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let operation = try SetRefundPolicy(try policy.read(), of: options.app, in: options.environment)
        let connection = try options.database.connection(for: "refunds", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: options.app, in: context)
        guard !dryRun else {
            return try await operation.plan(on: connection, at: context.now()).show(options.output, in: context)
        }
        operation.policy.warnings.forEach(context.warn)
        let number = try await operation.perform(on: connection, by: try audit.performer(in: context))
        guard !options.output.json else { return try options.output.print(json: ["version": number], in: context) }
        context.print("Version \(number) is in force.")
    }
}
