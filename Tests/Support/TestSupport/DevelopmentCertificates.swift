import Development
import Foundation

/// Certificates of our own for servers in tests, made by the `openssl` command: an authority, and keys it vouches for.
public struct DevelopmentCertificates: Sendable {
    private let root: TemporaryDirectory
    /// The directory of all files; the creator removes it.
    public var directory: String { root.path }
    /// The authority's certificate, PEM.
    public var authority: String { directory + "/authority.pem" }

    /// Makes an authority in a new directory that every user may enter and only the owner may change.
    public init() throws {
        root = try TemporaryDirectory(permissions: 0o755)
        let directory = root.path
        try Self.openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=Test authority", "-keyout", directory + "/authority.key", "-out",
            directory + "/authority.pem",
        ])
    }

    /// A certificate for a name and, if it is an address, for that address.
    /// - Returns: the paths of the certificate and of its key.
    public func issue(for name: String) throws -> (certificate: String, key: String) {
        let base = "\(directory)/\(name)"
        let isAddress = name.allSatisfy { $0.isNumber || $0 == "." }
        try "subjectAltName=\(isAddress ? "IP" : "DNS"):\(name)".write(
            toFile: base + ".ext", atomically: true, encoding: .utf8)
        try Self.openssl([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)",
            "-keyout", base + ".key", "-out", base + ".csr",
        ])
        try Self.openssl([
            "x509", "-req", "-in", base + ".csr", "-CA", authority, "-CAkey", directory + "/authority.key",
            "-days", "2", "-extfile", base + ".ext", "-out", base + ".pem",
        ])
        return (base + ".pem", base + ".key")
    }

    /// Removes the directory.
    public func remove() { root.remove() }

    private static func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardOutput = FileHandle.nullDevice
        let errors = Pipe()
        process.standardError = errors
        try process.start()
        let text = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(said: String(decoding: text, as: UTF8.self)) }
    }

    /// The command could not do it.
    public struct Failed: Error {
        /// Its own words.
        public let said: String
    }
}
