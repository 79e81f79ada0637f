import AppStore
import TestSupport

/// The files by which a service knows apps and their In-App Purchase keys.
extension TemporaryDirectory {
    /// What STOREKEEPER_APPS_FILE names: apps in Production.
    @discardableResult
    func write(apps: [AcceptedApp]) throws -> String {
        let entries = apps.map { app in
            #"{"bundleId":"\#(app.bundleId)","appAppleId":\#(app.appAppleId ?? 0),"environments":["Production"]}"#
        }
        return try write("apps.json", "[\(entries.joined(separator: ","))]")
    }

    /// What STOREKEEPER_APP_STORE_API_KEYS_FILE names, and the private keys that it names in turn.
    @discardableResult
    func write(keys: [(bundleId: String, key: SimulatedKey)]) throws -> String {
        let entries = try keys.map { bundleId, key in
            try write("\(key.keyId).p8", try key.privateKey.pem())
            return #"{"bundleId":"\#(bundleId)","issuerId":"\#(SimulatedKey.issuerId)","keyId":"\#(key.keyId)","#
                + #""privateKeyFile":"\#(key.keyId).p8"}"#
        }
        return try write("api-keys.json", "[\(entries.joined(separator: ","))]")
    }
}
