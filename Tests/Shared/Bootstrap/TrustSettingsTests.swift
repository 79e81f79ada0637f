import AppStore
import Bootstrap
import Chassis
import Development
import Foundation
import Signatures
import Testing

@Suite struct TrustSettingsTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    private let files: Files

    init() throws { files = try Files() }

    private func trusted(roots: [String] = [], developmentMode: Bool = false) throws(ConfigurationProblems)
        -> TrustSettings
    {
        try TrustSettings(apps: files.path("apps.json"), roots: roots, developmentMode: developmentMode)
    }

    private func problems(roots: [String], developmentMode: Bool = false) -> [String] {
        do throws(ConfigurationProblems) {
            _ = try trusted(roots: roots, developmentMode: developmentMode)
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    /// An unrelated root.
    private func foreignRoot() throws -> Certificate {
        var profile = CertificateProfile.root(notBefore: Self.now, notAfter: Self.now.addingTimeInterval(86_400))
        profile.organization = "Example Ltd"
        return try CertificateIssuer.selfSigned(profile, key: .generate(.p384)).certificate
    }

    @Test func `TrustSettings without files trust Apple's root and nothing else`() throws {
        let trusted = try trusted()
        #expect(trusted.trust.roots.isEmpty)
        #expect(trusted.trust.pinnedDigests == [TrustStore.appleRootDigest])
        #expect(trusted.apps.app("com.example.reader")?.environments == [.production, .sandbox])
    }

    @Test func `Roots may be added in production, several in a PEM or one in DER`() throws {
        let roots = try [foreignRoot(), foreignRoot(), foreignRoot()]
        let several = try files.write("several.pem", roots[0].pem + "\n" + roots[1].pem)
        let single = files.directory.appendingPathComponent("single.der")
        try Data(roots[2].der).write(to: single)
        let trusted = try trusted(roots: [several, single.path])
        #expect(Set(trusted.trust.roots) == Set(roots))
        #expect(trusted.trust.pins(TrustStore.appleRootDigest))
    }

    @Test func `Root of the simulator's kind is rejected outside development mode, by name and with a way out`()
        throws
    {
        let authority = try DevelopmentAuthority(now: Self.now)
        // Hidden behind an honest one in the same file.
        let file = try files.write("roots.pem", try foreignRoot().pem + authority.rootPEM)
        let found = problems(roots: [file])
        #expect(found.count == 1)
        #expect(found.first?.contains(file) == true)
        #expect(found.first?.contains(Certificate.developmentOrganization) == true)
        #expect(found.first?.contains("STOREKEEPER_DEVELOPMENT_MODE") == true)
        #expect(problems(roots: [file], developmentMode: true).isEmpty)
    }

    @Test func `TrustSettings report all mistakes at once`() throws {
        let authority = try DevelopmentAuthority(now: Self.now)
        let leaf = try files.write("leaf.pem", try Certificate(der: authority.leaf).pem)
        let empty = try files.write("empty.pem", "")
        let missing = files.directory.appendingPathComponent("missing.pem").path
        try files.write("apps.json", #"[{"bundleId": "", "environments": ["Xcode"]}]"#)
        let found = problems(roots: [leaf, empty, missing])
        for expected in [leaf, empty, missing, "bundleId", "Xcode"] {
            #expect(found.contains { $0.contains(expected) }, "\(expected)")
        }
        let inDevelopment = problems(roots: [leaf], developmentMode: true)
        #expect(inDevelopment.contains { $0.contains("not a certificate authority") })
    }
}
