import ArgumentParser
import Commands
import Postgres
import Storage

/// What a command says about a product.
protocol ProductValue: Sendable, CustomStringConvertible {
    /// Nil where the text is none.
    init?(productValue text: String)
    /// Of the argument, in capitals.
    static var name: String { get }
    static var example: String { get }
    /// Ends the sentence that refuses another text.
    static var requirement: String { get }
}

/// An argument `PRODUCT=VALUE`; `PRODUCT=none` takes the value back.
struct ProductSetting<Value: ProductValue>: Sendable {
    var product: String
    /// Nil takes it back.
    var value: Value?

    init(_ text: String) throws {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count == 2, !parts[0].isEmpty else {
            throw ValidationError("\(text.escaped) is not PRODUCT=\(Value.name), such as \(Value.example)")
        }
        product = String(parts[0])
        guard last != "none" else { return }
        guard let value = Value(productValue: String(last)) else {
            throw ValidationError("\(String(last).escaped) is not \(Value.requirement)")
        }
        self.value = value
    }

    /// - Throws: where a product occurs twice.
    static func validate(_ settings: [Self]) throws {
        guard Set(settings.map(\.product)).count == settings.count else {
            throw ValidationError("a product occurs twice")
        }
    }

    /// Stores settings, each with an entry in the audit log.
    /// - Parameters:
    ///   - action: the command's name, for the audit log.
    ///   - store: given the values by product id.
    static func apply(
        _ settings: [Self], ofApp app: String, action: String, _ audit: AuditOptions, _ connection: PostgresConnection,
        in context: CommandContext, store: ([String: Value?]) async throws -> Void
    ) async throws {
        guard !settings.isEmpty else { return }
        try await store(Dictionary(uniqueKeysWithValues: settings.map { ($0.product, $0.value) }))
        for setting in settings {
            try await audit.record(
                "\(action) \(setting.value?.description ?? "none")", on: ["\(app) \(setting.product)"],
                to: OperatorActionStore(connection), in: context)
        }
    }
}
