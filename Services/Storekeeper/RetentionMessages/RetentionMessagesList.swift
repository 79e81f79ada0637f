import AppStore
import ArgumentParser
import Commands

/// `storekeeper retention-messages list`: images and messages, with Apple's decision about each.
struct RetentionMessagesList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List messages and images with Apple's decision.",
        discussion: """
            State is PENDING_REVIEW, APPROVED or REJECTED; size is FULL_SIZE or BULLET_POINT, of images alone. Exit \
            codes: 0 listed, also where there is none; 1 Apple refused, or did not answer.

            Example: storekeeper retention-messages list --app com.example.app --environment Production
            """)

    @OptionGroup var apple: AppleOptions
    @OptionGroup var output: OutputOptions

    func run(in context: CommandContext) async throws {
        let rows = try await apple.withClient(in: context) { client in
            try await client.retentionMessages().map {
                Row(id: $0.messageIdentifier, kind: "message", state: $0.messageState)
            }
                + client.retentionImages().map {
                    Row(id: $0.imageIdentifier, kind: "image", state: $0.imageState, size: $0.imageSize)
                }
        }
        try output.list(rows, none: "Apple has no message and no image of this app.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["id", "kind", "state", "size"]

        var id: String?
        var kind: String
        var state: String?
        var size: String?

        var cells: [String] { [id ?? "-", kind, state ?? "-", size ?? "-"] }
    }
}
