import ArgumentParser
import Commands
import Foundation
import Operations
import Signatures
import Storage

/// `storekeeper console login`: prints a link that signs a person in once.
struct ConsoleLogin: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Print a link that signs a person in to the console.",
        discussion: """
            The link works once and for 5 minutes; only its SHA-256 is stored. Roles: viewer (customers' ids are masked), \
            support (sees customers, grants access), operator (replays dead letters, recovers days), admin (everything).

            Example: storekeeper console login --as ann --role support
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(name: .customLong("as"), help: "Name of the person, for the audit log.")
    var name: String

    @Option(help: "What the person may do.")
    var role: ConsoleRole = .viewer

    @Option(help: "Address of the console (default: STOREKEEPER_CONSOLE_URL).")
    var url: String?

    /// As the console names them.
    enum ConsoleRole: String, ExpressibleByArgument, CaseIterable {
        case viewer, support, `operator`, admin
    }

    func validate() throws {
        guard (1...100).contains(name.unicodeScalars.count), !name.utf8.contains(where: { $0 < 0x20 }) else {
            throw ValidationError("--as has to be 1 to 100 printable characters")
        }
    }

    func run(in context: CommandContext) async throws {
        guard let address = url ?? context.environment["STOREKEEPER_CONSOLE_URL"], address.contains("://") else {
            throw ValidationError(
                "the address of the console is unknown: give --url or STOREKEEPER_CONSOLE_URL, such as https://console.example.org"
            )
        }
        let connection = try database.connection(for: "console login", in: context)
        let link = ConsoleLink(random: context.randomBytes(32))
        let now = context.now()
        try await ConsoleSessions(connection).addLink(
            link.digest, for: ConsoleSessions.Person(name: name, role: role.rawValue), from: now,
            until: now.addingTimeInterval(ConsoleLink.validity),
            audit: OperatorAction(
                actedAt: now, actor: context.user, operation: "console login", subject: "\(name) as \(role.rawValue)",
                reason: nil))
        let text = link.address(at: address)
        guard !output.json else { return try output.print(json: Printed(link: text), in: context) }
        context.print(text)
        context.warn("It works once, until \(now.addingTimeInterval(ConsoleLink.validity).text).")
    }

    struct Printed: Encodable {
        var link: String
    }
}
