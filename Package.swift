// swift-tools-version: 6.2
// The map: libraries bottom-up, then services in the order a message meets them, one arrow per line.
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// MARK: Doors to C: a module map and a shim each, nothing else.

let system: [Target] = [
    .systemLibrary(name: "CRDKafka", path: "Shared/Framework/System/CRDKafka", pkgConfig: "rdkafka"),
    .systemLibrary(name: "CPQ", path: "Shared/Framework/System/CPQ", pkgConfig: "libpq"),
    .systemLibrary(name: "COpenSSL", path: "Shared/Framework/System/COpenSSL", pkgConfig: "openssl"),
]

// MARK: Libraries, bottom-up.

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let hummingbirdTLS: Target.Dependency = .product(name: "HummingbirdTLS", package: "hummingbird")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let mustache: Target.Dependency = .product(name: "Mustache", package: "swift-mustache")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// Tests spend most of their time in these, so that debug builds optimize them, too.
let optimized: Set = ["Postgres", "Digests", "Records", "StrictJSON", "Signatures", "Subscriptions"]

/// - Parameter path: below `Shared`; its last component is the library's name.
func library(_ path: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    let name = String(path.split(separator: "/").last ?? "")
    let settings: [SwiftSetting] =
        optimized.contains(name) ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : []
    return .target(
        name: name, dependencies: dependencies, path: "Shared/\(path)", resources: resources,
        swiftSettings: strict + settings)
}

let libraries: [Target] = [
    // Framework: knows no App Store.
    library("Framework/Threads", []),
    library("Framework/Kafka", ["CRDKafka", "Threads", logging]),
    library("Framework/Postgres", ["CPQ", "Threads", logging]),
    library("Framework/Digests", ["COpenSSL"]),
    library("Framework/Records", []),
    library("Framework/HTTPLimits", [httpClient]),
    library(
        "Framework/Chassis",
        ["HTTPLimits", logging, metrics, configuration, lifecycle, hummingbird, hummingbirdCore, httpClient, nio]),
    library("Framework/Pipeline", ["Kafka", "Records", "Chassis", "Digests", lifecycle]),
    // Apple: what Apple says, verified.
    library("Apple/StrictJSON", []),
    library("Apple/Signatures", ["COpenSSL", "Digests"]),
    library("Apple/AppStore", ["Digests", "Signatures", "StrictJSON"]),
    // How Apple is asked, and what is signed with our keys.
    library("Apple/ServerAPI", ["AppStore", "Digests", "Signatures", "StrictJSON", "HTTPLimits", httpClient]),
    // Domain: decides without a database.
    library("Domain/Contracts", ["Records", "Signatures", "StrictJSON"]),
    library("Domain/Subscriptions", ["Contracts", "Records", "StrictJSON"]),
    library("Domain/WebhookDelivery", ["Contracts", "Digests", "Records", "StrictJSON", "Subscriptions"]),
    library("Domain/Refunds", ["Digests", "StrictJSON", "Subscriptions"]),
    library("Domain/Interpretation", ["AppStore", "Contracts", "Subscriptions"]),
    // Above them: every table, and what services and operators share.
    library(
        "Storage",
        [
            "Postgres", "Interpretation", "Subscriptions", "WebhookDelivery", "Refunds", "Contracts", "Records",
            "StrictJSON",
            "Digests",
            "Signatures", logging,
        ],
        resources: [.embedInCode("Schema/Migrations")]),
    library(
        "Bootstrap",
        [
            "Chassis", "Postgres", "Storage", "AppStore", "ServerAPI", "Signatures", "Contracts", "Kafka", "Pipeline",
            "Records", "Digests", "HTTPLimits", "WebhookDelivery",
        ]),
    library(
        "OpenIDConnect",
        ["COpenSSL", "AppStore", "Digests", "Signatures", "StrictJSON", "HTTPLimits", httpClient]),
    library(
        "Operations",
        [
            "Kafka", "Contracts", "Records", "StrictJSON", "AppStore", "ServerAPI", "Digests", "Signatures",
            "Subscriptions",
            "Storage", "Pipeline", "Postgres", "WebhookDelivery", "Refunds", logging,
        ]),
    // What the programs with commands share: their context, exit codes, errors and options.
    library(
        "Commands",
        ["Chassis", "Kafka", "Pipeline", "Postgres", "Bootstrap", "Operations", arguments, signals, httpClient]),
    // What only development and tests need: a broker, a Postgres server, certificates and answers about their revocation.
    library(
        "Development",
        ["CRDKafka", "CPQ", "COpenSSL", "Threads", "Kafka", "Postgres", "Digests", "Signatures", "AppStore", logging]),
    // For development and tests: customers who buy, the notifications about them, and the API that tells of them.
    library(
        "SimulatedAppStore",
        [
            "Chassis", "Development", "Contracts", "Records", "AppStore", "ServerAPI", "Digests", "Signatures",
            "StrictJSON",
            lifecycle,
            signals, arguments, httpClient, hummingbird, nio,
        ]),
]

