import Postgres
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The grace periods of a purchase as the JSON of the column `grace_periods`. Moments are microseconds since 2000, as Postgres
/// counts them.
extension JSONText {
    /// Nil where nothing is known of any grace period.
    init?(_ graces: GraceHistory) {
        guard !graces.isEmpty else { return nil }
        var json = JSONWriter()
        json.beginObject()
        json.beginArray("granted")
        for grace in graces.periods {
            json.beginObject()
            json.member("endsAt", grace.endsAt.microsecondsSince2000)
            json.member("periodEndsAt", grace.periodEndsAt?.microsecondsSince2000)
            json.member("productId", grace.productId)
            json.member("signedAt", grace.signedDate.microsecondsSince2000)
            json.member("eventAt", grace.version.signedDate.microsecondsSince2000)
            json.member("notificationUUID", grace.version.notificationUUID.uuidString)
            json.member("status", grace.status)
            json.endObject()
        }
        json.endArray()
        json.beginArray("denied")
        for denial in graces.denials {
            json.beginObject()
            json.member("periodEndsAt", denial.periodEndsAt.microsecondsSince2000)
            json.member("deniedAt", denial.deniedAt.microsecondsSince2000)
            json.member("isByStatus", denial.isByStatus)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        self.init(String(decoding: json.bytes, as: UTF8.self))
    }

    /// Nil for JSON that is no history of grace periods.
    var graces: GraceHistory? {
        guard let document = try? JSONDocument(Array(text.utf8)) else { return nil }
        return GraceHistory(
            periods: document.root["granted"]?.elements.compactMap { value in
                guard let end = value.date("endsAt"), let signed = value.date("signedAt"),
                    let event = value.date("eventAt"),
                    let uuid = value["notificationUUID"]?.string.flatMap({ UUID(uuidString: $0) })
                else { return nil }
                return GracePeriod(
                    endsAt: end, periodEndsAt: value.date("periodEndsAt"), productId: value["productId"]?.string,
                    signedDate: signed, version: EventVersion(signedDate: event, notificationUUID: uuid),
                    status: value["status"]?.int64.map { Int($0) })
            } ?? [],
            denials: document.root["denied"]?.elements.compactMap { value in
                guard let end = value.date("periodEndsAt"), let denied = value.date("deniedAt"),
                    let isByStatus = value["isByStatus"]?.bool
                else { return nil }
                return GraceDenial(periodEndsAt: end, deniedAt: denied, isByStatus: isByStatus)
            } ?? [])
    }
}

extension JSONValue {
    fileprivate func date(_ name: String) -> Date? { self[name]?.int64.map { Date(microsecondsSince2000: $0) } }
}

extension Date {
    private static let year2000: Double = 946_684_800

    /// The count of a date at the precision of Postgres, which holds every date that Postgres does.
    fileprivate var microsecondsSince2000: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        guard Date(timeIntervalSince1970: milliseconds / 1000) != self else {
            return (Int64(milliseconds) - Int64(Self.year2000) * 1000) * 1000
        }
        return Int64(((timeIntervalSince1970 - Self.year2000) * 1_000_000).rounded())
    }

    /// Equal to the date that Postgres returns for the same moment.
    fileprivate init(microsecondsSince2000 microseconds: Int64) {
        self.init(
            timeIntervalSince1970: microseconds % 1000 == 0
                ? Double(microseconds / 1000 + Int64(Self.year2000) * 1000) / 1000
                : Double(microseconds) / 1_000_000 + Self.year2000)
    }
}
