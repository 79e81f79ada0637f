import ArgumentParser
import Contracts

/// `storekeeper acls`: the access-control list of the brokers, as the commands that make it.
struct ACLs: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "acls", abstract: "Print the commands that give every service its rights at the brokers.",
        discussion: """
            One line for kafka-acls.sh, which comes with Kafka, per service and topic or group; nothing is changed. Pipe \
            them into a shell that reaches the brokers as an administrator. Each service is a principal of its own.
            """)

    @Option(help: "host:port of one or more brokers, by comma.")
    var servers = "localhost:9092"

    @Option(help: "What stands before the service's name in its principal.")
    var principalPrefix = "User:storekeeper-"

    @Option(help: "Path of the script.")
    var script = "kafka-acls.sh"

    @Option(help: "File with the administrator's own Kafka settings.")
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

    /// For a shell, whatever the operator put in.
    private static func quoted(_ word: String) -> String {
        let plain = word.allSatisfy { ($0.isASCII && ($0.isLetter || $0.isNumber)) || "-_./:,".contains($0) }
        return plain && !word.isEmpty ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
}