// MARK: Services, in the order a message meets them.

func service(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Services/\(name)", resources: resources, swiftSettings: strict)
}

let services: [Target] = [
    service("Setup", ["Chassis", "Pipeline", "Kafka", "Contracts", "Records", "Storage", "Bootstrap", "Postgres"]),
    service(
        "Ingest",
        [
            "Chassis", "Pipeline", "Kafka", "Contracts", "Records", "AppStore", "StrictJSON", hummingbird,
            hummingbirdCore, nio,
        ]),
    service(
        "Verifier",
        [
            "Chassis", "Pipeline", "Contracts", "Records", "Bootstrap", "AppStore", "Interpretation", "Digests",
            "Signatures", "StrictJSON", "HTTPLimits", httpClient,
        ]),
    service("Deduplicator", ["Chassis", "Pipeline", "Contracts", "Records", "Storage", "Bootstrap", "Postgres"]),
    service(
        "StateUpdater",
        ["Chassis", "Pipeline", "Kafka", "Contracts", "Records", "Interpretation", "Storage", "Bootstrap", "Postgres"]),
    service(
        "Recovery",
        [
            "Chassis", "Pipeline", "Kafka", "Contracts", "Records", "Interpretation", "Bootstrap", "AppStore",
            "ServerAPI",
            "Digests", "Subscriptions", "Storage", "Postgres",
        ]),
    service(
        "Scheduler",
        [
            "Chassis", "Pipeline", "Kafka", "Contracts", "Records", "Bootstrap", "AppStore", "ServerAPI", "Storage",
            "Postgres",
            "Refunds",
        ]),
    service(
        "API",
        [
            "Chassis", "Pipeline", "Kafka", "Contracts", "Records", "StrictJSON", "Digests", "Signatures",
            "Subscriptions", "Storage", "Bootstrap", "Postgres", "AppStore", "ServerAPI", "Interpretation",
            "Operations",
            "WebhookDelivery", "Refunds", hummingbird, lifecycle, hummingbirdCore, hummingbirdTLS, nioSSL, nio,
        ],
        resources: [.embedInCode("openapi.json")]),
    service(
        "Console",
        [
            "Chassis", "Pipeline", "Kafka", "Contracts", "Records", "StrictJSON", "Digests", "Signatures",
            "Subscriptions", "Storage", "Bootstrap", "Postgres", "AppStore", "ServerAPI", "Operations", "OpenIDConnect",
            "WebhookDelivery", "Refunds", hummingbird, nio,
            lifecycle, mustache,
        ],
        resources: [.embedInCode("Templates"), .embedInCode("Assets")]),
    service(
        "Webhooks",
        [
            "Chassis", "Pipeline", "Kafka", "Contracts", "Records", "Storage", "Bootstrap", "Postgres",
            "WebhookDelivery", httpClient, nio, nioPosix, nioSSL, lifecycle,
        ]),
    service("Simulator", ["SimulatedAppStore", signals]),
    service(
        "Storekeeper",
        [
            "Commands", "Chassis", "Threads", "Kafka", "Contracts", "Records", "StrictJSON", "Bootstrap", "AppStore",
            "ServerAPI",
            "Signatures", "Interpretation", "Subscriptions", "Storage", "Pipeline", "Operations", "Postgres", logging,
            "WebhookDelivery", "Refunds", "HTTPLimits", signals, arguments, httpClient, hummingbird,
        ]),
    service(
        "Devkit",
        [
            "Chassis", "Commands", "Development", "Threads", "Kafka", "Contracts", "Records", "StrictJSON", "Storage",
            "Subscriptions", "Operations", "Postgres", "Signatures", "WebhookDelivery", logging, arguments, hummingbird,
        ]),
]

