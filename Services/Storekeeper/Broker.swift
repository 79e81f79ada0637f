import ArgumentParser
import Contracts
import Foundation
import Kafka

/// `storekeeper broker`: an embedded broker for development.
struct Broker: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "broker", abstract: "Run an embedded broker for development.",
        discussion: """
            Prints its address for KAFKA_BOOTSTRAP_SERVERS and runs until stopped. It keeps 5 MiB per partition in memory \
            and listens on 127.0.0.1: for development and tests, never for production.
            """)

    func run(in context: CommandContext) async throws {
        do {
            try await SignalHandler.cancellingOnSignal {
                let broker = try DevelopmentBroker(topics: Topics.all.map { ($0.name, $0.partitions) })
                try FileHandle.standardOutput.write(contentsOf: Data("\(broker.bootstrapServers)\n".utf8))
                defer { withExtendedLifetime(broker) {} }
                while true { try await Task.sleep(for: .seconds(3600)) }
            }
        } catch is Interrupted {}
    }
}
