import AppStore
import StrictJSON

/// Apple's App Store Server API for one app in one environment.
///
/// A value whose copies share tokens and limits. Every call keeps to Apple's limits by waiting, retries temporary errors, and
/// ends at the deadline. Calls throw ``APIError``, or `CancellationError` where the task was cancelled;
/// any other error means that this machine cannot sign. Times are `Date` here and milliseconds since 1970 in requests.
///
/// Signed objects in an answer are verified like all others; those that fail are in the answer with their failure.
///
/// <https://developer.apple.com/documentation/appstoreserverapi>
public struct AppStoreServerAPI: Sendable {
    /// Apple's address of an environment; nil where Apple has no server, as for Xcode.
    public static func address(of environment: AppStoreEnvironment) -> String? {
        switch environment {
        case .production: "https://api.storekit.apple.com"
        case .sandbox: "https://api.storekit-sandbox.apple.com"
        default: nil
        }
    }

    /// Whose purchases it asks about.
    public let app: AcceptedApp
    /// Decides the address and what the answers must name.
    public let environment: AppStoreEnvironment
    /// Verifies signed objects in responses; replace it when roots or apps are reloaded.
    public var verifier: SignedDataVerifier
    /// For one call with all its attempts and pauses; for one page, where there are pages.
    public var deadline: Duration = .seconds(60)

    private let caller: APICaller?
    private let clock: APIClock

    /// - Parameters:
    ///   - baseURL: instead of Apple's: scheme, host, port and perhaps a path, without a slash at its end. Tokens are sent
    ///     there: unencrypted only to a simulator.
    ///   - limits: shared by all clients of the same app and environment; nil creates one for this client and its copies.
    ///   - observe: called after each attempt, for logs and metrics.
    public init(
        app: AcceptedApp, environment: AppStoreEnvironment, credentials: APICredentials, verifier: SignedDataVerifier,
        transport: APITransport, clock: APIClock, baseURL: String? = nil, limits: (any APILimits)? = nil,
        retry: APIRetryPolicy = APIRetryPolicy(), observe: @escaping @Sendable (APIAttempt) -> Void = { _ in }
    ) {
        self.app = app
        self.environment = environment
        self.verifier = verifier
        self.clock = clock
        caller = (baseURL ?? Self.address(of: environment)).map { base in
            APICaller(
                base: base, bundleId: app.bundleId,
                environment: environment, transport: transport,
                tokens: TokenSource(credentials, bundleId: app.bundleId),
                limits: limits ?? APIRateLimits(environment: environment, clock: clock), retry: retry, clock: clock,
                observe: observe)
        }
    }

    /// Uses other keys from now on, for all copies, after the file of keys was reloaded. Running calls keep their keys.
    public func use(_ credentials: APICredentials) async { await caller?.tokens.use(credentials) }

    /// Signs offers with the key that calls Apple; nil without one.
    public var offerSigner: OfferSigner? {
        get async { await caller?.tokens.signingKey.map { OfferSigner(bundleId: app.bundleId, key: $0) } }
    }

    /// With the time of the answer.
    var prover: AnswerProver {
        AnswerProver(verifier: verifier, bundleId: app.bundleId, environment: environment, now: clock.now())
    }

    /// Calls, and ignores the content of the answer.
    func perform(_ request: APIRequest) async throws {
        _ = try await body(request)
    }

    /// Calls and reads the answer.
    func answer<Answer: Payload>(_ request: APIRequest) async throws -> Answer {
        let bytes = try await body(request)
        do {
            return try Answer(json: JSONDocument(bytes).root)
        } catch {
            // Neither kind of fault quotes a value of the answer.
            throw APIError.unreadable(
                "the App Store's answer to \(request.endpoint.rawValue) is not as documented: \(error); if that goes on, "
                    + "this build is too old for it")
        }
    }

    /// A member that the answer cannot do without.
    func required<Value>(_ value: Value?, _ name: String, of endpoint: APIEndpoint) throws(APIError) -> Value {
        guard let value else {
            throw APIError.unreadable("the App Store's answer to \(endpoint.rawValue) has no \(name)")
        }
        return value
    }

    private func body(_ request: APIRequest) async throws -> [UInt8] {
        guard let caller else {
            throw APIError.invalidRequest(
                "there is no App Store Server API for the environment \(environment.rawValue); use Production or Sandbox"
            )
        }
        return try await caller.call(request, deadline: deadline)
    }
}
