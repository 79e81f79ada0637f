// swift-tools-version: 6.2
// A package of its own, so that nobody who builds Storekeeper builds its benchmarks. The links in Verifier/ lead to the
// code that is measured and to the simulator that writes what it is measured with.
import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "storekeeper", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "verifier-benchmark",
            dependencies: [
                .product(name: "AppStore", package: "storekeeper"),
                .product(name: "Contracts", package: "storekeeper"),
                .product(name: "Pipeline", package: "storekeeper"),
                .product(name: "Signatures", package: "storekeeper"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Verifier",
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")])
    ]
)
