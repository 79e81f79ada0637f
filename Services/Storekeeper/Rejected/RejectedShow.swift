import ArgumentParser
import Foundation
import Storage

/// `storekeeper rejected show`.
struct RejectedShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one dead letter: why it was refused, and what it says, decoded.",
        discussion: """
            Nothing it says is proven. --original prints the bytes as they were posted; storekeeper verify says of them \
            what the verifier saw.
            """)

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Its name as rejected list shows it, such as 3/17.", transform: LetterID.read)
    var letter: LetterID

    @Flag(help: "Print the original bytes and nothing else; what could steer a terminal is escaped.")
    var original = false

    func run(in surroundings: Surroundings) async throws {
        let log = try await DeadLetterLog(try kafka.configuration(in: surroundings))
        let logged = try await log.letters([letter])[0]
        await log.close()
        if original {
            return surroundings.print(String(decoding: logged.letter.original.value, as: UTF8.self).visible)
        }
        var actions: [OperatorAction]?
        if database.isGiven(in: surroundings) {
            let store = OperatorActionStore(try database.connection(for: "rejected show", in: surroundings))
            let known = try await LetterTrail(store: store, cluster: log.cluster)
                .knownActions(on: [letter], in: surroundings)
            actions = known.map { $0[letter] ?? [] }
        }
        let row = LetterRow(logged, state: actions.map(LetterTrail.state) ?? .unknown)
        var facts: [(name: String, text: String?)] = [
            ("letter", row.id), ("refused", "\(row.refusedAt.text) by \(row.stage), build \(row.build)"),
            ("reason", row.reason), ("why", row.message),
            ("stood at", "\(row.topic) partition \(row.partition) offset \(row.offset)"),
            ("uuid", row.notificationUUID),
            ("type", row.notificationType), ("environment", row.environment), ("app", row.bundleId),
            ("state", row.state.rawValue),
        ]
        for action in actions ?? [] {
            let note = action.note.map { ": \($0)" } ?? ""
            facts.append(("", "\(action.action) at \(action.actedAt.text) by \(action.actor)\(note)"))
        }
        try FactSheet(
            row: row, facts: facts, title: "payload, NOT proven\n", payload: logged.contents.payload,
            noPayload: "none that can be read; --original prints the bytes"
        ).print(output, in: surroundings)
    }
}
