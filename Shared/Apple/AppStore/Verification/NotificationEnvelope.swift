import StrictJSON

import struct Foundation.UUID

/// What the outer payload of a notification says about itself, strictly read.
///
/// Apple documents several objects for the content, of which each notification has exactly one; a notification of a kind to come
/// may have another object, which this release does not know. None at all, or two of the documented ones, is nothing that Apple sends.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload>
struct NotificationEnvelope {
    let uuid: UUID
    let type: String
    let subtype: String?
    /// Nil where no object names an app.
    let subject: Subject?
    /// Every app that any object names; each of them must be configured.
    let bundleIds: [String]

    /// The object with the content of the notification.
    struct Subject {
        /// `data`, `summary`, `externalPurchaseToken`, `appData`, or a name that this release does not know.
        let member: String
        /// Nil where the envelope itself names the app.
        let object: JSONValue?
        /// Whether this release knows Apple's documentation of the object.
        let isKnown: Bool
        let bundleId: String
        let appAppleId: Int64?
        /// Nil only where the object is unknown.
        let environment: AppStoreEnvironment?
    }

    private static let subjects = ["data", "summary", "externalPurchaseToken", "appData"]

    init(_ root: JSONValue) throws(VerificationFailure) {
        let known = try Self.knownSubject(of: root)
        guard known != nil || Self.hasUnknownObject(root) else {
            throw VerificationFailure(
                .body,
                "signed, but not a notification: it has none of \(Self.subjects.joined(separator: ", ")), and no other object"
            )
        }
        func refuse(_ message: String) -> VerificationFailure {
            VerificationFailure(.body, message, bundleId: known?.bundleId)
        }
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
        subject = known ?? Self.unknownSubject(of: root)
        bundleIds = ([root] + root.members.map(\.value)).compactMap(Self.bundleIdText)
    }

    /// The app of a notification that cannot be used otherwise. Other signed payloads name none here: customers have their
    /// transactions, and any client can post them.
    static func bundleId(of root: JSONValue) -> String? {
        if let known = try? knownSubject(of: root) { return known.bundleId }
        return root["notificationType"] == nil ? nil : unknownSubject(of: root)?.bundleId
    }

    private static func bundleIdText(_ object: JSONValue) -> String? {
        guard object.kind == .object, let text = object["bundleId"]?.string, !text.isEmpty else { return nil }
        return text
    }

    private static func hasUnknownObject(_ root: JSONValue) -> Bool {
        root.members.contains { !subjects.contains($0.key) && $0.value.kind == .object }
    }

    /// An unknown object is read as far as it has the usual members.
    private static func unknownSubject(of root: JSONValue) -> Subject? {
        let named = root.members.first { !subjects.contains($0.key) && bundleIdText($0.value) != nil }
        let object = named?.value ?? root
        guard let bundleId = bundleIdText(object) else { return nil }
        return Subject(
            member: named?.key ?? "", object: named?.value, isKnown: false, bundleId: bundleId,
            appAppleId: object["appAppleId"]?.int64,
            environment: object["environment"]?.string.map(AppStoreEnvironment.init(rawValue:)))
    }

    private static func knownSubject(of root: JSONValue) throws(VerificationFailure) -> Subject? {
        var found: [(String, JSONValue)] = []
        for member in subjects {
            guard let value = root[member], !value.isNull else { continue }
            guard value.kind == .object else {
                throw VerificationFailure(.body, "signed, but not a notification: \(member) is not an object")
            }
            found.append((member, value))
        }
        guard let (member, object) = found.first else { return nil }
        guard found.count == 1 else {
            throw VerificationFailure(
                .body, "it has \(found.map(\.0).joined(separator: " and ")), and Apple sends exactly one of them",
                bundleId: bundleIdText(object))
        }
        guard let bundleId = object["bundleId"]?.string, !bundleId.isEmpty else {
            throw VerificationFailure(.body, "\(member).bundleId is missing or not a string")
        }
        return Subject(
            member: member, object: object, isKnown: true, bundleId: bundleId,
            appAppleId: try identifier(of: object, member: member, bundleId: bundleId),
            environment: try environment(of: object, member: member, bundleId: bundleId))
    }

    private static func identifier(
        of object: JSONValue, member: String, bundleId: String
    ) throws(VerificationFailure) -> Int64? {
        guard let value = object["appAppleId"], !value.isNull else { return nil }
        guard let number = value.int64 else {
            throw VerificationFailure(.body, "\(member).appAppleId is not an integer", bundleId: bundleId)
        }
        return number
    }

    private static func environment(
        of object: JSONValue, member: String, bundleId: String
    ) throws(VerificationFailure) -> AppStoreEnvironment {
        if member == "externalPurchaseToken" {
            guard let token = object["externalPurchaseId"]?.string else {
                throw VerificationFailure(
                    .body, "\(member).externalPurchaseId is missing or not a string", bundleId: bundleId)
            }
            return token.hasPrefix("SANDBOX") ? .sandbox : .production
        }
        guard let environment = object["environment"]?.string else {
            throw VerificationFailure(.body, "\(member).environment is missing or not a string", bundleId: bundleId)
        }
        return AppStoreEnvironment(rawValue: environment)
    }
}
