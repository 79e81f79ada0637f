import Foundation
import Hummingbird

enum Variables {
    static let api = variable("STOREKEEPER_API", "http://127.0.0.1:8081")
    static let key = variable("STOREKEEPER_KEY", "")
    static let app = variable("APP", "com.example.app")
    static let webhookSecret = variable("WEBHOOK_SECRET", "")
    static let port = Int(variable("PORT", "8080")) ?? 8080

    private static func variable(_ name: String, _ standard: String) -> String {
        ProcessInfo.processInfo.environment[name] ?? standard
    }
}

struct Upload: Codable {
    var bundleId: String?
    var appAccountToken: String
    var signedTransactions: [String]
}

struct Customer: Codable {
    var appAccountToken: String
}

/// What an account may use, or what became of an upload. In a 503 it stands in `answer`: let the user in, finish nothing.
struct Known: Codable {
    struct Entitlement: Codable {
        var name: String
    }
    struct Answer: Codable {
        var entitlements: [Entitlement]?
    }
    var finish: Bool?
    var entitlements: [Entitlement]?
    var answer: Answer?

    var names: [String] { (entitlements ?? answer?.entitlements ?? []).map(\.name) }
}

struct Access: ResponseCodable {
    var appAccountToken: String?
    var finish: Bool?
    var names: [String]
}
