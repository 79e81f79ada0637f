// swift-tools-version: 6.2
// A package of its own, built with `--sanitize fuzzer` by Deploy/checks/fuzz. Each target is a function that libFuzzer calls with
// random bytes, and what must hold for all of them; Seeds writes the first inputs.
import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]

/// libFuzzer brings `main`.
func target(_ name: String, _ libraries: [String]) -> Target {
    .executableTarget(
        name: "fuzz-\(name.lowercased())", dependencies: libraries.map { .product(name: $0, package: "storekeeper") },
        path: name, swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])])
}

let package = Package(
    name: "fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "storekeeper", path: "../..")],
    targets: [
        target("JWS", ["AppStore", "Development", "Signatures"]),
        target("Certificates", ["Signatures", "Development"]),
        target("Revocation", ["Signatures", "Development"]),
        target("JSON", ["StrictJSON"]),
        target("Body", ["AppStore", "StrictJSON"]),
        target("Seeds", ["AppStore", "AppStoreSamples", "Development", "Digests", "Signatures", "StrictJSON"]),
    ]
)
