import Chassis
import Storage

extension Variable where Value == Int {
    /// How long what notifications said is kept.
    public static var ledgerDays: Variable {
        .int(
            "STOREKEEPER_LEDGER_DAYS",
            "how long what notifications said is kept, with the signed originals, by whole months; what they were stays",
            default: "400", in: RetentionPolicy.leastLedgerDays...36_500)
    }

    /// How long sightings are kept.
    public static var sightingDays: Variable {
        .int(
            "STOREKEEPER_SIGHTING_DAYS",
            "how long it is kept who saw a notification first; Apple repeats for 157 hours",
            default: "8", in: RetentionPolicy.leastSightingDays...365)
    }
}
