import AppStore
import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage
import StrictJSON

/// `storekeeper retention-messages`: what Apple shows customers who are about to cancel.
struct RetentionMessages: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retention-messages", abstract: "Manage the messages that Apple shows before a cancellation.",
        discussion: """
            Images and messages are uploaded to Apple and reviewed there. A message is shown as the default of a product and \
            language, or where the realtime URL answers it. Needs Apple's permission for the app.

            Examples:
              storekeeper retention-messages upload message.json --app com.example.app
              storekeeper retention-messages list --app com.example.app
              storekeeper retention-messages default pro.monthly en-US --app com.example.app
            """,
        subcommands: [
            RetentionMessagesList.self, RetentionMessagesUpload.self, RetentionMessagesUploadImage.self,
            RetentionMessagesDelete.self, RetentionMessagesDeleteImage.self, RetentionMessagesDefault.self,
            RetentionMessagesURL.self, RetentionMessagesTest.self,
        ])
}

/// An app at Apple, and who changes something there.
struct RetentionOptions: ParsableArguments {
    @OptionGroup var apple: AppleOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var audit: AuditOptions

    /// Calls Apple, and then writes the audit log.
    /// - Parameters:
    ///   - subject: what is changed.
    ///   - command: of the audit log.
    func change(
        _ operation: String, _ subject: String, as command: String = "retention-messages", in context: CommandContext,
        _ call: (AppStoreServerAPI) async throws -> Void
    ) async throws {
        let connection = try database.connection(for: command, in: context)
        let about = try await apple.withClient(in: context) { client in
            try await call(client)
            return OperatorAction.About(client.storeEnvironment, client.app.bundleId)
        }
        try await audit.record(
            "\(command) \(operation)", on: [subject], about: about, to: OperatorActionStore(connection),
            in: context)
    }

    static func bytes(of file: String) throws -> [UInt8] {
        do { return Array(try Data(contentsOf: URL(filePath: file))) } catch {
            throw CommandError("\(file.escaped) cannot be read: \(error.localizedDescription)")
        }
    }
}

/// `storekeeper retention-messages list`: images and messages, with Apple's decision about each.
struct RetentionMessagesList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List messages and images with Apple's decision.",
        discussion: "Example: storekeeper retention-messages list --app com.example.app --environment Production")

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

