import AppStore
import Foundation
import Signatures

extension ForgeryMaterial {
    /// Genuine, and not for us.
    func identities() throws -> [Forgery] {
        func of(_ bundleId: String) throws -> [UInt8] { try signed(envelope { $0.data?.bundleId = bundleId }) }
        var cases: [Forgery] = []
        for name in [
            "com.example.other", "com.example.reade", "com.example.reader2", "COM.EXAMPLE.READER",
            "com.example.reader ",
            "com.example.r\u{0435}ader", "*", String(repeating: "x", count: 100_000),
        ] {
            cases.append(Forgery("another developer's \(name.prefix(24))", .appUnknown, try of(name)))
        }
        func inEnvironment(_ name: String, _ bundleId: String = Self.bundleId) throws -> [UInt8] {
            try signed(
                envelope {
                    $0.data?.environment = AppStoreEnvironment(rawValue: name)
                    $0.data?.bundleId = bundleId
                })
        }
        for name in ["Xcode", "LocalTesting", "production", "sandbox", "", "Staging", "Production "] {
            cases.append(Forgery("the environment \"\(name)\"", .environment, try inEnvironment(name)))
        }
        cases += [
            Forgery(
                "a sandbox payload for a production-only app", .environment,
                try inEnvironment("Sandbox", Self.productionOnly)),
            Forgery(
                "a sandbox token for a production-only app", .environment,
                try signed(tokenEnvelope("SANDBOX_x", Self.productionOnly))),
            Forgery("another Apple id", .appMismatch, try signed(envelope { $0.data?.appAppleId = 5 })),
            Forgery("no Apple id in production", .appMismatch, try signed(envelope { $0.data?.appAppleId = nil })),
            Forgery(
                "another app's Apple id", .appMismatch, try signed(envelope { $0.data?.bundleId = Self.productionOnly })
            ),
            Forgery(
                "another Apple id in the sandbox", .appMismatch,
                try signed(
                    envelope {
                        $0.data?.environment = .sandbox
                        $0.data?.appAppleId = 5
                    })),
            Forgery("a token with another Apple id", .appMismatch, try signed(tokenEnvelope("x", Self.productionOnly))),
            Forgery("a summary of another developer", .appUnknown, try signed(summaryEnvelopeOf("com.example.other"))),
            Forgery(
                "a transaction of another developer", .appUnknown,
                try signed(transaction { $0.bundleId = "com.example.other" }), door: .transaction),
            Forgery(
                "a transaction from Xcode", .environment, try signed(transaction { $0.environment = .xcode }),
                door: .transaction),
            Forgery(
                "a sandbox transaction of a production-only app", .environment,
                try signed(
                    transaction {
                        $0.environment = .sandbox
                        $0.bundleId = Self.productionOnly
                    }), door: .transaction),
            Forgery(
                "renewal information from LocalTesting", .environment,
                try signed(renewal { $0.environment = .localTesting }), door: .renewalInfo),
            Forgery(
                "an app transaction with another Apple id", .appMismatch,
                try signed(appTransaction { $0.appAppleId = 5 }), door: .appTransaction),
            Forgery(
                "an app transaction of another developer", .appUnknown,
                try signed(appTransaction { $0.bundleId = "com.example.other" }), door: .appTransaction),
        ]
        return cases
    }

    private func summaryEnvelopeOf(_ bundleId: String) -> ResponseBodyV2DecodedPayload {
        var payload = summaryEnvelope()
        payload.summary?.bundleId = bundleId
        return payload
    }
}
