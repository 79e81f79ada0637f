import Chassis

import struct Foundation.Date
import struct Foundation.UUID

/// What handlers are made from.
struct Dependencies: Sendable {
    let document: APIDocument
    let database: Database
    let keys: KeyTable
    let budgets: KeyBudgets
    let horizon: EventHorizon
    let definitions: DefinitionTable
    let cursor: Cursor
    let uploads: UploadServices
    let clock: ProcessClock
    let newId: @Sendable () -> UUID
    /// Between two looks of a request that waits.
    let sleep: @Sendable (Duration) async throws -> Void
    let logger: Logger
}