/// `storekeeper retention-messages upload`: a message.
struct RetentionMessagesUpload: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "upload", abstract: "Upload a message for Apple's review.",
        discussion: """
            The file is Apple's UploadMessageRequestBody: header (at most 66 characters), body (at most 144), and perhaps \
            image, headerPosition and bulletPoints. Prints the id.

            Example: storekeeper retention-messages upload message.json --app com.example.app
            """)

    @OptionGroup var options: RetentionOptions

    @Argument(help: "JSON file of the message.")
    var file: String

    @Option(help: "UUID of the message (default: a new one).", transform: UUIDArgument.read)
    var id: UUID?

    func run(in context: CommandContext) async throws {
        let bytes = try RetentionOptions.bytes(of: file)
        guard let root = try? JSONDocument(bytes).root, root["header"]?.string != nil, root["body"]?.string != nil
        else {
            throw CommandError(
                "\(file.escaped) is no JSON object with header and body: see Apple's UploadMessageRequestBody")
        }
        let id = id ?? context.id()
        try await options.change("upload", id.uuidString.lowercased(), in: context) { client in
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
            Prints the id, which messages name.

            Example: storekeeper retention-messages upload-image picture.png --size FULL_SIZE --app com.example.app
            """)

    @OptionGroup var options: RetentionOptions

    @Argument(help: "PNG file.")
    var file: String

    @Option(help: "FULL_SIZE or BULLET_POINT (default: Apple's).")
    var size: String?

    @Option(help: "UUID of the image (default: a new one).", transform: UUIDArgument.read)
    var id: UUID?

    func run(in context: CommandContext) async throws {
        let bytes = try RetentionOptions.bytes(of: file)
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) else {
            throw CommandError("\(file.escaped) is no PNG file: Apple takes no other images")
        }
        let id = id ?? context.id()
        try await options.change("upload-image", id.uuidString.lowercased(), in: context) { client in
            try await client.uploadRetentionImage(id, png: bytes, size: size)
        }
        context.print(id.uuidString.lowercased())
    }
}

/// `storekeeper retention-messages delete`: a message.
struct RetentionMessagesDelete: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a message at Apple.",
        discussion: "Example: storekeeper retention-messages delete 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")

    @OptionGroup var options: RetentionOptions

    @Argument(help: "UUID of the message.", transform: UUIDArgument.read)
    var id: UUID

    func run(in context: CommandContext) async throws {
        try await options.change("delete", id.uuidString.lowercased(), in: context) { client in
            try await client.deleteRetentionMessage(id)
        }
    }
}

/// `storekeeper retention-messages delete-image`: an image that no message shows.
struct RetentionMessagesDeleteImage: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-image", abstract: "Delete an image at Apple.",
        discussion: "Example: storekeeper retention-messages delete-image 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")

    @OptionGroup var options: RetentionOptions

    @Argument(help: "UUID of the image.", transform: UUIDArgument.read)
    var id: UUID

    func run(in context: CommandContext) async throws {
        try await options.change("delete-image", id.uuidString.lowercased(), in: context) { client in
            try await client.deleteRetentionImage(id)
        }
    }
}

/// `storekeeper retention-messages default`: the message of a product and language.
struct RetentionMessagesDefault: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "default", abstract: "Show, set or remove a product's default message.",
        discussion: """
            Examples:
              storekeeper retention-messages default pro.monthly en-US
              storekeeper retention-messages default pro.monthly en-US --set 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0
            """)

    @OptionGroup var options: RetentionOptions

    @Argument(help: "Product id.")
    var product: String

    @Argument(help: "Locale, such as en-US.")
    var locale: String

    @Option(help: "UUID of the message that becomes the default.", transform: UUIDArgument.read)
    var set: UUID?

    @Flag(help: "Remove the default.")
    var remove = false

    func validate() throws {
        if set != nil, remove { throw ValidationError("--set and --remove exclude each other") }
    }

    func run(in context: CommandContext) async throws {
        if let set {
            try await options.change("default", "\(product) \(locale)", in: context) { client in
                try await client.setDefaultRetentionMessage(set, productId: product, locale: locale)
            }
        } else if remove {
            try await options.change("default --remove", "\(product) \(locale)", in: context) { client in
                try await client.deleteDefaultRetentionMessage(productId: product, locale: locale)
            }
        } else {
            let id = try await options.apple.withClient(in: context) {
                try await $0.defaultRetentionMessage(productId: product, locale: locale)
            }
            context.print(id.escaped)
        }
    }
}

/// `storekeeper retention-messages realtime-url`: the address that Apple asks.
struct RetentionMessagesURL: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "realtime-url", abstract: "Show, set or remove the address that Apple asks.",
        discussion: """
            Apple asks it which message to show; in Production only after a performance test in the sandbox has passed. \
            Storekeeper does not answer such requests itself.

            Example: storekeeper retention-messages realtime-url --set https://example.com/retention --environment Sandbox
            """)

    @OptionGroup var options: RetentionOptions

    @Option(help: "The https address, at most 256 characters.")
    var set: String?

    @Flag(help: "Remove the address.")
    var remove = false

    func validate() throws {
        if set != nil, remove { throw ValidationError("--set and --remove exclude each other") }
        if let set, !set.hasPrefix("https://") || set.count > 256 {
            throw ValidationError("--set \(set.escaped) is no https address of at most 256 characters")
        }
    }

    func run(in context: CommandContext) async throws {
        if let set {
            try await options.change("realtime-url", set, in: context) { try await $0.setRealtimeURL(set) }
        } else if remove {
            try await options.change("realtime-url --remove", "realtime URL", in: context) {
                try await $0.deleteRealtimeURL()
            }
        } else {
            context.print(try await options.apple.withClient(in: context) { try await $0.realtimeURL() }.escaped)
        }
    }
}

/// `storekeeper retention-messages performance-test`: lets Apple try the realtime URL.
struct RetentionMessagesTest: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "performance-test", abstract: "Begin a performance test, or show its result.",
        discussion: """
            Apple sends requests to the realtime URL of the sandbox for some minutes. Exit codes: 0 begun, or pending or \
            passed; 1 failed.

            Examples:
              storekeeper retention-messages performance-test --purchase 2000000123456789 --environment Sandbox
              storekeeper retention-messages performance-test --result 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0
            """)

    @OptionGroup var options: RetentionOptions

    @Option(help: "Original transaction id of a sandbox subscription: begins a test.")
    var purchase: String?

    @Option(help: "Request id of a test that was begun: shows its result.")
    var result: String?

    func validate() throws {
        guard (purchase == nil) != (result == nil) else {
            throw ValidationError("give either --purchase or --result")
        }
    }

    func run(in context: CommandContext) async throws {
        let test = try await options.apple.withClient(in: context) { client in
            if let purchase { return try await client.startPerformanceTest(of: purchase) }
            return try await client.performanceTest(result ?? "")
        }
        context.print(PrettyJSON(test.json)?.text ?? "")
        if test.result == "FAIL" { throw Exit.failed.code }
    }
}