// MARK: Tests mirror the sources path for path.

func tests(
    _ name: String, _ path: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(path)", exclude: exclude, swiftSettings: strict)
}

let tests: [Target] = [
    .executableTarget(
        name: "ExampleBackend", dependencies: ["Digests", hummingbird, httpClient],
        path: "Documentation/Examples/Swift",
        swiftSettings: strict),
    .executableTarget(
        name: "ExampleWorker", dependencies: ["Chassis", "Pipeline", "Records"], path: "Documentation/Examples/Worker",
        exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
        name: "StageCosts",
        dependencies: [
            "AppStore", "Contracts", "Records", "Interpretation", "Kafka", "Pipeline", "Signatures", "Storage",
            "Subscriptions",
        ],
        path: "Tests/StageCosts", exclude: ["check", "check.py", "budgets.json"], swiftSettings: strict),
    .target(
        name: "TestSupport",
        dependencies: [
            "Development", "AppStore", "Contracts", "Records", "Kafka", "Postgres", "Storage", "Subscriptions",
            "Signatures", "Threads",
            logging, lifecycle,
        ],
        path: "Tests/Support/TestSupport", swiftSettings: strict),
    // What Apple's verifier must accept and reject; also the seeds of Tests/Fuzz.
    .target(
        name: "AppStoreSamples",
        dependencies: ["AppStore", "Development", "Digests", "Signatures", "StrictJSON"],
        path: "Tests/Support/AppStoreSamples", swiftSettings: strict),
    tests("StrictJSONTests", "Shared/Apple/StrictJSON", ["StrictJSON", "TestSupport"]),
    tests("KafkaTests", "Shared/Framework/Kafka", ["Development", "Kafka", "CRDKafka", "TestSupport", logging]),
    tests("PostgresTests", "Shared/Framework/Postgres", ["Development", "Postgres", "TestSupport"]),
    tests("DevelopmentTests", "Shared/Development", ["Development", "Postgres", "TestSupport"]),
    tests("DigestsTests", "Shared/Framework/Digests", ["Digests"]),
    tests("SignaturesTests", "Shared/Apple/Signatures", ["Development", "Digests", "Signatures", "TestSupport"]),
    tests(
        "ContractsTests", "Shared/Domain/Contracts", ["Contracts", "Records", "Signatures", "TestSupport"],
        exclude: ["Golden"]),
    tests(
        "SubscriptionsTests", "Shared/Domain/Subscriptions", ["Subscriptions", "Contracts", "Records", "TestSupport"]),
    tests(
        "WebhookDeliveryTests", "Shared/Domain/WebhookDelivery",
        ["WebhookDelivery", "Contracts", "Digests", "Records", "StrictJSON", "TestSupport"]),
    tests("RefundsTests", "Shared/Domain/Refunds", ["Refunds", "StrictJSON", "Subscriptions", "TestSupport"]),
    tests(
        "AppStoreTests", "Shared/Apple/AppStore",
        ["AppStoreSamples", "Development", "AppStore", "Digests", "Signatures", "StrictJSON", "TestSupport"]),
    tests(
        "ServerAPITests", "Shared/Apple/ServerAPI",
        [
            "AppStoreSamples", "Development", "AppStore", "ServerAPI", "Digests", "Signatures", "StrictJSON",
            "TestSupport",
        ]),
    tests(
        "StorageTests", "Shared/Storage",
        [
            "Development", "Storage", "Postgres", "Contracts", "Records", "Refunds", "Subscriptions", "TestSupport",
            "WebhookDelivery",
        ],
        exclude: ["Purchases/Golden"]),
    tests(
        "OperationsTests", "Shared/Operations",
        [
            "Development", "Operations", "AppStore", "ServerAPI", "Signatures", "StrictJSON", "Contracts", "Records",
            "Kafka", "Storage",
        ]),
    tests(
        "BootstrapTests", "Shared/Bootstrap",
        [
            "Contracts", "Kafka", "Pipeline", "Records", "Development", "Bootstrap", "Chassis", "Postgres", "Storage",
            "AppStore", "ServerAPI", "Signatures", "TestSupport",
            logging, metrics, lifecycle,
        ]),
    tests(
        "InterpretationTests", "Shared/Domain/Interpretation",
        [
            "Development", "Interpretation", "Verifier", "Deduplicator", "StateUpdater", "Pipeline", "Contracts",
            "Records", "AppStore", "Signatures", "Subscriptions", "Storage", "Postgres", "TestSupport",
        ]),
    tests(
        "ChassisTests", "Shared/Framework/Chassis",
        ["Development", "Chassis", "TestSupport", metrics, lifecycle, logging, hummingbird, httpClient],
        exclude: ["Tracing/read_traces.py"]),
    tests(
        "PipelineTests", "Shared/Framework/Pipeline",
        ["Development", "Pipeline", "Kafka", "Contracts", "Records", "Chassis", "TestSupport", logging, lifecycle]),
    tests(
        "IngestTests", "Services/Ingest",
        [
            "Development", "Ingest", "Chassis", "Kafka", "Contracts", "Records", "Threads", "StrictJSON", "TestSupport",
            logging, lifecycle, nio, nioEmbedded,
        ]),
    tests(
        "SetupTests", "Services/Setup",
        ["Development", "Setup", "Kafka", "Contracts", "Records", "Storage", "Postgres", "TestSupport", logging]),
    tests(
        "DeduplicatorTests", "Services/Deduplicator",
        ["Deduplicator", "Pipeline", "Contracts", "Records", "Storage", "TestSupport"]),
    tests(
        "VerifierTests", "Services/Verifier",
        [
            "AppStoreSamples",
            "Development", "Verifier", "SimulatedAppStore", "Bootstrap", "Chassis", "Pipeline", "Contracts", "Records",
            "AppStore", "Digests", "Signatures", "StrictJSON", "TestSupport", logging,
        ]),
    tests(
        "StateUpdaterTests", "Services/StateUpdater",
        [
            "Development", "StateUpdater", "Chassis", "Pipeline", "Kafka", "Contracts", "Records", "Subscriptions",
            "AppStore", "Storage", "Postgres", "TestSupport", logging, metrics,
        ]),
    tests(
        "RecoveryTests", "Services/Recovery",
        [
            "Development", "Recovery", "Verifier", "SimulatedAppStore", "Interpretation", "Bootstrap", "Chassis",
            "Pipeline", "Kafka", "Contracts", "Records", "AppStore", "ServerAPI", "Signatures", "Subscriptions",
            "Storage",
            "Postgres", "TestSupport", hummingbird, lifecycle,
        ]),
    tests(
        "SchedulerTests", "Services/Scheduler",
        [
            "Development", "Scheduler", "SimulatedAppStore", "Bootstrap", "Chassis", "Pipeline", "Kafka", "Contracts",
            "Records", "AppStore", "ServerAPI", "Signatures", "Storage", "Postgres", "Refunds", "StrictJSON",
            "Subscriptions", "TestSupport", "Interpretation", logging, metrics, lifecycle, hummingbird, httpClient,
        ]),
    tests(
        "APITests", "Services/API",
        [
            "AppStoreSamples",
            "Development", "API", "SimulatedAppStore", "Chassis", "Contracts", "Records", "StrictJSON", "Subscriptions",
            "Operations",
            "Storage", "Postgres", "TestSupport", "AppStore", "ServerAPI", "Digests", "Signatures", "Kafka", "Pipeline",
            "WebhookDelivery", "Refunds", "Interpretation", "Threads", logging, lifecycle, hummingbird, httpClient, nio,
            nioSSL,
        ]),
    tests(
        "ConsoleTests", "Services/Console",
        [
            "WebhookDelivery",
            "Console", "Operations", "Chassis", "Contracts", "Records", "Kafka", "Pipeline", "Subscriptions", "Storage",
            "Postgres", "OpenIDConnect", "StrictJSON", "COpenSSL", "Development", "ServerAPI", "Digests", "Signatures",
            "TestSupport", logging, lifecycle, hummingbird, httpClient, nio,
        ]),
    tests(
        "WebhooksTests", "Services/Webhooks",
        [
            "Webhooks", "Bootstrap", "Chassis", "Contracts", "Kafka", "Pipeline", "Postgres", "Records", "Storage",
            "StrictJSON", "Subscriptions", "WebhookDelivery", "Development", "TestSupport", logging, metrics,
            hummingbird, nio, nioPosix, nioSSL,
        ]),
    tests(
        "SimulatedAppStoreTests", "Shared/SimulatedAppStore",
        [
            "Chassis", "Development", "SimulatedAppStore", "AppStore", "ServerAPI", "Digests", "Signatures",
            "Contracts", "Records",
            "StrictJSON", "TestSupport", logging, httpClient, hummingbird, nio, nioPosix,
        ]),
    tests(
        "StorekeeperTests", "Services/Storekeeper",
        [
            "OperationsTests", "SimulatedAppStore",
            "Chassis", "Commands", "Devkit", "Development", "Storekeeper", "Operations", "AppStore", "ServerAPI",
            "Signatures",
            "StrictJSON",
            "Contracts", "Records", "Kafka", "Interpretation", "Pipeline", "Subscriptions", "Storage", "Postgres",
            "TestSupport", "WebhookDelivery", "Refunds", arguments, logging, hummingbird,
        ]),
    // The three faces of each operation, beside each other.
    tests(
        "OperationFacesTests", "Services/Faces",
        [
            "APITests", "ConsoleTests", "StorekeeperTests",
            "API", "Console", "Storekeeper", "Commands", "Development", "Operations", "Chassis", "Contracts", "Records",
            "StrictJSON",
            "Subscriptions", "Storage", "Postgres", "TestSupport", "AppStore", "Signatures", "Kafka", arguments,
            logging, lifecycle, hummingbird, httpClient, nio,
        ]),
    tests(
        "DevkitTests", "Services/Devkit",
        [
            "Devkit", "Commands", "Development", "Contracts", "Records", "Kafka", "Operations", "Storage", "Postgres",
            "TestSupport", "WebhookDelivery", logging,
        ]),
    tests(
        "EndToEndTests", "EndToEnd",
        [
            "Chassis", "Devkit", "Development", "Operations", "AppStore", "Signatures", "Contracts", "Records",
            "Kafka", "Pipeline", "Storage", "Postgres", "TestSupport", logging, hummingbird, httpClient,
        ]),
]

