import Chassis
import ServerAPI

import struct Foundation.Date

extension ProcessClock {
    /// The wall clock, set back to Apple's where it is known to be ahead of it.
    ///
    /// For what is asked of Apple, which takes an end in the future for now: what has not happened yet would count as
    /// asked about, and an answer as newer than what Apple says after it.
    ///
    /// - Parameter apple: nil without keys of Apple's API.
    package func now(notAheadOf apple: AppleTime?) -> Date {
        now().addingTimeInterval(min(0, apple?.difference(from: unmoved()) ?? 0))
    }
}
