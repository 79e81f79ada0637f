import Chassis
import Digests
import OpenIDConnect
import Pipeline
import Signatures
import Storage
import Synchronization

/// The tokens of forms: another site cannot know them. Made from a secret that all instances share.
final class FormTokens: Service {
    private let authentication = Mutex<MessageAuthentication?>(nil)
    private let database: ConnectionPool
    private let isRead: ReadinessCheck
    private let logger: Logger

    init(database: ConnectionPool, isRead: ReadinessCheck, logger: Logger) {
        self.database = database
        self.isRead = isRead
        self.logger = logger
    }

    func run() async throws {
        await RetryLoop(clock: ContinuousClock()) { error in
            self.logger.warning("Could not read the secret of the forms; retrying", metadata: ["error": "\(error)"])
        }.run { _ in
            try await self.read()
            return .seconds(3600)
        }
    }

    func read() async throws {
        let secret = try await database.withConnection { connection in
            try await ConsoleSessions(connection).secret()
        }
        authentication.withLock { $0 = MessageAuthentication(key: secret) }
        isRead.passes()
    }

    /// Empty until the secret was read: such a form is rejected.
    func token(of identity: Identity) -> String {
        guard let authentication = authentication.withLock({ $0 }) else { return "" }
        var text: [UInt8] = []
        text += Base64.encode(authentication.code(of: Self.pieces(identity))[...], .url)
        return String(decoding: text, as: UTF8.self)
    }

    func isValid(_ token: String, of identity: Identity) -> Bool {
        guard let authentication = authentication.withLock({ $0 }),
            let code = Base64.decode(Array(token.utf8)[...], .url)
        else { return false }
        return authentication.isValid(code, of: Self.pieces(identity))
    }

    /// What one sign-in by the provider sends and expects, made from the secret of the browser.
    func attempt(_ secret: String) throws -> Attempt {
        guard let authentication = authentication.withLock({ $0 }) else {
            throw Fault(503, "The console has just started.", "Try again in a few seconds.")
        }
        return Attempt(secret: secret, key: authentication)
    }

    private static func pieces(_ identity: Identity) -> [ArraySlice<UInt8>] {
        let kind = identity.session == nil ? "proxy:\(identity.name)" : "session:"
        return [Array(kind.utf8)[...], (identity.session ?? [])[...]]
    }
}
