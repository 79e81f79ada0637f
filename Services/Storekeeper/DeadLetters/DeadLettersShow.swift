import ArgumentParser
import Commands
import Foundation
import Operations
import Storage

/// `storekeeper dead-letters show`.
struct DeadLettersShow: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one dead letter with its reason and payload.",
        discussion: """
            The payload is not verified. --original prints the signed payload as it was received; pipe it into \
            storekeeper verify to see the verifier's findings.

            Examples:
              storekeeper dead-letters show 3/17
              storekeeper dead-letters show 3/17 --original | storekeeper verify -
            """)

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Id of the dead letter, as listed: partition/offset, such as 3/17.", transform: DeadLetterID.read)
    var deadLetter: DeadLetterID

    @Flag(help: "Print only the signed payload; without one the bytes of the record, with control characters escaped.")
    var original = false

    func run(in context: CommandContext) async throws {
        let log = try await DeadLetterLog(try kafka.configuration(in: context))
        let logged = try await log.deadLetters([deadLetter])[0]
        await log.close()
        if original {
            let bytes = logged.contents.signedPayload ?? logged.deadLetter.original.value
            return context.print(String(decoding: bytes, as: UTF8.self).escaped)
        }
        var actions: [OperatorAction]?
        if database.isGiven(in: context) {
            let store = OperatorActionStore(try database.connection(for: "dead-letters show", in: context))
            let known = try await DeadLetterActions(store: store, cluster: log.cluster)
                .knownActions(on: [logged], in: context)
            actions = known.map { $0[deadLetter] ?? [] }
        }
        let row = DeadLetterRow(logged, state: actions.map(DeadLetterActions.state) ?? .unknown)
        var facts: [(name: String, text: String?)] = [
            ("id", row.id), ("rejected", "\(row.rejectedAt.text) by \(row.stage), build \(row.build)"),
            ("reason", row.reason), ("message", row.message),
            ("source", "\(row.topic) partition \(row.partition) offset \(row.offset)"),
            ("uuid", row.notificationUUID),
            ("type", row.notificationType), ("environment", row.environment), ("app", row.bundleId),
            ("state", row.state.rawValue),
        ]
        for action in actions ?? [] {
            let note = action.reason.map { ": \($0)" } ?? ""
            facts.append(("", "\(action.operation) at \(action.actedAt.text) by \(action.actor)\(note)"))
        }
        try DetailView(
            row: row, facts: facts, title: "payload, NOT verified\n", payload: logged.contents.payload,
            noPayload: "not readable; --original prints the bytes"
        ).print(output, in: context)
    }
}
