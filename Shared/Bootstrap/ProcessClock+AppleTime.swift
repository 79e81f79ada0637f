import Chassis
import ServerAPI

import struct Foundation.Date

extension ProcessClock {
    /// The wall clock, set back to Apple's where it is known to be ahead of it.
    /// - Parameter apple: nil without keys of Apple's API.
    package func now(notAheadOf apple: AppleTime?) -> Date { apple?.setBack(now(), by: unmoved()) ?? now() }
}
