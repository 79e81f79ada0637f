import Foundation
import Operations
import Signatures
import StrictJSON

extension Proof {
    var text: String {
        var lines: [String] = []
        if let rejection {
            lines += ["REJECTED (\(rejection.reason.rawValue)): \(rejection.message)", ""]
        } else {
            lines += ["VERIFIED: signed by \(signer), \(noun).", ""]
        }
        lines.append("  kind         \(noun)\(isKindGuessed ? " (detected; override with --kind)" : "")")
        lines.append("  identity     \(identitySentence)")
        lines.append("  revocation   not checked (offline)")
        lines.append("  verified at  \(Self.time(verifiedAt))")
        lines += ["", "certificates"]
        lines += certificates.enumerated().flatMap { index, certificate in
            [
                "  \(index + 1) \(certificate.subject.escaped)",
                "      valid \(Self.time(certificate.notBefore)) to \(Self.time(certificate.notAfter)),"
                    + " \(Self.name(certificate.keyKind)), serial \(certificate.serialNumber)",
                "      sha256 \(Self.hexadecimal(certificate.sha256))",
            ]
        }
        if certificates.isEmpty { lines.append("  none readable") }
        lines += ["", rejection == nil ? "payload" : "payload, NOT verified"]
        lines.append(payload.flatMap { PrettyJSON($0)?.text } ?? "  not JSON")
        return lines.joined(separator: "\n")
    }

    /// As a JSON object.
    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("verified", rejection == nil)
        json.member("kind", kind.rawValue)
        json.member("reason", rejection?.reason.rawValue)
        json.member("message", rejection?.message)
        json.member("identityChecked", identity.bundleId != nil)
        json.member("revocationChecked", false)
        json.member("signedByApple", isSignedByApple)
        json.member("verifiedAt", Self.time(verifiedAt))
        json.objects("certificates", of: certificates) { json, certificate in
            json.member("subject", certificate.subject)
            json.member("issuer", certificate.issuer)
            json.member("serialNumber", certificate.serialNumber)
            json.member("notBefore", Self.time(certificate.notBefore))
            json.member("notAfter", Self.time(certificate.notAfter))
            json.member("sha256", Self.hexadecimal(certificate.sha256))
        }
        json.member("payload", raw: payload ?? Array("null".utf8))
        json.endObject()
        return PrettyJSON(json.bytes)?.text ?? String(decoding: json.bytes, as: UTF8.self)
    }

    private var signer: String { isSignedByApple ? "Apple" : "a root of --root or STOREKEEPER_ROOT_FILES (not Apple)" }

    private var noun: String { kind.rawValue.replacingOccurrences(of: "-", with: " ") }

    private var identitySentence: String {
        guard let bundleId = identity.bundleId else {
            return "NOT CHECKED: give --bundle-id and --app-apple-id to check the app"
        }
        let app = identity.appAppleId.map { "\(bundleId) (\($0))" } ?? "\(bundleId), any number"
        return "must be \(app), \(identity.environment?.rawValue ?? "any environment")"
    }

    private static func time(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle()) }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func name(_ kind: Certificate.KeyKind) -> String {
        switch kind {
        case .p256: "P-256"
        case .p384: "P-384"
        case .rsa(let bits): "RSA \(bits)"
        case .other: "unusual key"
        }
    }
}
