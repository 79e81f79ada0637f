import ArgumentParser
import Commands
import Foundation
import ServerAPI
import Storage

/// An app at Apple, and who changes something there.
struct AppleChangeOptions: ParsableArguments {
    @OptionGroup var apple: AppleOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var audit: AuditOptions

    /// Calls Apple. The audit log has a row `requested` before, because what Apple has done cannot be undone when the audit log turns
    /// out to be unavailable, and `done` or `failed` afterwards. Where Apple did not say which, the first row stands alone.
    /// - Parameters:
    ///   - operation: the command.
    ///   - subject: what is changed.
    /// - Throws: `APIError`; `CommandError` where Apple did it, and the audit log could not be written.
    func change<Result>(
        _ operation: String, _ subject: String, in context: CommandContext,
        _ call: (AppStoreServerAPI) async throws -> Result
    ) async throws -> Result {
        let auditLog = OperatorActionStore(
            try database.connection(for: String(operation.prefix { $0 != " " }), in: context))
        let performer = try audit.performer(in: context)
        return try await apple.withClient(in: context) { client in
            func record(_ outcome: OperatorAction.Outcome) async throws {
                try await auditLog.record([
                    performer.action(
                        operation, on: subject, outcome: outcome,
                        about: OperatorAction.About(client.storeEnvironment, client.app.bundleId))
                ])
            }
            try await record(.requested)
            let result: Result
            do {
                result = try await call(client)
            } catch APIError.rejected(let rejection) where !rejection.isRetryable {
                try await record(.failed)
                throw APIError.rejected(rejection)
            }
            do { try await record(.done) } catch {
                throw CommandError(
                    "Apple did it, but the audit log could not be written: \(error). Do not repeat the command.")
            }
            return result
        }
    }
}

/// A file that an argument names.
enum ArgumentFile {
    /// Its bytes, without a byte order mark: JSON has none, and Apple takes none.
    static func bytes(of file: String) throws -> [UInt8] {
        do { return Array(try Data(contentsOf: URL(filePath: file)).withoutByteOrderMark) } catch {
            throw CommandError("\(file.escaped) cannot be read: \(error.localizedDescription)")
        }
    }
}
