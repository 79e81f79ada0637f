import ArgumentParser
import Commands
import Contracts
import Operations

/// `storekeeper acls`: the brokers' access-control list, as commands that create it.
struct ACLs: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "acls", abstract: "Print the Kafka ACL commands for all services.",
        discussion: """
            Prints one kafka-acls.sh command per service and topic or group and changes nothing. Each service has its own \
            principal. Run the commands as a Kafka administrator.

            Example: storekeeper acls --servers kafka:9092 | sh
            """)

    @Option(help: "Brokers, host:port separated by commas.")
    var servers = "localhost:9092"

    @Option(help: "Prefix of the principals, before the service name.")
    var principalPrefix = "User:storekeeper-"

    @Option(help: "Path of kafka-acls.sh.")
    var script = "kafka-acls.sh"

    @Option(help: "Kafka client settings of the administrator (file).")
    var commandConfig: String?

    func run(in context: CommandContext) {
        for rule in AccessRule.all { context.print(line(for: rule)) }
    }

    private func line(for rule: AccessRule) -> String {
        var words = [script, "--bootstrap-server", servers]
        if let commandConfig { words += ["--command-config", commandConfig] }
        words += ["--add", "--allow-principal", principalPrefix + rule.service]
        for operation in rule.operations { words += ["--operation", operation.rawValue] }
        switch rule.resource {
        case .topic(let name): words += ["--topic", name]
        case .groups(let prefix): words += ["--resource-pattern-type", "prefixed", "--group", prefix]
        }
        return words.map(Self.quoted).joined(separator: " ")
    }

    /// Quoted for a shell.
    private static func quoted(_ word: String) -> String {
        let plain = word.allSatisfy { ($0.isASCII && ($0.isLetter || $0.isNumber)) || "-_./:,".contains($0) }
        return plain && !word.isEmpty ? word : word.shellQuoted
    }
}
