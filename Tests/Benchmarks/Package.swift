// swift-tools-version: 6.2
// A package of its own, so that building Storekeeper does not build its benchmarks. The links in Verifier/ and Ledger/ lead
// to the measured code and to the simulator that creates the notifications.
import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "storekeeper", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "verifier-benchmark",
            dependencies: [
                .product(name: "AppStore", package: "storekeeper"),
                .product(name: "Contracts", package: "storekeeper"),
                .product(name: "Development", package: "storekeeper"),
                .product(name: "Digests", package: "storekeeper"),
                .product(name: "Interpretation", package: "storekeeper"),
                .product(name: "Pipeline", package: "storekeeper"),
                .product(name: "Records", package: "storekeeper"),
                .product(name: "Signatures", package: "storekeeper"),
                .product(name: "StrictJSON", package: "storekeeper"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Verifier",
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]),
        .executableTarget(
            name: "ledger-benchmark",
            dependencies: [
                .product(name: "AppStore", package: "storekeeper"),
                .product(name: "Chassis", package: "storekeeper"),
                .product(name: "Contracts", package: "storekeeper"),
                .product(name: "Development", package: "storekeeper"),
                .product(name: "Digests", package: "storekeeper"),
                .product(name: "Interpretation", package: "storekeeper"),
                .product(name: "Pipeline", package: "storekeeper"),
                .product(name: "Records", package: "storekeeper"),
                .product(name: "Postgres", package: "storekeeper"),
                .product(name: "Signatures", package: "storekeeper"),
                .product(name: "StrictJSON", package: "storekeeper"),
                .product(name: "Storage", package: "storekeeper"),
                .product(name: "Subscriptions", package: "storekeeper"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Ledger",
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]),
        .executableTarget(
            name: "http-load",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "HTTP", exclude: ["subscriptions.sql", "uploads.py"],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]),
    ]
)
