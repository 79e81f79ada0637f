import AppStore
import ArgumentParser
import Commands
import Foundation
import Operations
import StrictJSON

/// `storekeeper retention-messages upload`: a message.
struct RetentionMessagesUpload: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "upload", abstract: "Upload a message for Apple's review.",
        discussion: """
            The file is Apple's UploadMessageRequestBody: header (at most 66 characters), body (at most 144), and \
            perhaps image (imageIdentifier, and altText of at most 150 characters), headerPosition and at most 5 \
            bulletPoints (text of at most 66 characters). Prints the id. Apple reviews the message, which list \
            shows. Apple refuses texts that are longer, images that it does not have, an id that is taken, and a \
            message beyond 2000. Exit codes: 0 Apple has it; 1 Apple refused it, or did not answer.

            Example: storekeeper retention-messages upload message.json --app com.example.app
            """)

    @OptionGroup var options: AppleChangeOptions

    @Argument(help: "JSON file with the message, one object.")
    var file: String

    @Option(help: "UUID of the message (default: a new one).", transform: UUIDArgument.read)
    var id: UUID?

    func run(in context: CommandContext) async throws {
        let bytes = try ArgumentFile.bytes(of: file)
        guard let root = try? JSONDocument(bytes).root, root["header"]?.string != nil, root["body"]?.string != nil
        else {
            throw CommandError(
                "\(file.escaped) is no JSON object with header and body: see Apple's UploadMessageRequestBody")
        }
        let id = id ?? context.id()
        try await options.change("retention-messages upload", id.uuidString.lowercased(), in: context) { client in
            try await client.uploadRetentionMessage(id, json: bytes)
        }
        context.print(id.uuidString.lowercased())
    }
}

/// `storekeeper retention-messages upload-image`: an image for messages.
struct RetentionMessagesUploadImage: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "upload-image", abstract: "Upload an image for Apple's review.",
        discussion: """
            Apple takes PNG files without transparency: FULL_SIZE is 3840 pixels wide and 160 to 2160 high, \
            BULLET_POINT 1024 by 1024 pixels. Prints the id, which messages name. Apple reviews the image, which \
            list shows. Apple refuses other sizes and transparency, an id that is taken, and an image beyond 2000. \
            Exit codes: 0 Apple has it; 1 Apple refused it, or did not answer.

            Examples:
              storekeeper retention-messages upload-image picture.png --size FULL_SIZE --app com.example.app
              storekeeper retention-messages upload-image tick.png --size BULLET_POINT --app com.example.app
            """)

    @OptionGroup var options: AppleChangeOptions

    @Argument(help: "PNG file without transparency, of the size in pixels that --size names.")
    var file: String

    @Option(help: "FULL_SIZE or BULLET_POINT (default: Apple's, which is FULL_SIZE).")
    var size: String?

    @Option(help: "UUID of the image (default: a new one).", transform: UUIDArgument.read)
    var id: UUID?

    func run(in context: CommandContext) async throws {
        let bytes = try ArgumentFile.bytes(of: file)
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) else {
            throw CommandError("\(file.escaped) is no PNG file: Apple takes no other images")
        }
        let id = id ?? context.id()
        try await options.change("retention-messages upload-image", id.uuidString.lowercased(), in: context) { client in
            try await client.uploadRetentionImage(id, png: bytes, size: size)
        }
        context.print(id.uuidString.lowercased())
    }
}
