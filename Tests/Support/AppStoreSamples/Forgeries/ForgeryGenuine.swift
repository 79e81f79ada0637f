import AppStore
import Foundation
import Signatures

extension ForgeryMaterial {
    /// What looks odd, and must pass.
    func genuine() throws -> [Forgery] {
        let subscription = try envelope(transaction(), renewal())
        var cases = [
            Forgery("a renewal with transaction and renewal information", nil, try signed(subscription)),
            Forgery("a transaction by itself", nil, try signed(transaction()), door: .transaction),
            Forgery("renewal information by itself", nil, try signed(renewal()), door: .renewalInfo),
            Forgery("an app transaction by itself", nil, try signed(appTransaction()), door: .appTransaction),
            Forgery("TEST without a transaction", nil, try signed(envelope { $0.notificationType = .test })),
            Forgery("without a signed date", nil, try signed(envelope { $0.signedDate = nil })),
            Forgery(
                "an unknown type and subtype", nil,
                try signed(
                    envelope {
                        $0.notificationType = NotificationType(rawValue: "BRAND_NEW")
                        $0.subtype = NotificationSubtype(rawValue: "NEWER")
                    })),
            Forgery("from the sandbox", nil, try signed(sandboxEnvelope())),
            Forgery("signed almost 400 days ago", nil, try signed(envelope { $0.signedDate = days(-399) })),
            Forgery("signed by a clock 23 hours ahead", nil, try signed(envelope { $0.signedDate = days(23 / 24) })),
            Forgery(
                "under a leaf that has expired since", nil,
                try underTrustedRoot(
                    payload: envelope { $0.signedDate = days(-100) }, leaf: { $0.notAfter = days(-50) })),
            Forgery("a summary", nil, try signed(summaryEnvelope())),
            Forgery("an external purchase token", nil, try signed(tokenEnvelope("b2158121-7af9", Self.bundleId))),
            Forgery("a sandbox purchase token", nil, try signed(tokenEnvelope("SANDBOX_b2158121", Self.bundleId))),
            Forgery("about the app itself", nil, try signed(appDataEnvelope())),
        ]
        cases += try oddHeaders() + oddJSON()
        return cases
    }

    private func oddHeaders() throws -> [Forgery] {
        let x5c = authority.x5c.map { "\"\($0)\"" }.joined(separator: ",")
        let offered = authority.x5c.prefix(2) + [Data(stranger.root).base64EncodedString()]
        let escaped = authority.x5c.map { "\"\($0.replacing("/", with: "\\/"))\"" }.joined(separator: ",")
        return [
            Forgery(
                "members of the header that do not matter", nil,
                try underHeader(
                    #"{"kid":"x","typ":"JWT","jku":"http://x","jwk":{},"x5u":"y","x5c":[\#(x5c)],"alg":"ES256"}"#)),
            Forgery(
                "white space in the header's JSON", nil, try underHeader("{ \"alg\" : \"ES256\",\n\"x5c\":[ \(x5c) ] }")
            ),
            Forgery("escaped slashes in the header", nil, try underHeader(#"{"alg":"ES256","x5c":[\#(escaped)]}"#)),
            Forgery(
                "a third certificate that is not the root, which is known", nil,
                try underHeader(CompactJWS.headerJSON(x5c: Array(offered)))),
            Forgery("the other of the two valid signatures", nil, try mirrored(signed(envelope()))),
        ]
    }

    private func oddJSON() throws -> [Forgery] {
        let plain = json(envelope())
        let milliseconds = Int64(now.timeIntervalSince1970 * 1000)
        func dated(_ text: String) throws -> [UInt8] {
            try signed(json: json(envelope { $0.signedDate = nil }).dropLast() + ",\"signedDate\":\(text)}")
        }
        var escaped = try json(envelope(transaction(), renewal()))
        escaped = escaped.replacing("\"signedTransactionInfo\":\"e", with: "\"signedTransactionInfo\":\"\\u0065")
        return [
            Forgery("unknown members", nil, try signed(json: plain.dropLast() + ",\"surprise\":{\"a\":[1,null]}}")),
            Forgery(
                "null for what is absent", nil,
                try signed(json: plain.dropLast() + ",\"summary\":null,\"subtype\":null}")),
            Forgery("a date with a fraction", nil, try dated("\(milliseconds).123")),
            Forgery("a date in microseconds", nil, try dated("\(milliseconds)000")),
            Forgery("a date that is null", nil, try dated("null")),
            Forgery("a JWS inside that is written with an escape", nil, try signed(json: escaped)),
            Forgery(
                "an empty environment inside", nil,
                try signed(envelope(transaction { $0.environment = AppStoreEnvironment(rawValue: "") }, renewal()))),
            Forgery("text beyond ASCII", nil, try signed(json: plain.dropLast() + ",\"note\":\"é😀\\uD83D\\uDE00\"}")),
        ]
    }

    // MARK: Other subjects

    func days(_ days: Double) -> Date { now.addingTimeInterval(days * Self.day) }

    func appTransaction(_ change: (inout AppTransaction) -> Void = { _ in }) -> AppTransaction {
        var payload = AppTransaction()
        payload.receiptType = .production
        payload.appAppleId = Self.appAppleId
        payload.bundleId = Self.bundleId
        payload.receiptCreationDate = days(-1)
        payload.originalPlatform = .iOS
        change(&payload)
        return payload
    }

    func sandboxEnvelope() throws -> ResponseBodyV2DecodedPayload {
        var payload = try envelope(transaction { $0.environment = .sandbox }, renewal { $0.environment = .sandbox })
        payload.data?.environment = .sandbox
        payload.data?.appAppleId = nil
        return payload
    }

    func summaryEnvelope() -> ResponseBodyV2DecodedPayload {
        var summary = NotificationSummary()
        summary.environment = .production
        summary.appAppleId = Self.appAppleId
        summary.bundleId = Self.bundleId
        summary.succeededCount = 5
        return envelope {
            $0.notificationType = .renewalExtension
            $0.subtype = .summary
            $0.data = nil
            $0.summary = summary
        }
    }

    func tokenEnvelope(_ identifier: String, _ bundleId: String) -> ResponseBodyV2DecodedPayload {
        var token = ExternalPurchaseToken()
        token.externalPurchaseId = identifier
        token.appAppleId = Self.appAppleId
        token.bundleId = bundleId
        return envelope {
            $0.notificationType = .externalPurchaseToken
            $0.data = nil
            $0.externalPurchaseToken = token
        }
    }

    func appDataEnvelope(_ inside: AppTransaction? = nil) throws -> ResponseBodyV2DecodedPayload {
        var appData = NotificationAppData()
        appData.environment = .production
        appData.appAppleId = Self.appAppleId
        appData.bundleId = Self.bundleId
        appData.signedAppTransactionInfo = try text(inside ?? appTransaction())
        return envelope {
            $0.notificationType = .rescindConsent
            $0.data = nil
            $0.appData = appData
        }
    }
}
