import Chassis

/// The kinds of rows that a service keeps for a time.
package struct ExpiredRows: Sendable {
    /// Deletes those of one kind whose time is over, and returns how many; named for the log.
    package typealias Kind = (name: String, delete: @Sendable () async throws -> Int)

    private let kinds: [Kind]
    private let logger: Logger

    /// - Parameter kinds: in the order in which they are deleted.
    package init(_ kinds: [Kind], logger: Logger) {
        self.kinds = kinds
        self.logger = logger
    }

    /// Deletes each kind by itself: one that cannot be deleted, as where a statement reaches its time limit, keeps back no
    /// other.
    /// - Returns: the first error, for the caller to throw once it has done what does not depend on these rows.
    package func delete() async -> (any Error)? {
        var deleted: Logger.Metadata = [:]
        var failure: (any Error)?
        for kind in kinds {
            do { deleted[kind.name] = "\(try await kind.delete())" } catch { failure = failure ?? error }
        }
        logger.debug("Expired rows deleted", metadata: deleted)
        return failure
    }
}
