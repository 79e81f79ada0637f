import Chassis
import Storage

/// What may be asked of retention, by variable or by hand.
public enum RetentionVariables {
    /// Days of what notifications said.
    public static let ledgerRange = RetentionPolicy.leastLedgerDays...36_500
    /// Days of sightings.
    public static let sightingRange = RetentionPolicy.leastSightingDays...365
}

extension Variable where Value == Int {
    /// How long what notifications said is kept.
    public static var ledgerDays: Variable {
        .int(
            "STOREKEEPER_LEDGER_DAYS",
            "how long what notifications said is kept, with the signed originals, by whole months; what they were stays",
            default: "400", in: RetentionVariables.ledgerRange)
    }

    /// How long sightings are kept.
    public static var sightingDays: Variable {
        .int(
            "STOREKEEPER_SIGHTING_DAYS",
            "how long it is kept who saw a notification first; Apple repeats for 157 hours",
            default: "8", in: RetentionVariables.sightingRange)
    }
}
