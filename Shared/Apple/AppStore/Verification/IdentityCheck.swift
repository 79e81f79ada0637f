/// Checks that a payload that Apple signed is for a configured app, in an environment that the app accepts.
struct IdentityCheck {
    let registry: AppRegistry

    /// The app and environment that a payload belongs to.
    struct Identity {
        let bundleId: String
        let environment: AppStoreEnvironment
    }

    /// StoreKit testing in Xcode leaves the environment empty (D17); development mode reads that as Xcode.
    func environment(_ told: AppStoreEnvironment) -> AppStoreEnvironment {
        registry.developmentMode && told.rawValue.isEmpty ? .xcode : told
    }

    /// The app and environment under which a notification is stored.
    ///
    /// An object that this release does not know may leave out what the documented ones always have. Where it names no
    /// environment the notification counts as one of production, as an external purchase token without Apple's sandbox
    /// prefix does. Where nothing names an app it is stored for none: such notifications of all developers look alike, so it
    /// belongs to no app and no purchase.
    func check(_ envelope: NotificationEnvelope) throws(VerificationFailure) -> Identity {
        for bundleId in envelope.bundleIds where registry.app(bundleId) == nil { throw unknown(bundleId) }
        guard let subject = envelope.subject else {
            return Identity(bundleId: ProvenNotification.noApp, environment: .production)
        }
        let environment = environment(subject.environment ?? fallback(for: subject.bundleId))
        try check(
            bundleId: subject.bundleId, appAppleId: subject.appAppleId, environment: environment,
            namesAppAppleId: subject.isKnown || subject.appAppleId != nil)
        return Identity(bundleId: subject.bundleId, environment: environment)
    }

    private func fallback(for bundleId: String) -> AppStoreEnvironment {
        guard let app = registry.app(bundleId), !registry.accepts(.production, for: app) else { return .production }
        return .sandbox
    }

    private func unknown(_ bundleId: String) -> VerificationFailure {
        VerificationFailure(
            .appUnknown, "for the app \(bundleId.prefix(155)), which is not configured; add it if it is yours",
            bundleId: bundleId)
    }

    /// - Parameter appAppleId: what the payload says; in production it must be what the registry says.
    /// - Parameter namesAppAppleId: whether this kind of payload has an Apple id at all: transactions have none.
    func check(
        bundleId: String, appAppleId: Int64?, environment: AppStoreEnvironment, namesAppAppleId: Bool = true
    ) throws(VerificationFailure) {
        guard let app = registry.app(bundleId) else { throw unknown(bundleId) }
        func refuse(_ reason: VerificationFailureReason, _ message: String) -> VerificationFailure {
            VerificationFailure(reason, message, bundleId: bundleId, concernsOwnApp: true)
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
