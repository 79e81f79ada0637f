import AppStore
import Subscriptions
import Testing

struct KnownTypesTests {
    /// Two modules list Apple's types: one reads them, the other says what they mean.
    @Test func `Event types have the notification types that AppStore knows, and subtypes that it knows`() {
        let names = EventType.allCases.map { $0.rawValue.split(separator: "/").map(String.init) }
        let types = Set(names.map { NotificationType(rawValue: $0[0]) })
        #expect(types == NotificationType.known)
        let subtypes = Set(names.compactMap { $0.count > 1 ? NotificationSubtype(rawValue: $0[1]) : nil })
        #expect(subtypes.subtracting(NotificationSubtype.known) == [])
    }
}
