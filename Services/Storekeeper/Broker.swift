import ArgumentParser
import Contracts
import Foundation
import Kafka

/// `storekeeper broker`: the development broker alone.
struct Broker: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "broker", abstract: "Run a development broker until it is stopped.",
        discussion: """
            Prints its address for KAFKA_BOOTSTRAP_SERVERS. It keeps everything in memory, 5 MiB per partition, and \
            listens on 127.0.0.1 only: for one's desk and for tests, never for notifications that matter.
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
