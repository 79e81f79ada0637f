import ArgumentParser
import Commands
import Contracts
import Development
import Foundation
import Kafka

/// `devkit broker`: an embedded broker for development.
struct Broker: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "broker", abstract: "Run an embedded broker for development.",
        discussion: """
            Prints its address for KAFKA_BOOTSTRAP_SERVERS and runs until stopped. It keeps 5 MiB per partition in memory \
            and listens on 127.0.0.1: for development and tests, never for production.

            Example: devkit broker --brokers 3
            """)

    @Option(help: "Number of brokers of the cluster.")
    var brokers = 1

    @Flag(
        help: """
            Read faults from standard input, one per line, and answer each with a line that is “ok” or says what is \
            wrong: \(BrokerFault.help)
            """)
    var faults = false

    func validate() throws {
        if !(1...9).contains(brokers) { throw ValidationError("--brokers must be 1 to 9, not \(brokers)") }
    }

    func run(in context: CommandContext) async throws {
        do {
            try await SignalHandler.cancellingOnSignal {
                let broker = try DevelopmentBroker(
                    brokers: brokers, topics: Topics.all.map { ($0.name, $0.partitions) })
                try Self.say(broker.bootstrapServers)
                if faults { Thread.detachNewThread { Self.takeFaults(of: broker) } }
                defer { withExtendedLifetime(broker) {} }
                while true { try await Task.sleep(for: .seconds(3600)) }
            }
        } catch is Interrupted {}
    }

    /// Until standard input ends. On a thread of its own, because reading blocks.
    private static func takeFaults(of broker: DevelopmentBroker) {
        while let line = readLine() {
            let answer: String
            do {
                try BrokerFault(line).apply(to: broker)
                answer = "ok"
            } catch {
                answer = "\(error)"
            }
            try? say(answer)
        }
    }

    private static func say(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}
