import Development
import Foundation
import Signatures

/// Sample receipts in Apple's layout, unsigned or signed by a generated key.
package enum SampleReceipt {
    /// Two purchases, one of them twice.
    package static let purchases: [[(Int, String)]] = [
        [(1702, "gold"), (1703, "2000000000000002"), (1705, "2000000000000001")],
        [(1702, "gold"), (1703, "2000000000000001"), (1705, "2000000000000001")],
        [(1702, "coins"), (1703, "2000000000000007"), (1705, "2000000000000007")],
    ]

    /// The attributes.
    package static func payload(
        purchases: [[(Int, String)]] = purchases, environment: String = "ProductionSandbox",
        bundleId: String = "com.example.app", createdAt: String = "2026-05-28T10:00:00Z"
    ) -> [UInt8] {
        let inApp = purchases.map { purchase in
            attribute(17, value(0x31, purchase.flatMap { attribute($0.0, value(0x0C, Array($0.1.utf8))) }))
        }
        let around = [
            attribute(0, value(0x0C, Array(environment.utf8))),
            attribute(2, value(0x0C, Array(bundleId.utf8))), attribute(4, [1, 2, 3]),
            attribute(12, value(0x16, Array(createdAt.utf8))), attribute(19, value(0x0C, Array("1.0".utf8))),
        ]
        return value(0x31, (around + inApp).flatMap { $0 })
    }

    /// As unsigned PKCS#7.
    package static func signed(_ payload: [UInt8]) -> [UInt8] {
        let data: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
        let signedData: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2]
        let content = value(0x30, data + value(0xA0, value(0x04, payload)))
        let body = value(0x30, [2, 1, 1] + value(0x31, []) + content + value(0x31, []))
        return value(0x30, signedData + value(0xA0, body))
    }

    /// As PKCS#7 that the `openssl` command made.
    /// - Parameter options: `-stream` leaves lengths open.
    package static func signedByOpenSSL(_ payload: [UInt8], _ options: [String]) throws -> [UInt8] {
        try inDirectory { file in
            try openssl([
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=Receipts", "-keyout", file("leaf-key.pem"), "-out", file("leaf.pem"),
            ])
            return try sign(payload, options, file)
        }
    }

    /// The same with the certificates of an authority.
    package static func signedByOpenSSL(
        _ payload: [UInt8], _ authority: DevelopmentAuthority, _ options: [String] = [], chain: [String]? = nil,
        leaf: (Certificate, IssuingKey)? = nil
    ) throws -> [UInt8] {
        try inDirectory { file in
            try authority.save(to: URL(fileURLWithPath: file("")))
            if let (certificate, key) = leaf {
                try Data(certificate.pem.utf8).write(to: URL(fileURLWithPath: file("leaf.pem")))
                try Data(key.pem().utf8).write(to: URL(fileURLWithPath: file("leaf-key.pem")))
            }
            let chain = chain ?? [authority.intermediateIssuer.certificate.pem, authority.rootPEM]
            try Data(chain.joined().utf8).write(to: URL(fileURLWithPath: file("chain.pem")))
            return try sign(payload, (chain.isEmpty ? [] : ["-certfile", file("chain.pem")]) + options, file)
        }
    }

    private static func sign(
        _ payload: [UInt8], _ options: [String], _ file: (String) -> String
    ) throws -> [UInt8] {
        try Data(payload).write(to: URL(fileURLWithPath: file("payload")))
        try openssl(
            [
                "cms", "-sign", "-binary", "-nodetach", "-outform", "DER", "-in", file("payload"), "-out",
                file("receipt"), "-signer", file("leaf.pem"), "-inkey", file("leaf-key.pem"),
            ] + options)
        return Array(try Data(contentsOf: URL(fileURLWithPath: file("receipt"))))
    }

    private static func inDirectory(_ body: ((String) -> String) throws -> [UInt8]) throws -> [UInt8] {
        let directory = FileManager.default.temporaryDirectory.appending(path: "storekeeper-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        return try body { directory.appending(path: $0).path }
    }

    private static func attribute(_ type: Int, _ content: [UInt8]) -> [UInt8] {
        let number: [UInt8] = type < 0x80 ? [UInt8(type)] : [UInt8(type >> 8), UInt8(type & 0xFF)]
        return value(0x30, value(0x02, number) + [2, 1, 1] + value(0x04, content))
    }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            content.count < 0x80
            ? [UInt8(content.count)] : [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
        return [tag] + length + content
    }

    private static func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(arguments: arguments) }
    }

    package struct Failed: Error {
        var arguments: [String]
    }
}
