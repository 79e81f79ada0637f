import Postgres
import ServerAPI

import struct Foundation.Date

extension ClockCheck {
    /// For what deletes, of a service that asks Apple.
    ///
    /// - Parameter apple: nil without keys of Apple's API.
    package init(
        connection: PostgresConnection, now: @escaping @Sendable () -> Date, comparingWith apple: AppleTime?
    ) {
        self.init(
            connection: connection, now: now, apple: { apple?.difference(from: $0) },
            isAppleAwaited: { apple?.isAwaited ?? false })
    }
}
