import Chassis

import struct Foundation.Date

/// What handlers are made from.
struct Dependencies: Sendable {
    let document: APIDocument
    let database: Database
    let cursor: Cursor
    let clock: ProcessClock
    let logger: Logger
}
