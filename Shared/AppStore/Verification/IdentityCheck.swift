/// Whether a payload that Apple signed is for one of our apps, in an environment that app accepts.
struct IdentityCheck {
    let registry: AppRegistry

    /// - Parameter appAppleId: What the payload says; in production it must be what the registry says.
    /// - Parameter namesAppAppleId: Whether this kind of payload has an Apple id at all: transactions have none.
    func check(
        bundleId: String, appAppleId: Int64?, environment: AppStoreEnvironment, namesAppAppleId: Bool = true
    ) throws(Refusal) {
        guard let app = registry.app(bundleId) else {
            throw Refusal(
                .appUnknown, "for the app \(bundleId.prefix(155)), which is not configured; add it if it is yours",
                bundleId: bundleId)
        }
        func refuse(_ reason: RefusalReason, _ message: String) -> Refusal {
            Refusal(reason, message, bundleId: bundleId, concernsOwnApp: true)
        }
        guard registry.accepts(environment, for: app) else {
            throw refuse(
                .environment,
                "\(bundleId.prefix(155)) does not accept the environment \"\(environment.rawValue.prefix(64))\"")
        }
        guard namesAppAppleId else { return }
        if environment == .production {
            guard let expected = app.appAppleId else {
                throw refuse(
                    .appMismatch, "the Apple id of \(bundleId.prefix(155)) is not configured; production needs it")
            }
            guard appAppleId == expected else {
                throw refuse(
                    .appMismatch,
                    "appAppleId \(appAppleId.map(String.init) ?? "is missing and") is not \(expected) of \(bundleId.prefix(155))"
                )
            }
        } else if let appAppleId, let expected = app.appAppleId, appAppleId != expected {
            throw refuse(.appMismatch, "appAppleId \(appAppleId) is not \(expected) of \(bundleId.prefix(155))")
        }
    }
}
