import ArgumentParser
import Commands
import Foundation
import Operations
import StrictJSON

/// `storekeeper advanced-commerce`: changes of purchases by Advanced Commerce, and signed requests for apps.
struct AdvancedCommerce: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advanced-commerce", abstract: "Change purchases by Advanced Commerce, and sign requests.",
        discussion: """
            Needs Apple's permission for the app. storekeeper events show tells what a notification has of Advanced Commerce.

            Examples:
              storekeeper advanced-commerce call cancel 2000000123456789 request.json --app com.example.app --dry-run
              storekeeper advanced-commerce sign create.json --app com.example.app
            """,
        subcommands: [AdvancedCommerceCall.self, AdvancedCommerceSign.self])
}

/// A file of a request.
enum AdvancedCommerceRequest {
    /// - Returns: the bytes of the JSON object.
    static func read(_ file: String) throws -> [UInt8] {
        let bytes = try ArgumentFile.bytes(of: file)
        guard let root = try? JSONDocument(bytes).root, root.kind == .object else {
            throw CommandError("\(file.escaped) is no JSON object: see Apple's requests of the Advanced Commerce API")
        }
        guard let id = root["requestInfo"]?["requestReferenceId"]?.string, UUID(uuidString: id) != nil else {
            throw CommandError(
                "\(file.escaped) has no requestInfo.requestReferenceId: Apple wants a UUID of every request")
        }
        return Array(root.rawBytes)
    }
}
