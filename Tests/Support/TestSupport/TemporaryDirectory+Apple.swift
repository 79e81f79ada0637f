import AppStore

/// The file by which a service knows apps.
extension TemporaryDirectory {
    /// What STOREKEEPER_APPS_FILE names: apps in Production.
    @discardableResult
    public func write(apps: [AcceptedApp]) throws -> String {
        let entries = apps.map { app in
            #"{"bundleId":"\#(app.bundleId)","appAppleId":\#(app.appAppleId ?? 0),"environments":["Production"]}"#
        }
        return try write("apps.json", "[\(entries.joined(separator: ","))]")
    }
}
