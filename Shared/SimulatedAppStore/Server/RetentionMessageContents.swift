import Synchronization

/// Images, messages and defaults that developers configured, by app and environment. Nothing is reviewed: all is approved at once.
final class RetentionMessageContents: Sendable {
    struct Content: Sendable {
        /// The size of each image.
        var images: [String: String] = [:]
        /// The images that each message shows.
        var messages: [String: Set<String>] = [:]
        /// The message of each product and language.
        var defaults: [String: String] = [:]
        var realtimeURL: String?
        var tests: [String: String] = [:]
    }

    private let contents = Mutex<[App: Content]>([:])

    func with<Value: Sendable>(_ app: App, _ body: (inout Content) throws -> Value) rethrows -> Value {
        try contents.withLock { try body(&$0[app, default: Content()]) }
    }
}
