import COpenSSL
import Digests
import Signatures

import struct Foundation.Date

/// Encodes and signs one certificate.
enum CertificateBuilder {
    /// The padding's identifier: an arc set aside for examples, so no verifier gives it a meaning.
    private static let paddingIdentifier = "2.999.1"

    static func build(
        _ profile: CertificateProfile, subjectKey: PrivateKeyHandle, issuer: CertificateHandle?,
        issuerKey: PrivateKeyHandle
    ) throws(OpenSSLFailure) -> [UInt8] {
        let plain = try encode(profile, padding: 0, subjectKey, issuer, issuerKey)
        guard let target = profile.paddedTo, plain.count < target else { return plain }
        // The extension itself costs about 20 bytes; what a length field grows by is corrected by a second attempt.
        var padding = max(1, target - plain.count - 20)
        var padded = plain
        for _ in 0..<3 {
            padded = try encode(profile, padding: padding, subjectKey, issuer, issuerKey)
            guard padded.count != target else { break }
            padding = max(1, padding + target - padded.count)
        }
        return padded
    }

    private static func encode(
        _ profile: CertificateProfile, padding: Int, _ subjectKey: PrivateKeyHandle, _ issuer: CertificateHandle?,
        _ issuerKey: PrivateKeyHandle
    ) throws(OpenSSLFailure) -> [UInt8] {
        let certificate = try OpenSSLFailure.unwrap(X509_new(), "creating a certificate")
        // From here the handle frees it, also on failure.
        let handle = CertificateHandle(takingOwnershipOf: certificate)
        try OpenSSLFailure.check(X509_set_version(certificate, 2), "setting the version")
        try subjectKey.withPointer { key throws(OpenSSLFailure) in
            try OpenSSLFailure.check(X509_set_pubkey(certificate, key), "setting the public key")
        }
        try setSerialNumber(certificate, profile)
        try setValidity(certificate, profile)
        try setNames(certificate, profile, issuer)
        try addExtensions(certificate, profile, padding: padding, issuer)
        let digest =
            switch profile.digest {
            case .sha1: EVP_sha1()
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            }
        let signed = issuerKey.withPointer { X509_sign(certificate, $0, digest) }
        guard signed > 0 else { throw OpenSSLFailure("signing a certificate") }
        return handle.encoded
    }

    /// Sixteen bytes derived from the key and the validity: as unlikely to repeat as a random number, without
    /// randomness.
    private static func setSerialNumber(
        _ certificate: OpaquePointer, _ profile: CertificateProfile
    ) throws(OpenSSLFailure) {
        var digest = [UInt8](repeating: 0, count: 64)
        var length: UInt32 = 0
        try OpenSSLFailure.check(
            X509_pubkey_digest(certificate, EVP_sha256(), &digest, &length), "hashing the public key")
        let text = "\(profile.commonName) \(profile.notBefore.timeIntervalSince1970)"
        var bytes = Array(SHA256Hash.digest(digest.prefix(Int(length)) + Array(text.utf8)).prefix(16))
        bytes[0] = bytes[0] & 0x7F | 0x40
        let number = try OpenSSLFailure.unwrap(BN_bin2bn(bytes, 16, nil), "creating the serial number")
        defer { BN_free(number) }
        guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil else {
            throw OpenSSLFailure("setting the serial number")
        }
    }

