/// One app whose payloads are accepted.
public struct AcceptedApp: Sendable, Hashable {
    /// As in the payload, compared exactly.
    public var bundleId: String
    /// Apple's number of the app. Without it no production payload is accepted: it is what must match there.
    public var appAppleId: Int64?
    /// Where its payloads may come from.
    public var environments: Set<AppStoreEnvironment>

    /// An app; by default of both real environments.
    public init(
        bundleId: String, appAppleId: Int64?, environments: Set<AppStoreEnvironment> = [.production, .sandbox]
    ) {
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.environments = environments
    }
}

/// The apps of this deployment. Any other developer's genuine payload is refused by it.
public struct AppRegistry: Sendable {
    /// Whether environments that Apple does not sign for (Xcode, LocalTesting) can be accepted at all.
    public let developmentMode: Bool
    private let apps: [String: AcceptedApp]

    /// The last of several apps with the same bundle id counts.
    public init(apps: [AcceptedApp], developmentMode: Bool = false) {
        self.apps = Dictionary(apps.map { ($0.bundleId, $0) }) { $1 }
        self.developmentMode = developmentMode
    }

    /// The app of a bundle id, if it is ours.
    public func app(_ bundleId: String) -> AcceptedApp? { apps[bundleId] }

    /// All of them, by bundle id.
    public var all: [AcceptedApp] { apps.values.sorted { $0.bundleId < $1.bundleId } }

    /// Whether an app accepts an environment, development mode considered.
    public func accepts(_ environment: AppStoreEnvironment, for app: AcceptedApp) -> Bool {
        let isDevelopment = environment == .xcode || environment == .localTesting
        return app.environments.contains(environment) && (developmentMode || !isDevelopment)
    }

    /// Whether any app accepts an environment: for renewal information, which names no app.
    public func accepts(_ environment: AppStoreEnvironment) -> Bool {
        apps.values.contains { accepts(environment, for: $0) }
    }
}
