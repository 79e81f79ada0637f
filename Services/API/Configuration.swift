import Bootstrap
import Chassis
import Pipeline

/// The variables of the API service.
struct Configuration: KafkaVariables, DatabaseVariables {
    let address = Variable.address(
        "STOREKEEPER_API_ADDRESS", "where requests of app backends are received", default: "127.0.0.1:8081")
    let portFile = Variable.path(
        "STOREKEEPER_API_PORT_FILE", "file to write the port to, once it listens"
    ).optional
    let tlsCertificate = Variable.path(
        "STOREKEEPER_API_TLS_CERTIFICATE_FILE",
        "PEM file of the certificate and its intermediates; with it the API itself ends TLS, else a proxy does"
    ).optional
    let tlsKey = Variable.path(
        "STOREKEEPER_API_TLS_KEY_FILE", "PEM file of the certificate's private key; both files are reloaded"
    ).optional
    let database = Variable.databaseURL
    let databasePasswordFile = Variable.databasePasswordFile
    let schema = Variable.databaseSchema
    let brokers = Variable.kafkaBrokers
    let kafkaSettings = Variable.kafkaSettings
    let apps = Variable.appsFile.optional
    let roots = Variable.rootFiles.optional
    let developmentMode = Variable.developmentMode
    let apiKeys = Variable.apiKeysFile.optional
    let apiURL = Variable.apiURL.optional
    let apiLimitShare = Variable.apiLimitShare
    let setsAccountTokens = Variable.bool(
        "STOREKEEPER_SET_APP_ACCOUNT_TOKEN",
        "when a restore moves a purchase to another account, set that account's appAccountToken at Apple",
        default: "false")
    let signsOffersWithoutRule = Variable.bool(
        "STOREKEEPER_SIGN_OFFERS_WITHOUT_RULE",
        "sign a promotional offer without a rule for every customer, as often as it is asked", default: "false")
    let claimAge = Variable.duration(
        "STOREKEEPER_CLAIM_AGE",
        "age from which a signed transaction or receipt claims only what no other account has", default: "72h")
    let verifyReceipt = Variable.bool(
        "STOREKEEPER_VERIFY_RECEIPT",
        "ask Apple's deprecated verifyReceipt about receipts whose signature cannot be verified", default: "false")
    let sharedSecret = Variable.secretFile(
        "STOREKEEPER_SHARED_SECRET_FILE",
        "file of the shared secret from App Store Connect, for verifyReceipt of auto-renewable subscriptions"
    ).optional
    let rejectionLimit = Variable.int(
        "STOREKEEPER_API_REJECTION_LIMIT",
        "maximum number of invalid transactions and receipts in uploads per minute and API key, on each instance",
        default: "600", in: 1...10_000_000)
    let databaseConnections = Variable.int(
        "STOREKEEPER_API_DATABASE_CONNECTIONS", "connections to Postgres, shared by all requests", default: "4",
        in: 1...64)
    let rateLimit = Variable.int(
        "STOREKEEPER_API_RATE_LIMIT", "requests a minute for each API key, on each instance; one more is answered 429",
        default: "6000", in: 1...10_000_000)
    let keyRequests = Variable.int(
        "STOREKEEPER_API_KEY_REQUESTS",
        "requests of one key in progress at a time, on each instance, at most a quarter of the connections; one more is "
            + "answered 429", default: "\(KeyLimits().requests)", in: 1...1_000_000)
    let keyBodies = Variable.byteCount(
        "STOREKEEPER_API_KEY_BODIES",
        "bytes of one key's request bodies in flight, on each instance; more are answered 429",
        default: "\(KeyLimits().bodies >> 20)MiB")
    let maximumBodies = Variable.byteCount(
        "STOREKEEPER_API_MAX_BODIES", "bytes of all request bodies in flight; more are answered 503",
        default: "\(KeyLimits().allBodies >> 20)MiB")
    let keyStreams = Variable.int(
        "STOREKEEPER_API_KEY_STREAMS",
        "event streams of one key, on each instance, at most a quarter of the connections; one more is answered 429",
        default: "\(KeyLimits().streams)", in: 1...1_000_000)
    let keyWaits = Variable.int(
        "STOREKEEPER_API_KEY_WAITS",
        "requests of one key that wait for a change, on each instance; one more is answered at once",
        default: "\(KeyLimits().waits)", in: 1...1_000_000)
    let keyVerification = Variable.int(
        "STOREKEEPER_API_KEY_VERIFICATION",
        "seconds of processor time within a minute for verifying one key's uploads, on each instance; then they are "
            + "answered 429", default: "\(KeyLimits().verification)", in: 1...6000)
    let maximumConnections = Variable.int(
        "STOREKEEPER_API_MAX_CONNECTIONS",
        "connections open at a time; one more closes the one that has been idle longest, without a valid key first",
        default: "8192", in: 1...1_000_000)
    let readTimeout = Variable.duration(
        "STOREKEEPER_API_READ_TIMEOUT",
        "how long a connection may take to its first request, and the body of a request to arrive", default: "15s")
    let idleTimeout = Variable.duration(
        "STOREKEEPER_API_IDLE_TIMEOUT", "how long a connection may be idle", default: "60s")

    /// No key takes all connections.
    static func limits(_ settings: Settings<Configuration>) -> KeyLimits {
        let share = max(1, settings.maximumConnections / 4)
        return KeyLimits(
            requests: min(settings.keyRequests, share), bodies: settings.keyBodies, allBodies: settings.maximumBodies,
            streams: min(settings.keyStreams, share), waits: settings.keyWaits, verification: settings.keyVerification)
    }

    func problems(in settings: Settings<Configuration>) -> [ConfigurationProblem] {
        var problems = settings.kafkaProblems
        if (settings.tlsCertificate == nil) != (settings.tlsKey == nil) {
            problems.append(
                ConfigurationProblem(
                    "STOREKEEPER_API_TLS_CERTIFICATE_FILE and STOREKEEPER_API_TLS_KEY_FILE need each other; set both, or "
                        + "none where a proxy ends TLS."))
        }
        if settings.setsAccountTokens, settings.apiKeys == nil || settings.apps == nil {
            problems.append(
                .unusable(
                    name: "STOREKEEPER_SET_APP_ACCOUNT_TOKEN",
                    reason: "needs STOREKEEPER_APPS_FILE and STOREKEEPER_APP_STORE_API_KEYS_FILE, to ask Apple"))
        }
        return problems
    }
}
