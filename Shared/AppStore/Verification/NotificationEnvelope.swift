import StrictJSON

import struct Foundation.UUID

/// What the outer payload of a notification says about itself, strictly read.
struct NotificationEnvelope {
    let uuid: UUID
    let type: String
    let subtype: String?
    let subject: Subject

    /// The one object that says what the notification is about.
    struct Subject {
        /// `data`, `summary`, `externalPurchaseToken` or `appData`.
        let member: String
        let object: JSONValue
        let bundleId: String
        let appAppleId: Int64?
        let environment: AppStoreEnvironment
    }

    private static let subjects = ["data", "summary", "externalPurchaseToken", "appData"]

    init(_ root: JSONValue) throws(Refusal) {
        let subject = try Self.subject(of: root)
        self.subject = subject
        func refuse(_ message: String) -> Refusal { Refusal(.body, message, bundleId: subject.bundleId) }
        guard let type = root["notificationType"]?.string, !type.isEmpty else {
            throw refuse("signed, but not a notification: notificationType is missing or not a string")
        }
        guard let uuid = root["notificationUUID"]?.string.flatMap(UUID.init(uuidString:)) else {
            throw refuse("notificationUUID is missing or not a UUID")
        }
        if let subtype = root["subtype"], !subtype.isNull {
            guard let text = subtype.string else { throw refuse("subtype is not a string") }
            self.subtype = text
        } else {
            subtype = nil
        }
        self.type = type
        self.uuid = uuid
    }

    /// The app of a notification that may be unusable otherwise. What is no notification names none here: transactions
    /// and the like lie on the customers' devices, and anybody can post them.
    static func bundleId(of root: JSONValue) -> String? { try? subject(of: root).bundleId }

    private static func subject(of root: JSONValue) throws(Refusal) -> Subject {
        var found: [(String, JSONValue)] = []
        for member in subjects {
            if let value = root[member], !value.isNull { found.append((member, value)) }
        }
        guard found.count == 1, let (member, object) = found.first, object.kind == .object else {
            let names = subjects.joined(separator: ", ")
            throw Refusal(.body, "signed, but not a notification: not exactly one object among \(names)")
        }
        guard let bundleId = object["bundleId"]?.string, !bundleId.isEmpty else {
            throw Refusal(.body, "\(member).bundleId is missing or not a string")
        }
        return Subject(
            member: member, object: object, bundleId: bundleId,
            appAppleId: try identifier(of: object, member: member, bundleId: bundleId),
            environment: try environment(of: object, member: member, bundleId: bundleId))
    }

    private static func identifier(
        of object: JSONValue, member: String, bundleId: String
    ) throws(Refusal) -> Int64? {
        guard let value = object["appAppleId"], !value.isNull else { return nil }
        guard let number = value.int64 else {
            throw Refusal(.body, "\(member).appAppleId is not an integer", bundleId: bundleId)
        }
        return number
    }

    private static func environment(
        of object: JSONValue, member: String, bundleId: String
    ) throws(Refusal) -> AppStoreEnvironment {
        if member == "externalPurchaseToken" {
            guard let token = object["externalPurchaseId"]?.string else {
                throw Refusal(.body, "\(member).externalPurchaseId is missing or not a string", bundleId: bundleId)
            }
            return token.hasPrefix("SANDBOX") ? .sandbox : .production
        }
        guard let environment = object["environment"]?.string else {
            throw Refusal(.body, "\(member).environment is missing or not a string", bundleId: bundleId)
        }
        return AppStoreEnvironment(rawValue: environment)
    }
}
