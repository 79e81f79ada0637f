/// One app whose payloads are accepted.
public struct AcceptedApp: Sendable, Hashable {
    /// The bundle id as in the payload, compared exactly.
    public var bundleId: String
    /// Apple's number of the app. A production payload must name it, so none is accepted without.
    public var appAppleId: Int64?
    /// The environments whose payloads are accepted.
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

/// The apps of this deployment. Genuine payloads of other developers' apps are rejected.
public struct AppRegistry: Sendable {
    /// Whether environments that Apple does not sign for (Xcode, LocalTesting) can be accepted at all.
    public let developmentMode: Bool
    private let apps: [String: AcceptedApp]

    /// Of several apps with the same bundle id the last counts.
    public init(apps: [AcceptedApp], developmentMode: Bool = false) {
        self.apps = Dictionary(apps.map { ($0.bundleId, $0) }) { $1 }
        self.developmentMode = developmentMode
    }

    /// The configured app with this bundle id.
    public func app(_ bundleId: String) -> AcceptedApp? { apps[bundleId] }

    /// All of them, by bundle id.
    public var all: [AcceptedApp] { apps.values.sorted { $0.bundleId < $1.bundleId } }

    /// Whether an app accepts an environment, development mode considered.
    public func accepts(_ environment: AppStoreEnvironment, for app: AcceptedApp) -> Bool {
        let isDevelopment = environment == .xcode || environment == .localTesting
        return app.environments.contains(environment) && (developmentMode || !isDevelopment)
    }

    /// Whether any app accepts an environment: for renewal info, which names no app.
    public func accepts(_ environment: AppStoreEnvironment) -> Bool {
        apps.values.contains { accepts(environment, for: $0) }
    }
}
