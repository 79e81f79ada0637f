import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Records
import StrictJSON

/// `storekeeper records`: single records of our topics.
struct RecordsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "records", abstract: "Show a record of a Kafka topic.",
        discussion: "Example: storekeeper records show notifications.unique", subcommands: [RecordsShow.self])
}

/// `storekeeper records show`.
struct RecordsShow: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one record with its headers and its value as JSON.",
        discussion: """
            Records between the workers are binary; this prints their fields. It joins no consumer group and commits no offset. \
            Nothing is verified here: storekeeper verify proves a signed payload.

            Examples:
              storekeeper records show notifications.unique
              storekeeper records show notifications.verified 3/17
              storekeeper records show notifications.received 3/17 --json
            """)

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Name of the topic.", transform: Self.topic)
    var topic: Route

    @Argument(help: "Partition and offset, such as 3/17 (default: the newest record).")
    var position: String?

    private static func topic(_ name: String) throws -> Route {
        guard let route = Topics.all.first(where: { $0.name == name }) else {
            throw ValidationError(
                "\(name.escaped) is no topic of Storekeeper; there are \(Topics.all.map(\.name).joined(separator: ", "))"
            )
        }
        return route
    }

    private var place: DeadLetterID? {
        get throws {
            guard let position else { return nil }
            guard let place = DeadLetterID(position) else {
                throw ValidationError("\(position.escaped) is no position: expected partition/offset, such as 3/17")
            }
            return place
        }
    }

    func validate() throws { _ = try place }

    func run(in context: CommandContext) async throws {
        let reader = try TopicReader(try kafka.configuration(in: context), purpose: "records")
        let place = try place
        let record: Result<ShownRecord, any Error>
        do {
            record = .success(
                ShownRecord(try await reader.record(of: topic, partition: place?.partition, offset: place?.offset)))
        } catch {
            record = .failure(error)
        }
        await reader.close()
        let shown = try record.get()
        var facts: [Fact] = [
            ("topic", shown.topic), ("position", "\(shown.partition)/\(shown.offset)"),
            ("written", shown.writtenAt?.text),
            ("key", shown.key),
        ]
        for header in shown.headers { facts.append(("header", "\(header.name): \(header.value)")) }
        facts.append(("value", "\(shown.bytes) bytes"))
        try DetailView(
            row: shown, facts: facts, title: "value\n", payload: shown.value,
            noPayload: "not JSON; kcat prints the bytes"
        ).print(output, in: context)
    }
}