    private static func setValidity(
        _ certificate: OpaquePointer, _ profile: CertificateProfile
    ) throws(OpenSSLFailure) {
        guard
            ASN1_TIME_set(X509_getm_notBefore(certificate), Int(profile.notBefore.timeIntervalSince1970)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), Int(profile.notAfter.timeIntervalSince1970)) != nil
        else { throw OpenSSLFailure("setting the validity") }
    }

    private static func setNames(
        _ certificate: OpaquePointer, _ profile: CertificateProfile, _ issuer: CertificateHandle?
    ) throws(OpenSSLFailure) {
        let subject = X509_get_subject_name(certificate)
        let parts = [
            ("CN", profile.commonName), ("OU", profile.organizationalUnit), ("O", profile.organization),
            ("C", profile.country),
        ]
        for case (let type, let value?) in parts {
            let result = X509_NAME_add_entry_by_txt(
                subject, type, MBSTRING_UTF8, Array(value.utf8), Int32(value.utf8.count), -1, 0)
            try OpenSSLFailure.check(result, "adding \(type) to the subject")
        }
        // Both calls copy the name.
        let result =
            issuer?.withPointer { X509_set_issuer_name(certificate, X509_get_subject_name($0)) }
            ?? X509_set_issuer_name(certificate, subject)
        try OpenSSLFailure.check(result, "setting the issuer")
    }

    private static func addExtensions(
        _ certificate: OpaquePointer, _ profile: CertificateProfile, padding: Int, _ issuer: CertificateHandle?
    ) throws(OpenSSLFailure) {
        var texts: [(Int32, String)] = []
        if let isAuthority = profile.isAuthority {
            let length = isAuthority ? profile.pathLength.map { ",pathlen:\($0)" } ?? "" : ""
            texts.append((NID_basic_constraints, "critical,CA:\(isAuthority ? "TRUE" : "FALSE")\(length)"))
        }
        if profile.hasKeyIdentifiers {
            if issuer != nil { texts.append((NID_authority_key_identifier, "keyid:always")) }
            texts.append((NID_subject_key_identifier, "hash"))
        }
        if let address = profile.ocspAddress { texts.append((NID_info_access, "OCSP;URI:\(address)")) }
        if let names = profile.nameConstraints { texts.append((NID_name_constraints, "critical,\(names)")) }
        if let usage = profile.keyUsage { texts.append((NID_key_usage, "critical,\(text(usage))")) }
        // A root is its own issuer while extensions are made from the issuer's.
        var context = X509V3_CTX()
        if let issuer {
            issuer.withPointer { COpenSSL_set_extension_context(&context, $0, certificate) }
        } else {
            COpenSSL_set_extension_context(&context, certificate, certificate)
        }
        for (identifier, value) in texts {
            try add(X509V3_EXT_conf_nid(nil, &context, identifier, value), to: certificate)
        }
        for other in profile.extensions {
            try add(try encoded(other.identifier, other.isCritical, other.value), to: certificate)
        }
        if padding > 0 {
            try add(
                try encoded(paddingIdentifier, false, [UInt8](repeating: UInt8(ascii: " "), count: padding)),
                to: certificate)
        }
    }

    /// Takes the extension over and frees it; the certificate keeps a copy.
    private static func add(_ made: OpaquePointer?, to certificate: OpaquePointer) throws(OpenSSLFailure) {
        let made = try OpenSSLFailure.unwrap(made, "encoding an extension")
        defer { X509_EXTENSION_free(made) }
        try OpenSSLFailure.check(X509_add_ext(certificate, made, -1), "adding an extension")
    }

    private static func encoded(
        _ identifier: String, _ isCritical: Bool, _ value: [UInt8]
    ) throws(OpenSSLFailure) -> OpaquePointer {
        let object = try OpenSSLFailure.unwrap(OBJ_txt2obj(identifier, 1), "reading the identifier \(identifier)")
        defer { ASN1_OBJECT_free(object) }
        let octets = try OpenSSLFailure.unwrap(ASN1_OCTET_STRING_new(), "allocating an extension")
        defer { ASN1_OCTET_STRING_free(octets) }
        try OpenSSLFailure.check(
            ASN1_OCTET_STRING_set(octets, value, Int32(clamping: value.count)), "setting an extension")
        return try OpenSSLFailure.unwrap(
            X509_EXTENSION_create_by_OBJ(nil, object, isCritical ? 1 : 0, octets), "encoding an extension")
    }

    private static func text(_ usage: KeyUsage) -> String {
        let names: [(KeyUsage, String)] = [
            (.digitalSignature, "digitalSignature"), (.keyEncipherment, "keyEncipherment"),
            (.keyCertSign, "keyCertSign"), (.crlSign, "cRLSign"),
        ]
        return names.filter { usage.contains($0.0) }.map(\.1).joined(separator: ",")
    }
}
