import Chassis
import Digests
import OpenIDConnect
import Pipeline
import Signatures
import Storage
import Synchronization

import struct Foundation.Date

/// The tokens of forms: another site cannot know them. Made from a secret that all instances share. A token of a
/// session ends with it; that of a person whom a proxy signed in, after one to two times as long as a session lasts.
final class FormTokens: Service {
    private let authentication = Mutex<MessageAuthentication?>(nil)
    private let database: ConnectionPool
    private let isRead: ReadinessCheck
    /// In seconds.
    private let session: Double
    private let logger: Logger

    init(database: ConnectionPool, session: Duration, isRead: ReadinessCheck, logger: Logger) {
        self.database = database
        self.session = max(session / .seconds(1), 1)
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
    func token(of identity: Identity, at now: Date) -> String {
        guard let authentication = authentication.withLock({ $0 }) else { return "" }
        var text: [UInt8] = []
        text += Base64.encode(authentication.code(of: Self.pieces(identity, period(at: now)))[...], .url)
        return String(decoding: text, as: UTF8.self)
    }

    func isValid(_ token: String, of identity: Identity, at now: Date) -> Bool {
        guard let authentication = authentication.withLock({ $0 }),
            let code = Base64.decode(Array(token.utf8)[...], .url)
        else { return false }
        let period = period(at: now)
        // The clock of the instance that made it may be ahead.
        return [period, period - 1, period + 1].contains {
            authentication.isValid(code, of: Self.pieces(identity, $0))
        }
    }

    /// What one sign-in by the provider sends and expects, made from the secret of the browser.
    func attempt(_ secret: String) throws -> Attempt {
        guard let authentication = authentication.withLock({ $0 }) else {
            throw Fault(503, "The console has just started.", "Try again in a few seconds.")
        }
        return Attempt(secret: secret, key: authentication)
    }

    private func period(at now: Date) -> Int { Int(now.timeIntervalSince1970 / session) }

    private static func pieces(_ identity: Identity, _ period: Int) -> [ArraySlice<UInt8>] {
        let kind = identity.session == nil ? "proxy:\(period):\(identity.name)" : "session:"
        return [Array(kind.utf8)[...], (identity.session ?? [])[...]]
    }
}