// MARK: What an ordinary build leaves out: Tests/Benchmarks/build and Deploy/checks/fuzz set a variable.

func measuring(
    _ name: String, _ path: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Tests/Benchmarks/\(path)", exclude: exclude,
        swiftSettings: strict)
}

let benchmarks: [Target] = [
    measuring(
        "verifier-benchmark", "Verifier",
        ["AppStore", "Contracts", "Interpretation", "Pipeline", "Records", "SimulatedAppStore", arguments]),
    measuring(
        "ledger-benchmark", "Ledger",
        [
            "AppStore", "Contracts", "Development", "Interpretation", "Pipeline", "Postgres", "Records",
            "SimulatedAppStore", "Storage", arguments, logging,
        ]),
    measuring(
        "http-load", "HTTP", [arguments, hummingbird, httpClient], exclude: ["subscriptions.sql", "uploads.py"]),
]

/// A function that libFuzzer, which brings `main`, calls with random bytes, and what must hold for all of them.
func fuzzing(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: "fuzz-\(name.lowercased())", dependencies: dependencies, path: "Tests/Fuzz/\(name)",
        swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
}

let fuzz: [Target] = [
    fuzzing("JWS", ["AppStore", "Development", "Signatures"]),
    fuzzing("Certificates", ["Signatures", "Development"]),
    fuzzing("Revocation", ["Signatures", "Development"]),
    fuzzing("JSON", ["StrictJSON"]),
    fuzzing("Body", ["AppStore", "StrictJSON"]),
    // Writes the first inputs.
    fuzzing("Seeds", ["AppStore", "AppStoreSamples", "Development", "Digests", "Signatures", "StrictJSON"]),
]

let package = Package(
    name: "storekeeper",
    platforms: [.macOS(.v15)],
    products: services.map { .executable(name: commandName($0.name), targets: [$0.name]) },
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration.git", exact: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", exact: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
    ],
    targets: system + libraries + services + tests
        + (Context.environment["STOREKEEPER_BENCHMARKS"] == nil ? [] : benchmarks)
        + (Context.environment["STOREKEEPER_FUZZ"] == nil ? [] : fuzz)
)

/// `StateUpdater` is the folder, `state-updater` the command; `API` and `api`.
func commandName(_ target: String) -> String {
    var name = ""
    for (character, before) in zip(target, " " + target) {
        if character.isUppercase, before.isLowercase { name += "-" }
        name += character.lowercased()
    }
    return name
}
