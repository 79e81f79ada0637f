import AppStore
import ArgumentParser
import Commands
import Foundation

/// `storekeeper retention-messages delete`: a message.
struct RetentionMessagesDelete: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a message at Apple.",
        discussion: """
            Where the message was a default, the product and language have none then. Exit codes: 0 deleted; 1 Apple \
            has no such message, or did not answer.

            Example: storekeeper retention-messages delete 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0
            """)

    @OptionGroup var options: AppleChangeOptions

    @Argument(help: "UUID of the message, as upload printed it and list shows it.", transform: UUIDArgument.read)
    var id: UUID

    func run(in context: CommandContext) async throws {
        let name = id.uuidString.lowercased()
        try await options.change("retention-messages delete", name, in: context) { client in
            try await client.deleteRetentionMessage(id)
        }
        context.print("Message \(name) is deleted at Apple.")
    }
}

/// `storekeeper retention-messages delete-image`: an image that no message shows.
struct RetentionMessagesDeleteImage: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-image", abstract: "Delete an image at Apple.",
        discussion: """
            Apple refuses to delete an image that a message shows: delete the message before. Exit codes: 0 deleted; \
            1 Apple refused, has no such image, or did not answer.

            Example: storekeeper retention-messages delete-image 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0
            """)

    @OptionGroup var options: AppleChangeOptions

    @Argument(help: "UUID of the image, as upload-image printed it and list shows it.", transform: UUIDArgument.read)
    var id: UUID

    func run(in context: CommandContext) async throws {
        let name = id.uuidString.lowercased()
        try await options.change("retention-messages delete-image", name, in: context) { client in
            try await client.deleteRetentionImage(id)
        }
        context.print("Image \(name) is deleted at Apple.")
    }
}
